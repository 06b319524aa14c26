"""`fit` on every kind of data: two processes train as one does, each on its rows."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, TensorDataset

from torchkeras import clear_session
from torchkeras.callbacks import Callback
from torchkeras.distribution import ProcessesDifferError, rank, world_size
from torchkeras.layers import LSTM, Dense, Input
from torchkeras.models import Model
from torchkeras.optimizers import SGD
from torchkeras.utils import Sequence as Batches, unpack_x_y_sample_weight

random = np.random.default_rng(0)
X = random.normal(size=(22, 6, 3))
Y = random.integers(0, 3, size=(22, 1))
W = random.uniform(0.5, 2, size=22)


class InParts(Batches):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return tuple(values[6 * index : 6 * index + 6] for values in (X, Y, W))


class Samples(Dataset[Any]):
    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, index: int) -> Any:
        return X[index], Y[index], W[index]


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return (Samples()[index] for index in range(len(X)))


def endless() -> Any:
    while True:
        yield from (InParts()[index] for index in range(4))


def memmap(folder: Path) -> Any:
    path = folder / f"x{rank()}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def hdf5(folder: Path) -> Any:
    path = folder / f"x{rank()}.h5"
    with h5py.File(path, "w") as file:
        file["x"] = X
    return h5py.File(path, "r")["x"]


# What `fit` is given. 22 samples in batches of 6: the last one has 4.
KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "arrays": lambda _: {"x": X, "y": Y, "sample_weight": W, "batch_size": 6},
    "arrays in batches": lambda _: {"x": X, "y": Y, "batch_size": 6, "shuffle": "batch"},
    "class weights": lambda _: {"x": X, "y": Y, "class_weight": {0: 1.0, 1: 0.3, 2: 2.0}, "batch_size": 6},
    "a split": lambda _: {"x": X, "y": Y, "validation_split": 0.3, "validation_batch_size": 4, "batch_size": 6},
    "a split, then arrays": lambda _: {"x": InParts(), "validation_data": (X[:5], Y[:5])},
    "steps": lambda _: {"x": X, "y": Y, "batch_size": 6, "steps_per_epoch": 3},
    "memmap": lambda folder: {"x": memmap(folder), "y": Y, "batch_size": 6},
    "HDF5": lambda folder: {"x": hdf5(folder), "y": Y, "batch_size": 6, "shuffle": "batch"},
    "Dataset": lambda _: {"x": Samples(), "batch_size": 6, "validation_data": Samples()},
    "TensorDataset": lambda _: {"x": TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), "batch_size": 6},
    "DataLoader": lambda _: {"x": DataLoader(Samples(), 6, shuffle=True)},
    "IterableDataset": lambda _: {"x": Stream(), "batch_size": 6},
    "Sequence": lambda _: {"x": InParts(), "validation_data": InParts()},
    "generator": lambda _: {"x": endless(), "steps_per_epoch": 4},
}


def network(batch: int | None = None, **options: Any) -> Model:
    clear_session()
    torch.manual_seed(1)
    inputs = Input(batch_shape=(batch, 6, 3), dtype="float64")
    return Model(inputs, Dense(3, activation="softmax", dtype="float64")(LSTM(4, dtype="float64", **options)(inputs)))


def trained(distribute: Any, data: dict[str, Any], model: Model, optimizer: Any = "adam") -> Any:
    model.compile(optimizer, "sparse_categorical_crossentropy", ["accuracy"], distribute=distribute)
    torch.manual_seed(2)
    history = model.fit(**data, epochs=2, verbose=0).history
    return history, model.get_weights(), torch.rand(1).item()


def assert_equal(one: Any, several: Any) -> None:
    assert one[0].keys() == several[0].keys()
    for name, values in one[0].items():
        rounding = 1e-6 if name.endswith("acc") else 1e-10  # accuracies are numbers of float32
        np.testing.assert_allclose(several[0][name], values, rtol=rounding, atol=rounding)
    for expected, found in zip(one[1], several[1], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert one[2] == several[2]  # so that what comes next draws the same order


def trains_as_one(kind: str, folder: Path) -> None:
    one, several = (trained(distribute, KINDS[kind](folder), network()) for distribute in (None, "ddp"))
    assert_equal(one, several)


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_train_as_one(pool, kind, tmp_path):
    pool.run(trains_as_one, kind, tmp_path)


def trains_with_states() -> None:
    data = {"x": X[:20], "y": Y[:20], "batch_size": 5, "shuffle": False}
    one, several = (trained(distribute, data, network(5, stateful=True)) for distribute in (None, "ddp"))
    assert_equal(one, several)


def test_a_stateful_model_of_a_fixed_batch_size(pool):
    pool.run(trains_with_states)


def trains_divided() -> None:
    sampler = DistributedSampler(Samples(), shuffle=False)
    divided = {"x": DataLoader(Samples(), 3, sampler=sampler)}
    one = trained(None, {"x": DataLoader(Samples(), 6)}, network())  # the same batches, in another order inside
    assert_equal(one, trained("ddp", divided, network()))
    assert sampler.epoch == 2


def test_a_distributed_sampler(pool):
    pool.run(trains_divided)


# --- steps of the user's own, which get batches as they are ----------------------------------------------------------


class Built(Model):
    def train_step(self, data: Any) -> Any:
        return super().train_step(data)


class ByHand(Model):
    def train_step(self, data: Any) -> Any:
        x, y, weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=True)
        loss = self.compute_loss(x, y, y_pred, weight)
        self.minimize(loss, len(y))
        return {"loss": loss.detach()}


STEPS: dict[str, tuple[type[Model], int | None, Callable[[], dict[str, Any]]]] = {
    "a Dataset": (Built, None, lambda: {"x": Samples(), "batch_size": 5}),
    "a generator": (Built, None, lambda: {"x": endless(), "steps_per_epoch": 4}),
    "arrays": (Built, None, lambda: {"x": X, "y": Y, "sample_weight": W, "batch_size": 7}),
    "batches of one sample": (Built, None, lambda: {"x": Samples(), "batch_size": 3}),
    "a fixed batch size": (Built, 6, lambda: {"x": DataLoader(Samples(), 6, drop_last=True)}),
    "by hand": (ByHand, None, lambda: {"x": DataLoader(Samples(), 6, shuffle=True)}),
    "by hand on a Sequence": (ByHand, None, lambda: {"x": InParts()}),
}


def steps_as_one(kind: str) -> None:
    made, batch, data = STEPS[kind]
    found = []
    for distribute in (None, "ddp"):
        plain = network(batch)
        model = made(plain.inputs, plain.outputs)
        optimizer = SGD(0.1, gradient_accumulation_steps=2)  # of uneven batches
        found.append(trained(distribute, data(), model, optimizer))
    assert_equal(*found)


@pytest.mark.parametrize("kind", STEPS)
def test_a_step_of_the_users_own(pool, kind):
    pool.run(steps_as_one, kind)


# --- batches that are not the same everywhere ------------------------------------------------------------------------


def unseeded() -> Any:
    own = np.random.default_rng(rank())
    while True:
        index = own.permutation(len(X))[:6]
        yield X[index], Y[index]


class OwnOrder(Samples):
    """Shuffled by random numbers of its own, which each process seeds otherwise."""

    def __init__(self) -> None:
        self.order = np.random.default_rng(rank()).permutation(len(X))

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.order.reshape(-1, 2).tolist())


DIFFERENT: dict[str, Callable[[], dict[str, Any]]] = {
    "batches": lambda: {"x": unseeded(), "steps_per_epoch": 3},
    "orders": lambda: {"x": DataLoader(Samples(), batch_sampler=OwnOrder())},
    "rows taken by hand": lambda: {"x": X[rank() :: world_size()], "y": Y[rank() :: world_size()]},
    "batches to validate on": lambda: {"x": X, "y": Y, "validation_data": unseeded(), "validation_steps": 2},
}


def told_of(kind: str) -> str:
    model = network()
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(ProcessesDifferError) as error:
        model.fit(**DIFFERENT[kind](), epochs=2, verbose=0)
    return str(error.value)


@pytest.mark.parametrize("kind", DIFFERENT)
def test_different_batches_are_never_trained_unnoticed(pool, kind):
    for text in pool.run(told_of, kind):
        place, _, rest = text.partition(": ")
        assert place.startswith("epoch 1, batch ")
        assert rest == (
            "the processes had different data or batches, or shuffled them in other orders. Give every process the "
            "whole data, and seed all alike, so that each makes the same batches, or give a DataLoader with a "
            "DistributedSampler."
        )


def seeded_otherwise() -> Any:
    torch.manual_seed(rank())
    before = torch.get_rng_state()
    model = network()
    model.compile("sgd", "sparse_categorical_crossentropy")
    torch.set_rng_state(before)
    losses = model.fit(X, Y, batch_size=6, epochs=2, verbose=0).history["loss"]
    return losses, torch.rand(1).item()


def test_processes_that_are_seeded_otherwise_shuffle_as_the_main_one_does(pool):
    one, other = pool.run(seeded_otherwise)
    assert one == other


# --- numbers that are not finite --------------------------------------------------------------------------------------


class Batchwise(Callback):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append(batch)


def stops_together(policy: str) -> None:
    """A bad row that one process has, in the second of 22 batches: both look after batch 16, and stop there."""
    x = X.copy()
    x[1] = np.inf
    models = []
    for rows in (slice(0, 22), slice(0, 1)):
        model = network()
        model.compile(SGD(0.1), "sparse_categorical_crossentropy", distribute="ddp", on_nonfinite=policy)
        models.append(model)
        seen = Batchwise()
        data = {"x": x[rows], "y": Y[rows], "batch_size": 1, "shuffle": False, "verbose": 0, "callbacks": [seen]}
        if rows.stop == 1:
            model.fit(**data)
        elif policy == "raise":
            with pytest.raises(FloatingPointError, match="epoch 1, batch 2;"):
                model.fit(**data)
        else:
            with pytest.warns(RuntimeWarning, match="epoch 1, batch 2;"):
                model.fit(**data)
            assert len(seen.seen) == 16
    for found, expected in zip(models[0].get_weights(), models[1].get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("policy", ["stop", "raise"])
def test_two_processes_stop_after_the_same_batch(pool, policy):
    pool.run(stops_together, policy)
