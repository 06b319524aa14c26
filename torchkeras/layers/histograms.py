"""Layers that spread the values of images over their range: AutoContrast, Equalization and CLAHE.

They do so in training and outside of it.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras.base.rules import integer
from torchkeras.engine.options import Sizes
from torchkeras.layers.image_samples import VALUE_RANGE, ImageLayer, precise, rescaled

ValueRange = Annotated[Any, VALUE_RANGE]
LEVELS = 256


def counted(indices: Tensor, count: int) -> Tensor:
    """How often each index from 0 to `count` - 1 stands along the last axis."""
    counts = torch.zeros((*indices.shape[:-1], count), dtype=torch.int64, device=indices.device)
    return counts.scatter_add_(-1, indices, torch.ones_like(indices))


class AutoContrast(ImageLayer):
    """Stretches the values of images over the value range, channel by channel.

    A channel with a single value does not change.

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> AutoContrast()(torch.tensor([10.0, 20.0, 12.0]).view(1, 1, 3, 1)).flatten()
        tensor([  0., 255.,  51.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/auto_contrast/
    """

    value_range: ValueRange = (0, 255)

    _always = True

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        values = rescaled(precise(images), self.value_range, (0, 255))
        low, high = values.amin((2, 3), keepdim=True), values.amax((2, 3), keepdim=True)
        several = high > low
        scale = 255.0 / (high - low).where(several, 1)
        found = rescaled((values * scale - low * scale).clamp(0, 255), (0, 255), self.value_range)
        return torch.where(several, found, images)


class Equalization(ImageLayer):
    """Spreads the values of images so that all are about equally frequent, channel by channel.

    The images of a batch share one histogram for each channel, as in Keras 3. (Keras 3.15 documents that the layer does
    so outside of training too, but then leaves the images unchanged.)

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.
        bins (integer of at least 2, default 256): how many bins the histograms have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> Equalization()(torch.tensor([10.0, 20.0, 12.0]).view(1, 1, 3, 1)).flatten()
        tensor([  0., 255., 128.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/equalization/
    """

    value_range: ValueRange = (0, 255)
    bins: Annotated[Any, integer(2)] = 256

    _always = True

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        low, high = self.value_range
        scale, last = 255 / (high - low), self.bins - 1
        values = precise(images).transpose(0, 1).flatten(1) * scale - low * scale  # (channels, all their values)
        counts = counted((values * last / 255).long().clamp(0, last), self.bins)
        below = counts.cumsum(1)
        least = below.where(below > 0, values.shape[1]).amin(1, keepdim=True)
        spread = (below[:, -1:] - least).clamp(min=1)
        levels = ((below - least) * 255 / spread).round().clamp(0, 255).to(values.dtype)
        found = levels.gather(1, (values / 255 * last).clamp(0, last).long())
        found = torch.where((counts > 0).sum(1, keepdim=True) > 1, found, values)
        return (found / scale + low).view(images.transpose(0, 1).shape).transpose(0, 1)


class ContrastLimitedAdaptiveHistogramEqualization(ImageLayer):
    """Spreads the values of images within each tile of a grid, with a limit on the contrast; also called CLAHE.

    Between the centres of tiles, a pixel is the weighted mean of its results for the four tiles around it.

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.
        clip_limit (float, default 4.0): the limit on how often a value counts, as a multiple of the mean frequency,
            rounded down to whole pixels; the excess is shared among all 256 values. 0 sets no limit.
        tile_grid_size (positive integer or two, default (8, 8)): the number of tiles in a column and in a row.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> layer = ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 2))
        >>> layer(torch.rand(2, 8, 8, 3) * 255).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/clahe/
    """

    value_range: ValueRange = (0, 255)
    clip_limit: float = 4.0
    tile_grid_size: Sizes = (8, 8)

    _always = True

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        values = rescaled(precise(images), self.value_range, (0, 255))
        shape, (rows, columns) = values.shape, self.tile_grid_size
        height, width = -(-shape[2] // rows), -(-shape[3] // columns)  # of a tile
        padded = _continued(_continued(values, 2, height * rows), 3, width * columns)
        pixels = padded.clamp(0, 255).long()
        tiles = pixels.unflatten(3, (columns, width)).unflatten(2, (rows, height)).transpose(3, 4)
        levels = self._levels(tiles.flatten(4).flatten(0, 1)).flatten(1)  # (images and channels, tiles and values)

        y, x = _between(rows, height, values), _between(columns, width, values)
        total: Any = 0
        for row, weight in y:
            for column, other in x:
                tile = row.unsqueeze(1) * columns + column
                found = levels.gather(1, (tile * LEVELS + pixels).flatten(2).flatten(0, 1)).view(padded.shape)
                total = total + weight.unsqueeze(1) * other * found
        return rescaled(total[:, :, : shape[2], : shape[3]], (0, 255), self.value_range)

    def _levels(self, tiles: Tensor) -> Tensor:
        """What each tile makes of each value."""
        size = tiles.shape[-1]
        counts = counted(tiles, LEVELS).float()
        if self.clip_limit > 0:
            kept = counts.clamp(max=int(self.clip_limit * size / LEVELS))
            counts = kept + (counts - kept).sum(-1, keepdim=True) / LEVELS
        below = counts.cumsum(-1)
        least = below.amin(-1, keepdim=True)
        spread = size - least
        return ((below - least) * 255 / spread.where(spread != 0, 1)).clamp(0, 255)


def _continued(values: Tensor, axis: int, size: int) -> Tensor:
    """Values that are continued along an axis up to a size, by the last of them."""
    index = torch.arange(size, device=values.device)
    return values.index_select(axis, index.clamp(max=values.shape[axis] - 1))


def _between(count: int, size: int, like: Tensor) -> list[tuple[Tensor, Tensor]]:
    """For each pixel along an axis of `count` tiles: the tiles before and after it, each with its weight."""
    place = (torch.arange(count * size, dtype=like.dtype, device=like.device) - size / 2) / size
    before = place.floor()
    upper, index = place - before, before.long()
    return [(index.clamp(0, count - 1), 1 - upper), ((index + 1).clamp(0, count - 1), upper)]
