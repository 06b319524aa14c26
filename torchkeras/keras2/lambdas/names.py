"""What a name means inside a stored function: a module of which some functions are known, a function, or a constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras.keras2.lambdas.arithmetic import BUILTINS, CONSTANTS
from torchkeras.keras2.lambdas.functions import lookup
from torchkeras.keras2.lambdas.limits import Refused
from torchkeras.keras2.lambdas.tensorflow_functions import TYPES


@dataclass(frozen=True)
class Module:
    """A module, by the name that the closed list of functions has for it."""

    name: str


@dataclass(frozen=True)
class Named:
    """A function of the closed list."""

    name: str


# Names that Keras's own modules have, or that everybody gives to these modules.
GLOBALS: Mapping[str, str] = {
    "K": "K",
    "KB": "K",
    "KTF": "K",
    "ktf": "tf",
    "activations": "activations",
    "backend": "K",
    "keras": "keras",
    "tf": "tf",
    "tensorflow": "tf",
    "np": "np",
    "numpy": "np",
    "math": "math",
    "ops": "ops",
}
# Modules, by where they are found; what is in none of them is looked up in the list of functions.
MODULES: Mapping[str, str] = {
    "K.tf": "tf",
    "keras.activations": "activations",
    "keras.K": "K",
    "keras.backend": "K",
    "keras.ops": "ops",
    "tf.compat": "tf.compat",
    "tf.compat.v1": "tf",
    "tf.image": "tf.image",
    "tf.image.ResizeMethod": "tf.image.ResizeMethod",
    "tf.keras": "keras",
    "tf.linalg": "tf.linalg",
    "tf.math": "tf.math",
    "tf.nn": "tf.nn",
    "tf.random": "tf.random",
    "tensorflow.python": "tensorflow.python",
    "tensorflow.python.keras": "keras",
}
IMPORTS: Mapping[str, str] = {
    "keras": "keras",
    "keras.backend": "keras",
    "math": "math",
    "numpy": "np",
    "tensorflow": "tf",
    "tensorflow.keras": "tf",
    "tensorflow.keras.backend": "tf",
    "tensorflow.python.keras": "keras",
}
# Functions that differ between TensorFlow 1 and 2.
BY_TENSORFLOW: Mapping[str, Mapping[int, str]] = {
    "tf.image.resize": {1: "tf.image.resize_images", 2: "tf.image.resize_2"},
}
SPECIAL = ("K.in_train_phase", "K.in_test_phase", "isinstance")  # which `calls` reads in its own way
IGNORED = ("print",)  # functions that change nothing
ERRORS = ("AssertionError", "Exception", "NotImplementedError", "RuntimeError", "TypeError", "ValueError")
CLASSES = ("list", "tuple", "int", "float", "str", "bool")


def of_global(name: str) -> Any:
    """What a global name means. Raises Refused for one that is not known."""
    if name in GLOBALS:
        return Module(GLOBALS[name])
    if name in (*BUILTINS, *SPECIAL, *IGNORED, *ERRORS):
        return Named(name)
    if name in ("None", "True", "False"):  # names in Python 2
        return {"None": None, "True": True, "False": False}[name]
    raise Refused(f"the name {name!r}, which is not known here; pass its value in custom_objects={{{name!r}: ...}}")


def of_module(module: Module, name: str, tensorflow: int | None = None) -> Any:
    """What a name in a module means, in TensorFlow 1 or 2. Raises Refused for one that is not on the list."""
    dotted = f"{module.name}.{name}"
    if dotted in BY_TENSORFLOW:
        if tensorflow is None:
            raise Refused(f"{dotted}, which is another function in TensorFlow 1 than in 2; the file does not tell")
        return Named(BY_TENSORFLOW[dotted][tensorflow])
    if dotted in MODULES:
        return Module(MODULES[dotted])
    if dotted in CONSTANTS:
        return CONSTANTS[dotted]
    if module.name == "tf" and name in TYPES:
        return name
    if lookup(dotted) is not None or dotted in SPECIAL:
        return Named(dotted)
    raise Refused(f"{dotted}, which is not on the list of known functions")


def imported(name: str, names: Any) -> Module:
    """What `import name`, or `from name import names`, gives."""
    if name not in IMPORTS:
        raise Refused(f"an import of {name!r}")
    found = Module(IMPORTS[name])
    if names:  # the innermost module, from which they are taken
        for part in name.split(".")[1:]:
            inner = of_module(found, part) if f"{found.name}.{part}" in MODULES else found
            found = inner if isinstance(inner, Module) else found
    return found
