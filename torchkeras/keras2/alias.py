"""`import keras` answered by this package, in a process that asks for it.

An importer at the head of `sys.meta_path` answers for `keras` and all its modules, old names and new, by the table in
`modules.py`. Nothing is patched: a Keras that is installed stays as it is on the disk, and is only not found by this
process. `tensorflow` and `theano` are left alone; where one is not installed, the error says what has a name here. Who
asks for it has what scripts of Keras take from TensorFlow, too (`tf/`).
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from torchkeras.keras2.modules import MODULES, SAME, VERSION
from torchkeras.keras2.tf.modules import TensorFlow

ANSWERED = ("keras", "tensorflow", "tensorflow.keras", "tf_keras")
ANSWER = "`torchkeras run --as {0} SCRIPT`, or first `alias.install(['keras', '{0}'])` of torchkeras.keras2"
# Modules of Keras 3 alone.
OF_KERAS3 = ("config", "distribution", "dtype_policies", "export", "ops", "quantizers", "random", "saving", "tree")
WITH_IT = "`torchkeras run --as keras3 SCRIPT` answers Keras 3, which has it"
ELSEWHERE = {
    "tensorflow": "what `keras.backend` has of it stands in torchkeras.backend; "
    f"{ANSWER.format('tensorflow.keras')}, answers tensorflow.keras and what scripts of Keras take from the rest",
    "tensorflow.keras": f"{ANSWER.format('tensorflow.keras')}, answers it",
    "tf_keras": f"{ANSWER.format('tf_keras')}, answers it",
    "theano": "what `keras.backend` has of it stands in torchkeras.backend",
}


class KerasImporter(MetaPathFinder, Loader):
    """Finds and makes the modules of one name for Keras: `keras`, `tensorflow.keras` or `tf_keras`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of Keras; None for a module of something else.

        Raises ModuleNotFoundError for an import of a module of Keras 3.
        """
        inside = self._inside(fullname)
        if inside is not None and inside.partition(".")[0] in OF_KERAS3 and _is_importing():
            raise ModuleNotFoundError(f"No module named {fullname!r} in Keras {VERSION}: {WITH_IT}.")
        if inside not in MODULES and inside not in SAME:
            return None
        inner = f"{inside}." if inside else ""
        return ModuleSpec(fullname, self, is_package=any(name.startswith(inner) for name in (*MODULES, *SAME)))

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """An ordinary module; `exec_module` fills it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module with the names that Keras had there."""
        inside = self._inside(module.__name__)
        assert inside is not None
        if inside in SAME:  # the very module, so that what is set in it is set for all
            same = importlib.import_module(SAME[inside])
            sys.modules[module.__name__] = same
            for name in [name.removeprefix(f"{inside}.") for name in SAME if name.startswith(f"{inside}.")]:
                setattr(same, name, same)  # `from keras.backend import tensorflow_backend` looks nowhere else
            for name in [name.removeprefix(f"{inside}.") for name in MODULES if name.startswith(f"{inside}.")]:
                setattr(same, name, importlib.import_module(f"{module.__name__}.{name}"))
            return
        names: dict[str, Any] = {}
        for source in MODULES[inside]:
            names.update(_public(importlib.import_module(source)))
        module.__dict__.update(names)
        module.__doc__ = f"{module.__name__}, answered by torchkeras."
        module.__dict__["__all__"] = [name for name in names if not name.startswith("_")]
        if not inside:
            module.__dict__["__version__"] = VERSION
        module.__dict__["__getattr__"] = partial(self._further, module.__name__)

    def _further(self, module: str, name: str) -> Any:
        """A module inside another, imported when it is asked for; genuine Keras imports all at once."""
        if self.find_spec(f"{module}.{name}") is None:
            with_it = f": {WITH_IT}" if name in OF_KERAS3 else ""
            raise AttributeError(
                f"module {module!r} has no {name!r} (Keras {VERSION}, answered by torchkeras){with_it}"
            )
        return importlib.import_module(f"{module}.{name}")

    def _inside(self, fullname: str) -> str | None:
        """The path of a module inside Keras, "" for Keras itself; None for what is not of it."""
        if fullname == self.name:
            return ""
        return fullname.removeprefix(f"{self.name}.") if fullname.startswith(f"{self.name}.") else None


class Elsewhere(MetaPathFinder):
    """The last to be asked: says of a framework that is not installed which of its uses have a name here."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for a name in `ELSEWHERE` in an import; None for all else and outside of one."""
        if fullname in ELSEWHERE and _is_importing():
            raise ModuleNotFoundError(f"No module named {fullname!r}: {ELSEWHERE[fullname]}.", name=fullname)
        return None


def _is_importing() -> bool:
    """Whether an import asked the finder that calls this; else `importlib.util.find_spec` asks whether there is one."""
    return sys._getframe(3).f_code.co_name.startswith("_find_and_load")


def install(names: Iterable[str] = ("keras",)) -> None:
    """Let `import keras` mean this package from now on, in this process.

    Arguments:
        names (list of texts, default ("keras",)): which names mean it: "keras", "tensorflow.keras", "tf_keras"; and
            "tensorflow" for what scripts take from that beside Keras, which "tensorflow.keras" has too.

    Errors:
        ValueError: a name is none of these.
        ImportError: another Keras is imported already; "tensorflow.keras" where TensorFlow is installed.
    """
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in ANSWERED:
            raise ValueError(f"alias.install: a name must be one of {', '.join(map(repr, ANSWERED))}; found {name!r}.")
    for name in names:
        if name == "tensorflow" or any(getattr(finder, "name", None) == name for finder in sys.meta_path):
            continue
        _check_free(name)
        sys.meta_path.insert(0, KerasImporter(name))
    if any(name.startswith("tensorflow") for name in names):
        _append_once(TensorFlow)
    _append_once(Elsewhere)  # the last to be asked; TensorFlow that is installed comes first
    sys.meta_path.sort(key=lambda finder: isinstance(finder, Elsewhere))


def _check_free(name: str) -> None:
    """Raise ImportError for a name that means another Keras already."""
    if name in sys.modules:
        raise ImportError(f"{name!r} is imported already, from elsewhere: import torchkeras.as_keras before it.")
    if name == "tensorflow.keras" and importlib.util.find_spec("tensorflow") is not None:
        raise ImportError(
            "tensorflow is installed here, and its own keras answers inside it: 'tensorflow.keras' can mean "
            "torchkeras only where tensorflow is not installed."
        )


def _append_once(kind: type[MetaPathFinder]) -> None:
    """Append an importer of a class to `sys.meta_path` unless one is there."""
    if not any(isinstance(finder, kind) for finder in sys.meta_path):
        sys.meta_path.append(kind())


def uninstall() -> None:
    """Take back what `install` did: `import keras` means what is installed again."""
    aliases = [finder for finder in sys.meta_path if isinstance(finder, KerasImporter)]
    ours = (KerasImporter, TensorFlow, Elsewhere)
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, ours)]
    for finder in aliases:
        for name in [name for name in sys.modules if finder._inside(name) is not None]:
            del sys.modules[name]
    for name, module in list(sys.modules.items()):
        if isinstance(getattr(module, "__loader__", None), TensorFlow):
            del sys.modules[name]


def _public(module: ModuleType) -> dict[str, Any]:
    """What scripts may import from a module. Of the annex that is all but what Python keeps there itself."""
    ours = module.__name__.startswith("torchkeras.keras2")
    listed = module.__dict__.get("__all__", ())

    def is_public(name: str, value: Any) -> bool:
        if name.startswith("__"):
            return False
        return ours or (not isinstance(value, ModuleType) and (name in listed or not name.startswith("_")))

    return {name: value for name, value in vars(module).items() if is_public(name, value)}
