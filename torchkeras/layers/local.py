"""Locally connected layers: convolutions with a separate kernel at every place."""

from collections.abc import Sequence
from math import prod
from typing import Annotated, Any

import torch
from torch import nn

from torchkeras.base.rules import word
from torchkeras.engine.options import Positive, Sizes
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.conv import Activated
from torchkeras.layers.spatial import Spatial


def products_of_windows(
    inputs: torch.Tensor, kernel: torch.Tensor, sizes: Sequence[int], strides: Sequence[int], channels_last: bool
) -> torch.Tensor:
    """`window @ kernel[place]` of channels-first inputs, as (places, batch, filters).

    `channels_last`: whether the rows of the kernel have the channels after the places of a window, or before.
    """
    rank, windows = len(sizes), inputs
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True), 2):
        windows = windows.unfold(axis, size, stride)
    places, values = range(2, 2 + rank), range(2 + rank, 2 + 2 * rank)
    window = (*values, 1) if channels_last else (1, *values)
    return torch.bmm(windows.permute(*places, 0, *window).flatten(rank + 1).flatten(0, rank - 1), kernel)


class LocallyConnected(Spatial, Activated, abstract=True):
    """`activation(window @ kernel[place] + bias[place])`: a convolution with a separate kernel at every place.

    Options:
        filters (positive integer): the number of channels of the output.
        kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each;
            at most the size of the input.
        strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
            or along each.
        padding (string, default "valid"): only "valid": nothing is added around the input.
        use_bias (bool, default True): whether a bias is added, one number for each filter and place.
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: Annotated[str, word("valid")] = "valid"

    kernel = weight("local_kernel")
    bias = weight("local_bias", when="use_bias")

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        sizes = [self._known_size(input_shape, axis) for axis in self._spatial_axes]
        self._check_window("kernel_size", self.kernel_size, input_shape)
        lengths = [(n - k) // s + 1 for n, k, s in zip(sizes, self.kernel_size, self.strides, strict=True)]
        window = prod(self.kernel_size) * channels
        self.local_kernel = nn.Parameter(torch.empty(prod(lengths), window, self.filters))
        self.local_bias = nn.Parameter(torch.empty(*lengths, self.filters)) if self.use_bias else None
        self._lengths = lengths

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = products_of_windows(
            inputs, self.local_kernel, self.kernel_size, self.strides, self.data_format == "channels_last"
        )
        if self.local_bias is not None:
            outputs = outputs + self._placed(self.local_bias)
        return self._activated(outputs.permute(1, 2, 0).unflatten(2, self._lengths))

    def _placed(self, bias: torch.Tensor) -> torch.Tensor:
        """The bias as (places, 1, filters). For 'channels_first' Keras reads its numbers as (filters, *places)."""
        if self.data_format == "channels_last":
            return bias.view(-1, 1, self.filters)
        return bias.view(self.filters, -1).t().unsqueeze(1)


class LocallyConnected1D(LocallyConnected):
    """`activation(window @ kernel[step] + bias[step])`: a convolution with a separate kernel at every step.

    Options:
        data_format (string or None, default None): accepted and ignored, as in Keras: the channels are at the last
            axis.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, filters)

    Errors:
        ValueError: at the first call, when the number of steps is unknown.

    Example:
        >>> LocallyConnected1D(8, 3)(torch.zeros(2, 10, 4)).shape
        torch.Size([2, 8, 8])
    """

    rank = 1

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.data_format = "channels_last"  # Keras takes either value and uses neither


class LocallyConnected2D(LocallyConnected):
    """`activation(window @ kernel[place] + bias[place])`: a convolution with a separate kernel at every place.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, filters)

    Errors:
        ValueError: at the first call, when height or width is unknown.

    Example:
        >>> LocallyConnected2D(8, 3)(torch.zeros(2, 5, 6, 1)).shape
        torch.Size([2, 3, 4, 8])
    """

    rank = 2
