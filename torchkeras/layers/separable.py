"""Convolutions of each channel by itself (depthwise), and with a mixture of the channels after it (separable)."""

from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import (
    Activation,
    Constraint,
    DataFormat,
    Initializer,
    Positive,
    Regularizer,
    Sizes,
)
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.conv import CONVOLUTIONS, Convolving, Dilated
from torchkeras.layers.spatial import SamePadding


def depthwise_pieces(layer: Any, kernel: Tensor) -> Tensor:
    """Keras's (*kernel_size, channels, multiplier) of torch's (channels * multiplier, 1, *kernel_size)."""
    return kernel.squeeze(1).unflatten(0, (-1, layer.depth_multiplier)).movedim((0, 1), (-2, -1))


class DepthwiseOptions(Layer, abstract=True):
    """`activation` and `use_bias`, and what concerns the depthwise kernel and the bias."""

    activation: Activation = None
    use_bias: bool = True
    depthwise_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    depthwise_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    depthwise_constraint: Constraint = None
    bias_constraint: Constraint = None


class DepthwiseConv(Convolving, abstract=True):
    """`activation(convolution(x, kernel) + bias)` of each channel by itself, with `depth_multiplier` kernels for each.

    Output channel `c * depth_multiplier + m` is channel c by its kernel m. `padding`: 'valid', 'same' or 'half' as for
    `Conv2D`.
    Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels * depth_multiplier), or with
    data_format='channels_first' the same with the channels at axis 1. Raises ValueError for strides and a
    dilation_rate that are both above 1, and for a kernel that is longer than the input.
    """

    kernel_size: Sizes
    strides: Sizes = 1
    padding: SamePadding = "valid"
    depth_multiplier: Positive = 1
    data_format: DataFormat = None

    depthwise_kernel = weight("conv.weight", pieces=depthwise_pieces, option="depthwise")
    bias = weight("conv.bias", keras="out", when="use_bias")

    class _Facts(Facts):
        product = "conv"

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        self.conv = self._convolution(input_shape, channels * self.depth_multiplier, channels, self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._activated(self.conv(self._padded(inputs)))


class DepthwiseConv1D(DepthwiseConv, Dilated, DepthwiseOptions):
    rank = 1


class DepthwiseConv2D(DepthwiseConv, DepthwiseOptions, Dilated):
    rank = 2


class SeparableConv(Convolving, abstract=True):
    """`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels.

    `depth_multiplier`: how many depthwise kernels each channel has. `padding`: 'valid', 'same' or 'half' as for
    `Conv2D`.
    Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
    are both above 1, and for a kernel that is longer than the input. Source: https://arxiv.org/abs/1610.02357
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: SamePadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    depth_multiplier: Positive = 1
    activation: Activation = None
    use_bias: bool = True
    depthwise_initializer: Initializer = "glorot_uniform"
    pointwise_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    depthwise_regularizer: Regularizer = None
    pointwise_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    depthwise_constraint: Constraint = None
    pointwise_constraint: Constraint = None
    bias_constraint: Constraint = None

    depthwise_kernel = weight("depthwise.weight", pieces=depthwise_pieces, option="depthwise")
    pointwise_kernel = weight("pointwise.weight", keras="... in out", torch="out in ...", option="pointwise")
    bias = weight("pointwise.bias", keras="out", when="use_bias")

    class _Facts(Facts):
        product = "pointwise"

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        between = channels * self.depth_multiplier
        self.depthwise = self._convolution(input_shape, between, channels, False)
        self.pointwise = self._in_memory_order(CONVOLUTIONS[self.rank](between, self.filters, 1, bias=self.use_bias))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._activated(self.pointwise(self.depthwise(self._padded(inputs))))


class SeparableConv1D(SeparableConv):
    data_format = "channels_last"  # whatever the configured one is, as in Keras
    rank = 1


class SeparableConv2D(SeparableConv):
    rank = 2
