"""Activations: functions of a tensor, and what `activation="relu"` names.

`softmax` and `sigmoid` leave their input on their result, so that a crossentropy can be computed from it: attributes
`_keras_logits` (the input) and `_keras_activation` ("softmax" or "sigmoid"), set only while gradients are recorded.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import registry


def linear(x: Tensor) -> Tensor:
    """x"""
    return x


def relu(x: Tensor, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """max(x, 0); with options x above `threshold`, clipped to [0, max_value], else alpha * (x - threshold)."""
    if max_value is None and threshold == 0.0:
        return torch.relu(x) if alpha == 0.0 else F.leaky_relu(x, alpha)
    kept = x if threshold == 0.0 else F.threshold(x, threshold, 0.0)
    if max_value is not None:
        kept = F.hardtanh(kept, 0.0, max_value)
    return kept if alpha == 0.0 else kept - alpha * torch.relu(threshold - x)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1) (https://arxiv.org/abs/1511.07289)."""
    return F.elu(x, alpha)


def selu(x: Tensor) -> Tensor:
    """1.0507 * elu(x, alpha=1.6733) (https://arxiv.org/abs/1706.02515)."""
    return torch.selu(x)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x))"""
    return F.softplus(x)


def softsign(x: Tensor) -> Tensor:
    """x / (1 + abs(x))"""
    return F.softsign(x)


def tanh(x: Tensor) -> Tensor:
    """tanh(x)"""
    return torch.tanh(x)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))"""
    return _with_logits(torch.sigmoid(x), x, "sigmoid")


def hard_sigmoid(x: Tensor) -> Tensor:
    """clip(0.2 * x + 0.5, 0, 1)"""
    # torch's slope is 1/6. Two kernels take 0.7 of the time of multiply, add and clamp; Keras's LSTM calls it thrice.
    return F.hardsigmoid(1.2 * x)


def exponential(x: Tensor) -> Tensor:
    """exp(x)"""
    return torch.exp(x)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`. Raises ValueError when `x` has fewer than two axes."""
    if x.dim() < 2:
        raise ValueError(f"softmax needs two axes or more, samples first; found the shape {tuple(x.shape)}.")
    result = torch.softmax(x, axis)
    return _with_logits(result, x, "softmax") if axis in (-1, x.dim() - 1) else result


def _with_logits(result: Tensor, logits: Tensor, activation: str) -> Tensor:
    if result.requires_grad:
        result._keras_logits = logits  # type: ignore[attr-defined]
        result._keras_activation = activation  # type: ignore[attr-defined]
    return result


POINTWISE = (linear, relu, elu, selu, softplus, softsign, tanh, sigmoid, hard_sigmoid, exponential)

for _function in (*POINTWISE, softmax):
    registry.activations.register(_function.__name__, _function)


def is_pointwise(function: object) -> bool:
    """True for an activation of this module that maps each number by itself: it may be applied in any axis order."""
    return any(function is known for known in POINTWISE)


def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation that a name or a callable means; `None` means `linear`. Raises ValueError for an unknown name."""
    return linear if identifier is None else registry.activations.get(identifier, custom_objects)


def deserialize(name: str, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation called `name`. Raises ValueError when there is none."""
    return registry.activations.get(name, custom_objects)


def serialize(activation: Callable[..., Any]) -> Any:
    """The name of an activation, for a config."""
    return registry.activations.serialize(activation)
