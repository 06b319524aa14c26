"""Numbers by name, and the callbacks that keep or hand them on.

`Logs` are read from the device when somebody asks, and so are `Averages`, means over batches. In `Named`, `accuracy`
finds `acc`. `History` is what `fit` returns.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from numbers import Real
from typing import Any

import torch

from torchkeras.base.arrays import to_numpy
from torchkeras.base.rules import NAMES, optional, read
from torchkeras.callbacks.base import HOOKS, Callback, arguments_of, takes

Value = float | torch.Tensor | Callable[[], float | torch.Tensor]

# Keras 2.2.4's name of a number and Keras 3's: words of a name, or a whole name.
WORDS = {"acc": "accuracy", "ce": "crossentropy", "accuracy": "acc", "crossentropy": "ce"}
WORDS |= {"mse": "mean_squared_error", "mae": "mean_absolute_error"}
WORDS |= {"mape": "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error"}
WHOLE = {"lr": "learning_rate", "learning_rate": "lr"}


def other_name(name: Any) -> str | None:
    """The name of a number in the other Keras, such as `val_acc` for `val_accuracy`; None where there is no other."""
    if not isinstance(name, str):
        return None
    other = WHOLE.get(name) or "_".join(WORDS.get(word, word) for word in name.split("_"))
    return None if other == name else other


class Named(dict[str, Any]):
    """A dict of numbers that finds a number under either Keras's name, see `other_name`.

    The names stay as they were given: looking up changes nothing.
    """

    def own_name(self, name: str) -> str:
        """The name under which a number is kept. Raises KeyError when it is there under neither name."""
        if dict.__contains__(self, name):
            return name
        other = other_name(name)
        if other is None or not dict.__contains__(self, other):
            raise KeyError(name)
        return other

    def __getitem__(self, name: str) -> Any:
        return dict.__getitem__(self, self.own_name(name))

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or dict.__contains__(self, other_name(name))

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


class Logs(Named):
    """Numbers by name, like a dict; a tensor becomes a float when it is first read, one with axes a NumPy array.

    The names of Keras 2 and Keras 3 find the same number: `logs["accuracy"]` reads `acc`. A tensor is not copied, so it
    must not be changed in place afterwards. Operations that need all numbers at once (`items`, `copy`, `json.dumps`,
    `|`, pickling) read them in one transfer. A copy is a plain dict of numbers.

    Options:
        values (mapping or pairs, default ()): numbers, tensors, or functions without arguments that return either and
            are called at the first read.
        more (number, tensor or function): values by name.

    Example:
        >>> logs = Logs(loss=torch.tensor(0.5), acc=lambda: 0.75)
        >>> logs["loss"], logs["accuracy"]
        (0.5, 0.75)
    """

    def __init__(self, values: Mapping[str, Value] | Iterable[tuple[str, Value]] = (), /, **more: Value):
        dict.__init__(self, values, **more)

    def __getitem__(self, name: str) -> Any:
        name = self.own_name(name)
        value = dict.__getitem__(self, name)
        if callable(value):
            value = value()
        if isinstance(value, torch.Tensor):
            value = to_numpy(value) if value.dim() else value.item()
        dict.__setitem__(self, name, value)
        return value

    def __delitem__(self, name: str) -> None:
        dict.__delitem__(self, self.own_name(name))

    def __iter__(self) -> Iterator[str]:  # with it, C copies the dict by `keys` and `[]` too
        return dict.__iter__(self)

    def __reversed__(self) -> Iterator[str]:
        return dict.__reversed__(self)

    def pop(self, name: str, *default: Any) -> Any:
        if default and name not in self:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        name = next(reversed(self), None)
        if name is None:
            raise KeyError("the logs are empty")
        return name, self.pop(name)

    def unread(self, name: str) -> Any:
        """The value as it is: a number, a tensor that stays on its device, or a function that returns either."""
        return dict.__getitem__(self, self.own_name(name))

    def settle(self) -> None:
        """Call the values that are functions now, so that they change no more. Nothing is read from the device."""
        for name, value in dict.items(self):
            if callable(value):
                dict.__setitem__(self, name, value())

    def items(self) -> Any:
        self.copy()
        return ItemsView(self)

    def values(self) -> Any:
        self.copy()
        return ValuesView(self)

    def copy(self) -> Named:
        """A dict of all numbers, read now. Tensors without axes of one type and device are read in one transfer."""
        raw = {name: dict.__getitem__(self, name) for name in self}
        called = {name: value() if callable(value) else value for name, value in raw.items()}
        unread = {name: v for name, v in called.items() if isinstance(v, torch.Tensor) and v.dim() == 0}
        for kind in {(value.dtype, value.device) for value in unread.values()}:
            same = {name: value for name, value in unread.items() if (value.dtype, value.device) == kind}
            called.update(zip(same, torch.stack(list(same.values())).tolist(), strict=True))
        for name, value in called.items():
            dict.__setitem__(self, name, value)
        return Named({name: self[name] for name in called})

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __ior__(self, other: Any) -> Logs:  # type: ignore[override,misc]
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        return self.copy() == (other.copy() if isinstance(other, Logs) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    # Through `[]`: dict's own methods would return values that are not read yet.
    setdefault: Any = MutableMapping.setdefault
    update: Any = MutableMapping.update

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Named, (dict(self.copy()),)

    def __repr__(self) -> str:
        return repr(dict(self.copy()))


def named(logs: Mapping[str, Any] | None) -> Named:
    """Logs of any kind as `Named`; a `Named` is returned as it is."""
    return logs if isinstance(logs, Named) else Named(logs or {})


KEPT = 256  # values of each name that wait to be summed together


class Averages:
    """Means of the numbers of batches: `add` takes the logs of a batch, `values()` returns the means so far.

    The means are tensors or numbers that are not read yet. Values that are functions (what a metric with a state has so
    far), and those whose names are in `as_they_are`, are not averaged: their last value counts.
    """

    def __init__(self, names: Any, as_they_are: Any = ()):
        self.names = tuple(names)
        self.as_they_are = frozenset(as_they_are)
        self._waiting: dict[str, list[tuple[Any, int]]] = {}
        self._totals: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._last: dict[str, Any] = {}

    def add(self, logs: Mapping[str, Any], size: int) -> None:
        """Take the numbers of a batch. Nothing is computed on the device until many wait or somebody asks."""
        names = set(logs)
        for name in self.names:
            if name not in names:
                continue
            value = logs.unread(name) if isinstance(logs, Logs) else logs[name]
            if name in self.as_they_are or callable(value):
                self._last[name] = value
                continue
            waiting = self._waiting.setdefault(name, [])
            waiting.append((value, size))
            if len(waiting) >= KEPT:
                self._sum(name)

    def values(self) -> Logs:
        """The means by name, and the last values of what is not averaged."""
        for name, waiting in self._waiting.items():
            if waiting:
                self._sum(name)
        means = {name: total / max(self._sizes[name], 1) for name, total in self._totals.items()}
        found = {**means, **self._last}
        return Logs({name: found[name] for name in self.names if name in found})

    def _sum(self, name: str) -> None:
        waiting, self._waiting[name] = self._waiting[name], []
        values = [value for value, _ in waiting]
        if all(isinstance(value, torch.Tensor) for value in values):
            # All batches but the last have one size: a sum for each size needs no tensor of sizes.
            sizes = dict.fromkeys(size for _, size in waiting)
            total: Any = sum(torch.stack([v for v, size in waiting if size == each]).sum(0) * each for each in sizes)
        else:
            total = sum(value * size for value, size in waiting)
        self._totals[name] = self._totals[name] + total if name in self._totals else total
        self._sizes[name] = self._sizes.get(name, 0) + sum(size for _, size in waiting)


# --- callbacks --------------------------------------------------------------------------------------------------------


class BaseLogger(Callback):
    """Puts the means of the batches' numbers, weighted by batch size, into the logs of each epoch.

    `fit` does this itself: this callback is for your own loops. Numbers stay on the device until something reads the
    logs.

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
        TypeError: a name that is no hook's, or a function that cannot be called with these arguments.

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
