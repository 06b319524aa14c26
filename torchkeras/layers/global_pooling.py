"""Global pooling: the maximum or mean of each channel over a whole sequence, image or volume."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import torch

from torchkeras.engine.facts import Facts
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.layers.spatial import Spatial, axis_of_channels


class GlobalPooling(Spatial, abstract=True):
    """One number for each channel, of all values along the spatial axes.

    Its `forward` takes either order of axes, so that no input is moved for it: the gradient of a moved input would have
    its axes in another order in memory, and what comes before would copy it.

    Options:
        keepdims (bool, default False): whether the spatial axes stay, with size 1.
    """

    keepdims: Annotated[bool, NEWER] = False

    _over: ClassVar[Callable[..., torch.Tensor]]

    def forward(self, inputs: torch.Tensor, axis: int | None = None) -> torch.Tensor:
        return type(self)._over(inputs, self._all_but(axis, inputs.dim()), self.keepdims)

    def _all_but(self, axis: int | None, ndim: int) -> tuple[int, ...]:
        """The spatial axes, where the channels lie at `axis`, or in Keras's order."""
        axis = (self._axis_of_channels if axis is None else axis) % ndim
        return (*range(1, axis), *range(axis + 1, ndim))

    class _Facts(Facts):
        native_layout = Layout.AXIS

        @property
        def axis(self) -> int:
            return axis_of_channels(self.layer)

        def shape_from(self, input_shape: Shape) -> Shape:
            layer, channels = self.layer, input_shape[axis_of_channels(self.layer)]
            if layer.keepdims:
                return layer._shaped(input_shape, [1] * layer.rank, channels)
            return input_shape[0], channels


class GlobalMaxPooling(GlobalPooling, abstract=True):
    _over = torch.amax


class GlobalAveragePooling(GlobalPooling, abstract=True):
    _over = torch.mean


class GlobalMaxPooling1D(GlobalMaxPooling):
    """The maximum over all time steps, channel by channel.

    Options:
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, channels), or with keepdims (batch, 1, channels)

    Example:
        >>> GlobalMaxPooling1D()(torch.tensor([[[1.0], [3.0], [2.0]]])).tolist()
        [[3.0]]
    """

    data_format = "channels_last"  # not the configured one, as in Keras 2
    rank = 1


class GlobalMaxPooling2D(GlobalMaxPooling):
    """The maximum over height and width, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, channels)

    Example:
        >>> GlobalMaxPooling2D()(torch.zeros(1, 4, 5, 3)).shape
        torch.Size([1, 3])
    """

    rank = 2


class GlobalMaxPooling3D(GlobalMaxPooling):
    """The maximum over depth, height and width, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, 1, channels)

    Example:
        >>> GlobalMaxPooling3D(keepdims=True)(torch.zeros(1, 4, 5, 6, 3)).shape
        torch.Size([1, 1, 1, 1, 3])
    """

    rank = 3


class GlobalAveragePooling1D(GlobalAveragePooling):
    """The mean over all time steps, channel by channel; with a mask, over the unmasked steps.

    The output has no mask.

    Options:
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, channels), or with keepdims (batch, 1, channels)

    Example:
        >>> GlobalAveragePooling1D()(torch.tensor([[[1.0], [3.0], [2.0]]])).tolist()
        [[2.0]]
    """

    data_format = "channels_last"  # not the configured one, as in Keras 2
    rank = 1
    supports_masking = True

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor | None = None, axis: int | None = None) -> torch.Tensor:
        if mask is None:
            return super().forward(inputs, axis)
        (steps,) = self._all_but(axis, 3)
        counted = mask.to(inputs.dtype).unsqueeze(3 - steps)  # the channels' axis
        return (inputs * counted).sum(steps, self.keepdims) / counted.sum(steps, self.keepdims)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """None: the time steps are gone."""


class GlobalAveragePooling2D(GlobalAveragePooling):
    """The mean over height and width, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, channels)

    Example:
        >>> GlobalAveragePooling2D()(torch.zeros(1, 4, 5, 3)).shape
        torch.Size([1, 3])
    """

    rank = 2


class GlobalAveragePooling3D(GlobalAveragePooling):
    """The mean over depth, height and width, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, channels), or with keepdims (batch, 1, 1, 1, channels)

    Example:
        >>> GlobalAveragePooling3D(keepdims=True)(torch.zeros(1, 4, 5, 6, 3)).shape
        torch.Size([1, 1, 1, 1, 3])
    """

    rank = 3


# Keras's short names.
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
)
