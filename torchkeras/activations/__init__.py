"""Activations: functions of a tensor, and what `activation="relu"` names.

`softmax` and `sigmoid` leave their input on their result, so that a crossentropy can be computed from it: attributes
`_keras_logits` (the input) and `_keras_activation` ("softmax" or "sigmoid"), set only while gradients are recorded.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from torchkeras import registry
from torchkeras.activations.keras2 import (
    CARRYING as CARRYING,
    ITSELF as ITSELF,
    WITH_LOGITS as WITH_LOGITS,
    elu,
    exponential,
    hard_sigmoid,
    linear,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    softsign,
    tanh,
)
from torchkeras.activations.keras3 import (
    celu,
    gelu,
    glu,
    hard_shrink,
    hard_sigmoid6,
    hard_silu,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    relu6,
    silu,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    sparsemax,
    squareplus,
    tanh_shrink,
    threshold,
)

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
    "hard_sigmoid6",
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

POINTWISE = (
    *(linear, relu, elu, selu, softplus, softsign, tanh, sigmoid, hard_sigmoid, exponential),
    *(gelu, silu, hard_silu, mish, relu6, leaky_relu, celu, log_sigmoid, squareplus, hard_tanh, tanh_shrink),
    *(hard_shrink, soft_shrink, sparse_plus, sparse_sigmoid, hard_sigmoid6),
)

for _function in (*POINTWISE, softmax, glu, log_softmax, sparsemax):
    registry.activations.register(_function.__name__, _function)

swish = registry.activations.register("swish", silu)
hard_swish = registry.activations.register("hard_swish", hard_silu)


def is_pointwise(function: object) -> bool:
    """True for an activation of this module that maps each number by itself: it may be applied in any axis order.

    Arguments:
        function (any object): what is asked about.

    Example:
        >>> is_pointwise(relu), is_pointwise(softmax)
        (True, False)
    """
    return any(function is known for known in POINTWISE)


def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation that a name, a callable or a layer's config means; `None` means `linear`.

    Arguments:
        identifier (name, function, layer, config or None): what names the activation.
        custom_objects (dictionary or None, default None): further functions and classes, by name.

    Errors:
        ValueError: for an unknown name, and for a layer or module with weights, which nobody would train.

    Example:
        >>> get("relu") is relu
        True
    """
    if identifier is None:
        return linear
    in_layers = isinstance(identifier, Mapping) and str(identifier.get("class_name")) in registry.layers
    found = (registry.layers if in_layers else registry.activations).get(identifier, custom_objects)
    if getattr(found, "_weights", None) or (isinstance(found, torch.nn.Module) and [*found.parameters()]):
        raise ValueError(f"must have no weights: call {type(found).__name__} as the next layer; found {found!r}.")
    return found


def deserialize(name: str, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation called `name`.

    Arguments:
        name (text): the name of an activation.
        custom_objects (dictionary or None, default None): further functions, by name.

    Errors:
        ValueError: for an unknown name.

    Example:
        >>> deserialize("relu") is relu
        True
    """
    return registry.activations.get(name, custom_objects)


def serialize(activation: Callable[..., Any]) -> Any:
    """The name of an activation, for a config.

    Arguments:
        activation (function): the activation.

    Example:
        >>> serialize(relu)
        'relu'
    """
    return registry.activations.serialize(activation)
