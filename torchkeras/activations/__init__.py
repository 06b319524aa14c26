"""Activations: functions of a tensor, and what `activation="relu"` names. The shape of the result is that of `x`.

`softmax` and `sigmoid` leave their input on their result; see `activations.logits`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import registry
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
from torchkeras.activations.logits import with_logits as _with_logits
from torchkeras.base.missing_names import missing_from as _missing_from

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


def linear(x: Tensor) -> Tensor:
    """x.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> linear(torch.tensor([-1.0, 1.0]))
        tensor([-1.,  1.])
    """
    return x


def relu(x: Tensor, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """max(x, 0); with options x above `threshold`, clipped to [0, max_value], else alpha * (x - threshold).

    Arguments:
        x (tensor): of any shape.
        alpha (number, default 0.0): the slope below the threshold.
        max_value (number or None, default None): the greatest value of the result; None is no bound.
        threshold (number, default 0.0): the value up to which x is small.

    Example:
        >>> relu(torch.tensor([-1.0, 1.0, 9.0]), alpha=0.1, max_value=6.0)
        tensor([-0.1000,  1.0000,  6.0000])
    """
    if max_value is None and threshold == 0.0:
        return torch.relu(x) if alpha == 0.0 else F.leaky_relu(x, alpha)
    kept = x if threshold == 0.0 else F.threshold(x, threshold, 0.0)
    if max_value is not None:
        kept = F.hardtanh(kept, 0.0, max_value)
    return kept if alpha == 0.0 else kept - alpha * torch.relu(threshold - x)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1).

    Arguments:
        x (tensor): of any shape.
        alpha (number, default 1.0): minus the limit on the left.

    Example:
        >>> elu(torch.tensor([-1.0, 1.0]))
        tensor([-0.6321,  1.0000])

    Source: https://arxiv.org/abs/1511.07289
    """
    return F.elu(x, alpha)


def selu(x: Tensor) -> Tensor:
    """1.0507 * elu(x, alpha=1.6733).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> selu(torch.tensor([-1.0, 1.0]))
        tensor([-1.1113,  1.0507])

    Source: https://arxiv.org/abs/1706.02515
    """
    return torch.selu(x)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> softplus(torch.tensor([-1.0, 1.0]))
        tensor([0.3133, 1.3133])
    """
    return F.softplus(x)


def softsign(x: Tensor) -> Tensor:
    """x / (1 + abs(x)).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> softsign(torch.tensor([-1.0, 1.0]))
        tensor([-0.5000,  0.5000])
    """
    return F.softsign(x)


def tanh(x: Tensor) -> Tensor:
    """tanh(x).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> tanh(torch.tensor([-1.0, 1.0]))
        tensor([-0.7616,  0.7616])
    """
    return torch.tanh(x)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> sigmoid(torch.tensor([-1.0, 1.0]))
        tensor([0.2689, 0.7311])
    """
    return _with_logits(torch.sigmoid(x), x, "sigmoid")


def hard_sigmoid(x: Tensor) -> Tensor:
    """clip(0.2 * x + 0.5, 0, 1); Keras 3's is `hard_sigmoid6`.

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> hard_sigmoid(torch.tensor([-1.0, 1.0]))
        tensor([0.3000, 0.7000])
    """
    # torch's slope is 1/6. Two kernels take 0.7 of the time of multiply, add and clamp; Keras's LSTM calls it thrice.
    return F.hardsigmoid(1.2 * x)


def exponential(x: Tensor) -> Tensor:
    """exp(x).

    Arguments:
        x (tensor): of any shape.

    Example:
        >>> exponential(torch.tensor([-1.0, 1.0]))
        tensor([0.3679, 2.7183])
    """
    return torch.exp(x)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`.

    Arguments:
        x (tensor): of two axes or more, samples first.
        axis (integer, default -1): the axis along which the result adds up to 1.

    Errors:
        ValueError: when `x` has fewer than two axes.

    Example:
        >>> softmax(torch.tensor([[0.0, 0.0, 1.0]]))
        tensor([[0.2119, 0.2119, 0.5761]])
    """
    if x.dim() < 2:
        raise ValueError(f"softmax needs two axes or more, samples first; found the shape {tuple(x.shape)}.")
    result = torch.softmax(x, axis)
    return _with_logits(result, x, "softmax") if axis in (-1, x.dim() - 1) else result


# The activations whose results carry their logits, for a crossentropy, by name.
WITH_LOGITS: Mapping[Callable[..., Tensor], str] = {softmax: "softmax", sigmoid: "sigmoid"}

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
        ValueError: for an unknown name, and for a layer or module with weights, which would not train.

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


if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
