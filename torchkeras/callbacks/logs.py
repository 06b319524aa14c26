"""Numbers by name: `Logs`, which are read from the device when somebody asks; `Named`, where `accuracy` finds `acc`.

`Averages` are means over batches, weighted by batch size, which are read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from typing import Any

import torch

from torchkeras.base.arrays import to_numpy

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

    A name finds its number under the other Keras's name too: `logs["accuracy"]` reads `acc`. A tensor is not copied, so
    it must not be changed in place afterwards. What asks for all numbers at once (`items`, `copy`, `json.dumps`, `|`,
    pickling) reads them in one transfer. A copy is a plain dict of numbers.

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
        """Call what are functions now: their values change no more. Nothing is read from the device."""
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
