"""Convolutions. Kernels have Keras's axes: the window, the channels of the input, those of the output.

`padding` is "valid" or "same", as TensorFlow pads. `data_format` is "channels_last" or "channels_first";
None takes `image_data_format()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from torchkeras.keras2.backend.images import first, in_format
from torchkeras.keras2.backend.nodes import node, tensor
from torchkeras.keras2.backend.settings import normalize_data_format
from torchkeras.layers.local import products_of_windows
from torchkeras.layers.spatial import pad, same_padding

Size = Sequence[int]
CONVOLUTIONS: dict[int, Callable[..., Tensor]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED: dict[int, Callable[..., Tensor]] = {
    1: F.conv_transpose1d,
    2: F.conv_transpose2d,
    3: F.conv_transpose3d,
}
PADDINGS = ("valid", "same")


def each_axis(value: Any, rank: int) -> tuple[int, ...]:
    """A number for each spatial axis."""
    return tuple(map(int, value)) if isinstance(value, (tuple, list)) else (int(value),) * rank


def checked(padding: Any, allowed: Sequence[str] = PADDINGS) -> str:
    """One of the words for padding. Raises ValueError."""
    if padding not in allowed:
        raise ValueError(f"padding must be one of {', '.join(map(repr, allowed))}; found {padding!r}.")
    return padding


def _torch_kernel(kernel: Tensor) -> Tensor:
    """Keras's (*window, in, out) as torch's (out, in, *window)."""
    rank = kernel.dim() - 2
    return kernel.permute(rank + 1, rank, *range(rank))


def _convolved(
    x: Any,
    kernel: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
    dilation_rate: Any,
    of_each_channel: bool = False,
) -> Tensor:
    x = tensor(x)
    kernel, found = tensor(kernel, x), normalize_data_format(data_format)
    rank, window = kernel.dim() - 2, kernel.shape[:-2]
    strides, dilation = each_axis(strides, rank), each_axis(dilation_rate, rank)
    if max(strides) > 1 and max(dilation) > 1:
        raise ValueError(f"strides and dilation_rate cannot both be above 1; found {strides} and {dilation}.")
    padded = pad(first(x, found), padding, window, strides, dilation)
    groups = 1
    if of_each_channel:
        groups, kernel = kernel.shape[-2], kernel.flatten(-2).unsqueeze(-2)
    return in_format(CONVOLUTIONS[rank](padded, _torch_kernel(kernel), None, strides, 0, dilation, groups), found)


@node
def conv1d(
    x: Any,
    kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    """The convolution of sequences; `padding` may be "causal", too, with which no output sees later steps.

    Shapes:
        (batch, steps, channels), (window, channels, filters) -> (batch, new_steps, filters)

    >>> conv1d(torch.ones(1, 4, 2), torch.ones(3, 2, 5)).shape
    torch.Size([1, 2, 5])
    """
    checked(padding, (*PADDINGS, "causal"))
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate)


@node
def conv2d(
    x: Any,
    kernel: Any,
    strides: Size = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Size = (1, 1),
) -> Tensor:
    """The convolution of images.

    Shapes:
        (batch, height, width, channels), (kernel_height, kernel_width, channels, filters)
        -> (batch, new_height, new_width, filters)

    >>> conv2d(torch.ones(1, 4, 5, 2), torch.ones(3, 3, 2, 6), padding="same").shape
    torch.Size([1, 4, 5, 6])
    """
    return _convolved(x, kernel, strides, checked(padding), data_format, dilation_rate)


@node
def conv3d(
    x: Any,
    kernel: Any,
    strides: Size = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Size = (1, 1, 1),
) -> Tensor:
    """The convolution of volumes, as `conv2d` with one more axis.

    >>> conv3d(torch.ones(1, 4, 5, 6, 2), torch.ones(3, 3, 3, 2, 7)).shape
    torch.Size([1, 2, 3, 4, 7])
    """
    return _convolved(x, kernel, strides, checked(padding), data_format, dilation_rate)


@node
def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Size = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Size = (1, 1),
) -> Tensor:
    """The convolution of each channel of images by itself.

    Shapes:
        (batch, height, width, channels), (kernel_height, kernel_width, channels, multiplier)
        -> (batch, new_height, new_width, channels * multiplier)

    >>> depthwise_conv2d(torch.ones(1, 4, 5, 2), torch.ones(3, 3, 2, 6)).shape
    torch.Size([1, 2, 3, 12])
    """
    return _convolved(x, depthwise_kernel, strides, checked(padding), data_format, dilation_rate, of_each_channel=True)


def _separably(
    x: Any, depthwise: Any, pointwise: Any, strides: Any, padding: str, data_format: str | None, dilation: Any
) -> Tensor:
    checked(padding)
    y = _convolved(x, depthwise, strides, padding, data_format, dilation, of_each_channel=True)
    return _convolved(y, pointwise, 1, "valid", data_format, 1)


@node
def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    """The convolution of each channel of sequences by itself, then a mixture of the channels.

    Shapes:
        (batch, steps, channels), (window, channels, multiplier), (1, channels * multiplier, filters)
        -> (batch, new_steps, filters)

    >>> separable_conv1d(torch.ones(1, 4, 2), torch.ones(3, 2, 1), torch.ones(1, 2, 5)).shape
    torch.Size([1, 2, 5])
    """
    return _separably(x, depthwise_kernel, pointwise_kernel, strides, padding, data_format, dilation_rate)


@node
def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Size = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Size = (1, 1),
) -> Tensor:
    """The convolution of each channel of images by itself, then a mixture of the channels.

    >>> separable_conv2d(torch.ones(1, 4, 5, 2), torch.ones(3, 3, 2, 1), torch.ones(1, 1, 2, 5)).shape
    torch.Size([1, 2, 3, 5])
    """
    return _separably(x, depthwise_kernel, pointwise_kernel, strides, padding, data_format, dilation_rate)


# --- transposed ------------------------------------------------------------------------------------------------------


def _transposed(
    x: Any, kernel: Any, output_shape: Any, strides: Any, padding: str, data_format: str | None, dilation_rate: Any
) -> Tensor:
    x = tensor(x)
    kernel, found = tensor(kernel, x), normalize_data_format(data_format)
    rank, window = kernel.dim() - 2, kernel.shape[:-2]
    strides, dilation = each_axis(strides, rank), each_axis(dilation_rate, rank)
    wanted = output_shape[1:-1] if found == "channels_last" else output_shape[2:]
    inputs = first(x, found)
    axes = list(zip(inputs.shape[2:], map(int, wanted), window, strides, dilation, strict=True))
    cuts = [same_padding(size, *of_window)[0] if padding == "same" else 0 for _, size, *of_window in axes]
    for count, size, length, stride, step in axes:
        reach = 0 if padding == "same" else (length - 1) * step
        if -(-(size - reach) // stride) != count:
            raise ValueError(
                f"output_shape {tuple(output_shape)} cannot come from the input {tuple(x.shape)} by a window of "
                f"{tuple(window)} with strides {strides} and padding {padding!r}."
            )
    full = TRANSPOSED[rank](
        inputs, _torch_kernel(kernel.transpose(-1, -2)).transpose(0, 1), None, strides, 0, 0, 1, dilation
    )
    for axis, (cut, (_, size, *_rest)) in enumerate(zip(cuts, axes, strict=True), 2):
        missing = cut + size - full.shape[axis]
        if missing > 0:  # strides that are longer than the window leave zeros at the end
            full = F.pad(full, (0, 0) * (full.dim() - 1 - axis) + (0, missing))
        full = full.narrow(axis, cut, size)
    return in_format(full, found)


@node
def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Size = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Size = (1, 1),
) -> Tensor:
    """The transposed convolution of images: what `conv2d` of an image of `output_shape` would have been made of.

    Shapes:
        (batch, height, width, channels), (kernel_height, kernel_width, filters, channels) -> output_shape

    >>> conv2d_transpose(torch.ones(1, 2, 2, 3), torch.ones(3, 3, 4, 3), (1, 4, 4, 4), (2, 2), "same").shape
    torch.Size([1, 4, 4, 4])
    """
    return _transposed(x, kernel, output_shape, strides, checked(padding), data_format, dilation_rate)


@node
def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Size = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The transposed convolution of volumes, as `conv2d_transpose` with one more axis.

    >>> conv3d_transpose(torch.ones(1, 2, 2, 2, 3), torch.ones(3, 3, 3, 4, 3), (1, 4, 4, 4, 4)).shape
    torch.Size([1, 4, 4, 4, 4])
    """
    return _transposed(x, kernel, output_shape, strides, checked(padding), data_format, 1)


# --- with a kernel for each place ------------------------------------------------------------------------------------


def _local(x: Any, kernel: Any, window: Size, strides: Size, lengths: Size, found: str) -> Tensor:
    x = tensor(x)
    products = products_of_windows(first(x, found), tensor(kernel, x), window, strides, found == "channels_last")
    return in_format(products.permute(1, 2, 0).unflatten(2, tuple(lengths)), found)


@node
def local_conv1d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None) -> Tensor:
    """The convolution of sequences with a kernel of its own at each step; the channels are at the last axis.

    Shapes:
        (batch, steps, channels), (new_steps, window * channels, filters) -> (batch, new_steps, filters)

    >>> local_conv1d(torch.ones(1, 4, 2), torch.ones(2, 6, 5), (3,), (1,)).shape
    torch.Size([1, 2, 5])
    """
    normalize_data_format(data_format)  # Keras checks it and uses it no further
    return _local(inputs, kernel, each_axis(kernel_size, 1), each_axis(strides, 1), [kernel.shape[0]], "channels_last")


@node
def local_conv2d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any, data_format: str | None = None
) -> Tensor:
    """The convolution of images with a kernel of its own at each place. `output_shape`: (new_height, new_width).

    Shapes:
        (batch, height, width, channels), (places, kernel_height * kernel_width * channels, filters)
        -> (batch, new_height, new_width, filters)

    >>> local_conv2d(torch.ones(1, 3, 3, 2), torch.ones(4, 8, 5), (2, 2), (1, 1), (2, 2)).shape
    torch.Size([1, 2, 2, 5])
    """
    found = normalize_data_format(data_format)
    return _local(inputs, kernel, each_axis(kernel_size, 2), each_axis(strides, 2), output_shape, found)


@node
def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Tensor:
    """`x` with a number for each channel added, or one for each place and channel.

    Shapes:
        x (batch, ..., channels), bias (channels,) or (..., channels) -> that of x

    >>> bias_add(torch.zeros(1, 2, 3), torch.tensor([1.0, 2.0, 3.0]))[0, 0]
    tensor([1., 2., 3.])
    """
    x = tensor(x)
    bias, found = tensor(bias, x), normalize_data_format(data_format)
    if bias.dim() not in (1, x.dim() - 1):
        raise ValueError(
            f"a bias has one axis or {x.dim() - 1}, for a tensor of shape {tuple(x.shape)}; found {tuple(bias.shape)}."
        )
    if bias.dim() == 1:
        last = found == "channels_last" or x.dim() not in (3, 4, 5)
        return x + (bias if last else bias.reshape(-1, *[1] * (x.dim() - 2)))
    # As Keras, which gives the numbers of a bias for each place another shape for "channels_first", and no other order.
    return x + (bias if found == "channels_last" else bias.reshape(bias.shape[-1], *bias.shape[:-1]))
