"""Lists, tuples and dicts of layers and modules, as users keep them in attributes, made known to torch.

torch sees what stands in an attribute, not what stands in a list. So a list, tuple or dict that a user's layer keeps
becomes a list, tuple or dict that is a torch module too: what is in it, now or later, is a part of the layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch import nn


class Tracked(nn.Module):
    """What the kinds of containers share: their modules and parameters are registered under index or key."""

    def __init__(self, items: Any = ()):
        nn.Module.__init__(self)
        self._register()

    def _pairs(self) -> Iterable[tuple[Any, Any]]:
        raise NotImplementedError

    def _put(self, key: Any, item: Any) -> None:
        raise NotImplementedError

    def _register(self) -> None:
        if "_modules" not in self.__dict__:  # while it is unpickled, item by item: its state comes last
            return
        self._modules.clear()
        self._parameters.clear()
        for key, item in list(self._pairs()):
            if type(item) in KINDS and wanted(item):
                item = tracked(item)
                self._put(key, item)
            if isinstance(item, nn.Module):
                self._modules[_path(key)] = item
            elif isinstance(item, nn.Parameter) and not getattr(item, "_added_weight", False):
                self._parameters[_path(key)] = item

    def unregistered(self) -> Iterator[tuple[Any, Any]]:
        """What torch does not see of it: plain values and tensors, by index or key."""
        seen = self._modules.keys() | self._parameters.keys()
        return ((key, item) for key, item in self._pairs() if _path(key) not in seen)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, (nn.Module, nn.Parameter)):  # another module in an item's place
            for key, _ in list(self._pairs()):
                if _path(key) == name:
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
        found = list.__getitem__(self, index)
        return self._parameters.get(str(index % len(self)), found)

    __eq__, __repr__, __hash__ = list.__eq__, list.__repr__, object.__hash__  # type: ignore[assignment]
    append, extend, insert, pop, remove, clear, sort, reverse, __setitem__, __delitem__, __iadd__, __imul__ = (
        _changing(list, name)
        for name in (
            *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
            *("__setitem__", "__delitem__", "__iadd__", "__imul__"),
        )
    )


class TrackedTuple(Tracked, Sequence[Any]):
    """What a tuple is in all but its type, its modules and parameters being a torch module's.

    No tuple itself: torch keeps weak references to modules, which tuples cannot have.
    """

    def __init__(self, items: Iterable[Any] = ()):
        self.__dict__["_items"] = tuple(tracked(i) if type(i) in KINDS and wanted(i) else i for i in items)
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


def wanted(value: Any) -> bool:
    """Whether a plain list, tuple or dict holds modules or parameters, or is empty and may come to hold some."""
    items = value.values() if isinstance(value, dict) else value
    return (not value and type(value) is not tuple) or any(
        isinstance(item, (nn.Module, nn.Parameter)) or (type(item) in KINDS and wanted(item)) for item in items
    )


def tracked(value: Any) -> Any:
    """The same list, tuple or dict as one that torch sees into."""
    return KINDS[type(value)](value)


def hidden(value: Any, depth: int = 3) -> Iterator[nn.Module | nn.Parameter]:
    """The modules and parameters in containers that torch does not see into: sets, named tuples, dicts of one's own."""
    if isinstance(value, Tracked) or not isinstance(value, (list, tuple, dict, set, frozenset)) or not depth:
        return
    items = value.values() if isinstance(value, dict) else value
    for item in tuple(items):  # a copy: another thread may add to it meanwhile
        if isinstance(item, (nn.Module, nn.Parameter)):
            yield item
        else:
            yield from hidden(item, depth - 1)


def with_replaced(value: Any, replaced: Mapping[int, Any]) -> Any:
    """A value with other objects in the place of those with these ids, also in lists, tuples and dicts; or itself."""
    if id(value) in replaced:
        return replaced[id(value)]
    kind = next((base for base in KINDS if type(value) in (base, KINDS[base])), None)
    if kind is None:
        return value
    pairs = list(value.items() if kind is dict else enumerate(value))
    items = {key: with_replaced(item, replaced) for key, item in pairs}
    if all(items[key] is item for key, item in pairs):
        return value
    contents: Any = items if kind is dict else items.values()
    return type(value)(contents)


def _path(key: Any) -> str:
    return str(key).replace(".", "_")  # torch parts the keys of a state_dict at the dots
