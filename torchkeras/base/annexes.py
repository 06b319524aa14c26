"""Parts of the package that are imported when they are first used.

Annexes, such as what several processes need, are declared by the package's root: the core asks for one by what it does,
and names no module of it. A module that is imported by its name, but may wait, has a stand-in (`later`), and a package
may have names that wait (`names_later`). Both stand in the `else` of an `if TYPE_CHECKING:` with the plain imports.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from torchkeras.base.interrupts import imported
from torchkeras.base.other_project import refuse_other_project

refuse_other_project()

_MODULES: dict[str, str] = {}


def declare(modules: Mapping[str, str]) -> None:
    """Say which module serves a purpose: `declare({"eject": "torchkeras.export.plain.eject"})`."""
    _MODULES.update(modules)


@cache
def annex(purpose: str) -> Any:
    """The module that was declared for a purpose, imported."""
    return importlib.import_module(_MODULES[purpose])


class _Later:
    """Stands for a module, and imports it when it is first asked for a name."""

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(imported(self._module), name)


def later(module: str) -> Any:
    """A stand-in for a module: `load = later("torchkeras.saving.load")`."""
    return _Later(module)


_missing = later("torchkeras.base.missing_names")


def names_later(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package that imports modules when they are first asked for.

    These are the modules of the package, and those in `places`, by the names that the package has from them.
    """

    def get(name: str) -> Any:
        if name in places:
            found = getattr(imported(places[name]), name)
        elif not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}"):
            found = imported(f"{package}.{name}")
        else:
            raise _missing.missing(package, name)
        vars(sys.modules[package])[name] = found
        return found

    def names() -> list[str]:
        there = vars(sys.modules[package])
        return sorted({*there, *places, *there.get("__all__", ())})

    return get, names
