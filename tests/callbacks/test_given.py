"""What `callbacks=` takes: callbacks and schedulers of torch; all else is refused."""

import copy
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from torchkeras import optimizers
from torchkeras.callbacks import (
    Callback,
    CallbackList,
    EarlyStopping,
    History,
    LambdaCallback,
    TorchScheduler,
)
from torchkeras.layers import Dense
from torchkeras.models import Sequential

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((12, 3)).astype("float32")
Y = RANDOM.standard_normal((12, 2)).astype("float32")


def made() -> Sequential:
    return Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(2)])


def by_hand(model: Sequential) -> nn.Sequential:
    """The same network in plain PyTorch."""
    plain = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    arrays = [torch.from_numpy(array.T.copy()) for array in model.get_weights()]
    with torch.no_grad():
        for parameter, array in zip(plain.parameters(), arrays, strict=True):
            parameter.copy_(array)
    return plain


def assert_same(model: Sequential, plain: nn.Module) -> None:
    for array, parameter in zip(model.get_weights(), plain.parameters(), strict=True):
        np.testing.assert_allclose(array.T, parameter.detach().numpy(), rtol=1e-5, atol=1e-6)


def trained_by_hand(plain: nn.Module, optimizer: Any, scheduler: Any, epochs: int, per: str = "epoch") -> None:
    """Epochs of three batches of four."""
    monitors = type(scheduler) is lr_scheduler.ReduceLROnPlateau
    for _ in range(epochs):
        losses = []
        for x, y in zip(torch.from_numpy(X).split(4), torch.from_numpy(Y).split(4), strict=True):
            loss = nn.functional.mse_loss(plain(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if per == "batch":
                scheduler.step()
        if monitors:
            scheduler.step(float(np.mean(losses)))
        elif per == "epoch":
            scheduler.step()


FIT: dict[str, Any] = {"batch_size": 4, "epochs": 3, "shuffle": False, "verbose": 0}
SCHEDULERS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "StepLR": (lr_scheduler.StepLR, {"step_size": 1, "gamma": 0.3}, "epoch"),
    "ExponentialLR": (lr_scheduler.ExponentialLR, {"gamma": 0.5}, "epoch"),
    "OneCycleLR": (lr_scheduler.OneCycleLR, {"max_lr": 0.5, "total_steps": 20}, "batch"),
    "CyclicLR": (lr_scheduler.CyclicLR, {"base_lr": 0.01, "max_lr": 0.3, "step_size_up": 2}, "batch"),
    "SWALR": (torch.optim.swa_utils.SWALR, {"swa_lr": 0.01, "anneal_epochs": 2}, "epoch"),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_given_as_a_callback_is_wrapped(name: str):
    """By the optimizer of torch that the model trains with, as in the loop by hand."""
    kind, options, per = SCHEDULERS[name]
    model = made()
    plain = by_hand(model)
    theirs, ours = (torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (plain, model))
    model.compile(ours, "mse")
    model.fit(X, Y, callbacks=[kind(ours, **options)], **FIT)
    trained_by_hand(plain, theirs, kind(theirs, **options), 3, per)
    assert_same(model, plain)
    assert ours.param_groups[0]["lr"] == pytest.approx(theirs.param_groups[0]["lr"])


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("by_name", [True, False])
def test_a_class_and_its_options(name: str, by_name: bool):
    kind, options, per = SCHEDULERS[name]
    model = made()
    plain = by_hand(model)
    model.compile((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}), "mse")
    wrapped = TorchScheduler(kind, **options) if by_name else TorchScheduler(kind, *options.values())
    model.fit(X, Y, callbacks=wrapped, **FIT)
    theirs = torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9)
    trained_by_hand(plain, theirs, kind(theirs, *options.values()), 3, per)
    assert_same(model, plain)


@pytest.mark.parametrize("made_already", [True, False])
def test_a_plateau_with_its_monitor(made_already: bool):
    options: dict[str, Any] = {"patience": 0, "threshold": 10.0, "threshold_mode": "abs"}
    model = made()
    plain = by_hand(model)
    theirs, ours = (torch.optim.SGD(each.parameters(), lr=0.1) for each in (plain, model))
    model.compile(ours, "mse")
    kind = lr_scheduler.ReduceLROnPlateau
    if made_already:
        wrapped = TorchScheduler(kind(ours, **options), monitor="loss")
    else:
        wrapped = TorchScheduler(kind, monitor="loss", **options)
    model.fit(X, Y, callbacks=[wrapped], **FIT)
    trained_by_hand(plain, theirs, kind(theirs, **options), 3)
    assert_same(model, plain)
    assert ours.param_groups[0]["lr"] == pytest.approx(0.001)


def test_the_rates_of_groups_are_their_own():
    model = made()
    plain = by_hand(model)

    def grouped(layers: Any) -> torch.optim.Optimizer:
        groups = [{"params": list(layer.parameters()), "lr": lr} for layer, lr in zip(layers, (0.1, 0.01), strict=True)]
        return torch.optim.SGD(groups, lr=1.0)

    ours, theirs = grouped(model.layers[-2:]), grouped([plain[0], plain[2]])
    model.compile(ours, "mse")
    model.fit(X, Y, callbacks=[lr_scheduler.StepLR(ours, 1, 0.5)], **FIT)
    trained_by_hand(plain, theirs, lr_scheduler.StepLR(theirs, 1, 0.5), 3)
    assert_same(model, plain)
    assert [group["lr"] for group in ours.param_groups] == pytest.approx([0.1 / 8, 0.01 / 8])


def test_a_scheduler_goes_on_in_a_second_fit_and_after_a_stop():
    model = made()
    ours = torch.optim.SGD(model.parameters(), lr=1e-3)
    scheduler = lr_scheduler.StepLR(ours, 1, 0.5)
    model.compile(ours, "mse")
    model.fit(X, Y, callbacks=[scheduler], **FIT)
    model.fit(X, Y, callbacks=[scheduler], **FIT)
    assert ours.param_groups[0]["lr"] == pytest.approx(1e-3 / 64)
    wrapped = TorchScheduler(scheduler)
    assert wrapped.state_dict() == {}
    model.fit(X, Y, callbacks=[wrapped], **{**FIT, "epochs": 1})
    state = copy.deepcopy(wrapped.state_dict())
    again = TorchScheduler(lr_scheduler.StepLR(ours, 1, 0.5))
    again.load_state_dict(state)
    model.fit(X, Y, callbacks=[again], **{**FIT, "epochs": 1})
    assert again.scheduler.last_epoch == 8


# --- what is taken ---------------------------------------------------------------------------------------------------


class OfAnother:
    """As a callback of Keras 3: no class of ours, its own `set_model`."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def set_params(self, params: Any) -> None:
        self.seen.append(params["epochs"])

    def set_model(self, model: Any) -> None:
        self.seen.append(type(model).__name__)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.seen.append((epoch, sorted(logs)))


def test_an_object_of_another_package_with_hooks_is_a_callback():
    model, other = made(), OfAnother()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0, callbacks=(other,))
    assert other.seen == ["Sequential", 1, (0, ["loss"])]


def test_one_alone_and_a_callback_list():
    model = made()
    model.compile("sgd", "mse")
    ended = model.fit(X, Y, epochs=3, verbose="auto", callbacks=EarlyStopping("loss", patience=0, baseline=0.0))
    assert ended.epoch == [0]
    history, resumed = History(), []
    resuming = LambdaCallback(on_train_end=lambda logs: None)
    resuming.resume = resumed.append  # type: ignore[attr-defined]  # as BackupAndRestore has it
    model.fit(X, Y, epochs=2, verbose=0, callbacks=CallbackList([resuming, history]))
    assert history.epoch == [0, 1]
    assert len(resumed) == 1


NO_HOOK = (
    "callbacks: {} is no callback: it has no hook, such as on_epoch_end(epoch, logs). Give one flat list of callbacks; "
    "a function becomes one by LambdaCallback(on_epoch_end=function)."
)
STOPPING = EarlyStopping("loss")


class OfLightning:
    def on_train_end(self, trainer, pl_module):
        raise AssertionError


class Short(Callback):
    def on_epoch_end(self, epoch):  # type: ignore[override]
        raise AssertionError


REFUSED: dict[str, tuple[Any, str]] = {
    "a number": ([5], NO_HOOK.format("5")),
    "a name": (["early_stopping"], NO_HOOK.format("'early_stopping'")),
    "a name alone": ("early_stopping", NO_HOOK.format("'early_stopping'")),
    "None among them": ([STOPPING, None], NO_HOOK.format("None")),
    "a nested list": ([[STOPPING]], NO_HOOK.format(repr([STOPPING]))),
    "a dict": ({"stop": STOPPING}, NO_HOOK.format(repr({"stop": STOPPING}))),
    "a function": ([len], NO_HOOK.format("<built-in function len>")),
    "an optimizer's class": ([torch.optim.SGD], "callbacks: SGD is a class; give an object of it."),
    "a class": ([EarlyStopping], "callbacks: EarlyStopping is a class; give an object of it: EarlyStopping(...)."),
    "a scheduler's class": ([lr_scheduler.StepLR], "callbacks: StepLR is a class; give an object of it."),
    "of Lightning": (
        [OfLightning()],
        "callbacks: OfLightning.on_train_end(trainer, pl_module) cannot be called as on_train_end(logs).",
    ),
    "a hook with less": (
        [Short()],
        "callbacks: Short.on_epoch_end(epoch) cannot be called as on_epoch_end(epoch, logs).",
    ),
    "a function with less": (
        [SimpleNamespace(on_train_batch_end=lambda logs: None)],
        "callbacks: SimpleNamespace.on_train_batch_end(logs) cannot be called as on_train_batch_end(batch, logs).",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_what_is_no_callback_is_refused(name: str, method: str):
    given, text = REFUSED[name]
    model = made()
    model.compile("sgd", "mse")
    data = (X,) if method == "predict" else (X, Y)
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        getattr(model, method)(*data, verbose=0, callbacks=given)


def other_scheduler() -> Any:
    return lr_scheduler.StepLR(torch.optim.SGD([torch.zeros(1)], lr=0.1), 1)


OTHER = (
    "TorchScheduler: the StepLR was made for another optimizer than the one the model trains with. Compile the model "
    "with that optimizer of torch, or give the class and its options: TorchScheduler(StepLR, step_size=3)."
)


@pytest.mark.parametrize("optimizer", ["sgd", optimizers.Adam(), torch.optim.SGD, (torch.optim.SGD, {"lr": 0.1})])
def test_a_scheduler_of_another_optimizer_is_refused(optimizer: Any):
    model = made()
    model.compile(optimizer, "mse")
    before = model.get_weights()
    with pytest.raises(ValueError, match=f"^{re.escape(OTHER)}$"):
        model.fit(X, Y, verbose=0, callbacks=[other_scheduler()])
    for array, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(array, expected)


def plateau() -> Any:
    return lr_scheduler.ReduceLROnPlateau(torch.optim.SGD([torch.zeros(1)], lr=0.1))


def fitted(callbacks: Any) -> None:
    model = made()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0, callbacks=callbacks)


PLATEAU = (
    "TorchScheduler: ReduceLROnPlateau follows a number of the logs: give its name, as "
    'TorchScheduler(..., monitor="val_loss").'
)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda: TorchScheduler(lr_scheduler.ReduceLROnPlateau), ValueError, PLATEAU),
        (lambda: fitted([plateau()]), ValueError, PLATEAU),
        (
            lambda: TorchScheduler(lr_scheduler.StepLR),
            TypeError,
            "TorchScheduler: StepLR: missing a required argument: 'step_size'; give its options after it, by name.",
        ),
        (
            lambda: TorchScheduler(lr_scheduler.StepLR, step_size=1, gama=0.5),
            TypeError,
            "TorchScheduler: StepLR: got an unexpected keyword argument 'gama'; give its options after it, by name.",
        ),
        (
            lambda: TorchScheduler(other_scheduler(), 3, gamma=0.5),
            TypeError,
            "TorchScheduler: StepLR is made already; found options (3, gamma).",
        ),
    ],
)
def test_options_of_a_scheduler_are_checked_at_once(act: Any, error: type[Exception], text: str):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        act()
