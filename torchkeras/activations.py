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


def hard_sigmoid6(x: Tensor) -> Tensor:
    """clip(x / 6 + 0.5, 0, 1), which Keras 3 calls hard_sigmoid"""
    return F.hardsigmoid(x)


def exponential(x: Tensor) -> Tensor:
    """exp(x)"""
    return torch.exp(x)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`. Raises ValueError when `x` has fewer than two axes."""
    if x.dim() < 2:
        raise ValueError(f"softmax needs two axes or more, samples first; found the shape {tuple(x.shape)}.")
    result = torch.softmax(x, axis)
    return _with_logits(result, x, "softmax") if axis in (-1, x.dim() - 1) else result


# The activations whose results carry their logits, for a crossentropy, by name.
WITH_LOGITS: Mapping[Callable[..., Tensor], str] = {softmax: "softmax", sigmoid: "sigmoid"}
ITSELF = "itself"  # in place of the logits on a tensor that is nothing else


def _with_logits(result: Tensor, logits: Tensor, activation: str) -> Tensor:
    if result.requires_grad:
        result._keras_logits = logits  # type: ignore[attr-defined]
        result._keras_activation = activation  # type: ignore[attr-defined]
    return result


# --- those of Keras 3 ------------------------------------------------------------------------------------------------


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """x * P(X <= x), X standard normal; or `approximate`d by a tanh (https://arxiv.org/abs/1606.08415)."""
    return F.gelu(x, approximate="tanh" if approximate else "none")


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x), also called swish (https://arxiv.org/abs/1710.05941)."""
    return F.silu(x)


def hard_silu(x: Tensor) -> Tensor:
    """x * clip(x / 6 + 1 / 2, 0, 1), also called hard_swish (https://arxiv.org/abs/1905.02244)."""
    return F.hardswish(x)


def mish(x: Tensor) -> Tensor:
    """x * tanh(softplus(x)) (https://arxiv.org/abs/1908.08681)."""
    return F.mish(x)


def relu6(x: Tensor) -> Tensor:
    """clip(x, 0, 6)"""
    return F.relu6(x)


def leaky_relu(x: Tensor, negative_slope: float = 0.2) -> Tensor:
    """x where x >= 0, else negative_slope * x."""
    return F.leaky_relu(x, negative_slope)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha * (exp(x / alpha) - 1) (https://arxiv.org/abs/1704.07483)."""
    return F.celu(x, alpha)


def threshold(x: Tensor, threshold: float, default_value: float) -> Tensor:
    """x where x > threshold, else default_value. It needs both numbers, so it goes by no name."""
    return F.threshold(x, threshold, default_value)


def log_sigmoid(x: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x)))"""
    return F.logsigmoid(x)


def squareplus(x: Tensor, b: float = 4) -> Tensor:
    """(x + sqrt(x**2 + b)) / 2 (https://arxiv.org/abs/2112.11687)."""
    return (x + torch.sqrt(x.square() + b)) / 2


def hard_tanh(x: Tensor) -> Tensor:
    """clip(x, -1, 1)"""
    return F.hardtanh(x)


def tanh_shrink(x: Tensor) -> Tensor:
    """x - tanh(x)"""
    return F.tanhshrink(x)


def hard_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x where abs(x) > threshold, else 0."""
    return F.hardshrink(x, threshold)


def soft_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x, by `threshold` nearer to 0; 0 where abs(x) <= threshold."""
    return F.softshrink(x, threshold)


def sparse_plus(x: Tensor) -> Tensor:
    """0 up to -1, x from 1 on, (x + 1)**2 / 4 between."""
    return torch.where(x < 1, (x.clamp(-1, 1) + 1).square() / 4, x)


def sparse_sigmoid(x: Tensor) -> Tensor:
    """clip((x + 1) / 2, 0, 1)"""
    return F.hardtanh(x) / 2 + 0.5


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of `axis` times the sigmoid of its second half (https://arxiv.org/abs/1612.08083)."""
    return F.glu(x, axis)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """x - log(sum(exp(x))) along `axis`."""
    return F.log_softmax(x, axis)


def sparsemax(x: Tensor, axis: int = -1) -> Tensor:
    """max(x - t, 0), t such that the sum along `axis` is 1 (https://arxiv.org/abs/1602.02068)."""
    # With the k greatest values above t, t is (their sum - 1) / k; with another number of values that is less.
    last = x.movedim(axis, -1)
    ranks = torch.arange(1, last.shape[-1] + 1, dtype=x.dtype, device=x.device)
    reached = (last.sort(descending=True).values.cumsum(-1) - 1) / ranks
    return torch.relu(last - reached.amax(-1, keepdim=True)).movedim(-1, axis)


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
    """True for an activation of this module that maps each number by itself: it may be applied in any axis order."""
    return any(function is known for known in POINTWISE)


def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation that a name, a callable or a layer's config means; `None` means `linear`.

    Raises ValueError for an unknown name, and for a layer or module with weights: they would be trained by nobody.
    """
    if identifier is None:
        return linear
    in_layers = isinstance(identifier, Mapping) and str(identifier.get("class_name")) in registry.layers
    found = (registry.layers if in_layers else registry.activations).get(identifier, custom_objects)
    if getattr(found, "_weights", None) or (isinstance(found, torch.nn.Module) and [*found.parameters()]):
        raise ValueError(f"must have no weights: call {type(found).__name__} as the next layer; found {found!r}.")
    return found


def deserialize(name: str, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The activation called `name`. Raises ValueError when there is none."""
    return registry.activations.get(name, custom_objects)


def serialize(activation: Callable[..., Any]) -> Any:
    """The name of an activation, for a config."""
    return registry.activations.serialize(activation)
