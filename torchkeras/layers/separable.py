"""Convolutions of each channel separately (depthwise), and with a mixture of the channels afterwards (separable)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.engine.facts import Facts
from torchkeras.engine.options import (
    Activation,
    Constraint,
    DataFormat,
    Initializer,
    Positive,
    Regularizer,
    Sizes,
)
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.conv import CONVOLUTIONS, Convolving, with_strides_of_images
from torchkeras.layers.spatial import SamePadding, SeparablePadding

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


def depthwise_pieces(layer: Layer, kernel: Tensor) -> Tensor:
    """Keras's (*kernel_size, channels, multiplier) of torch's (channels * multiplier, 1, *kernel_size)."""
    return kernel.squeeze(1).unflatten(0, (-1, layer.depth_multiplier)).movedim((0, 1), (-2, -1))


class DepthwiseConv(Convolving, abstract=True):
    """`activation(convolution(x, kernel) + bias)` of each channel separately.

    Options:
        padding (string, default "valid"): "valid", "same" or "half", as for `Conv2D`.
        depth_multiplier (positive integer, default 1): the number of kernels of each channel. Channel c convolved with
            its kernel m is channel `c * depth_multiplier + m` of the output.
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether a bias is added, one number for each channel of the output.
        depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
        bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
        depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
            loss.
        bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
        depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
            update.
        bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
    """

    kernel_size: Sizes
    strides: Sizes = 1
    padding: SamePadding = "valid"
    depth_multiplier: Positive = 1
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    activation: Activation = None
    use_bias: bool = True
    depthwise_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    depthwise_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    depthwise_constraint: Constraint = None
    bias_constraint: Constraint = None

    depthwise_kernel = weight("conv.weight", pieces=depthwise_pieces, option="depthwise")
    bias = weight("conv.bias", keras="out", when="use_bias")

    class _Facts(Facts):
        product = "conv"

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        self.conv = self._convolution(input_shape, channels * self.depth_multiplier, channels, self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._activated(self.conv(self._padded(inputs)))


class DepthwiseConv1D(DepthwiseConv):
    """`activation(convolution(x, kernel) + bias)` along the steps of sequences, each channel separately.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, channels * depth_multiplier)

    Example:
        >>> DepthwiseConv1D(3, depth_multiplier=2)(torch.zeros(2, 10, 4)).shape
        torch.Size([2, 8, 8])
    """

    rank = 1


class DepthwiseConv2D(DepthwiseConv):
    """`activation(convolution(x, kernel) + bias)` over height and width of images, each channel separately.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, channels * depth_multiplier)

    Example:
        >>> DepthwiseConv2D(3, padding="same")(torch.zeros(2, 9, 9, 4)).shape
        torch.Size([2, 9, 9, 4])
    """

    rank = 2
    _option_order = ("dilation_rate",)


class SeparableConv(Convolving, abstract=True):
    """`activation(depthwise(x) @ pointwise_kernel + bias)`: each channel by itself, then a mixture of the channels.

    Options:
        filters (positive integer): the number of channels of the output.
        padding (string, default "valid"): "valid", "same" or "half", as for `Conv2D`.
        depth_multiplier (positive integer, default 1): the number of depthwise kernels of each channel.
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether a bias is added, one number for each filter.
        depthwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the depthwise kernel.
        pointwise_initializer (name or Initializer, default "glorot_uniform"): the first values of the pointwise kernel.
        bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
        depthwise_regularizer (name, Regularizer or None, default None): a penalty on the depthwise kernel, added to the
            loss.
        pointwise_regularizer (name, Regularizer or None, default None): a penalty on the pointwise kernel, added to the
            loss.
        bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
        depthwise_constraint (name, Constraint or None, default None): applied to the depthwise kernel after each
            update.
        pointwise_constraint (name, Constraint or None, default None): applied to the pointwise kernel after each
            update.
        bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: SeparablePadding = "valid"
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
        self.pointwise = with_strides_of_images(CONVOLUTIONS[self.rank](between, self.filters, 1, bias=self.use_bias))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._activated(self.pointwise(self.depthwise(self._padded(inputs))))


class SeparableConv1D(SeparableConv):
    """`activation(depthwise(x) @ pointwise_kernel + bias)` along the steps of sequences.

    Each channel is convolved separately; the pointwise kernel then mixes the channels.

    Options:
        padding (string, default "valid"): "valid", "same", "half" or "causal", as for `Conv1D`.
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, filters)

    Example:
        >>> SeparableConv1D(8, 3)(torch.zeros(2, 10, 4)).shape
        torch.Size([2, 8, 8])

    Source: https://arxiv.org/abs/1610.02357
    """

    data_format = "channels_last"  # not the configured one, as in Keras
    rank = 1


class SeparableConv2D(SeparableConv):
    """`activation(depthwise(x) @ pointwise_kernel + bias)` over height and width of images.

    Each channel is convolved separately; the pointwise kernel then mixes the channels.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, filters)

    Example:
        >>> SeparableConv2D(8, 3, padding="same")(torch.zeros(2, 9, 9, 4)).shape
        torch.Size([2, 9, 9, 8])

    Source: https://arxiv.org/abs/1610.02357
    """

    rank = 2
