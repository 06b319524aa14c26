"""Callbacks that keep or hand on what happens: `BaseLogger`, `LambdaCallback`, and `History`, which `fit` returns."""

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from torchkeras.base.rules import NAMES, optional, read
from torchkeras.callbacks.base import HOOKS, Callback, arguments_of, takes
from torchkeras.callbacks.logs import Averages, Logs, Named


class BaseLogger(Callback):
    """Puts the means of the batches' numbers, weighted by batch size, into the logs of each epoch.

    `fit` does so by itself: this is for loops that do not. Numbers stay on the device until someone reads the logs.

    Options:
        stateful_metrics (names or None, default None): numbers that are not averaged; the last batch's value counts.

    Example:
        >>> logger, logs = BaseLogger(), {}
        >>> logger.set_params({"metrics": ["loss"]})
        >>> logger.on_epoch_begin(0)
        >>> logger.on_batch_end(0, {"loss": 1.0, "size": 3})
        >>> logger.on_batch_end(1, {"loss": 2.0, "size": 1})
        >>> logger.on_epoch_end(0, logs)
        >>> logs["loss"]
        1.25

    Source: https://keras.io/api/callbacks/
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None):
        self.stateful_metrics = set(read("BaseLogger", "stateful_metrics", optional(NAMES), stateful_metrics) or ())
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
            value = means.unread(name)
            if not callable(value) or name not in logs:  # a metric with a state may have counted a validation by now
                logs[name] = value if isinstance(logs, Logs) else means[name]


class History(Callback):
    """The numbers of each epoch: `history` has a list for each name, `epoch` the numbers of the epochs.

    `fit` returns one, and each `fit` starts with an empty one. `history["accuracy"]` finds `acc`, and the other way
    round.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,))])
        >>> model.compile("sgd", "mse")
        >>> found = model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0)
        >>> found.epoch, len(found.history["loss"])
        ([0, 1, 2], 3)

    Source: https://keras.io/api/callbacks/
    """

    state_names = ("epoch", "history")
    needed_to_resume = False

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
        text = ", ".join(f"{name}={value:.6g}" for name, value in last.items() if isinstance(value, Real))
        return f"<History: {count} epoch{'s' * (count != 1)}{': ' * bool(text)}{text}>"


def numbers(logs: Any) -> dict[str, Any]:
    """All logs as a plain dict, read in one transfer where possible."""
    return logs.copy() if isinstance(logs, Logs) else dict(logs or {})


class LambdaCallback(Callback):
    """Functions as hooks.

    Hooks of epochs and batches are called with (number, logs), those of whole runs with (logs).

    Options:
        on_epoch_begin, on_epoch_end (function or None, default None): called with (epoch, logs).
        on_batch_begin, on_batch_end (function or None, default None): called with (batch, logs).
        on_train_begin, on_train_end (function or None, default None): called with (logs).
        hooks (function or None): every other hook of `Callback`, by its name.

    Errors:
        TypeError: another name than that of a hook, or what cannot be called with these arguments.

    Example:
        >>> announce = LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs))
        >>> announce.on_epoch_end(0, {"loss": 0.5})
        0 {'loss': 0.5}

    Source: https://keras.io/api/callbacks/lambda_callback/
    """

    _may_differ = True

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
            if not callable(function) or not takes(function, arguments_of(name)):
                wanted = ", ".join(arguments_of(name))
                raise TypeError(f"LambdaCallback: {name} must be a function of ({wanted}); found {function!r}.")
            setattr(self, name, function)
