"""Numbers by name: `Logs`, read from the device late; `Named`, a dict in which `accuracy` finds `acc`."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from typing import Any

import torch

Value = float | torch.Tensor | Callable[[], float | torch.Tensor]

# Keras 2.2.4's name of a number and Keras 3's: as words of a name, or the whole of it.
WORDS = {"acc": "accuracy", "ce": "crossentropy", "accuracy": "acc", "crossentropy": "ce"}
WHOLE = {"lr": "learning_rate", "learning_rate": "lr"}


def other_name(name: Any) -> str | None:
    """The name that a number has in the other Keras, `val_acc` for `val_accuracy`; None where both have one."""
    if not isinstance(name, str):
        return None
    other = WHOLE.get(name) or "_".join(WORDS.get(word, word) for word in name.split("_"))
    return None if other == name else other


class Named(dict[str, Any]):
    """A dict of numbers. What is not there under one Keras's name is looked up under the other's, see `other_name`.

    Its own names stay as they were given: looking up changes nothing.
    """

    def own_name(self, name: str) -> str:
        """The name under which a number is kept. Raises KeyError for one that is not there under either."""
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
    """A `Named` dict of numbers; a tensor of no axes becomes a float when it is first read, and once.

    `values`: plain numbers, such tensors, or functions without arguments that give either (called at the first read).
    A tensor must not be changed in place afterwards: it is not copied. What asks for all numbers at once (`items`,
    `copy`, `json.dumps`, `|`, pickling) reads them in one transfer; a copy is a `Named` dict of numbers.
    """

    def __init__(self, values: Mapping[str, Value] | Iterable[tuple[str, Value]] = (), /, **more: Value):
        dict.__init__(self, values, **more)

    def __getitem__(self, name: str) -> Any:
        name = self.own_name(name)
        value = dict.__getitem__(self, name)
        if callable(value):
            value = value()
        if isinstance(value, torch.Tensor) and value.dim() == 0:
            value = value.item()
        dict.__setitem__(self, name, value)
        return value

    def __delitem__(self, name: str) -> None:
        dict.__delitem__(self, self.own_name(name))

    def __iter__(self) -> Iterator[str]:  # a dict whose class has this is copied by `keys` and `[]`, in C too
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
        """The value as it is: a number, a tensor that stays on its device, or a function that gives either."""
        return dict.__getitem__(self, self.own_name(name))

    def items(self) -> Any:
        self.copy()
        return ItemsView(self)

    def values(self) -> Any:
        self.copy()
        return ValuesView(self)

    def copy(self) -> Named:
        """A dict of all numbers, read now: those of one type and device in one transfer."""
        raw = {name: dict.__getitem__(self, name) for name in self}
        called = {name: value() if callable(value) else value for name, value in raw.items()}
        unread = {name: v for name, v in called.items() if isinstance(v, torch.Tensor) and v.dim() == 0}
        if len({(value.dtype, value.device) for value in unread.values()}) == 1:
            called.update(zip(unread, torch.stack(list(unread.values())).tolist(), strict=True))
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

    # By `[]`, where a dict of C would hand out what is not read yet.
    setdefault: Any = MutableMapping.setdefault
    update: Any = MutableMapping.update

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Named, (dict(self.copy()),)

    def __repr__(self) -> str:
        return repr(dict(self.copy()))


def named(logs: Mapping[str, Any] | None) -> Named:
    """Logs of any kind as `Named`: these themselves where they are."""
    return logs if isinstance(logs, Named) else Named(logs or {})
