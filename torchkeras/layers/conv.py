"""Convolutions."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
from torch import nn

from torchkeras.activations import linear, relu
from torchkeras.engine.layer.axis_order import Layout
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, Activation, DataFormat, Positive, Sizes
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.spatial import ConvPadding, Spatial, fixed_padding, pad

CONVOLUTIONS: dict[int, Any] = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}


class Convolving(Spatial, abstract=True):
    """What all convolutions share, with the options `kernel_size`, `strides`, `padding` and `dilation_rate`."""

    _declares_options = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: strides and dilation_rate cannot both be above 1; "
                f"found strides {self.strides} and dilation_rate {self.dilation_rate}."
            )

    @property
    def _spans(self) -> list[int]:
        """How many values of each axis the kernel reaches over."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation_rate, strict=True)]

    def _convolution(self, input_shape: Shape, filters: int, groups: int, bias: bool) -> nn.Module:
        """The module that convolves `_padded` inputs; it pads by itself where both ends of each axis get the same."""
        if self.padding == "valid":
            self._check_window("kernel_size", self._spans, input_shape)
        pairs = fixed_padding(self.padding, self.kernel_size, self.strides, self.dilation_rate)
        self._pads = pairs is None or any(before != after for before, after in pairs)
        padding = 0 if pairs is None or self._pads else tuple(before for before, _ in pairs)
        sizes = self._known_size(input_shape, self._axis_of_channels), filters, self.kernel_size, self.strides
        module = CONVOLUTIONS[self.rank](*sizes, padding, self.dilation_rate, groups, bias)
        return self._in_memory_order(module)

    def _padded(self, inputs: torch.Tensor) -> torch.Tensor:
        """The inputs with the zeros that the module of `_convolution` does not add by itself."""
        if not self._pads:
            return inputs
        return pad(inputs, self.padding, self.kernel_size, self.strides, self.dilation_rate)

    def _follow_theano(self) -> None:
        """Pad as Theano did where that differs: for weights that it made."""
        window = (self.kernel_size, self.strides, self.dilation_rate)
        if self.padding == "same" and fixed_padding("same", *window) != fixed_padding("half", *window):
            self.padding, self._pads = "half", True
            module: Any
            for module in self.children():
                if isinstance(module, CONVOLUTIONS[self.rank]):
                    module.padding = (0,) * self.rank

    def _in_memory_order(self, module: nn.Module) -> nn.Module:
        """The module with its kernel as the images lie in memory, so that torch need not turn it or its gradient."""
        if self.rank == 2 and self._facts.native_layout is Layout.CHANNELS_FIRST:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return module


class Activated(KernelLayer, abstract=True):
    """`activation` and `use_bias`, and what concerns kernel and bias."""

    activation: Activation = None
    use_bias: bool = True


class Dilated(Layer, abstract=True):
    """`dilation_rate`, where it came to a layer later than its other options."""

    dilation_rate: Sizes = 1


class Grouped(Layer, abstract=True):
    """`groups`, behind the options that Keras 2 has."""

    groups: Annotated[Positive, NEWER] = 1


class Conv(Convolving, Activated, Grouped, abstract=True):
    """`activation(convolution(x, kernel) + bias)` over `rank` axes.

    `padding`: 'valid' (none), 'same' (output as long as the input, divided by the strides; the end gets the larger
    half, as in TensorFlow), 'half' (the 'same' of Theano: half a kernel at each end, the start gets the larger one),
    'full' (every value that the kernel touches) or, over one axis, 'causal' (before the start only). `groups`: into how
    many equal groups channels and filters are split, each with its own convolution.
    Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
    are both above 1, for 'causal' with 'channels_first', for groups that do not divide channels and filters, and for a
    kernel that is longer than the input.
    """

    _declares_options = True

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: ConvPadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1

    kernel = weight("conv.weight", keras="... in out", torch="out in ...")
    bias = weight("conv.bias", keras="out", when="use_bias")

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        what = f"{type(self).__name__} {self.name!r}"
        if self.padding == "causal" and self.data_format == "channels_first":
            raise ValueError(f"{what}: padding 'causal' needs data_format 'channels_last'; found 'channels_first'.")
        if self.filters % self.groups:
            raise ValueError(f"{what}: groups must divide filters {self.filters}; found {self.groups}.")

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        if channels % self.groups:
            found = f"the {channels} channels of the input {tuple(input_shape)}"
            raise ValueError(f"groups must divide {found}; found {self.groups}.")
        self.conv = self._convolution(input_shape, self.filters, self.groups, self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self._activated(self.conv(self._padded(inputs)))

    class _Facts(Facts):
        product = "conv"

        def shape_from(self, input_shape: Shape) -> Shape:
            layer = self.layer
            if layer.padding == "valid":
                layer._check_window("kernel_size", layer._spans, input_shape)
            return layer._windowed(input_shape, layer.filters, layer.kernel_size, layer.strides, layer.dilation_rate)

        def hook_free(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, self.layer._modules

            def run(inputs: torch.Tensor) -> torch.Tensor:
                outputs = inside["conv"].forward(layer._padded(inputs))
                return torch.relu_(outputs) if layer.activation is relu else layer._activated(outputs)

            return run

        def before_relu(self) -> Callable[..., torch.Tensor] | None:
            layer, inside = self.layer, self.layer._modules
            return (lambda inputs: inside["conv"].forward(layer._padded(inputs))) if layer.activation is relu else None

        @property
        def overwritable(self) -> bool:  # type: ignore[override]
            return self.layer.activation is linear


class Conv1D(Conv):
    data_format = "channels_last"  # whatever the configured one is, as in Keras
    rank = 1


class Conv2D(Conv):
    rank = 2


class Conv3D(Conv):
    rank = 3
