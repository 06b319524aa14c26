"""Steps of one's own on batches of any shape, against plain PyTorch."""

import copy
from collections import UserDict
from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from plain_pytorch import ROWS, Batches, X, Y, assert_same, by_hand, network, plain_momentum, refused, train_plainly
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from torchkeras import Input, Model
from torchkeras.data import device_transfer
from torchkeras.data.batch import Batch
from torchkeras.data.raw_batch import mapped, samples_in
from torchkeras.layers import Dense
from torchkeras.utils import Sequence, pack_x_y_sample_weight, unpack_x_y_sample_weight

# --- batches of any shape --------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    features: Any
    label: Any


class Encoding(UserDict):
    """As the batches of Hugging Face: a mapping with attributes, which moves itself."""

    def to(self, device: Any) -> "Encoding":
        return Encoding({name: value.to(device) for name, value in self.items()})


class TensorsByName(MutableMapping):
    """As a TensorDict: a mapping of tensors that has a batch size, and moves itself."""

    def __init__(self, tensors: Mapping[str, Any]):
        self.tensors = dict(tensors)

    def __getitem__(self, name: str) -> Any:
        return self.tensors[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.tensors[name] = value

    def __delitem__(self, name: str) -> None:
        del self.tensors[name]

    def __iter__(self) -> Any:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def to(self, device: Any) -> "TensorsByName":
        return TensorsByName({name: value.to(device) for name, value in self.items()})


# How a batch looks, and how a step reads x and y of it.
FORMS: dict[str, tuple[Any, Any]] = {
    "a tuple": (lambda x, y: (x, y), lambda data: data),
    "a list": (lambda x, y: [x, y], lambda data: data),
    "a dict": (lambda x, y: {"x": x, "labels": y, "name": ["text"] * len(x)}, lambda data: (data["x"], data["labels"])),
    "a named tuple": (Pair, lambda data: (data.features, data.label)),
    "an encoding": (lambda x, y: Encoding(x=x, labels=y), lambda data: (data["x"], data["labels"])),
    "tensors by name": (lambda x, y: TensorsByName({"x": x, "y": y}), lambda data: (data["x"], data["y"])),
    "a list for each": (
        lambda x, y: (list(x), [{"class": label, "boxes": torch.zeros(k, 4)} for k, label in enumerate(y)]),
        lambda data: (torch.stack(data[0]), torch.stack([target["class"] for target in data[1]])),
    ),
    "five items": (lambda x, y: (x, None, "x", {"deep": (y, 3)}, 0.5), lambda data: (data[0], data[3]["deep"][0])),
    "arrays": (lambda x, y: (x.numpy(), y.numpy()), lambda data: data),
}


def stepping(read: Any, seen: list[Any] | None = None) -> type[Model]:
    """A class with steps of its own, which read a batch so."""

    class Stepping(Model):
        def train_step(self, data):
            if seen is not None:
                seen.append(data)
            x, y = read(data)
            loss = F.cross_entropy(self(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return {"loss": loss}

        def test_step(self, data):
            x, y = read(data)
            return {"loss": F.cross_entropy(self(x), y)}

        def predict_step(self, data):
            return self(read(data)[0])

    return Stepping


@pytest.mark.parametrize("form", FORMS)
def test_a_step_gets_batches_as_they_are(form: str):
    make, read = FORMS[form]
    seen: list[Any] = []
    model = network(stepping(read, seen))
    plain = by_hand(model)
    loader = [make(x, y) for x, y in ROWS]
    model.compile((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}))
    batches = Batches(loader)
    before = F.cross_entropy(plain(X), Y).item()
    assert model.evaluate(batches, verbose=0) == pytest.approx(before, rel=1e-5)
    history = model.fit(batches, validation_data=batches, verbose=0).history
    train_plainly(plain, plain_momentum(plain))
    assert_same(model, plain)
    assert history["val_loss"] == [pytest.approx(F.cross_entropy(plain(X), Y).item(), rel=1e-5)]
    np.testing.assert_allclose(model.predict(batches), plain(X).detach().numpy(), rtol=1e-4, atol=1e-5)
    assert [type(each) for each in seen] == [type(each) for each in loader]
    if isinstance(seen[0], dict):
        assert seen[0]["name"] == ["text"] * 4


class Samples(Dataset):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return {"x": X[index], "y": Y[index]}


class Streamed(IterableDataset):
    def __iter__(self) -> Any:
        return ({"x": x, "y": y} for x, y in zip(X, Y, strict=True))


class Numbered(Sequence):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return dict(zip("xy", ROWS[index], strict=True))


SOURCES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a DataLoader": (lambda: DataLoader(Samples(), batch_size=4), {}),
    "a Dataset": (Samples, {"batch_size": 4, "shuffle": False}),
    "an IterableDataset": (Streamed, {"batch_size": 4}),
    "a Sequence": (Numbered, {"shuffle": False}),
    "a generator": (lambda: (dict(zip("xy", rows, strict=True)) for rows in ROWS), {"steps_per_epoch": 3}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_loader_gives_them(name: str):
    make, options = SOURCES[name]
    model = network(stepping(lambda data: (data["x"], data["y"])))
    plain = by_hand(model)
    model.compile((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}))
    model.fit(make(), verbose=0, **options)
    train_plainly(plain, plain_momentum(plain))
    assert_same(model, plain)


def test_a_tensor_dataset_is_given_as_torch_collates_it():
    seen: list[Any] = []
    model = network(stepping(lambda data: data, seen))
    model.compile("sgd")
    model.fit(TensorDataset(X, Y), batch_size=4, shuffle=False, verbose=0)
    assert [(type(data), data[0].shape, data[1].shape) for data in seen] == [(list, (4, 3), (4,))] * 3


def test_arrays_are_checked_and_come_with_their_weights():
    seen: list[Any] = []

    class Stepping(Model):
        def train_step(self, data):
            seen.append(data)
            return super().train_step(data)

    model = network(Stepping)
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(X.numpy(), Y.numpy(), batch_size=12, verbose=0)
    model.fit(X.numpy(), Y.numpy(), batch_size=12, verbose=0, class_weight=dict.fromkeys(range(4), 0.5))
    (x, y, none), (_, _, weights) = seen
    assert (x.shape, y.shape, none, weights.tolist()) == ((12, 3), (12, 1), None, [0.5] * 12)


def test_the_built_in_step_checks_a_raw_batch():
    """Labels of one axis would be spread over outputs of shape (4, 1) if they were taken as they are."""

    class Stepping(Model):
        def train_step(self, data):
            return super().train_step(data)

        def test_step(self, data):
            x, y = data
            return {"loss": self.compute_loss(x, y, self(x)), **self.compute_metrics(x, y, self(x))}

    inputs = Input((3,))
    own, built_in = (kind(inputs, Dense(1, kernel_initializer="ones")(inputs)) for kind in (Stepping, Model))
    loader = [(x, x[:, 0]) for x, _ in ROWS]
    for model in (own, built_in):
        model.compile("sgd", "mse", ["mae"])
        model.fit(Batches(loader), verbose=0)
    np.testing.assert_array_equal(own.get_weights()[0], built_in.get_weights()[0])
    assert own.evaluate(Batches(loader), verbose=0) == pytest.approx(built_in.evaluate(Batches(loader), verbose=0))


def test_numbers_are_averaged_by_the_samples_of_raw_batches():
    class Counting(Model):
        def train_step(self, data):
            return {"size": float(len(data["x"]))}

    model = network(Counting)
    model.compile()
    loader = DataLoader(Samples(), batch_size=8)
    assert model.fit(loader, verbose=0).history["size"] == [pytest.approx((8 * 8 + 4 * 4) / 12)]


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (torch.zeros(5, 2), 5),
        (torch.zeros(()), 1),
        ({"a": torch.zeros(4), "b": torch.zeros(9)}, 4),
        ((torch.zeros(3, 2), torch.zeros(3)), 3),
        (([torch.zeros(6, 2), torch.zeros(6)], torch.zeros(6)), 6),
        (([torch.zeros(3, 8, 8), torch.zeros(3, 9, 9)], [{"boxes": torch.zeros(7, 4)}] * 2), 2),
        (([torch.zeros(3, 8, 8)] * 2, ["cat", "dog"]), 2),
        ([{"x": torch.zeros(9)}] * 3, 3),
        ((), 1),
        ({}, 1),
        ("text", 1),
    ],
)
def test_how_many_samples_a_batch_has(data: Any, size: int):
    assert samples_in(data) == size


def test_structures_move_whole():
    data = {"a": [X, (X, Pair(Y, "s"))], "n": np.arange(3)[::-1], "o": np.array(["x"]), "e": Encoding(x=X), "z": None}
    moved = mapped(data, lambda tensor: tensor.to("meta"), torch.device("meta"))
    assert moved["a"][0].device == moved["a"][1][0].device == moved["a"][1][1].features.device == torch.device("meta")
    assert (moved["a"][1][1].label, moved["o"], moved["z"]) == ("s", data["o"], None)
    assert (type(moved["e"]), moved["e"]["x"].device.type, moved["n"].device.type) == (Encoding, "meta", "meta")
    assert mapped(data, lambda tensor: tensor, None)["n"].tolist() == [2, 1, 0]
    assert data["a"][0] is X


# --- without an optimizer or a loss ----------------------------------------------------------------------------------


class Alone(Model):
    """With an optimizer of its own."""

    def train_step(self, data):
        if "own" not in self.__dict__:
            self.__dict__["own"] = plain_momentum(self)
        x, y = data["x"], data["y"]
        loss = F.cross_entropy(self(x), y)
        self.own.zero_grad()
        loss.backward()
        self.own.step()
        return {"loss": loss}


@pytest.mark.parametrize("compiling", [{}, {"optimizer": None}])
def test_compile_needs_neither_optimizer_nor_loss(compiling: dict[str, Any], tmp_path: Any):
    model = network(Alone)
    plain = by_hand(model)
    model.compile(**compiling)
    assert model.optimizer is None
    model.fit(DataLoader(Samples(), batch_size=4), epochs=2, verbose=0)
    train_plainly(plain, plain_momentum(plain), 2)
    assert_same(model, plain)
    assert model.metrics_names == ["loss"]
    copied = copy.deepcopy(network(Alone))
    copied.compile()
    model.save_weights(tmp_path / "w.weights.h5")
    model.compile(on_nonfinite="skip")
    model.fit(DataLoader(Samples(), batch_size=4), verbose=0)


def test_minimize_needs_an_optimizer():
    class Minimizing(Model):
        def train_step(self, data):
            self.minimize(self(data[0]).sum())
            return {"loss": 0.0}

    model = network(Minimizing)
    model.compile()
    text = (
        "Minimizing.minimize: the model was compiled without an optimizer: give compile one, or take the step with an "
        "optimizer of your own."
    )
    with refused(RuntimeError, text):
        model.fit(X, verbose=0)


def test_the_built_in_step_needs_an_optimizer():
    text = (
        "Could not interpret None as an optimizer: give a name, a config or an instance of a subclass of "
        "torchkeras.optimizers.Optimizer."
    )
    with refused(TypeError, text):
        network(Model).compile(loss="mse")


# --- x, y and weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (X, (X, None, None)),
        ((X,), (X, None, None)),
        ([X, Y], (X, Y, None)),
        ((X, Y, 3), (X, Y, 3)),
        ({"x": X}, ({"x": X}, None, None)),
    ],
)
def test_unpacking(data: Any, parts: Any):
    found = unpack_x_y_sample_weight(data)
    assert all(mine is theirs or mine == theirs for mine, theirs in zip(found, parts, strict=True))


def test_packing():
    assert pack_x_y_sample_weight(1) == 1
    assert pack_x_y_sample_weight((1, 2)) == ((1, 2),)
    assert pack_x_y_sample_weight(1, 2) == (1, 2)
    assert pack_x_y_sample_weight(1, 2, 3) == (1, 2, 3)
    text = "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`; found a tuple of 4."
    with refused(ValueError, text):
        unpack_x_y_sample_weight((1, 2, 3, 4))


def test_raw_batches_are_sent_to_the_device():
    raw = {"x": X, "names": ["a"], "deep": [(Y, Encoding(x=X))]}
    (sent,) = device_transfer.to_device((Batch([], [], [], 12, each) for each in [raw]), torch.device("meta"))
    (labels, encoding) = sent.raw["deep"][0]
    assert {each.device.type for each in (sent.raw["x"], labels, encoding["x"])} == {"meta"}
    assert (sent.raw["names"], sent.size) == (["a"], 12)


@pytest.mark.cuda
def test_raw_batches_arrive_on_cuda_as_they_were():
    def host():
        for number in range(50):
            yield Batch([], [], [], 3, {"x": torch.full((3, 400_000), float(number)), "e": Encoding(x=X)})

    sums = []
    for batch in device_transfer.to_device(host(), torch.device("cuda")):
        assert batch.raw["e"]["x"].device.type == "cuda"
        sums.append(batch.raw["x"].sum() / batch.raw["x"].numel())
    assert torch.stack(sums).tolist() == list(range(50))
