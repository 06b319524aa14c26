"""Lists, tuples and dicts of layers and modules in a user's attributes, registered with torch.

torch registers a module that is an attribute, but not one in a list. So a list, tuple or dict that a user's layer
stores becomes one that is a torch module too: its items, now or later, are parts of the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

from torch import nn


class Tracked(nn.Module):
    """The base of the containers: their modules and parameters are registered under their index or key."""

    def __init__(self, items: Any = ()):
        nn.Module.__init__(self)
        self._register()

    def _pairs(self) -> Iterable[tuple[Any, Any]]:
        raise NotImplementedError

    def _put(self, key: Any, item: Any) -> None:
        raise NotImplementedError

    def _register(self) -> None:
        if "_modules" not in self.__dict__:  # being unpickled, item by item: the state comes last
            return
        self._modules.clear()
        self._parameters.clear()
        for key, plain in list(self._pairs()):
            item = tracked(plain)
            if item is not plain:
                self._put(key, item)
            if isinstance(item, nn.Module):
                self._modules[_path(key)] = item
            elif isinstance(item, nn.Parameter) and not getattr(item, "_added_weight", False):
                self._parameters[_path(key)] = item

    def unregistered(self) -> Iterator[tuple[Any, Any]]:
        """The items that torch does not register: plain values and tensors, by index or key."""
        seen = self._modules.keys() | self._parameters.keys()
        return ((key, item) for key, item in self._pairs() if _path(key) not in seen)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not isinstance(value, REGISTERED):
            return
        for key, _ in list(self._pairs()):
            if _path(key) == name:  # the value replaces this item
                self._put(key, value)

    __hash__ = object.__hash__


def _changing(base: type, name: str) -> Callable[..., Any]:
    method = getattr(base, name)

    def change(container: Any, /, *args: Any, **kwargs: Any) -> Any:
        result = method(container, *args, **kwargs)
        container._register()
        return result

    change.__name__, change.__doc__ = name, f"As `{base.__name__}.{name}`; torch sees the change."
    return change


class TrackedList(Tracked, list):  # type: ignore[misc]
    """A list whose modules and parameters are a torch module's."""

    def __init__(self, items: Iterable[Any] = ()):
        list.__init__(self, items)
        super().__init__()

    def _pairs(self) -> Iterable[tuple[int, Any]]:
        return enumerate(list.__iter__(self))

    def _put(self, key: int, item: Any) -> None:
        list.__setitem__(self, key, item)

    def __iter__(self) -> Iterator[Any]:
        return (self._parameters.get(str(index), item) for index, item in enumerate(list.__iter__(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        return self._parameters.get(str(index % len(self)), list.__getitem__(self, index))

    __eq__, __repr__, __hash__ = list.__eq__, list.__repr__, object.__hash__  # type: ignore[assignment]
    append, extend, insert, pop, remove, clear, sort, reverse, __setitem__, __delitem__, __iadd__, __imul__ = (
        _changing(list, name)
        for name in (
            *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
            *("__setitem__", "__delitem__", "__iadd__", "__imul__"),
        )
    )


class TrackedTuple(Tracked, Sequence[Any]):
    """A tuple in all but its type, whose modules and parameters are a torch module's.

    It cannot derive from `tuple`: torch makes weak references to modules, which tuples do not support.
    """

    def __init__(self, items: Iterable[Any] = ()):
        self.__dict__["_items"] = tuple(map(tracked, items))
        super().__init__()

    def _pairs(self) -> Iterable[tuple[int, Any]]:
        return enumerate(self.__dict__["_items"])

    def _put(self, key: int, item: Any) -> None:
        items = list(self.__dict__["_items"])
        items[key] = item
        self.__dict__["_items"] = tuple(items)

    def __len__(self) -> int:
        return len(self.__dict__["_items"])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self.__dict__["_items"][index]

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return (*self, *other)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, TrackedTuple) else other)

    def __repr__(self) -> str:
        return repr(self.__dict__["_items"])

    __hash__ = object.__hash__


class TrackedDict(Tracked, dict):  # type: ignore[misc]
    """A dict whose modules and parameters are a torch module's."""

    def __init__(self, items: Any = ()):
        dict.__init__(self, items)
        super().__init__()

    def _pairs(self) -> Iterable[tuple[Any, Any]]:
        return dict.items(self)

    def _put(self, key: Any, item: Any) -> None:
        dict.__setitem__(self, key, item)

    def __getitem__(self, key: Any) -> Any:
        return self._parameters.get(_path(key), dict.__getitem__(self, key))

    __eq__, __repr__, __hash__ = dict.__eq__, dict.__repr__, object.__hash__  # type: ignore[assignment]
    pop, popitem, clear, update, setdefault, __setitem__, __delitem__, __ior__ = (
        _changing(dict, name)
        for name in ("pop", "popitem", "clear", "update", "setdefault", "__setitem__", "__delitem__", "__ior__")
    )


KINDS: dict[type, type[Tracked]] = {list: TrackedList, tuple: TrackedTuple, dict: TrackedDict}
CONTAINERS = {*KINDS, *KINDS.values()}
REGISTERED = (nn.Module, nn.Parameter)  # what torch registers under the name of an attribute


def to_track(value: Any) -> bool:
    """Whether a value is a plain list, tuple or dict that holds modules or parameters, or is empty and may get some."""
    if type(value) not in KINDS:
        return False
    if not value:
        return type(value) is not tuple
    return any(isinstance(item, REGISTERED) or to_track(item) for item in _items(value))


def tracked(value: Any) -> Any:
    """A plain container of modules as one that torch sees into; any other value as it is."""
    return KINDS[type(value)](value) if to_track(value) else value


def hidden(value: Any, depth: int = 3) -> Iterator[nn.Module | nn.Parameter]:
    """The modules and parameters in containers that torch does not see into: sets, named tuples, subclasses of dict."""
    if isinstance(value, Tracked) or not isinstance(value, (list, tuple, dict, set, frozenset)) or not depth:
        return
    for item in tuple(_items(value)):  # a copy: another thread may add to it meanwhile
        if isinstance(item, REGISTERED):
            yield item
        else:
            yield from hidden(item, depth - 1)


def with_replaced(value: Any, replaced: Mapping[int, Any]) -> Any:
    """The value with other objects for those with these ids, also in lists, tuples and dicts; or the same object."""
    if id(value) in replaced:
        return replaced[id(value)]
    if type(value) not in CONTAINERS:
        return value
    before = list(_items(value))
    after = [with_replaced(item, replaced) for item in before]
    if all(map(is_, before, after)):
        return value
    if isinstance(value, dict):
        return type(value)(zip(value, after, strict=True))
    return type(value)(after)


def _items(container: Any) -> Collection[Any]:
    return container.values() if isinstance(container, dict) else container


def _path(key: Any) -> str:
    return str(key).replace(".", "_")  # torch splits the keys of a state_dict at the dots
