"""Pooling: the maximum or mean of windows, or of all of an image."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.engine.options import OptionalSizes, Sizes
from torchkeras.layers.spatial import PoolPadding, Spatial, same_padding


class Pooling(Spatial, abstract=True):
    """The `pooled` value of each window of `pool_size`, which are `strides` (default: `pool_size`) apart.

    `padding`: 'valid' (whole windows only) or 'same' (also those that reach over an end; what is outside does not
    count). Shape: (batch, *sizes, channels) -> (batch, *new sizes, channels), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, channels, *new sizes). Raises ValueError for a window longer than the input.
    """

    _declares_options = True

    pool_size: Sizes = 2
    strides: OptionalSizes = None
    padding: PoolPadding = "valid"

    modules_of_rank: ClassVar[Mapping[int, Callable[..., nn.Module]]]
    functions_of_rank: ClassVar[Mapping[int, Callable[..., torch.Tensor]]]
    outside: ClassVar[Mapping[str, Any]] = {}  # what keeps the padding out of the result

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.strides = self.strides or self.pool_size

    def make(self, input_shape: Any) -> None:
        if self.padding == "valid":
            self.check_window("pool_size", self.pool_size, input_shape)
            self.pool = self.modules_of_rank[self.rank](self.pool_size, self.strides)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
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


class AveragePooling(Pooling, abstract=True):
    __doc__ = (Pooling.__doc__ or "").replace("`pooled` value", "mean")

    modules_of_rank = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
    functions_of_rank = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
    outside = {"count_include_pad": False}


class GlobalMaxPooling(Spatial, abstract=True):
    """The maximum over all spatial axes.

    Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
    -> (batch, channels).
    """

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.amax(tuple(range(2, inputs.dim())))


class GlobalAveragePooling(Spatial, abstract=True):
    """The mean over all spatial axes.

    Shape: (batch, *sizes, channels), or with data_format='channels_first' (batch, channels, *sizes),
    -> (batch, channels).
    """

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.mean(tuple(range(2, inputs.dim())))


class MaxPooling2D(MaxPooling):
    __doc__ = MaxPooling.__doc__

    rank = 2


class AveragePooling2D(AveragePooling):
    __doc__ = AveragePooling.__doc__

    rank = 2


class GlobalMaxPooling2D(GlobalMaxPooling):
    __doc__ = GlobalMaxPooling.__doc__

    rank = 2


class GlobalAveragePooling2D(GlobalAveragePooling):
    __doc__ = GlobalAveragePooling.__doc__

    rank = 2
