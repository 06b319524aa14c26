"""Adaptive pooling: the maximum or mean of a given number of equal parts of sequences, images or volumes."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import nn

from torchkeras.engine.options import Sizes
from torchkeras.layers.spatial import Spatial


class AdaptivePooling(Spatial, abstract=True):
    """A number for each of `output_size` equal parts of the spatial axes, channel by channel.

    Options:
        output_size (positive integer or tuple of them): the number of parts along all spatial axes, or along each;
            where it does not divide a size, neighbouring parts share a value.
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


class AdaptiveMaxPooling1D(AdaptiveMaxPooling):
    """The maximum of each of `output_size` equal parts of sequences, channel by channel.

    Shapes:
        (batch, steps, channels) -> (batch, output_size, channels)

    Example:
        >>> AdaptiveMaxPooling1D(2)(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
        [[[3.0], [2.0]]]
    """

    rank = 1


class AdaptiveMaxPooling2D(AdaptiveMaxPooling):
    """The maximum of each cell of a grid of `output_size` laid over images, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, *output_size, channels)

    Example:
        >>> AdaptiveMaxPooling2D((2, 3))(torch.zeros(1, 5, 7, 3)).shape
        torch.Size([1, 2, 3, 3])
    """

    rank = 2


class AdaptiveMaxPooling3D(AdaptiveMaxPooling):
    """The maximum of each cell of a grid of `output_size` laid over volumes, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, *output_size, channels)

    Example:
        >>> AdaptiveMaxPooling3D(2)(torch.zeros(1, 4, 5, 6, 3)).shape
        torch.Size([1, 2, 2, 2, 3])
    """

    rank = 3


class AdaptiveAveragePooling1D(AdaptiveAveragePooling):
    """The mean of each of `output_size` equal parts of sequences, channel by channel.

    Shapes:
        (batch, steps, channels) -> (batch, output_size, channels)

    Example:
        >>> AdaptiveAveragePooling1D(2)(torch.tensor([[[1.0], [3.0], [2.0], [0.0]]])).tolist()
        [[[2.0], [1.0]]]
    """

    rank = 1


class AdaptiveAveragePooling2D(AdaptiveAveragePooling):
    """The mean of each cell of a grid of `output_size` laid over images, channel by channel.

    Shapes:
        (batch, height, width, channels) -> (batch, *output_size, channels)

    Example:
        >>> AdaptiveAveragePooling2D((2, 3))(torch.zeros(1, 5, 7, 3)).shape
        torch.Size([1, 2, 3, 3])
    """

    rank = 2


class AdaptiveAveragePooling3D(AdaptiveAveragePooling):
    """The mean of each cell of a grid of `output_size` laid over volumes, channel by channel.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, *output_size, channels)

    Example:
        >>> AdaptiveAveragePooling3D(2)(torch.zeros(1, 4, 5, 6, 3)).shape
        torch.Size([1, 2, 2, 2, 3])
    """

    rank = 3
