"""`import keras` answered by this package as Keras 3, in a process that asks for it: `alias.install()`.

An importer at the head of `sys.meta_path` answers for `keras` and its modules. They are the modules of
`torchkeras.keras3` themselves, so what is set in one is set for all. Nothing is patched: a Keras that is installed
stays as it is on the disk, and is only not found by this process.
"""

from __future__ import annotations

import dis
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

HERE = "torchkeras.keras3"
NAME = "keras"
# The modules of Keras 3.15; those that are not here are missing by their names.
_MODULES = """
activations applications backend callbacks config constraints datasets distillation distribution dtype_policies export
initializers layers legacy losses metrics mixed_precision models ops ops.image ops.linalg ops.nn ops.numpy optimizers
optimizers.legacy optimizers.schedules preprocessing preprocessing.image preprocessing.sequence quantizers random
regularizers saving tree utils utils.bounding_boxes visualization wrappers
"""
MODULES = list(_MODULES.split())
WITHIN = ("applications", "datasets")  # all of whose modules are public


class KerasImporter(MetaPathFinder, Loader):
    """Finds `keras` and its modules, each the very module of `torchkeras.keras3`."""

    def __init__(self) -> None:
        self._specs: dict[str, Any] = {}  # of the modules here, which importing them by another name replaces

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of Keras 3 that is here; None for what is not of Keras.

        Raises ModuleNotFoundError for a name of Keras that is missing here.
        """
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        if _module(fullname) is None:
            if not sys._getframe(2).f_code.co_name.startswith("_find_and_load"):
                return None  # `importlib.util.find_spec` asks whether there is one
            raise ModuleNotFoundError(_instead(fullname) or _missing("module", fullname, MODULES), name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module here."""
        module = _module(spec.name)
        assert module is not None
        self._specs[spec.name] = module.__spec__, module.__loader__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is, but for the error of a name that it lacks."""
        name = module.__name__.replace(HERE, NAME, 1)
        module.__spec__, module.__loader__ = self._specs.pop(name)
        for known, each in _loaded():
            sys.modules[known] = each
            vars(each).setdefault("__getattr__", partial(_no_name, known))


def _module(fullname: str) -> ModuleType | None:
    """The module here for one of Keras; None if there is none."""
    inside = fullname.removeprefix(NAME).removeprefix(".")
    if inside and inside not in MODULES and not inside.startswith(tuple(f"{name}." for name in WITHIN)):
        return None
    here = f"{HERE}.{inside}".removesuffix(".")
    if importlib.util.find_spec(HERE) is None or (inside and _is_missing(here)):
        return None
    return importlib.import_module(here)


def _instead(fullname: str) -> str:
    """What `torchkeras.keras3` says of a module of Keras that it leaves out; "" for what is not of Keras."""
    first, *_ = inside = fullname.removeprefix(f"{NAME}.").split(".")
    if first in MODULES and len(inside) == 1:
        try:
            getattr(importlib.import_module(HERE), first)
        except AttributeError as error:
            return str(error)
    return ""


def _is_missing(module: str) -> bool:
    """Whether a module, or one that it stands in, is not here."""
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        return True


def _loaded() -> Iterator[tuple[str, ModuleType]]:
    """The modules of Keras that are imported here, by their names there."""
    for inside in ("", *MODULES):
        module = sys.modules.get(f"{HERE}.{inside}".removesuffix("."))
        if module is not None:
            yield f"{NAME}.{inside}".removesuffix("."), module


def _no_name(module: str, name: str) -> Any:
    """Raise the error for a name that a module lacks."""
    known = [f"{module}.{each}" for each in vars(sys.modules[module]) if not each.startswith("_")]
    message = _missing("name", f"{module}.{name}", known)
    asking = sys._getframe(1)
    if dis.opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM":  # which has a message of its own for others
        raise ImportError(message, name=module)
    raise AttributeError(message)


def _missing(what: str, name: str, known: Sequence[str]) -> str:
    """What to say of a name that is missing: the nearest one that is known."""
    nearest = get_close_matches(name.removeprefix(f"{NAME}."), [each.removeprefix(f"{NAME}.") for each in known], 1)
    instead = f" The nearest is {NAME}.{nearest[0]}." if nearest else ""
    return f"No {what} {name!r} in torchkeras.keras3, which answers `import keras` here.{instead}"


def _installed() -> Iterator[KerasImporter]:
    return (finder for finder in sys.meta_path if isinstance(finder, KerasImporter))


def install() -> None:
    """Let `import keras` mean Keras 3 of this package from now on, in this process.

    Errors:
        ImportError: another Keras is imported already, or answered as Keras 2.

    Example:
        >>> from torchkeras.keras3 import alias
        >>> alias.install()
        >>> from keras import layers
        >>> layers.Dense(2).name
        'dense'
        >>> alias.uninstall()
    """
    if next(_installed(), None) is not None:
        return
    if NAME in sys.modules or any(getattr(finder, "name", None) == NAME for finder in sys.meta_path):
        raise ImportError(f"{NAME!r} means another Keras already in this process: install the alias before it.")
    sys.meta_path.insert(0, KerasImporter())


def uninstall() -> None:
    """Take back what `install` did: `import keras` means what is installed again."""
    if next(_installed(), None) is None:
        return
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, KerasImporter)]
    for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
        module = sys.modules.pop(name)
        added = vars(module).get("__getattr__")
        if isinstance(added, partial) and added.func is _no_name:
            del vars(module)["__getattr__"]
