"""What Python does not have itself.

`first`, lazy properties, room for deep recursion, a rest for the garbage collector, values that a function uses.
"""

from __future__ import annotations

import dis
import gc
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property  # noqa: TID251  # the base of what is used instead
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


def first(items: Iterable[T], default: T) -> T:
    """The first of the items: `next(iter(items), default)`, which the compiler of torch 2.8 cannot follow."""
    for item in items:
        return item
    return default


# --- properties that are computed when they are first asked for -------------------------------------------------------


class lazy_property(cached_property[T]):  # noqa: N801  # used as a decorator
    """As `functools.cached_property`, without a lock; all threads get the value that was stored first.

    Until Python 3.11 that one holds a lock while it computes, one for all objects. A thread that holds it, and waits
    for another lock such as HDF5's, waits for ever if the thread that has the other asks for the property too.
    """

    if not TYPE_CHECKING:  # the types are those of the base

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


class hideable_property:  # noqa: N801  # used as a decorator
    """A property that an attribute of the object hides, also a submodule or a tensor that a module registers: one that
    came late to a class, whose name a user's subclass may have given to something of its own.
    """

    def __init__(self, compute: Callable[[Any], Any]):
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        name = self._compute.__name__
        for registered in ("_modules", "_parameters", "_buffers"):
            if name in instance.__dict__.get(registered, ()):
                return instance.__dict__[registered][name]
        return self._compute(instance)


# --- the limit of recursion -------------------------------------------------------------------------------------------


CALLERS = 500  # frames that are left to whoever calls: up to here Python's own limit is enough
_raising = threading.Lock()


def at_least(limit: int) -> None:
    """Let the limit be `limit` or more."""
    with _raising:  # else a lower one may be set after a higher one
        if sys.getrecursionlimit() < limit:
            sys.setrecursionlimit(limit)


def leave_room(levels: int) -> None:
    """Leave room for texts, configs or groups of that many levels in one another: each takes up to 3 frames of ours,
    and one more where C counts its own.
    """
    at_least(CALLERS + 5 * levels)


# --- the garbage collector --------------------------------------------------------------------------------------------


@contextmanager
def collector_resting() -> Iterator[None]:
    """Within the block, Python's garbage collector does not run, in any thread; it is left off if it was.

    For a block that makes many objects, none of which is garbage: the collector would look at all of them each time
    that there are a quarter more.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- what a function uses besides its arguments -----------------------------------------------------------------------


# Whether the name of a module is of a package whose functions use no tensor of a user's.
installed = re.compile(r"(torchkeras|torch|numpy)(\.|$)").match
EMPTY = CellType()


def used_by(function: FunctionType) -> dict[str, Any]:
    """The values that a function uses, by the names that it has for them; none for one of these packages.

    >>> w = 3
    >>> used_by(lambda x: x * w)
    {'w': 3}
    """
    if installed(function.__module__ or ""):
        return {}
    found = {name: function.__globals__[name] for name in _globals(function) if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found |= {name: cell.cell_contents for name, cell in cells if cell != EMPTY}
    given = function.__defaults__ or ()
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    found |= dict(zip(positional[len(positional) - len(given) :], given, strict=True))
    return found | (function.__kwdefaults__ or {})


def computes_with(kind: type, name: str) -> bool:
    """Whether a class's `call` or `forward`, or another function of a user's that these may call, names this function.

    A method of a user's class counts, and what its methods use.
    """
    functions = [value for base in kind.__mro__ if not installed(base.__module__) for value in vars(base).values()]
    seen: set[Any] = set()
    return any(_names(each, name, seen) for each in (*functions, getattr(kind, "call", None), kind.forward))


def _names(value: Any, name: str, seen: set[Any]) -> bool:
    """Whether the text of a function, or of one that it uses, has a name."""
    function = inspect.unwrap(value) if callable(value) else value
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    if any(name in code.co_names or name in code.co_consts for code in _codes(function.__code__)):
        return True
    return any(_names(used, name, seen) for used in used_by(function).values())


def with_signature(function: FunctionType, other: Callable[..., Any]) -> Any:
    """A copy of a function with the signature of another one, as `inspect`, torch.export and torch.fx read it."""
    made = FunctionType(function.__code__, function.__globals__, function.__name__, closure=function.__closure__)
    made.__doc__, made.__module__, made.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    made.__wrapped__ = other  # type: ignore[attr-defined]
    return made


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that an object keeps itself: a copy, since another thread may set one meanwhile."""
    return dict(getattr(value, "__dict__", {}))


def _globals(function: FunctionType) -> list[str]:
    return [name for kind, name in loads(function.__code__) if kind == "LOAD_GLOBAL"]


def loads(code: CodeType) -> Iterator[tuple[str, Any]]:
    """The instructions of a function, and of those inside it, with the names that they load."""
    for own in _codes(code):
        for each in dis.get_instructions(own):
            yield each.opname, each.argval


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of those inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)
