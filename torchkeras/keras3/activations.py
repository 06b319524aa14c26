"""Activations of Keras 3: on tensors, arrays, numbers and lists, and on symbolic tensors as a node of the graph.

Each is an object that is called like a function. It stands for a function of `torchkeras.activations`, to which it is
equal, and computes by it. Layers keep that function (`of_layer`), by which they find their fast ways.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from torchkeras import activations, registry
from torchkeras.base.nested import Symbolic
from torchkeras.engine.layer.layer import Layer
from torchkeras.keras3.dialect import known
from torchkeras.keras3.families import Family
from torchkeras.keras3.operations import FUNCTIONS
from torchkeras.saving.write import keras3_writing
from torchkeras.tensor_functions.operations.values import floats, tensor_of

__all__ = [
    "celu",
    "deserialize",
    "elu",
    "exponential",
    "gelu",
    "get",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "serialize",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "swish",
    "tanh",
    "tanh_shrink",
    "threshold",
]

Function = Callable[..., Any]


class Activation:
    """A function of this package on tensors, and the operation of `keras.ops` that it is in a graph.

    `short`: what computes tensors, where the function itself does not take all that Keras 3 takes.
    """

    def __init__(self, name: str, function: Function, operation: Function, short: Function | None = None):
        self.function = function
        self._short = short or function
        self._operation = operation
        self.__name__ = self.__qualname__ = name
        self.__module__ = __name__
        self.__doc__ = str(self._short.__doc__).replace(f"{function.__name__}(", f"{name}(")
        self.__signature__ = inspect.signature(self._short)

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, Tensor) and x.is_floating_point():
            return self._short(x, *args, **kwargs)
        if isinstance(x, Symbolic):  # the operation's defaults may be others
            bound = self.__signature__.bind(x, *args, **kwargs)
            bound.apply_defaults()
            return self._operation(*bound.args)
        values = tensor_of(x)
        return self._short(values if self.__name__ in OF_WHOLE else floats(values), *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self is other or self.function is other

    def __hash__(self) -> int:
        return hash(self.function)

    def __reduce__(self) -> str:  # a copy is the object itself
        return self.__name__

    def __repr__(self) -> str:
        return f"<activation {self.__name__}>"


# --- what differs from this package's functions ----------------------------------------------------------------------


def _relu(x: Tensor, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """max(x, 0); with options x above `threshold`, clipped to [0, max_value], else negative_slope * (x - threshold).

    Arguments:
        x (tensor or array): of any shape.
        negative_slope (number, default 0.0): the slope below the threshold.
        max_value (number or None, default None): the greatest value of the result; None is no bound.
        threshold (number, default 0.0): the value up to which x is small.

    Example:
        >>> keras.activations.relu([-1.0, 1.0, 9.0], negative_slope=0.1, max_value=6.0)
        tensor([-0.1000,  1.0000,  6.0000])

    Source: https://keras.io/api/layers/activations/
    """
    return activations.relu(x, negative_slope, max_value, threshold)


def _softmax(x: Tensor, axis: Any = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`.

    Arguments:
        x (tensor or array): of any shape.
        axis (integer, several or None, default -1): the axes along which the result adds up to 1; None is all.

    Example:
        >>> keras.activations.softmax([0.0, 0.0, 1.0])
        tensor([0.2119, 0.2119, 0.5761])

    Source: https://keras.io/api/layers/activations/
    """
    with_logits = isinstance(axis, int) and x.dim() > 1
    return activations.softmax(x, axis) if with_logits else FUNCTIONS["softmax"](x, axis)


def _log_softmax(x: Tensor, axis: Any = -1) -> Tensor:
    """x - log(sum(exp(x))) along `axis`.

    Arguments:
        x (tensor or array): of any shape.
        axis (integer, several or None, default -1): the axes of the sum; None is all.

    Example:
        >>> keras.activations.log_softmax([0.0, 0.0])
        tensor([-0.6931, -0.6931])

    Source: https://keras.io/api/layers/activations/
    """
    return activations.log_softmax(x, axis) if isinstance(axis, int) else FUNCTIONS["log_softmax"](x, axis)


# --- the table -------------------------------------------------------------------------------------------------------

OF_WHOLE = ("hard_tanh", "relu", "relu6", "threshold")  # whole numbers stay whole
# Those that have no operation, or one without their options: in a graph they are functions of torch.
_BY_TORCH: Mapping[str, Function] = {"mish": activations.mish, "relu": _relu}
_OPERATIONS: Mapping[str, str] = {"exponential": "exp"}  # of another name
_RENAMED: Mapping[str, Function] = {"hard_sigmoid": activations.hard_sigmoid6}
_WIDER: Mapping[str, Function] = {"relu": _relu, "softmax": _softmax, "log_softmax": _log_softmax}


def _published(name: str) -> Activation:
    function = _RENAMED.get(name) or getattr(activations, name)
    operation = _BY_TORCH.get(name) or FUNCTIONS[_OPERATIONS.get(name, name)]
    return Activation(name, function, operation, _WIDER.get(name))


linear = activations.linear  # which takes anything
celu = _published("celu")
elu = _published("elu")
exponential = _published("exponential")
gelu = _published("gelu")
glu = _published("glu")
hard_shrink = _published("hard_shrink")
hard_sigmoid = _published("hard_sigmoid")
hard_silu = hard_swish = _published("hard_silu")
hard_tanh = _published("hard_tanh")
leaky_relu = _published("leaky_relu")
log_sigmoid = _published("log_sigmoid")
log_softmax = _published("log_softmax")
mish = _published("mish")
relu = _published("relu")
relu6 = _published("relu6")
selu = _published("selu")
sigmoid = _published("sigmoid")
silu = swish = _published("silu")
soft_shrink = _published("soft_shrink")
softmax = _published("softmax")
softplus = _published("softplus")
softsign = _published("softsign")
sparse_plus = _published("sparse_plus")
sparse_sigmoid = _published("sparse_sigmoid")
sparsemax = _published("sparsemax")
squareplus = _published("squareplus")
tanh = _published("tanh")
tanh_shrink = _published("tanh_shrink")
threshold = _published("threshold")

_NAMED: Mapping[str, Function] = {
    "linear": linear,
    **{name: value for name, value in list(vars().items()) if isinstance(value, Activation)},
}
# This package's functions, by which a layer's config may have been written, under the names that they have there.
_BY_FUNCTION: Mapping[Function, str] = {
    linear: "linear",
    **{value.function: value.__name__ for value in _NAMED.values() if isinstance(value, Activation)},
}
FAMILY = Family("activation function", "keras.activations", {**_NAMED, "hard_sigmoid6": hard_sigmoid})


# --- by name ---------------------------------------------------------------------------------------------------------


def get(identifier: Any) -> Function:
    """The activation that a name, a callable, a layer or a config means; `linear` for None.

    Arguments:
        identifier (name, function, layer, config or None): what names the activation.

    Errors:
        ValueError: it names nothing.

    Example:
        >>> get("relu") is relu
        True

    Source: https://keras.io/api/layers/activations/
    """
    return linear if identifier is None else deserialize(identifier)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Function:
    """The activation that `serialize` wrote.

    Arguments:
        config (name or dict): what was written.
        custom_objects (dict or None, default None): further functions, by name.

    Errors:
        ValueError: it has another form, or names nothing.

    Example:
        >>> deserialize("relu") is relu
        True

    Source: https://keras.io/api/layers/activations/
    """
    if isinstance(config, Mapping) and str(config.get("class_name")) in registry.layers:
        with known():
            return registry.layers.get(config, custom_objects)
    return FAMILY.deserialize(config, custom_objects)


def serialize(activation: Function) -> Any:
    """The name of an activation of Keras, or the entry of a function or layer of the user's.

    Arguments:
        activation (function or layer): what is written.

    Errors:
        ValueError: it has neither a config nor a name.

    Example:
        >>> serialize(relu)
        'relu'

    Source: https://keras.io/api/layers/activations/
    """
    if isinstance(activation, Layer):
        return keras3_writing.entry_of(activation)
    return _BY_FUNCTION.get(activation) or FAMILY.serialize(activation)


def of_layer(identifier: Any) -> Function:
    """What a layer keeps as its activation: this package's function for one of Keras's, the object itself for others.

    Raises ValueError for what `get` refuses, and for a layer or module with weights, which nobody would train.
    """
    found = get(identifier)
    return activations.get(found.function if isinstance(found, Activation) else found)
