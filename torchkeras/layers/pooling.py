"""Pooling: the maximum or mean of windows, of equal parts, or of all of an image or sequence."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.options import NEWER, DataFormat, OptionalSizes, Sizes
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.layers.spatial import PoolPadding, Spatial, same_padding, torch_padding


def theano_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """What Theano's 'same' puts before and after an axis: all but one value of a window, or two of an odd one."""
    before = window - 2 if window % 2 and window > 1 else window - 1
    return before, (size - 1) // stride * stride + window - before - size


class Pooling(Spatial, abstract=True):
    """The maximum (`Max...`) or mean (`Average...`) of each window of `pool_size`, `strides` (or `pool_size`) apart.

    `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
    or 'theano' (as many, but where Theano's 'same' has them). Raises ValueError for a window longer than the input.
    Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, channels, *new sizes).
    """

    _declares_options = True

    pool_size: Sizes = 2
    strides: OptionalSizes = None
    padding: PoolPadding = "valid"

    _modules_of_rank: ClassVar[Mapping[int, Callable[..., nn.Module]]]
    _outside: ClassVar[Mapping[str, Any]] = {}  # what keeps the module's own padding out of the result

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.strides = self.strides or self.pool_size

    def _make_modules(self, input_shape: Any) -> None:
        if self.padding == "valid":
            self._check_window("pool_size", self.pool_size, input_shape)
        self._made_for = input_shape
        self._settle_padding()

    @property
    def _differs_on_theano(self) -> bool:
        """Whether Theano padded one of the layer's inputs elsewhere; an unknown size is taken to differ."""
        shapes = [tensor.shape for node in self._inbound_nodes for tensor in node.input_tensors] or [self._made_for]
        windows = list(zip(self.pool_size, self.strides, strict=True))
        return self.padding == "same" and any(
            (size is None or same_padding(size, window, stride) != theano_padding(size, window, stride)) and window > 1
            for shape in shapes
            for size, (window, stride) in zip([shape[axis] for axis in self._spatial_axes], windows, strict=True)
        )

    def _settle_padding(self) -> None:
        # The module pads by itself, in half the time, where both ends get the same (in 3-D torch refuses some of that).
        windows = zip(self.pool_size, self.strides, strict=True)
        alike = self.rank < 3 and self.padding == "same" and all(size % 2 and stride == 1 for size, stride in windows)
        padding = [size // 2 if alike else 0 for size in self.pool_size]
        self.pool = self._modules_of_rank[self.rank](self.pool_size, self.strides, padding, **self._outside)
        self._pads = self.padding != "valid" and not alike

    def _follow_theano(self) -> None:
        """Let windows begin where Theano's did: in a model whose weights it made."""
        self.padding = "theano" if self.padding == "same" else self.padding
        self._settle_padding()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if not self._pads:
            return self.pool(inputs)
        ends = same_padding if self.padding == "same" else theano_padding
        return self._pooled(inputs, torch_padding(map(ends, inputs.shape[2:], self.pool_size, self.strides)))

    def _pooled(self, inputs: torch.Tensor, padding: list[int]) -> torch.Tensor:
        """The value of each window of padded inputs, to which the padding adds nothing."""
        return self.pool(F.pad(inputs, padding, value=-torch.inf))

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            layer = self.layer
            if layer.padding == "valid":
                layer._check_window("pool_size", layer.pool_size, input_shape)
            return layer._windowed(input_shape, input_shape[layer._axis_of_channels], layer.pool_size, layer.strides)

        def hook_free(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, self.layer._modules
            return lambda inputs: layer.forward(inputs) if layer._pads else inside["pool"].forward(inputs)


class MaxPooling(Pooling, abstract=True):
    _modules_of_rank = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}

    class _Facts(Facts):
        commutes_with_relu = True


class AveragePooling(Pooling, abstract=True):
    _modules_of_rank = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
    _outside = {"count_include_pad": False}

    def _pooled(self, inputs: torch.Tensor, padding: list[int]) -> torch.Tensor:
        means, shares = (self.pool(F.pad(values, padding)) for values in (inputs, torch.ones_like(inputs[:1, :1])))
        return means / shares


class AdaptivePooling(Spatial, abstract=True):
    """The maximum (`...Max...`) or mean (`...Average...`) of each of `output_size` equal parts of each spatial axis.

    Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, channels, *output_size).
    """

    output_size: Sizes

    _modules_of_rank: ClassVar[Mapping[int, Callable[..., nn.Module]]]

    def _make_modules(self, input_shape: Any) -> None:
        self.pool = self._modules_of_rank[self.rank](self.output_size)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.pool(inputs)


class AdaptiveMaxPooling(AdaptivePooling, abstract=True):
    _modules_of_rank = {1: nn.AdaptiveMaxPool1d, 2: nn.AdaptiveMaxPool2d, 3: nn.AdaptiveMaxPool3d}


class AdaptiveAveragePooling(AdaptivePooling, abstract=True):
    _modules_of_rank = {1: nn.AdaptiveAvgPool1d, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}


class GlobalPooling(Spatial, abstract=True):
    """The maximum (`...Max...`) or mean (`...Average...`) over all spatial axes, which `keepdims` keeps with size 1.

    Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
    -> (batch, channels), or with keepdims=True as many axes as the input has.
    """

    data_format: DataFormat = None
    keepdims: Annotated[bool, NEWER] = False

    _over: ClassVar[Callable[..., torch.Tensor]]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return type(self)._over(inputs, tuple(range(2, inputs.dim())), self.keepdims)

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            layer, channels = self.layer, input_shape[self.layer._axis_of_channels]
            if layer.keepdims:
                return layer._shaped(input_shape, [1] * layer.rank, channels)
            return input_shape[0], channels


class GlobalMaxPooling(GlobalPooling, abstract=True):
    _over = torch.amax


class GlobalAveragePooling(GlobalPooling, abstract=True):
    _over = torch.mean


class MaxPooling1D(MaxPooling):
    data_format = "channels_last"  # whatever the configured one is, as in Keras 2: here and in the others of rank 1
    rank = 1


class MaxPooling2D(MaxPooling):
    rank = 2


class MaxPooling3D(MaxPooling):
    rank = 3


class AveragePooling1D(AveragePooling):
    data_format = "channels_last"
    rank = 1


class AveragePooling2D(AveragePooling):
    rank = 2


class AveragePooling3D(AveragePooling):
    rank = 3

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.is_cpu and inputs.dtype.itemsize < 4:  # for which torch has a kernel on CUDA only
            return super().forward(inputs.float()).to(inputs.dtype)
        return super().forward(inputs)


class AdaptiveMaxPooling1D(AdaptiveMaxPooling):
    rank = 1


class AdaptiveMaxPooling2D(AdaptiveMaxPooling):
    rank = 2


class AdaptiveMaxPooling3D(AdaptiveMaxPooling):
    rank = 3


class AdaptiveAveragePooling1D(AdaptiveAveragePooling):
    rank = 1


class AdaptiveAveragePooling2D(AdaptiveAveragePooling):
    rank = 2


class AdaptiveAveragePooling3D(AdaptiveAveragePooling):
    rank = 3


class GlobalMaxPooling1D(GlobalMaxPooling):
    data_format = "channels_last"
    rank = 1


class GlobalMaxPooling2D(GlobalMaxPooling):
    rank = 2


class GlobalMaxPooling3D(GlobalMaxPooling):
    rank = 3


class GlobalAveragePooling1D(GlobalAveragePooling):
    """The mean over all time steps, or with a mask over those that count; `keepdims` keeps their axis with the size 1.

    Shape: (batch, steps, channels), or with data_format='channels_first' (batch, channels, steps),
    -> (batch, channels), or with keepdims=True as many axes as the input has. The output has no mask.
    """

    data_format = "channels_last"
    rank = 1
    supports_masking = True

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        if mask is None:
            return super().forward(inputs)
        counted = mask.to(inputs.dtype).unsqueeze(1)
        return (inputs * counted).sum(2, self.keepdims) / counted.sum(2, self.keepdims)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """None: the time steps are gone."""


class GlobalAveragePooling2D(GlobalAveragePooling):
    rank = 2


class GlobalAveragePooling3D(GlobalAveragePooling):
    rank = 3


# Keras's short names.
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
)
