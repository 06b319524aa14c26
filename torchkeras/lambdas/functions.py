"""The closed list of functions that a formula may call, by their names: `K.mean`, `tf.reduce_sum`, `np.prod`, `len`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchkeras import config
from torchkeras.lambdas import keras_functions, tensorflow_functions
from torchkeras.lambdas.arithmetic import BUILTINS, MATH, NUMPY, OPERATORS
from torchkeras.lambdas.keras_functions import Scope

Function = Callable[..., Any]
OWN = "own "  # before the name of a function of the user's

# What is known without a tensor: the session's settings.
SETTINGS: Mapping[str, Function] = {
    "K.backend": lambda: "tensorflow",
    "K.epsilon": config.epsilon,
    "K.floatx": config.floatx,
    "K.image_data_format": config.image_data_format,
    "K.image_dim_ordering": lambda: "tf" if config.image_data_format() == "channels_last" else "th",
}

# Functions of numbers that are known: computed while a function is read, where all that they take is known.
PURE: Mapping[str, Function] = {
    **OPERATORS,
    **BUILTINS,
    **{f"np.{name}": function for name, function in NUMPY.items()},
    **{f"math.{name}": function for name, function in MATH.items()},
    **SETTINGS,
}

# Functions that also take how the layer runs, its mode and device.
SCOPED: Mapping[str, Function] = {
    **{f"K.{name}": function for name, function in keras_functions.SCOPED.items()},
    **{f"tf.{name}": function for name, function in tensorflow_functions.SCOPED.items()},
    "np.array": keras_functions.SCOPED["constant"],
    "np.asarray": keras_functions.SCOPED["constant"],
}

_TENSORS: Mapping[str, Function] = {
    **{f"K.{name}": function for name, function in keras_functions.FUNCTIONS.items()},
    **{f"tf.{name}": function for name, function in tensorflow_functions.FUNCTIONS.items()},
    **{f"ops.{name}": function for name, function in tensorflow_functions.OPS.items()},
    "shape": lambda x: tuple(x.shape),
    "dtype": keras_functions.FUNCTIONS["dtype"],
}


def lookup(name: str) -> Function | None:
    """The function of this name; None if it is not on the list."""
    return PURE.get(name) or SCOPED.get(name) or _TENSORS.get(name)


def operation(name: str) -> Function:
    """The function of this name. Raises KeyError if it is not on the list."""
    found = lookup(name)
    if found is None:
        raise KeyError(name)
    return found


__all__ = ["OWN", "PURE", "SCOPED", "SETTINGS", "Function", "Scope", "lookup", "operation"]
