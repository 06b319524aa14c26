"""The closed list of functions that a formula may call, by their names: `K.mean`, `tf.reduce_sum`, `np.prod`, `len`.

`K.name` is the backend's function of that name, and `tf.name` what TensorFlow has in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchkeras import config
from torchkeras.keras2 import backend
from torchkeras.keras2.lambdas import keras_functions, numpy_arrays, tensorflow_functions
from torchkeras.keras2.lambdas.arithmetic import BUILTINS, MATH, NUMPY, OPERATORS, fail
from torchkeras.keras2.lambdas.keras_functions import Function

OWN = "own "  # before the name of a function of the user's

# Functions of values that are known: computed while a function is read, where all that they take is known.
PURE: Mapping[str, Function] = {
    **OPERATORS,
    **BUILTINS,
    **{f"np.{name}": function for name, function in NUMPY.items()},
    **{f"math.{name}": function for name, function in MATH.items()},
    "K.backend": lambda: "tensorflow",
    "K.epsilon": config.epsilon,
    "K.floatx": config.floatx,
    "K.image_data_format": config.image_data_format,
    "K.image_dim_ordering": config.image_dim_ordering,
    "K.normalize_data_format": backend.normalize_data_format,
}

# Functions that also take how the layer runs, its mode and device.
SCOPED: Mapping[str, Callable[..., object]] = {
    **{f"K.{name}": function for name, function in keras_functions.SCOPED.items()},
    **{f"tf.{name}": function for name, function in tensorflow_functions.SCOPED.items()},
    **{f"np.{name}": function for name, function in numpy_arrays.SCOPED.items()},
}

_ACTIVATIONS = ("elu", "hard_sigmoid", "relu", "sigmoid", "softmax", "softplus", "softsign", "tanh")
_TENSORS: Mapping[str, Function] = {
    **{f"K.{name}": function for name, function in keras_functions.FUNCTIONS.items()},
    **{f"tf.{name}": function for name, function in tensorflow_functions.FUNCTIONS.items()},
    **{f"ops.{name}": function for name, function in tensorflow_functions.OPS.items()},
    **{f"np.{name}": function for name, function in numpy_arrays.ARRAYS.items()},
    **{f"activations.{name}": keras_functions.FUNCTIONS[name] for name in _ACTIVATIONS},
    "activations.exponential": keras_functions.FUNCTIONS["exp"],
    "activations.linear": keras_functions.FUNCTIONS["identity"],
    "activations.selu": tensorflow_functions.FUNCTIONS["nn.selu"],
    "raise": fail,
    "shape": backend.int_shape,
    "dtype": backend.dtype,
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
