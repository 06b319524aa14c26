"""Pooling: the maximum or mean of windows of sequences, images or volumes."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.base.torch_tables import own_modules
from torchkeras.base.torch_versions import MaxPool2d
from torchkeras.engine.facts import Facts
from torchkeras.engine.options import OptionalSizes, Sizes
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.layers.spatial import PoolPadding, Spatial, axis_of_channels, same_padding, torch_padding


def theano_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """(before, after) of an axis for Theano's 'same': before it a window less 1 value, or less 2 if its size is odd."""
    before = window - 2 if window % 2 and window > 1 else window - 1
    return before, (size - 1) // stride * stride + window - before - size


class Pooling(Spatial, abstract=True):
    """A number for each window of the spatial axes, channel by channel.

    Options:
        pool_size (positive integer or tuple of them, default 2): the size of a window along all spatial axes, or along
            each; with padding "valid" it is at most the size of the input.
        strides (positive integer, tuple of them or None, default None): the distance between the starts of two windows;
            None takes `pool_size`.
        padding (string, default "valid"): "valid" takes whole windows only, `(size - pool_size) // strides + 1` along
            an axis. "same" also takes windows that reach over an end, `ceil(size / strides)` along an axis; values
            outside do not count. "theano" takes as many windows as "same", placed as Theano placed them.
    """

    pool_size: Sizes = 2
    strides: OptionalSizes = None
    padding: PoolPadding = "valid"

    _modules_of_rank: ClassVar[Mapping[int, Callable[..., nn.Module]]]
    _outside: ClassVar[Mapping[str, Any]] = {}  # options that keep the module's own padding out of the result

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.strides = self.strides or self.pool_size

    def _make_modules(self, input_shape: Any) -> None:
        if self.padding == "valid":
            self._check_window("pool_size", self.pool_size, input_shape)
        self._settle_padding()

    @property
    def _differs_on_theano(self) -> bool:
        """Whether Theano padded one of the layer's inputs in another place; an unknown size counts as such."""
        if self.padding != "same":
            return False
        shapes = [tensor.shape for node in self._call_nodes for tensor in node.input_tensors]
        return any(map(self._is_other_on_theano, shapes or [self._built_for or (None,) * (self.rank + 2)]))

    def _is_other_on_theano(self, shape: Any) -> bool:
        """Whether Theano padded an input of this shape in another place."""
        sizes = [shape[axis] for axis in self._spatial_axes]
        for size, window, stride in zip(sizes, self.pool_size, self.strides, strict=True):
            if window == 1:
                continue
            if size is None or same_padding(size, window, stride) != theano_padding(size, window, stride):
                return True
        return False

    def _settle_padding(self) -> None:
        # The module pads by itself, in half the time, where both ends get the same; in 3-D torch refuses some of these.
        windows = zip(self.pool_size, self.strides, strict=True)
        alike = self.rank < 3 and self.padding == "same" and all(size % 2 and stride == 1 for size, stride in windows)
        padding = [size // 2 if alike else 0 for size in self.pool_size]
        self.pool = self._modules_of_rank[self.rank](self.pool_size, self.strides, padding, **self._outside)
        self._pads = self.padding != "valid" and not alike

    def _follow_theano(self) -> None:
        """Let windows begin where Theano's did: for a model whose weights Theano made."""
        self.padding = "theano" if self.padding == "same" else self.padding
        self._settle_padding()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if not self._pads:
            return self.pool(inputs)
        ends = same_padding if self.padding == "same" else theano_padding
        return self._pooled(inputs, torch_padding(map(ends, inputs.shape[2:], self.pool_size, self.strides)))

    def _pooled(self, inputs: torch.Tensor, padding: list[int]) -> torch.Tensor:
        """The value of each window of the padded inputs; the padding does not count."""
        return self.pool(F.pad(inputs, padding, value=-torch.inf))

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            layer = self.layer
            if layer.padding == "valid":
                layer._check_window("pool_size", layer.pool_size, input_shape)
            return layer._windowed(input_shape, input_shape[axis_of_channels(layer)], layer.pool_size, layer.strides)

        def hook_free(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, own_modules(self.layer)
            return lambda inputs: layer.forward(inputs) if layer._pads else inside["pool"].forward(inputs)


class MaxPooling(Pooling, abstract=True):
    _modules_of_rank = {1: nn.MaxPool1d, 2: MaxPool2d, 3: nn.MaxPool3d}

    class _Facts(Facts):
        commutes_with_relu = True


class AveragePooling(Pooling, abstract=True):
    _modules_of_rank = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}
    _outside = {"count_include_pad": False}

    def _pooled(self, inputs: torch.Tensor, padding: list[int]) -> torch.Tensor:
        means, shares = (self.pool(F.pad(values, padding)) for values in (inputs, torch.ones_like(inputs[:1, :1])))
        return means / shares


class MaxPooling1D(MaxPooling):
    """The maximum of each window of sequences, channel by channel.

    Options:
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, channels)

    Example:
        >>> MaxPooling1D()(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
        [[[3.0], [2.0]]]
    """

    data_format = "channels_last"  # not the configured one, as in Keras 2
    rank = 1


class MaxPooling2D(MaxPooling):
    """The maximum of each window of images, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, channels)

    Example:
        >>> MaxPooling2D()(torch.zeros(1, 4, 6, 3)).shape
        torch.Size([1, 2, 3, 3])
    """

    rank = 2


class MaxPooling3D(MaxPooling):
    """The maximum of each window of volumes, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, channels)

    Example:
        >>> MaxPooling3D()(torch.zeros(1, 4, 6, 2, 3)).shape
        torch.Size([1, 2, 3, 1, 3])
    """

    rank = 3


class AveragePooling1D(AveragePooling):
    """The mean of each window of sequences, channel by channel.

    Options:
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, channels)

    Example:
        >>> AveragePooling1D()(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
        [[[2.0], [1.0]]]
    """

    data_format = "channels_last"  # not the configured one, as in Keras 2
    rank = 1


class AveragePooling2D(AveragePooling):
    """The mean of each window of images, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, channels)

    Example:
        >>> AveragePooling2D()(torch.zeros(1, 4, 6, 3)).shape
        torch.Size([1, 2, 3, 3])
    """

    rank = 2


class AveragePooling3D(AveragePooling):
    """The mean of each window of volumes, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, channels)

    Example:
        >>> AveragePooling3D()(torch.zeros(1, 4, 6, 2, 3)).shape
        torch.Size([1, 2, 3, 1, 3])
    """

    rank = 3

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.is_cpu and inputs.dtype.itemsize < 4:  # torch has a kernel for these on CUDA only
            return super().forward(inputs.float()).to(inputs.dtype)
        return super().forward(inputs)


# Keras's short names.
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
