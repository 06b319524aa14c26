"""Convolutions."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.activations import is_pointwise
from torchkeras.engine.layout import Layout, convert, to_channels_first, to_keras
from torchkeras.engine.options import Activation, DataFormat, Positive, Sizes
from torchkeras.engine.weight import weight
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.spatial import ConvPadding, Spatial, same_padding, torch_padding

CONVOLUTIONS: dict[int, Any] = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}


class Conv(Spatial, KernelLayer, abstract=True):
    """`activation(convolution(x, kernel) + bias)` over `rank` axes.

    `padding`: 'valid' (none), 'same' (output as long as the input, divided by the strides; the end gets the larger
    half, as in TensorFlow) or, over one axis, 'causal' (before the start only).

    Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
    are both above 1, for 'causal' with 'channels_first', and for a kernel that is longer than the input.
    """

    _declares_options = True

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: ConvPadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    activation: Activation = None
    use_bias: bool = True

    kernel = weight("conv.weight", keras="... in out", torch="out in ...")
    bias = weight("conv.bias", keras="out", when="use_bias")

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        what = f"{type(self).__name__} {self.name!r}"
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{what}: strides and dilation_rate cannot both be above 1; "
                f"found strides {self.strides} and dilation_rate {self.dilation_rate}."
            )
        if self.padding == "causal" and self.data_format == "channels_first":
            raise ValueError(f"{what}: padding 'causal' needs data_format 'channels_last'; found 'channels_first'.")

    def make(self, input_shape: Any) -> None:
        channels = self.known(input_shape, self.channel_axis)
        if self.padding == "valid":
            spans = ((k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation_rate, strict=True))
            self.check_window("kernel_size", spans, input_shape)
        fixed = self._fixed_padding()
        by_module = fixed is not None and all(before == after for before, after in fixed)
        self._pads_itself = not by_module
        self._padding = None if fixed is None else torch_padding(fixed)
        self.conv = CONVOLUTIONS[self.rank](
            channels,
            self.filters,
            self.kernel_size,
            stride=self.strides,
            padding=tuple(before for before, _ in fixed) if fixed is not None and by_module else 0,
            dilation=self.dilation_rate,
            bias=self.use_bias,
        )
        if self.rank == 2 and self.native_layout is Layout.CHANNELS_FIRST:
            # As the images lie in memory: torch gives the gradient that order, and turns no kernel for it.
            self.conv.to(memory_format=torch.channels_last)

    def _fixed_padding(self) -> list[tuple[int, int]] | None:
        """(before, after) of each axis; None when it depends on the size of the input."""
        spreads = [(k - 1) * d for k, d in zip(self.kernel_size, self.dilation_rate, strict=True)]
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding == "causal":
            return [(spread, 0) for spread in spreads]
        if max(self.strides) > 1:
            return None
        return [(spread // 2, spread - spread // 2) for spread in spreads]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self._pads_itself:
            inputs = self._padded(inputs)
        outputs = self.conv(inputs)
        if self.native_layout is Layout.KERAS or is_pointwise(self.activation):
            return self.activation(outputs)
        return convert(self.activation(convert(outputs, to_keras)), to_channels_first)

    def _padded(self, inputs: torch.Tensor) -> torch.Tensor:
        padding = self._padding
        if padding is None:
            padding = torch_padding(map(same_padding, inputs.shape[2:], self.kernel_size, self.strides))
        return F.pad(inputs, padding) if any(padding) else inputs  # F.pad copies even for nothing


class Conv1D(Conv):
    __doc__ = Conv.__doc__

    data_format = "channels_last"  # whatever the configured one is, as in Keras

    rank = 1


class Conv2D(Conv):
    __doc__ = Conv.__doc__

    rank = 2
