"""`import tensorflow` answered by this package as TensorFlow 2, in a process that asks for it: `alias.install()`.

An importer at the head of `sys.meta_path` answers for `tensorflow` and its modules by the tables in `names.py`, and for
`keras` as for `tensorflow.keras`. A TensorFlow that is installed stays as it is on the disk, and is only not found by
this process. The classes of Keras are those of `torchkeras.keras3`, into which `keras_classes.py` puts what they had in
these years.
"""

from __future__ import annotations

import dis
import importlib
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from torchkeras.keras2.tf.modules import WITHOUT
from torchkeras.tensorflow2 import keras_classes, names

TF, KERAS = "tensorflow", "keras"
# Where scripts import the modules of `tf.keras` from.
ROOTS = (
    "tensorflow.keras",
    "tensorflow.python.keras",
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2.keras",
    KERAS,
)
INNER = ("api", "api._v2", "api._v2.keras", "src")  # modules of `tf.keras` that stand for it


def _path_in_keras(fullname: str) -> str | None:
    """The path of a module inside `tf.keras`; None for what is not of it."""
    for root in ROOTS:
        if fullname == root or fullname.startswith(f"{root}."):
            inside = fullname.removeprefix(root).removeprefix(".")
            return "" if inside in INNER else inside.removeprefix("api._v2.keras.").removeprefix("src.")
    return None


class Importer(MetaPathFinder, Loader):
    """Finds and makes `tensorflow`, `keras` and the modules in them, or those of `answered` alone."""

    def __init__(self, answered: tuple[str, ...] = (TF, KERAS)) -> None:
        self._answered = answered

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module that is answered; None for any other.

        Raises ModuleNotFoundError for a module of TensorFlow that is missing here.
        """
        if fullname.partition(".")[0] not in self._answered:
            return ModuleSpec(fullname, self) if fullname == WITHOUT else None
        if _names_of(fullname) is None:
            if not sys._getframe(2).f_code.co_name.startswith("_find_and_load"):
                return None  # `importlib.util.find_spec` asks whether there is one
            raise ModuleNotFoundError(_missing("module", fullname), name=fullname)
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """An ordinary module; `exec_module` fills it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module with its names."""
        found = _names_of(module.__name__) or {}
        module.__dict__.update(found)
        module.__doc__ = f"{module.__name__}, answered by torchkeras."
        module.__dict__["__all__"] = [name for name in found if not name.startswith("_")]
        module.__dict__["__getattr__"] = partial(_further, module.__name__)


def _names_of(fullname: str) -> names.Names | None:
    """The names of a module; None where there is none."""
    if fullname in (TF, "tensorflow.python"):
        return {**(names.of_tf("") or {}), "__version__": names.VERSION} if fullname == TF else {}
    inside = _path_in_keras(fullname)
    if inside is None and fullname == "tensorflow.optimizers.schedules":
        inside = "optimizers.schedules"
    if inside is not None:
        return names.of_keras(inside) if inside in names.KERAS else None
    inside = fullname.removeprefix(f"{TF}.")
    inside = inside if names.is_module(inside) else inside.removeprefix("python.")
    return names.of_tf(inside) or {} if names.is_module(inside) else None


def _further(module: str, name: str) -> Any:
    """A module inside another, imported when it is asked for. Raises AttributeError that names what is nearest."""
    if name.startswith("__"):
        raise AttributeError(name)
    if _names_of(f"{module}.{name}") is not None:
        return importlib.import_module(f"{module}.{name}")
    message = _missing("name", f"{module}.{name}")
    asking = sys._getframe(1)
    if dis.opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM":  # which has a message of its own for others
        raise ImportError(message, name=module)
    raise AttributeError(message)


def _missing(what: str, fullname: str) -> str:
    """What to say of a name that is missing: the nearest of its module, else of all."""
    module, _, name = fullname.rpartition(".")
    own = [*(_names_of(module) or ()), *_modules_in(module)]
    longer = [each for each in own if each.endswith(f"_{name}")]
    near = [f"{module}.{each}" for each in [*longer, *get_close_matches(name, own, 1)]]
    near = near or [f"{TF}.{each}" for each in _same_ending(name, names.NAMES)]
    nearest = f" The nearest is {near[0]}." if near else ""
    return f"No {what} {fullname!r} in TensorFlow {names.VERSION} as torchkeras answers it.{nearest}"


def _modules_in(module: str) -> list[str]:
    """The names of the modules in a module."""
    inside = _path_in_keras(module)
    known, start = (names.NAMES, module.removeprefix(TF)) if inside is None else (names.KERAS, inside)
    start = f"{start}.".removeprefix(".")
    return [each.removeprefix(start).partition(".")[0] for each in known if each and each.startswith(start)]


def _same_ending(name: str, known: Iterable[str]) -> list[str]:
    by_end = {each.rpartition(".")[2]: each for each in known}
    return [by_end[each] for each in get_close_matches(name, by_end, 1)]


def install(beside_keras3: bool = False) -> None:
    """Let `import tensorflow` and `import keras` mean TensorFlow 2 of this package from now on, in this process.

    `beside_keras3`: `import tensorflow` alone, for a script whose `import keras` is answered as Keras 3, whose classes
    then stay as they are.

    Errors:
        ImportError: another one is imported already.

    Example:
        >>> from torchkeras.tensorflow2 import alias
        >>> alias.install()
        >>> import tensorflow as tf
        >>> float(tf.reduce_sum(tf.constant([1.0, 2.0])))
        3.0
        >>> alias.uninstall()
    """
    if any(isinstance(finder, Importer) for finder in sys.meta_path):
        return
    answered = (TF,) if beside_keras3 else (TF, KERAS)
    for name in answered:
        if name in sys.modules or any(getattr(finder, "name", None) == name for finder in sys.meta_path):
            raise ImportError(f"{name!r} is imported already, from elsewhere: install the alias before it.")
    sys.meta_path.insert(0, Importer(answered))
    keras_classes.put(tensors_alone=beside_keras3)


def uninstall() -> None:
    """Take back what `install` did."""
    if not any(isinstance(finder, Importer) for finder in sys.meta_path):
        return
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Importer)]
    for name in [name for name in sys.modules if name.partition(".")[0] in (TF, KERAS)]:
        del sys.modules[name]
    keras_classes.take_back()
