"""Learning rates set once an epoch: `LearningRateScheduler`, `ReduceLROnPlateau`."""

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import torch

from torchkeras.base.rules import AT_LEAST_0, BELOW_1, FINITE, VERBOSE, integer, read
from torchkeras.callbacks.base import Callback, takes
from torchkeras.callbacks.monitoring import Monitored
from torchkeras.callbacks.progress import say
from torchkeras.optimizers import TorchOptimizer


class LearningRateScheduler(Callback):
    """lr = schedule(epoch, lr) before each epoch, or schedule(epoch) for a function of one argument.

    The logs of the epoch get `lr`.

    Options:
        schedule (function): takes the epoch, counted from 0, and the current rate; returns the new rate as a float.
        verbose (integer of at least 0 or bool, default 0): 1 prints the rate of each epoch.

    Errors:
        TypeError: `schedule` is no function of the epoch.
        ValueError: `verbose` has a bad value, `schedule` does not return a float, or the optimizer has no `lr` that is
            a number.

    Example:
        >>> halve = LearningRateScheduler(lambda epoch, lr: lr * 0.5 if epoch else lr)
        >>> halve.schedule(1, 0.1)
        0.05

    Source: https://keras.io/api/callbacks/learning_rate_scheduler/
    """

    rate_name = "lr"  # in the logs

    def __init__(self, schedule: Callable[..., float], verbose: int = 0):
        if not (callable(schedule) and any(takes(schedule, given) for given in (("epoch", "lr"), ("epoch",)))):
            raise TypeError(
                f"LearningRateScheduler: schedule must be a function of (epoch, lr) or (epoch); found {schedule!r}."
            )
        self.schedule = schedule
        self.verbose = read("LearningRateScheduler", "verbose", VERBOSE, verbose)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        optimizer = with_rate(self)
        takes_rate = takes(self.schedule, ("epoch", "lr"))
        rate = self.schedule(epoch, float(optimizer.lr)) if takes_rate else self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)):
            raise ValueError(f"LearningRateScheduler: schedule must give a float; for epoch {epoch} it gave {rate!r}.")
        set_rate(optimizer, float(rate))
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the learning rate is {float(rate):g}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs[self.rate_name] = float(self.model.optimizer.lr)


class ReduceLROnPlateau(Monitored):
    """lr = max(lr * factor, min_lr) when the monitored number has not improved for `patience` epochs in a row.

    The logs of the epoch get `lr` as it was during the epoch.

    Options:
        factor (float of at least 0 and below 1, default 0.1): what the rate is multiplied by.
        patience (integer of at least 0, default 10): the epochs without improvement after which the rate falls.
        min_delta (float, default 1e-4): an epoch counts as better only when the number is better by more than this.
        cooldown (integer of at least 0, default 0): how many epochs after a fall of the rate do not count.
        min_lr (float of at least 0, default 0): the least rate.
        epsilon (float or None, default None): the old name of `min_delta`; giving it warns.

    Errors:
        ValueError: an option has a bad value, or the optimizer has no `lr` that is a number.

    Example:
        >>> plateau = ReduceLROnPlateau("val_loss", factor=0.5, patience=2)
        >>> plateau.rises
        False

    Source: https://keras.io/api/callbacks/reduce_lr_on_plateau/
    """

    state_names = ("best", "wait", "cooldown_counter")
    rate_name = "lr"  # in the logs

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
        super().__init__(monitor, mode, verbose)
        name = "ReduceLROnPlateau"
        if epsilon is not None:
            warnings.warn(f"{name}: the `epsilon` argument is deprecated; it is called min_delta.", stacklevel=2)
            min_delta = epsilon
        self.factor = read(name, "factor", BELOW_1, factor)
        self.min_delta = read(name, "min_delta", FINITE, min_delta)
        self.min_lr = read(name, "min_lr", AT_LEAST_0, min_lr)
        self.patience = read(name, "patience", integer(0), patience)
        self.cooldown = read(name, "cooldown", integer(0), cooldown)
        self.on_train_begin()

    @property
    def epsilon(self) -> float:
        """The old name of `min_delta`: it sets that, and as in Keras 2.2.4 there is no attribute to read."""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute 'epsilon': it is called min_delta.")

    @epsilon.setter
    def epsilon(self, value: float) -> None:
        self.min_delta = value

    def on_train_begin(self, logs: Any = None) -> None:
        self.best = self.worst
        self.wait = self.cooldown_counter = 0

    def in_cooldown(self) -> bool:
        """Whether epochs do not count at present."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        optimizer = with_rate(self)
        if logs is not None:
            logs[self.rate_name] = float(optimizer.lr)
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
    """Set the learning rate. With several groups of a torch optimizer it is the first's, and the others follow."""
    if isinstance(optimizer, TorchOptimizer):
        optimizer.set_rate(rate)
    else:
        optimizer.lr = rate


def is_number(rate: Any) -> bool:
    """Whether a learning rate is a number. An optimizer of torch may have it as a tensor."""
    return isinstance(rate, (Real, torch.Tensor))
