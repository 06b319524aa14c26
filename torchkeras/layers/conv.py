"""Convolutions of sequences, images and volumes."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
from torch import nn

from torchkeras.activations import WITH_LOGITS, linear, relu
from torchkeras.engine.facts import Facts
from torchkeras.engine.options import NEWER, Activation, DataFormat, Positive, Sizes
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.spatial import ConvPadding, Spatial, fixed_padding, pad

CONVOLUTIONS: dict[int, Any] = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}


def with_strides_of_images(module: nn.Module) -> nn.Module:
    """The module. A kernel of one place, which lies in each order at once, has the strides of its gradient.

    The gradient lies as the images do, channels last; DistributedDataParallel warns where a parameter's strides differ.
    """
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)) and module.weight[0, 0].numel() == 1:
        module.weight.data = module.weight.data.to(memory_format=torch.channels_last)
    return module


class Convolving(Spatial, abstract=True):
    """What all convolutions share: the options of the window, and how they pad.

    Options:
        kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
        strides (positive integer or tuple of them, default 1): the distance between two windows along all spatial axes,
            or along each. Not above 1 together with `dilation_rate`.
        dilation_rate (positive integer or tuple of them, default 1): the distance between two values of a window along
            all spatial axes, or along each. Not above 1 together with `strides`.
    """

    def _build(self, *input_shapes: Any) -> None:
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: strides and dilation_rate cannot both be above 1; "
                f"found strides {self.strides} and dilation_rate {self.dilation_rate}."
            )
        super()._build(*input_shapes)

    @property
    def _spans(self) -> list[int]:
        """The number of values of each axis that the kernel reaches over."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel_size, self.dilation_rate, strict=True)]

    def _convolution(self, input_shape: Shape, filters: int, groups: int, bias: bool) -> nn.Module:
        """The module that convolves `_padded` inputs; it pads by itself where both ends of an axis get the same."""
        if self.padding == "valid":
            self._check_window("kernel_size", self._spans, input_shape)
        pairs = fixed_padding(self.padding, self.kernel_size, self.strides, self.dilation_rate)
        self._pads = pairs is None or any(before != after for before, after in pairs)
        padding = 0 if pairs is None or self._pads else tuple(before for before, _ in pairs)
        sizes = self._known_size(input_shape, self._axis_of_channels), filters, self.kernel_size, self.strides
        return with_strides_of_images(CONVOLUTIONS[self.rank](*sizes, padding, self.dilation_rate, groups, bias))

    def _padded(self, inputs: torch.Tensor) -> torch.Tensor:
        """The inputs with the zeros that the module of `_convolution` does not add by itself."""
        if not self._pads:
            return inputs
        return pad(inputs, self.padding, self.kernel_size, self.strides, self.dilation_rate)

    def _follow_theano(self) -> None:
        """Pad as Theano did where that differs: for weights that Theano made."""
        window = (self.kernel_size, self.strides, self.dilation_rate)
        if self.padding == "same" and fixed_padding("same", *window) != fixed_padding("half", *window):
            self.padding = "half"


class Activated(KernelLayer, abstract=True):
    """The options `activation` and `use_bias`, and those of kernel and bias.

    Options:
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether a bias is added, one number for each filter.
    """

    activation: Activation = None
    use_bias: bool = True


class Conv(Convolving, Activated, abstract=True):
    """`activation(convolution(x, kernel) + bias)` over `rank` axes.

    Options:
        filters (positive integer): the number of channels of the output.
        padding (string, default "valid"): the zeros around the input. "valid" adds none; the kernel must fit the input.
            "same" makes the output `ceil(size / strides)` long and adds the larger half at the end, as TensorFlow does.
            "half", Theano's 'same', adds half a kernel at each end, the larger half at the start. "full" adds a kernel
            less one value at each end, so that every window counts that touches the input.
        groups (positive integer, default 1): the number of equal groups into which channels and filters are split, each
            convolved on its own; it divides both.
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: ConvPadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    groups: Annotated[Positive, NEWER] = 1

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

        @property
        def ends_in(self) -> str | None:  # type: ignore[override]
            return WITH_LOGITS.get(self.layer.activation)

        def logits(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.layer._modules["conv"](self.layer._padded(inputs))  # type: ignore[no-any-return]

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
    """`activation(convolution(x, kernel) + bias)` along the steps of sequences.

    Options:
        padding (string, default "valid"): the zeros around the input. "valid", "same", "half" and "full" are those of
            `Conv2D`. "causal" adds all before the first step, so that no output depends on later steps; it needs
            `data_format` "channels_last".
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, filters)

    Example:
        >>> Conv1D(8, 3, padding="causal", activation="relu")(torch.zeros(2, 10, 4)).shape
        torch.Size([2, 10, 8])
    """

    data_format = "channels_last"  # not the configured one, as in Keras
    rank = 1


class Conv2D(Conv):
    """`activation(convolution(x, kernel) + bias)` over height and width of images.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, filters)

    Example:
        >>> Conv2D(8, 3, activation="relu")(torch.zeros(2, 28, 28, 1)).shape
        torch.Size([2, 26, 26, 8])
    """

    rank = 2


class Conv3D(Conv):
    """`activation(convolution(x, kernel) + bias)` over depth, height and width of volumes.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, filters)

    Example:
        >>> Conv3D(8, (1, 3, 3), strides=2)(torch.zeros(2, 6, 9, 9, 1)).shape
        torch.Size([2, 3, 4, 4, 8])
    """

    rank = 3
