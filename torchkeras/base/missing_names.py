"""The error for a name that a public module does not have: it says where the name stands, or which one is nearest."""

from __future__ import annotations

import difflib
import importlib
import sys
from functools import reduce
from types import ModuleType
from typing import Any

ROOT = __name__.partition(".")[0]


class MissingNameError(AttributeError):
    """A module has no such name. The text is made when it is read, so `hasattr` costs no search."""

    def __init__(self, module: str, name: str):
        super().__init__(module, name, name=name)
        self.module, self.wanted = module, name

    def __str__(self) -> str:
        text = f"module {self.module!r} has no attribute {self.wanted!r}"
        if place := _place(self.module, self.wanted):
            return f"{text}; there is {place}"
        nearest = difflib.get_close_matches(self.wanted, dir(sys.modules[self.module]), 1, 0.7)
        return f"{text}; did you mean {nearest[0]!r}?" if nearest else text


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
    """The `__getattr__` of a module: raises `MissingNameError`."""

    def get(name: str) -> Any:
        raise MissingNameError(module, name)

    return get
