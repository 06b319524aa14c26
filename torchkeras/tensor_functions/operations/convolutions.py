"""Operations of Keras 3 on windows of sequences, images and volumes: `keras.ops.conv`, `keras.ops.max_pool`.

Without a `data_format` the channels are where `config.image_data_format()` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.base.torch_versions import max_pool2d
from torchkeras.tensor_functions.operations.values import rows

Sizes = int | Sequence[int]
Pair = int | tuple[int, int]

# torch's functions, by the number of spatial axes.
CONVOLUTIONS: dict[int, Callable[..., Tensor]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED: dict[int, Callable[..., Tensor]] = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAXIMA: dict[int, Callable[..., Tensor]] = {1: F.max_pool1d, 2: max_pool2d, 3: F.max_pool3d}
MEANS: dict[int, Callable[..., Tensor]] = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
ADAPTIVE_MAXIMA: dict[int, Callable[..., Any]] = {
    1: F.adaptive_max_pool1d,
    2: F.adaptive_max_pool2d,
    3: F.adaptive_max_pool3d,
}
ADAPTIVE_MEANS: dict[int, Callable[..., Tensor]] = {
    1: F.adaptive_avg_pool1d,
    2: F.adaptive_avg_pool2d,
    3: F.adaptive_avg_pool3d,
}


# --- what they share -------------------------------------------------------------------------------------------------


def _channels_are_last(data_format: str | None) -> bool:
    found = config.image_data_format() if data_format is None else str(data_format).lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(f"data_format must be 'channels_first' or 'channels_last'; found {data_format!r}.")
    return found == "channels_last"


def _to_torch(x: Tensor, data_format: str | None) -> Tensor:
    """The channels at axis 1."""
    return x.movedim(-1, 1) if _channels_are_last(data_format) else x


def _from_torch(x: Tensor, data_format: str | None) -> Tensor:
    return x.movedim(1, -1) if _channels_are_last(data_format) else x


def _spatial_rank(inputs: Tensor) -> int:
    rank = inputs.dim() - 2
    if rank not in CONVOLUTIONS:
        raise ValueError(f"inputs must have 3, 4 or 5 axes; found the shape {tuple(inputs.shape)}.")
    return rank


def _of_each_axis(value: Sizes, rank: int, name: str) -> tuple[int, ...]:
    """A number for each spatial axis."""
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) != rank or min(found) < 1:
        raise ValueError(f"{name} must be a positive integer or {rank} of them; found {value!r}.")
    return found


def _is_same(padding: str) -> bool:
    if padding.lower() not in ("valid", "same"):
        raise ValueError(f"padding must be 'valid' or 'same'; found {padding!r}.")
    return padding.lower() == "same"


def _margins(
    x: Tensor, padding: str, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> list[tuple[int, int]]:
    """How much is added before and after each spatial axis; for "same" there are ceil(size / stride) windows."""
    if not _is_same(padding):
        return [(0, 0)] * len(window)
    found = []
    for size, length, stride, step in zip(x.shape[2:], window, strides, dilation, strict=True):
        total = max((-(-size // stride) - 1) * stride + (length - 1) * step + 1 - size, 0)
        found.append((total // 2, total - total // 2))
    return found


def _amounts(ends: Sequence[tuple[int, int]]) -> list[int]:
    """In the order of `F.pad`: the last axis first."""
    return [amount for pair in reversed(ends) for amount in pair]


def _kernel_of_torch(kernel: Tensor) -> Tensor:
    """(..., in, out) as (out, in, ...)."""
    return kernel.permute(-1, -2, *range(kernel.dim() - 2))


def _check_channels(inputs: Tensor, channels: int, data_format: str | None) -> None:
    found = inputs.shape[-1 if _channels_are_last(data_format) else 1]
    if found != channels:
        raise ValueError(f"the kernel is of {channels} input channels; inputs have {found}.")


# --- convolutions ----------------------------------------------------------------------------------------------------


def conv(
    inputs: Tensor,
    kernel: Tensor,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """The convolution of sequences, images or volumes with a kernel (*sizes, input channels, filters).

    A kernel of fewer input channels than the inputs have is one of groups of channels.
    """
    rank = _spatial_rank(inputs)
    strides, dilation = _of_each_axis(strides, rank, "strides"), _of_each_axis(dilation_rate, rank, "dilation_rate")
    x, weight = _to_torch(inputs, data_format), _kernel_of_torch(kernel)
    if x.shape[1] % weight.shape[1]:
        raise ValueError(f"{x.shape[1]} input channels are no multiple of the {weight.shape[1]} of the kernel.")
    ends = _margins(x, padding, weight.shape[2:], strides, dilation)
    if all(before == after for before, after in ends):
        around = [before for before, _ in ends]  # torch pads by itself, without a copy
    else:
        x, around = F.pad(x, _amounts(ends)), [0] * rank
    found = CONVOLUTIONS[rank](x, weight, None, strides, around, dilation, x.shape[1] // weight.shape[1])
    return _from_torch(found, data_format)


def depthwise_conv(
    inputs: Tensor,
    kernel: Tensor,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """The convolution of each channel by itself, with a kernel (*sizes, input channels, filters of each channel)."""
    _check_channels(inputs, kernel.shape[-2], data_format)
    kernel = kernel.reshape(*kernel.shape[:-2], 1, kernel.shape[-2] * kernel.shape[-1])
    return conv(inputs, kernel, strides, padding, data_format, dilation_rate)


def separable_conv(
    inputs: Tensor,
    depthwise_kernel: Tensor,
    pointwise_kernel: Tensor,
    strides: Sizes = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """A depthwise convolution, and then one that mixes the channels of each place."""
    found = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(found, pointwise_kernel, data_format=data_format)


def conv_transpose(
    inputs: Tensor,
    kernel: Tensor,
    strides: Sizes = 1,
    padding: str = "valid",
    output_padding: Sizes | None = None,
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:
    """The transposed convolution with a kernel (*sizes, filters, input channels).

    Without `output_padding` "same" gives `size * stride` values along an axis; with it, and a kernel that covers
    k values, `(size - 1) * stride + k % 2 + output_padding`. "valid" gives `(size - 1) * stride + k + output_padding`.
    """
    rank = _spatial_rank(inputs)
    _check_channels(inputs, kernel.shape[-1], data_format)
    strides, dilation = _of_each_axis(strides, rank, "strides"), _of_each_axis(dilation_rate, rank, "dilation_rate")
    spans = [(size - 1) * step + 1 for size, step in zip(kernel.shape, dilation, strict=False)]
    added = (output_padding,) * rank if output_padding is None or isinstance(output_padding, int) else output_padding
    cuts = [_cut(*each, _is_same(padding)) for each in zip(spans, strides, added, strict=True)]
    before = [max(cut // 2, 0) for cut in cuts]  # torch cuts so much at both ends
    more = [(0, 2 * done - cut) for cut, done in zip(cuts, before, strict=True)]
    x, weight = _to_torch(inputs, data_format), _kernel_of_torch(kernel)
    found = TRANSPOSED[rank](x, weight, None, strides, before, 0, 1, dilation)
    return _from_torch(F.pad(found, _amounts(more)) if any(_amounts(more)) else found, data_format)


def _cut(span: int, stride: int, output_padding: int | None, is_same: bool) -> int:
    """How many of the values of an axis that the kernels add to are left out; below 0 zeros are added at the end."""
    if output_padding is None:
        return span - stride if is_same else min(span - stride, 0)
    return (span - span % 2 if is_same else 0) - output_padding


# --- pooling ---------------------------------------------------------------------------------------------------------


def max_pool(
    inputs: Tensor,
    pool_size: Sizes,
    strides: Sizes | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The maximum of each window, channel by channel; strides of None are those of the windows."""
    x, window, strides, amounts = _windows(inputs, pool_size, strides, padding, data_format)
    if any(amounts):
        x = F.pad(x, amounts, value=-torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).min)
    return _from_torch(MAXIMA[len(window)](x, window, strides), data_format)


def average_pool(
    inputs: Tensor,
    pool_size: Sizes,
    strides: Sizes | None = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The mean of each window, channel by channel; what "same" adds does not count."""
    x, window, strides, amounts = _windows(inputs, pool_size, strides, padding, data_format)
    mean = MEANS[len(window)]
    if not any(amounts):
        return _from_torch(mean(x, window, strides), data_format)
    means, shares = (mean(F.pad(each, amounts), window, strides) for each in (x, torch.ones_like(x[:1, :1])))
    return _from_torch(means / shares, data_format)


def _windows(
    inputs: Tensor, pool_size: Sizes, strides: Sizes | None, padding: str, data_format: str | None
) -> tuple[Tensor, tuple[int, ...], tuple[int, ...], list[int]]:
    """Inputs in torch's order, the sizes and distances of the windows, and what is added around the inputs."""
    rank = _spatial_rank(inputs)
    window = _of_each_axis(pool_size, rank, "pool_size")
    distances = window if strides is None else _of_each_axis(strides, rank, "strides")
    x = _to_torch(inputs, data_format)
    return x, window, distances, _amounts(_margins(x, padding, window, distances, [1] * rank))


def adaptive_max_pool(inputs: Tensor, output_size: Sizes, data_format: str | None = None) -> Tensor:
    """The maximum of each of so many equal parts, channel by channel."""
    return _adaptive(ADAPTIVE_MAXIMA, inputs, output_size, data_format)


def adaptive_average_pool(inputs: Tensor, output_size: Sizes, data_format: str | None = None) -> Tensor:
    """The mean of each of so many equal parts, channel by channel."""
    return _adaptive(ADAPTIVE_MEANS, inputs, output_size, data_format)


def _adaptive(
    pools: dict[int, Callable[..., Tensor]], inputs: Tensor, output_size: Sizes, data_format: str | None
) -> Tensor:
    rank = _spatial_rank(inputs)
    sizes = _of_each_axis(output_size, rank, "output_size")
    return _from_torch(pools[rank](_to_torch(inputs, data_format), sizes), data_format)


# --- patches and blocks ----------------------------------------------------------------------------------------------


def unfold(x: Tensor, kernel_size: Pair, dilation: Pair = 1, padding: Pair = 0, stride: Pair = 1) -> Tensor:
    """The values of all windows of images (batch, channels, height, width): (batch, values of a window, windows)."""
    if x.dim() != 4:
        raise ValueError(f"x must have 4 axes; found the shape {tuple(x.shape)}.")
    return F.unfold(x, kernel_size, dilation, padding, stride)


def fold(
    x: Tensor,
    output_size: Pair,
    kernel_size: Pair,
    dilation: Pair = 1,
    padding: Pair = 0,
    stride: Pair = 1,
) -> Tensor:
    """Images of `output_size` from the values of their windows, as `unfold` gives them; where windows meet, the sum."""
    if x.dim() != 3:
        raise ValueError(f"x must have 3 axes; found the shape {tuple(x.shape)}.")
    return F.fold(x, output_size, kernel_size, dilation, padding, stride)


def depth_to_space(x: Tensor, block_size: int, data_format: str | None = "channels_last") -> Tensor:
    """Images whose channels become blocks of `block_size` by `block_size` places."""
    if not _blocks_are_last(block_size, data_format):
        return F.pixel_shuffle(x, block_size)
    parts = x.unflatten(-1, (block_size, block_size, -1))
    return parts.transpose(2, 3).flatten(3, 4).flatten(1, 2)


def space_to_depth(x: Tensor, block_size: int, data_format: str | None = "channels_last") -> Tensor:
    """Images whose blocks of `block_size` by `block_size` places become channels."""
    if not _blocks_are_last(block_size, data_format):
        return F.pixel_unshuffle(x, block_size)
    parts = x.unflatten(2, (-1, block_size)).unflatten(1, (-1, block_size))
    return parts.transpose(2, 3).flatten(3)


def _blocks_are_last(block_size: int, data_format: str | None) -> bool:
    if block_size < 2:
        raise ValueError(f"block_size must be at least 2; found {block_size}.")
    return _channels_are_last(data_format)


OPERATIONS = rows(
    functions={
        "adaptive_average_pool": adaptive_average_pool,
        "adaptive_max_pool": adaptive_max_pool,
        "average_pool": average_pool,
        "conv": conv,
        "conv_transpose": conv_transpose,
        "depth_to_space": depth_to_space,
        "depthwise_conv": depthwise_conv,
        "fold": fold,
        "max_pool": max_pool,
        "separable_conv": separable_conv,
        "space_to_depth": space_to_depth,
        "unfold": unfold,
    }
)
