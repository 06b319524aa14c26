"""Models whose class has both its code and its train step: trained on any batches, without shapes or a graph."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from plain_pytorch import ROWS, Batches, X, Y, refused
from torch import nn
from torch.nn import functional as F

from torchkeras import Model, clear_session
from torchkeras.callbacks import BackupAndRestore, Callback, EarlyStopping, ModelCheckpoint
from torchkeras.layers import Dense
from torchkeras.optimizers import SGD

DICTS = [{"pixels": x, "labels": y} for x, y in ROWS]


class OfTorch(Model):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 5), nn.Linear(5, 4)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))

    def train_step(self, data):
        loss = F.cross_entropy(self(data["pixels"]), data["labels"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}


class OfKeras(Model):
    """Layers that have no weights before the first batch."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Dense(5, activation="tanh"), Dense(4)

    def call(self, x):
        return self.second(self.first(x))

    train_step = OfTorch.train_step


class Evaluated(OfTorch):
    def test_step(self, data):
        return {"loss": F.cross_entropy(self(data["pixels"]), data["labels"])}


class Detecting(Model):
    """Takes lists of images of several sizes and dicts of targets; gives losses by name."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)

    def forward(self, images, targets):
        losses = [
            self.net(image).mean() * target["boxes"].mean() for image, target in zip(images, targets, strict=True)
        ]
        return {"boxes": sum(losses) / len(losses)}

    def train_step(self, data):
        images, targets = data
        loss = self(images, targets)["boxes"]
        self.minimize(loss, samples=len(images))
        return {"loss": loss}


def plain_copy(model: Any) -> Any:
    """The same network in plain PyTorch, with the weights of a model that is built."""
    plain = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4))
    with torch.no_grad():
        for mine, theirs in zip(plain.parameters(), model.parameters(), strict=True):
            mine.copy_(theirs)
    return plain


def train(plain: Any, optimizer: Any, epochs: int) -> None:
    for _ in range(epochs):
        for x, y in ROWS:
            optimizer.zero_grad()
            F.cross_entropy(plain(x), y).backward()
            optimizer.step()


OPTIMIZERS: dict[str, Any] = {
    "of Keras": lambda model: SGD(0.1, momentum=0.9),
    "a class of torch": lambda model: (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "an instance": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_modules_of_torch_train_on_dicts_as_by_hand(name: str):
    model = OfTorch()
    plain = plain_copy(model)
    model.compile(OPTIMIZERS[name](model))
    model.fit(Batches(DICTS), epochs=2, verbose=0)
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9), 2)
    for mine, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["of Keras", "a class of torch"])
def test_layers_that_the_first_batch_builds_train_from_it_on(name: str):
    torch.manual_seed(3)
    model = OfKeras()
    model.compile(OPTIMIZERS[name](model))
    model.fit(Batches(DICTS), epochs=2, verbose=0)
    torch.manual_seed(3)
    again = OfKeras()
    again(X)  # draws the same weights
    plain = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4))
    with torch.no_grad():
        for parameter, array in zip(plain.parameters(), again.get_weights(), strict=True):
            parameter.copy_(torch.from_numpy(array.T.copy()))
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9), 2)
    for array, parameter in zip(model.get_weights(), plain.parameters(), strict=True):
        np.testing.assert_allclose(array.T, parameter.detach().numpy(), rtol=1e-5, atol=1e-6)
    assert model.optimizer.iterations == 6


def test_compile_needs_nothing():
    class Owning(OfTorch):
        def train_step(self, data):
            loss = F.cross_entropy(self(data["pixels"]), data["labels"])
            self.own.zero_grad()
            loss.backward()
            self.own.step()
            return {"loss": loss}

    model = Owning()
    plain = plain_copy(model)
    model.own = torch.optim.Adam(model.parameters(), lr=0.01)
    model.compile()
    assert model.fit(Batches(DICTS), epochs=2, verbose=0).epoch == [0, 1]
    train(plain, torch.optim.Adam(plain.parameters(), lr=0.01), 2)
    for mine, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def test_detection_targets():
    random = torch.Generator().manual_seed(0)
    images = [torch.randn(k + 1, 2, generator=random) for k in range(6)]
    targets = [{"boxes": torch.randn(k, 4, generator=random), "label": torch.tensor(k)} for k in range(1, 7)]
    pairs = list(zip(images, targets, strict=True))
    batches = [tuple(zip(*pairs[k : k + 2], strict=True)) for k in (0, 2, 4)]
    model = Detecting()
    plain = copy.deepcopy(model.net)
    model.compile((torch.optim.SGD, {"lr": 0.1}))
    model.fit(Batches(batches), verbose=0)
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    for some, theirs in batches:
        optimizer.zero_grad()
        losses = [plain(image).mean() * target["boxes"].mean() for image, target in zip(some, theirs, strict=True)]
        (sum(losses) / len(losses)).backward()  # type: ignore[union-attr]
        optimizer.step()
    for mine, expected in zip(model.net.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, expected)


def test_callbacks_a_validation_and_an_evaluation(tmp_path: Any):
    model = Evaluated()
    model.compile("sgd", on_nonfinite="skip")
    callbacks = [
        EarlyStopping("val_loss", patience=3),
        ModelCheckpoint(tmp_path / "{epoch}.weights.h5", save_weights_only=True),
    ]
    history = model.fit(
        Batches(DICTS), epochs=2, verbose=0, validation_data=Batches(DICTS), callbacks=callbacks
    ).history
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.weights.h5", "2.weights.h5"]
    assert model.evaluate(Batches(DICTS), verbose=0) == pytest.approx(history["val_loss"][-1])
    np.testing.assert_allclose(model.predict(X), plain_copy(model)(X).detach(), rtol=1e-5, atol=1e-6)
    assert model.fit(Batches(DICTS), verbose=0).epoch == [0]  # with a graph, which `predict` made


def test_an_evaluation_needs_a_step_of_its_own():
    model = OfTorch()
    model.compile("sgd")
    text = f"OfTorch {model.name!r} has no loss for an evaluation: give compile a `loss`, or its class a test_step."
    with refused(ValueError, text):
        model.fit(Batches(DICTS), verbose=0, validation_data=Batches(DICTS))
    with refused(ValueError, text):
        model.evaluate(Batches(DICTS), verbose=0)


@pytest.mark.torch("2.8", "compiled steps")
def test_options_of_the_built_in_step_are_refused():
    model = OfTorch()
    model.compile("sgd", jit_compile=True)
    text = (
        "compile: jit_compile=True is for the built-in train step; OfTorch has one of its own: compile what it calls "
        "by torch.compile, and leave that option out."
    )
    with refused(ValueError, text):
        model.fit(Batches(DICTS), verbose=0)


def test_arrays_have_their_weights_beside_them():
    class OnArrays(OfTorch):
        def train_step(self, data):
            x, y, weights = data
            assert weights is None
            return super().train_step({"pixels": x, "labels": y})

    model = OnArrays()
    plain = plain_copy(model)
    model.compile((torch.optim.SGD, {"lr": 0.1}))
    model.fit(X.numpy(), Y.numpy(), batch_size=4, shuffle=False, verbose=0)
    train(plain, torch.optim.SGD(plain.parameters(), lr=0.1), 1)
    for mine, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


class Owning(OfTorch):
    """With an optimizer and a scheduler of its own."""

    def __init__(self):
        super().__init__()
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        self.own = {"adam": optimizer, "rate": torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)}

    def train_step(self, data):
        loss = F.cross_entropy(self(data["pixels"]), data["labels"])
        self.own["adam"].zero_grad()
        loss.backward()
        self.own["adam"].step()
        self.own["rate"].step()
        return {"loss": loss}


class StoppedError(Exception):
    pass


class StopsAt(Callback):
    needed_to_resume = False

    def __init__(self, epoch: int):
        self.epoch = epoch

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == self.epoch:
            raise StoppedError


def owning() -> Owning:
    torch.manual_seed(5)
    clear_session()
    model = Owning()
    model.compile()
    return model


def test_a_run_goes_on_with_optimizers_of_the_model_s_own(tmp_path: Any):
    whole, stopped, again = owning(), owning(), owning()
    whole.fit(Batches(DICTS), epochs=4, verbose=0)
    with pytest.raises(StoppedError):
        stopped.fit(Batches(DICTS), epochs=4, verbose=0, callbacks=[BackupAndRestore(tmp_path), StopsAt(2)])
    again.fit(Batches(DICTS), epochs=4, verbose=0, callbacks=[BackupAndRestore(tmp_path)])
    for mine, expected in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(mine, expected)
    assert again.own["rate"].last_epoch == 12


def test_a_run_without_an_optimizer_to_be_found_is_not_kept(tmp_path: Any):
    model = owning()
    hidden = model.own
    del model.own
    type(model).own = property(lambda self: hidden)  # type: ignore[attr-defined]
    try:
        text = (
            "Owning was compiled without an optimizer, and has none among its attributes: the state of what its "
            "train_step trains with would not be kept."
        )
        with refused(ValueError, text):
            model.fit(Batches(DICTS), verbose=0, callbacks=[BackupAndRestore(tmp_path, save_freq=1)])
    finally:
        del type(model).own  # type: ignore[attr-defined]
