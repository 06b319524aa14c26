"""Callbacks that keep or hand on what happens: `History`, which `fit` returns, and `LambdaCallback`."""

from collections.abc import Callable
from numbers import Real
from typing import Any

from torchkeras.callbacks.base import HOOKS, Callback


class History(Callback):
    """`history`: for each name its values, one an epoch; `epoch`: the epochs' numbers. Each `fit` starts anew."""

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)

    def __repr__(self) -> str:
        count = len(self.epoch)
        last = {name: values[-1] for name, values in self.history.items() if values}
        told = ", ".join(f"{name}={value:.6g}" for name, value in last.items() if isinstance(value, Real))
        return f"<History: {count} epoch{'s' * (count != 1)}{': ' * bool(told)}{told}>"


class LambdaCallback(Callback):
    """Functions as hooks: those of epochs and batches are called with (number, logs), those of runs with (logs).

    Every hook of `Callback` is taken by its name. Raises TypeError for another name or what cannot be called.
    """

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_batch_begin: Callable[..., Any] | None = None,
        on_batch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        **hooks: Callable[..., Any] | None,
    ):
        hooks |= {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        for name, function in hooks.items():
            if name not in HOOKS:
                raise TypeError(f"LambdaCallback: {name!r} is no hook; there are {', '.join(HOOKS)}.")
            if function is None:
                continue
            if not callable(function):
                raise TypeError(f"LambdaCallback: {name} must be a function; found {function!r}.")
            setattr(self, name, function)
