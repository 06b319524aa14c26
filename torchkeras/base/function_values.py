"""What a function uses beside its arguments (closure, defaults and globals), and what an object keeps."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

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


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that an object keeps itself: a copy, since another thread may set one meanwhile."""
    return dict(getattr(value, "__dict__", {}))


def _globals(function: FunctionType) -> list[str]:
    return [name for kind, name in loads(function.__code__) if kind == "LOAD_GLOBAL"]


def loads(code: CodeType) -> Iterator[tuple[str, Any]]:
    """The instructions of a function, and of those inside it, with the names that they load."""
    for each in dis.get_instructions(code):
        yield each.opname, each.argval
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from loads(each)
