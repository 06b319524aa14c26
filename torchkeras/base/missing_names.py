"""The error for a name that a public module does not have: it says where the name stands, or which one is nearest."""

from __future__ import annotations

import difflib
import importlib
import sys
from functools import reduce
from opcode import opmap
from types import ModuleType
from typing import Any

ROOT = __name__.partition(".")[0]
IMPORT_FROM = opmap["IMPORT_FROM"]


class MissingNameError(AttributeError):
    """A module has no such name. The text is made when it is read, so `hasattr` costs no search."""

    def __init__(self, module: str, name: str):
        super().__init__(module, name, name=name)
        self.module, self.wanted = module, name

    def __str__(self) -> str:
        return f"module {self.module!r} has no attribute {self.wanted!r}{_hint(self.module, self.wanted)}"


class MissingImportError(ImportError):
    """`from module import name` finds no such name. Python would write the text itself after an AttributeError."""

    def __init__(self, module: str, name: str):
        super().__init__(module, name, name=module)
        self.module, self.wanted = module, name

    def __str__(self) -> str:
        return f"cannot import name {self.wanted!r} from {self.module!r}{_hint(self.module, self.wanted)}"


def missing(module: str, name: str) -> MissingNameError | MissingImportError:
    """The error that the `__getattr__` of a module raises: it depends on whether a `from` statement calls that."""
    caller = sys._getframe(2)
    in_from = caller.f_code.co_code[caller.f_lasti] == IMPORT_FROM
    # Python looks there next, for a module whose import has begun.
    if in_from and f"{module}.{name}" not in sys.modules:
        return MissingImportError(module, name)
    return MissingNameError(module, name)


def _hint(module: str, name: str) -> str:
    """Where the name stands, or which one is nearest; empty for a name like no other."""
    if place := _place(module, name):
        return f"; there is {place}"
    nearest = difflib.get_close_matches(name, dir(sys.modules[module]), 1, 0.7)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def _place(module: str, name: str) -> str | None:
    """Where a name stands: in another public module, or at the same place of Keras 3's API."""
    if name.startswith("_"):
        return None
    root = importlib.import_module(ROOT)
    for public in root.__all__:
        found = getattr(root, public)
        if isinstance(found, ModuleType) and not isinstance(getattr(found, name, found), ModuleType):
            return f"{ROOT}.{public}.{name}"
    keras3 = importlib.import_module(f"{ROOT}.keras3")
    path = module.split(".")[1:]
    try:
        reduce(getattr, [*path, name], keras3)
    except AttributeError:
        return None
    return ".".join([keras3.__name__, *path, name])


def missing_from(module: str) -> Any:
    """The `__getattr__` of a module: raises the error of `missing`."""

    def get(name: str) -> Any:
        raise missing(module, name)

    return get
