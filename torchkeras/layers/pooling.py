"""Pooling: the maximum or mean of windows, of equal parts, or of all of an image or sequence."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.engine.options import NEWER, DataFormat, OptionalSizes, Sizes
from torchkeras.layers.spatial import PoolPadding, Spatial, same_padding, torch_padding

Modules = Mapping[int, Callable[..., nn.Module]]


class Pooling(Spatial, abstract=True):
    """The `pooled` value of each window of `pool_size`, which are `strides` (default: `pool_size`) apart.

    `padding`: 'valid' (whole windows only), 'same' (also those that reach over an end; what is outside does not count)
    or 'theano' (the 'same' of Theano: all but one value of the first window outside, two of odd ones). Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, channels, *new sizes). Raises ValueError for a window longer than the input.
    """

    _declares_options = True

    pool_size: Sizes = 2
    strides: OptionalSizes = None
    padding: PoolPadding = "valid"

    modules_of_rank: ClassVar[Modules]
    functions_of_rank: ClassVar[Mapping[int, Callable[..., torch.Tensor]]]
    outside: ClassVar[Mapping[str, Any]] = {}  # what keeps the padding out of the result

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.strides = self.strides or self.pool_size

    def make(self, input_shape: Any) -> None:
        if self.padding == "valid":
            self.check_window("pool_size", self.pool_size, input_shape)
            self.pool = self.modules_of_rank[self.rank](self.pool_size, self.strides)

    def follow_theano(self) -> None:
        """Let windows begin where Theano's did: in a model whose weights it made."""
        self.padding = "theano" if self.padding == "same" else self.padding

    def _as_theano(self, inputs: torch.Tensor, outside: float) -> torch.Tensor:
        """The windows of 'theano', as many as those of 'same', with a value `outside`."""
        pads = []
        for size, window, stride in zip(inputs.shape[2:], self.pool_size, self.strides, strict=True):
            before = window - 2 if window % 2 and window > 1 else window - 1
            pads.append((before, (size - 1) // stride * stride + window - before - size))
        padded = F.pad(inputs, torch_padding(pads), value=outside)
        return self.functions_of_rank[self.rank](padded, self.pool_size, self.strides, 0)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.padding == "theano":
            return self._as_theano(inputs, -torch.inf)
        if self.padding == "valid":
            return self.pool(inputs)
        # torch pads both ends alike. With strides, `ceil_mode` lets the last window reach over the end by what is
        # missing. Without, an even window gets one more at the start, and the output that this adds is cut away.
        windows = list(zip(inputs.shape[2:], self.pool_size, self.strides, strict=True))
        padding = [w // 2 if stride == 1 else same_padding(size, w, stride)[0] for size, w, stride in windows]
        pool = self.functions_of_rank[self.rank]
        outputs = pool(inputs, self.pool_size, self.strides, padding, ceil_mode=True, **self.outside)
        for axis, (_, window, stride) in enumerate(windows, 2):
            if stride == 1 and window % 2 == 0:
                outputs = outputs.narrow(axis, 1, outputs.shape[axis] - 1)
        return outputs


class MaxPooling(Pooling, abstract=True):
    __doc__ = (Pooling.__doc__ or "").replace("`pooled` value", "maximum")

    modules_of_rank = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}
    functions_of_rank = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}


def _avg_pool3d(inputs: torch.Tensor, window: Any, strides: Any, padding: Any, **options: Any) -> torch.Tensor:
    """`F.avg_pool3d`, and also for a window longer than the input, which torch refuses in 3-D: planes, then depth."""
    if all(size >= span for size, span in zip(inputs.shape[2:], window, strict=True)):
        return F.avg_pool3d(inputs, window, strides, padding, **options)
    planes = F.avg_pool2d(inputs.flatten(1, 2), window[1:], strides[1:], padding[1:], **options)
    columns = planes.unflatten(1, inputs.shape[1:3]).flatten(3)
    outputs = F.avg_pool2d(columns, (window[0], 1), (strides[0], 1), (padding[0], 0), **options)
    return outputs.unflatten(3, planes.shape[2:])


class AveragePooling(Pooling, abstract=True):
    __doc__ = (Pooling.__doc__ or "").replace("`pooled` value", "mean")

    modules_of_rank = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
    functions_of_rank = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: _avg_pool3d}
    outside = {"count_include_pad": False}

    def _as_theano(self, inputs: torch.Tensor, outside: float) -> torch.Tensor:
        counts = super()._as_theano(torch.ones_like(inputs[:1, :1]), 0)
        return super()._as_theano(inputs, 0) / counts


class AdaptivePooling(Spatial, abstract=True):
    """The `pooled` value of each of `output_size` parts, as equal as they can be, of each spatial axis.

    Shape: (batch, *sizes, channels) -> (batch, *output_size, channels), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, channels, *output_size).
    """

    output_size: Sizes

    modules_of_rank: ClassVar[Modules]

    def make(self, input_shape: Any) -> None:
        self.pool = self.modules_of_rank[self.rank](self.output_size)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.pool(inputs)


class AdaptiveMaxPooling(AdaptivePooling, abstract=True):
    __doc__ = (AdaptivePooling.__doc__ or "").replace("`pooled` value", "maximum")

    modules_of_rank = {1: nn.AdaptiveMaxPool1d, 2: nn.AdaptiveMaxPool2d, 3: nn.AdaptiveMaxPool3d}


class AdaptiveAveragePooling(AdaptivePooling, abstract=True):
    __doc__ = (AdaptivePooling.__doc__ or "").replace("`pooled` value", "mean")

    modules_of_rank = {1: nn.AdaptiveAvgPool1d, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}


class GlobalPooling(Spatial, abstract=True):
    """The `pooled` value over all spatial axes, which `keepdims` keeps with the size 1.

    Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
    -> (batch, channels), or with keepdims=True as many axes as the input has.
    """

    data_format: DataFormat = None
    keepdims: Annotated[bool, NEWER] = False


class GlobalMaxPooling(GlobalPooling, abstract=True):
    __doc__ = (GlobalPooling.__doc__ or "").replace("`pooled` value", "maximum")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.amax(tuple(range(2, inputs.dim())), self.keepdims)


class GlobalAveragePooling(GlobalPooling, abstract=True):
    __doc__ = (GlobalPooling.__doc__ or "").replace("`pooled` value", "mean")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.mean(tuple(range(2, inputs.dim())), self.keepdims)


class MaxPooling1D(MaxPooling):
    __doc__ = MaxPooling.__doc__

    data_format = "channels_last"  # whatever the configured one is, as in Keras 2: here and in the others of rank 1

    rank = 1


class MaxPooling2D(MaxPooling):
    __doc__ = MaxPooling.__doc__

    rank = 2


class MaxPooling3D(MaxPooling):
    __doc__ = MaxPooling.__doc__

    rank = 3


class AveragePooling1D(AveragePooling):
    __doc__ = AveragePooling.__doc__

    data_format = "channels_last"

    rank = 1


class AveragePooling2D(AveragePooling):
    __doc__ = AveragePooling.__doc__

    rank = 2


class AveragePooling3D(AveragePooling):
    __doc__ = AveragePooling.__doc__

    rank = 3


class AdaptiveMaxPooling1D(AdaptiveMaxPooling):
    __doc__ = AdaptiveMaxPooling.__doc__

    rank = 1


class AdaptiveMaxPooling2D(AdaptiveMaxPooling):
    __doc__ = AdaptiveMaxPooling.__doc__

    rank = 2


class AdaptiveMaxPooling3D(AdaptiveMaxPooling):
    __doc__ = AdaptiveMaxPooling.__doc__

    rank = 3


class AdaptiveAveragePooling1D(AdaptiveAveragePooling):
    __doc__ = AdaptiveAveragePooling.__doc__

    rank = 1


class AdaptiveAveragePooling2D(AdaptiveAveragePooling):
    __doc__ = AdaptiveAveragePooling.__doc__

    rank = 2


class AdaptiveAveragePooling3D(AdaptiveAveragePooling):
    __doc__ = AdaptiveAveragePooling.__doc__

    rank = 3


class GlobalMaxPooling1D(GlobalMaxPooling):
    __doc__ = GlobalMaxPooling.__doc__

    data_format = "channels_last"

    rank = 1


class GlobalMaxPooling2D(GlobalMaxPooling):
    __doc__ = GlobalMaxPooling.__doc__

    rank = 2


class GlobalMaxPooling3D(GlobalMaxPooling):
    __doc__ = GlobalMaxPooling.__doc__

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
    __doc__ = GlobalAveragePooling.__doc__

    rank = 2


class GlobalAveragePooling3D(GlobalAveragePooling):
    __doc__ = GlobalAveragePooling.__doc__

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
