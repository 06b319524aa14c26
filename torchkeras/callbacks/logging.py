"""Callbacks that keep or hand on what happens: `BaseLogger`, `History`, which `fit` returns, and `LambdaCallback`."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from torchkeras.callbacks.averages import Averages
from torchkeras.callbacks.base import HOOKS, Callback
from torchkeras.callbacks.logs import Logs, Named


class BaseLogger(Callback):
    """Writes over an epoch's logs with means of its batches' numbers, weighted by batch size.

    `fit` gives these means already: this is for loops that do not. Names in `stateful_metrics` keep the last batch's
    value. Numbers stay on the device until someone reads the logs.
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None):
        self.stateful_metrics = set(stateful_metrics or ())
        self._averages = Averages(())

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._averages = Averages(self.params.get("metrics") or (), self.stateful_metrics)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        self._averages.add(logs, logs.get("size", 0))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is None:
            return
        means = self._averages.values()
        for name in means:
            logs[name] = means.unread(name) if isinstance(logs, Logs) else means[name]


class History(Callback):
    """`history`: for each name its values, one an epoch; `epoch`: the epochs' numbers. Each `fit` starts anew.

    `history["accuracy"]` finds `acc`, and the other way, see `Named`.
    """

    state_names = ("epoch", "history")

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = Named()

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch = []
        self.history = Named()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in numbers(logs).items():
            self.history.setdefault(name, []).append(value)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.history = Named(self.history)

    def __repr__(self) -> str:
        count = len(self.epoch)
        last = {name: values[-1] for name, values in self.history.items() if values}
        told = ", ".join(f"{name}={value:.6g}" for name, value in last.items() if isinstance(value, Real))
        return f"<History: {count} epoch{'s' * (count != 1)}{': ' * bool(told)}{told}>"


def numbers(logs: Any) -> dict[str, Any]:
    """All logs as a plain dict, read in one transfer where that can be."""
    return logs.copy() if isinstance(logs, Logs) else dict(logs or {})


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
