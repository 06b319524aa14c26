"""Schedulers of torch drive optimizers of Keras and of torch by the same rates as by hand."""

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler

from torchkeras import clear_session, optimizers
from torchkeras.callbacks import Callback, TorchScheduler
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.optimizers import schedules

X, Y = np.zeros((4, 3), "float32"), np.ones((4, 2), "float32")


class Rates(Callback):
    def __init__(self) -> None:
        self.epochs: list[float] = []
        self.batches: list[float] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epochs.append(self.model.optimizer.lr)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.batches.append(self.model.optimizer.lr)


def compiled(optimizer: Any) -> Sequential:
    clear_session()
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile(optimizer, "mse")
    return model


def rates_by_hand(make: Any, steps: int, lr: float = 0.1, **options: Any) -> list[float]:
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=lr, **options)
    scheduler, found = make(optimizer), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


SCHEDULERS: dict[str, Any] = {
    "StepLR": partial(lr_scheduler.StepLR, step_size=2),
    "Exponential": partial(lr_scheduler.ExponentialLR, gamma=0.5),
    "OneCycle": partial(lr_scheduler.OneCycleLR, max_lr=1.0, total_steps=20),
    "Cosine": partial(lr_scheduler.CosineAnnealingWarmRestarts, T_0=3),
    "Sequential": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.5)], [2]
    ),
    "Lambda": partial(lr_scheduler.LambdaLR, lr_lambda=lambda epoch: 1 / (1 + epoch)),
}


@pytest.mark.parametrize("kind", ["keras", "torch"])
@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.filterwarnings("ignore:The epoch parameter in `scheduler.step:UserWarning")  # SequentialLR's own call
def test_rates_are_those_of_torch(name: str, kind: str):
    keras, torch_own = optimizers.SGD(0.1, 0.9), partial(torch.optim.SGD, lr=0.1, momentum=0.9)
    model, rates = compiled(keras if kind == "keras" else torch_own), Rates()
    model.fit(X, Y, epochs=3, batch_size=2, verbose=0, callbacks=[rates, TorchScheduler(SCHEDULERS[name], per="batch")])
    expected = rates_by_hand(SCHEDULERS[name], 6, momentum=0.9)
    assert rates.batches[1:] == pytest.approx(expected[1:])
    model, rates = compiled(optimizers.Adam(0.1)), Rates()
    model.fit(X, Y, epochs=4, verbose=0, callbacks=[TorchScheduler(SCHEDULERS[name]), rates])
    assert rates.epochs == pytest.approx(rates_by_hand(SCHEDULERS[name], 4, momentum=0.9))


@pytest.mark.parametrize(
    ("optimizer", "option"), [(optimizers.SGD(0.1, 0.5), "momentum"), (optimizers.Adam(), "beta_1")]
)
def test_momentum_cycles(optimizer: Any, option: str):
    model = compiled(optimizer)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[TorchScheduler(SCHEDULERS["OneCycle"], per="batch")])
    assert 0.85 < getattr(optimizer, option) < 0.95


def test_a_scheduler_may_be_made_for_an_optimizer_of_keras():
    model, rates = compiled(optimizers.SGD(0.1)), Rates()
    scheduler = lr_scheduler.StepLR(model.optimizer.as_torch(), 1, 0.5)
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[scheduler, rates])
    assert rates.epochs == pytest.approx([0.1, 0.05, 0.025])
    other = compiled(optimizers.SGD(0.1))
    with pytest.raises(ValueError, match="the StepLR was made for another optimizer than the one the model trains"):
        other.fit(X, Y, verbose=0, callbacks=[scheduler])


def test_a_plateau_is_monitored():
    model, rates = compiled(optimizers.SGD(0.1)), Rates()
    make = partial(lr_scheduler.ReduceLROnPlateau, patience=0, threshold=10.0, threshold_mode="abs")
    plateau = TorchScheduler(make, monitor="loss")
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[plateau, rates])
    assert rates.epochs == pytest.approx([0.1, 0.1, 0.01])


@pytest.mark.parametrize("kind", ["keras", "torch"])
def test_it_goes_on_after_a_stop(kind: str):
    def make() -> Any:
        return optimizers.SGD(0.1, 0.5) if kind == "keras" else partial(torch.optim.SGD, lr=0.1, momentum=0.5)

    def scheduler() -> TorchScheduler:
        return TorchScheduler(SCHEDULERS["OneCycle"], per="batch")

    whole, rates = compiled(make()), Rates()
    first = scheduler()
    whole.fit(X, Y, epochs=3, verbose=0, callbacks=[first])
    state = copy.deepcopy((first.state_dict(), whole.optimizer.state_dict()))
    whole.fit(X, Y, epochs=3, verbose=0, callbacks=[first, rates])  # the same optimizer: it goes on
    other, others = compiled(make()), Rates()
    second = scheduler()
    assert second.state_dict() == {}
    second.load_state_dict({})
    second.load_state_dict(state[0])
    other.optimizer.load_state_dict(state[1])
    other.fit(X, Y, epochs=3, verbose=0, callbacks=[second, others])
    assert others.batches == rates.batches
    second.load_state_dict(state[0])
    assert other.optimizer.lr == rates.batches[0]


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (
            lambda: TorchScheduler(3),  # type: ignore[arg-type]
            TypeError,
            (
                "TorchScheduler: scheduler must be a class or function of an optimizer, such as "
                "functools.partial(StepLR, step_size=3); found 3."
            ),
        ),
        (
            lambda: TorchScheduler(SCHEDULERS["StepLR"], per="step"),
            ValueError,
            "TorchScheduler: per must be one of 'epoch', 'batch', or None; found 'step'.",
        ),
        (
            lambda: compiled("sgd").fit(
                X, Y, verbose=0, callbacks=[TorchScheduler(lr_scheduler.ReduceLROnPlateau, monitor="val_loss")]
            ),
            ValueError,
            "TorchScheduler: monitor 'val_loss' is not among the logs, which have loss.",
        ),
        (
            lambda: optimizers.SGD(schedules.CosineDecay(0.1, 9)).as_torch(),
            ValueError,
            "SGD: its lr is a CosineDecay; a scheduler of torch needs a number to begin with.",
        ),
    ],
)
def test_errors(act: Any, error: type[Exception], text: str):
    with pytest.raises(error) as caught:
        act()
    assert str(caught.value) == text
