"""Learning rates set once an epoch: `LearningRateScheduler`, `ReduceLROnPlateau`."""

import inspect
import math
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import torch

from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.monitoring import Monitored, checked, count
from torchkeras.callbacks.progress import say
from torchkeras.optimizers import TorchOptimizer


class LearningRateScheduler(Callback):
    """lr = schedule(epoch, lr) before each epoch, or schedule(epoch) where it takes one argument only.

    `epoch` is counted from 0. The logs of the epoch get `lr`. `verbose=1` says it. Raises TypeError for what is no
    function, ValueError when it gives no float or the optimizer has no `lr`.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0):
        if not callable(schedule):
            raise TypeError(f"LearningRateScheduler: schedule must be a function; found {schedule!r}.")
        self.schedule, self.verbose = schedule, verbose
        self._takes_rate = _takes(schedule, 2)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        optimizer = with_rate(self)
        rate = self.schedule(epoch, float(optimizer.lr)) if self._takes_rate else self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)):
            raise ValueError(f"LearningRateScheduler: schedule must give a float; for epoch {epoch} it gave {rate!r}.")
        set_rate(optimizer, float(rate))
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is {float(rate):g}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = float(self.model.optimizer.lr)


class ReduceLROnPlateau(Monitored):
    """lr = max(lr * factor, min_lr) after `patience` epochs in a row in which the monitored number was not better.

    Better means by more than `min_delta` (its old name: `epsilon`). For `cooldown` epochs after that none counts.
    `mode`: see `Monitored`. The logs of the epoch get `lr`, as it was before. `verbose=1` says it. Raises ValueError
    for a factor that is not below 1.
    """

    state_names = ("best", "wait", "cooldown_counter")

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float | None = None,
    ):
        super().__init__(monitor, mode)
        name = "ReduceLROnPlateau"
        if epsilon is not None:
            warnings.warn(f"{name}: epsilon is called min_delta now.", stacklevel=2)
            min_delta = epsilon
        self.factor = checked(name, "factor", factor, "a number of at least 0 and below 1", lambda v: 0 <= v < 1)
        self.min_delta = checked(name, "min_delta", min_delta, "a number", math.isfinite)
        self.min_lr = checked(name, "min_lr", min_lr, "a number of at least 0", lambda v: v >= 0)
        self.patience, self.cooldown = count(name, "patience", patience), count(name, "cooldown", cooldown)
        self.verbose = verbose
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        self.best = self.worst
        self.wait = self.cooldown_counter = 0

    def in_cooldown(self) -> bool:
        """Whether epochs do not count for now."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        optimizer = with_rate(self)
        if logs is not None:
            logs["lr"] = float(optimizer.lr)
        current = self.monitored(logs)
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.better(current, self.best + (self.min_delta if self.rises else -self.min_delta)):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and optimizer.lr > self.min_lr:
                self._reduce(epoch, optimizer)

    def _reduce(self, epoch: int, optimizer: Any) -> None:
        set_rate(optimizer, max(float(optimizer.lr) * self.factor, self.min_lr))
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: {self.monitor} is on a plateau, the learning rate is {optimizer.lr:g} now.")


def with_rate(callback: Callback, takes_schedule: bool = False) -> Any:
    """The optimizer of the callback's model. Raises ValueError when it has no `lr`, or would lose a schedule."""
    optimizer = getattr(callback.model, "optimizer", None)
    name = type(callback).__name__
    if not hasattr(optimizer, "lr"):
        found = "no optimizer" if optimizer is None else type(optimizer).__name__
        raise ValueError(f"{name}: the model's optimizer must have an `lr`; found {found}.")
    rate = getattr(optimizer, "lr", None)
    if not (takes_schedule or is_number(rate)):
        raise ValueError(
            f"{name}: the optimizer's lr is a {type(rate).__name__}, which this callback would replace; give "
            "the optimizer a number."
        )
    return optimizer


def set_rate(optimizer: Any, rate: Any) -> None:
    """Set the learning rate: of an optimizer of torch with several groups that of the first, and theirs with it."""
    if isinstance(optimizer, TorchOptimizer):
        optimizer.set_rate(rate)
    else:
        optimizer.lr = rate


def is_number(rate: Any) -> bool:
    """Whether a learning rate is one: an optimizer of torch may have it as a tensor."""
    return isinstance(rate, (Real, torch.Tensor))


def _takes(function: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with so many arguments by position; True where Python cannot tell."""
    try:
        inspect.signature(function).bind(*range(arguments))
    except ValueError:
        return True
    except TypeError:
        return False
    return True
