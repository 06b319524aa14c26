"""Operations of Keras 3 for networks: `keras.ops.one_hot`, crossentropies, normalizations and attention."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.base.rules import refuse_unknown
from torchkeras.losses.shared import clip
from torchkeras.tensor_functions import by_name
from torchkeras.tensor_functions.operations.values import floats, promoted, rows

Axes = int | list[int] | tuple[int, ...] | None


# --- classes ---------------------------------------------------------------------------------------------------------


def one_hot(x: Tensor, num_classes: int, axis: int = -1, dtype: str | None = None, sparse: bool = False) -> Tensor:
    """A new axis with 1 at the place of each class number and 0 elsewhere; all 0 for what is no class."""
    if sparse:
        raise ValueError("sparse=True: there are no sparse tensors on torch.")
    return by_name.one_hot(x.long(), num_classes, axis, dtype or config.floatx())


def multi_hot(
    inputs: Tensor,
    num_classes: int | None = None,
    axis: int = -1,
    dtype: str | None = None,
    sparse: bool = False,
    **kwargs: Any,
) -> Tensor:
    """For each sample 1 at the places of all its class numbers and 0 elsewhere."""
    refuse_unknown("multi_hot", kwargs, ("num_tokens",))
    classes = kwargs.get("num_tokens") if num_classes is None else num_classes  # its name before
    if classes is None:
        raise ValueError("num_classes must be given.")
    return one_hot(inputs, classes, axis, dtype, sparse).amax(1 if inputs.dim() > 1 else 0)


# --- crossentropies --------------------------------------------------------------------------------------------------


def binary_crossentropy(target: Tensor, output: Tensor, from_logits: bool = False) -> Tensor:
    """`-(target * log(output) + (1 - target) * log(1 - output))` of each value."""
    _check_shapes(target, output)
    target, output = promoted(target, output)
    if from_logits:
        return F.binary_cross_entropy_with_logits(output, target, reduction="none")
    return F.binary_cross_entropy(clip(output), target, reduction="none")


def categorical_crossentropy(target: Tensor, output: Tensor, from_logits: bool = False, axis: int = -1) -> Tensor:
    """`-sum(target * log(output))` along the axis of the classes, of outputs that are scaled to the sum 1 there."""
    _check_shapes(target, output)
    return -(target * _log_probabilities(output, from_logits, axis)).sum(axis)


def sparse_categorical_crossentropy(
    target: Tensor, output: Tensor, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """The categorical crossentropy with class numbers for targets."""
    axis = range(output.dim())[axis]
    if target.dim() == output.dim() and target.shape[axis] == 1:
        target = target.squeeze(axis)
    if target.shape != output.shape[:axis] + output.shape[axis + 1 :]:
        raise ValueError(
            f"target must have the shape of output without axis {axis}; found {tuple(target.shape)} and "
            f"{tuple(output.shape)}."
        )
    log_p = _log_probabilities(output, from_logits, axis)
    return F.nll_loss(log_p.movedim(axis, min(1, output.dim() - 1)), target.long(), reduction="none")


def _check_shapes(target: Tensor, output: Tensor) -> None:
    if target.shape != output.shape:
        raise ValueError(
            f"target and output must have the same shape; found {tuple(target.shape)} and {tuple(output.shape)}."
        )


def _log_probabilities(output: Tensor, from_logits: bool, axis: int) -> Tensor:
    if from_logits:
        return torch.log_softmax(output, axis)
    return clip(output / output.sum(axis, keepdim=True)).log()


# --- normalizations --------------------------------------------------------------------------------------------------


def moments(x: Tensor, axes: Axes, keepdims: bool = False, synchronized: bool = False) -> tuple[Tensor, Tensor]:
    """The mean and the variance over some axes."""
    if synchronized:
        raise NotImplementedError("synchronized=True is for TensorFlow alone.")
    values = x.float() if x.dtype is torch.float16 else x
    mean = values.mean(axes, keepdim=True)
    variance = (values - mean).square().mean(axes, keepdim=bool(keepdims))
    mean = mean if keepdims else mean.reshape(variance.shape)
    if x.dtype is torch.float16:  # where finite numbers end soon
        mean, variance = (each.clamp(-65504.0, 65504.0).half() for each in (mean, variance))
    return mean, variance


def batch_normalization(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    axis: int,
    offset: Tensor | None = None,
    scale: Tensor | None = None,
    epsilon: float = 1e-3,
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * scale + offset`, with vectors along an axis of x."""
    shape = [1] * x.dim()
    shape[axis] = -1
    factor = (variance + epsilon).rsqrt()
    if scale is not None:
        factor = factor * scale
    found = (x - mean.reshape(shape)).mul_(factor.reshape(shape))
    return found if offset is None else found.add_(offset.reshape(shape))


def layer_normalization(
    x: Tensor,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    axis: int | Sequence[int] = -1,
    epsilon: float | None = None,
    **kwargs: Any,
) -> Tensor:
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta`, with the mean and variance over some axes."""
    refuse_unknown("layer_normalization", kwargs, ("rms_scaling",))
    if kwargs.get("rms_scaling"):
        warnings.warn("layer_normalization: rms_scaling is old; use rms_normalization.", stacklevel=2)
    least = config.epsilon() if epsilon is None else epsilon

    def normal(values: Tensor, shape: Sequence[int]) -> Tensor:
        return F.layer_norm(values, shape, _weights(gamma, values, shape), _weights(beta, values, shape), least)

    def scaled(values: Tensor, shape: Sequence[int]) -> Tensor:
        variance = values.var(list(range(-len(shape), 0)), correction=0, keepdim=True)
        found, weights = values * (variance + least).rsqrt(), _weights(gamma, values, shape)
        return found if weights is None else found * weights

    return _over_last_axes(scaled if kwargs.get("rms_scaling") else normal, x, axis)  # an old option


def rms_normalization(
    x: Tensor, scale: Tensor | None = None, axis: int | Sequence[int] = -1, epsilon: float | None = None
) -> Tensor:
    """`x / sqrt(mean(x**2) + epsilon) * scale`, with the mean over some axes."""
    least = config.epsilon() if epsilon is None else epsilon

    def normal(values: Tensor, shape: Sequence[int]) -> Tensor:
        return F.rms_norm(values, shape, _weights(scale, values, shape), least)

    return _over_last_axes(normal, x, axis)


def _weights(weights: Tensor | None, values: Tensor, shape: Sequence[int]) -> Tensor | None:
    return None if weights is None else weights.to(values.dtype).reshape(shape)


def _over_last_axes(
    function: Callable[[Tensor, Sequence[int]], Tensor], x: Tensor, axis: int | Sequence[int]
) -> Tensor:
    """A function of x with some axes moved to the end, and of their sizes; it computes in 32 bits at least."""
    axes = sorted(range(x.dim())[one] for one in ([axis] if isinstance(axis, int) else axis))
    last = list(range(-len(axes), 0))
    moved = x.to(torch.promote_types(x.dtype, torch.float32)).movedim(axes, last)
    return function(moved, moved.shape[-len(axes) :]).movedim(last, axes).to(x.dtype)


def normalize(x: Tensor, axis: Axes = -1, order: int = 2, epsilon: float | None = None) -> Tensor:
    """`x / max(norm(x), epsilon)`, with the norm of an order over an axis; over two it is that of matrices."""
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"order must be an integer of at least 1; found {order!r}.")
    least = config.epsilon() if epsilon is None else epsilon
    x = floats(x if x.dim() else x.unsqueeze(0))
    axes: Any = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    if order == 2:
        most = min(1.0 / least, torch.finfo(x.dtype).max)
        return x * x.square().sum(axes, keepdim=True).rsqrt().clamp(max=most)
    return x / torch.linalg.norm(x, order, axes, True).clamp(min=least)


# --- attention, and others -------------------------------------------------------------------------------------------


def dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Tensor:
    """`softmax(query * key * scale + bias) * value` for arrays (batch, places, heads, features).

    `mask` is True where a place may be seen. Fewer heads of `key` and `value` serve several of `query` each.
    `flash_attention`: True allows no other way; torch chooses otherwise.
    """
    if attn_logits_soft_cap is not None:
        raise ValueError("attn_logits_soft_cap is for JAX on TPUs alone.")
    if not query.dim() == key.dim() == value.dim() == 4:
        found = ", ".join(str(tuple(each.shape)) for each in (query, key, value))
        raise ValueError(f"query, key and value must have 4 axes; found the shapes {found}.")
    if bias is not None and mask is not None:
        raise ValueError("bias and mask cannot both be given.")
    query, key, value = (_narrow(each.transpose(1, 2)) for each in promoted(query, key, value))
    key, value = (_for_heads(each, query.shape[1]) for each in (key, value))
    added = _added_to_scores(query, key, bias, mask, is_causal)
    is_causal = is_causal and added is None
    if flash_attention:
        with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.FLASH_ATTENTION]):
            found = F.scaled_dot_product_attention(query, key, value, added, is_causal=is_causal, scale=scale)
    else:
        found = F.scaled_dot_product_attention(query, key, value, added, is_causal=is_causal, scale=scale)
    return found.transpose(1, 2)


def _narrow(x: Tensor) -> Tensor:
    """64 bits as 32: the type that Keras 3 finds for what several tensors have together."""
    return x.float() if x.dtype is torch.float64 else x


def _for_heads(x: Tensor, heads: int) -> Tensor:
    return x.repeat_interleave(heads // x.shape[1], 1) if 1 < x.shape[1] < heads else x


def _added_to_scores(
    query: Tensor, key: Tensor, bias: Tensor | None, mask: Tensor | None, is_causal: bool
) -> Tensor | None:
    """A bias, or far below 0 where a mask is False; with either also for later places. None without both."""
    if bias is None and mask is None:
        return None
    if is_causal:
        earlier = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
        mask = earlier if mask is None else mask.bool() & earlier
    added = torch.zeros((), dtype=query.dtype, device=query.device) if bias is None else bias.to(query.dtype)
    # Not minus infinity: a row of False alone gives the mean, no NaN.
    return added if mask is None else torch.where(mask.bool(), added, -0.7 * torch.finfo(query.dtype).max)


def polar(abs_: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers from their absolute values and angles."""
    return torch.complex(abs_ * angle.cos(), abs_ * angle.sin())


def psnr(x1: Tensor, x2: Tensor, max_val: Tensor) -> Tensor:
    """The peak signal-to-noise ratio: `20 * log10(max_val) - 10 * log10(mean((x1 - x2)**2))`."""
    if x1.shape != x2.shape:
        raise ValueError(f"x1 and x2 must have the same shape; found {tuple(x1.shape)} and {tuple(x2.shape)}.")
    return 20 * max_val.to(x1.dtype).log10() - 10 * (x1 - x2).square().mean().log10()


OPERATIONS = rows(
    functions={
        "batch_normalization": batch_normalization,
        "binary_crossentropy": binary_crossentropy,
        "categorical_crossentropy": categorical_crossentropy,
        "dot_product_attention": dot_product_attention,
        "layer_normalization": layer_normalization,
        "moments": moments,
        "multi_hot": multi_hot,
        "normalize": normalize,
        "one_hot": one_hot,
        "polar": polar,
        "psnr": psnr,
        "rms_normalization": rms_normalization,
        "sparse_categorical_crossentropy": sparse_categorical_crossentropy,
    }
)
