"""Layers that change images at random in training, with different numbers for each image.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from collections.abc import Callable, Sequence
from math import pi
from typing import Annotated, Any

import torch
import torch.nn.functional as F

from torchkeras.base.rules import Rule, is_number, one_of, optional
from torchkeras.engine.facts import Facts
from torchkeras.engine.options import OptionalInt, Positive
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.layers.image_preprocessing import fitted
from torchkeras.layers.image_samples import VALUE_RANGE, Draws, ImageLayer
from torchkeras.layers.random import Seeded

Places = tuple[torch.Tensor, torch.Tensor]


def factor(text: str, holds: Callable[[float], bool], least: float = -1.0) -> Rule:
    """The range to draw from: two numbers, or one number for (-number, number), where no end is below `least`."""

    def read_factor(value: Any) -> tuple[float, float]:
        found: Any = value if isinstance(value, (tuple, list)) and len(value) == 2 else [value]
        if not all(is_number(v) and holds(v) for v in found):
            raise ValueError(f"must be a number {text}, or two of them; found {value!r}.")
        ends = found if len(found) == 2 else (max(-abs(found[0]), least), abs(found[0]))
        return float(min(ends)), float(max(ends))

    return Rule(read_factor, takes="float | Sequence[float]")


SHARES = factor("from -1 to 1", lambda v: -1 <= v <= 1)
SHARES_FROM_0 = factor("from 0 to 1", lambda v: 0 <= v <= 1, least=0.0)
Shares = Annotated[Any, SHARES]
SharesFrom0 = Annotated[Any, SHARES_FROM_0]
ValueRange = Annotated[Any, VALUE_RANGE]
ZOOM = factor("above -1 up to 1", lambda v: -1 < v <= 1)


class RandomImage(Seeded, ImageLayer, abstract=True):
    """The base of layers that change images at random in training: `_drawn` draws the numbers for `_changed`."""

    def _draws(self, images: torch.Tensor) -> Draws:
        return Draws(images, self._generator_on(images.device))


class RandomFlip(RandomImage):
    """Mirrors images in training, each with a probability of 1/2.

    Options:
        mode ("horizontal", "vertical" or "horizontal_and_vertical", default "horizontal_and_vertical"): "horizontal"
            mirrors left to right, "vertical" top to bottom, the third both ways at once.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> images = torch.tensor([1.0, 2.0]).view(1, 1, 2, 1)
        >>> RandomFlip("horizontal")(images, training=False).flatten()
        tensor([1., 2.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_flip/
    """

    mode: Annotated[str, one_of("horizontal", "vertical", "horizontal_and_vertical")] = "horizontal_and_vertical"

    def _drawn(self, draws: Draws) -> torch.Tensor:
        return draws.each(0, 1) <= 0.5

    def _changed(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        axes = {"horizontal": (3,), "vertical": (2,), "horizontal_and_vertical": (2, 3)}[self.mode]
        return torch.where(numbers, images.flip(axes), images)

    def _changed_masks(self, masks: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        return self._changed(masks, numbers)


BEYOND_EDGE = {"reflect": "reflection", "constant": "zeros", "nearest": "border"}  # as `grid_sample` calls them


class RandomMove(RandomImage, abstract=True):
    """The base of layers that move pixels by `_moved`: those of masks by the nearest value, which is one of theirs."""

    interpolation: Annotated[str, one_of("nearest", "bilinear")] = "bilinear"

    _moved: Callable[[torch.Tensor, Any, str], torch.Tensor]

    def _changed(self, images: torch.Tensor, numbers: Any) -> torch.Tensor:
        return self._moved(images, numbers, self.interpolation)

    def _changed_masks(self, masks: torch.Tensor, numbers: Any) -> torch.Tensor:
        values = masks if masks.is_floating_point() else masks.float()
        return self._moved(values, numbers, "nearest").to(masks.dtype)


class RandomAffine(RandomMove, abstract=True):
    """The base of layers that move pixels: `_source` says where the pixels at (x, y), from the centre, come from.

    Options:
        fill_mode ("reflect", "nearest" or "constant", default "reflect"): what is beyond the edge: "reflect"
            (d c b a | a b c d | d c b a), "nearest" (a a a a | a b c d | d d d d), or "constant", the `fill_value`.
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
        fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".
    """

    fill_mode: Annotated[str, one_of(*BEYOND_EDGE)] = "reflect"
    interpolation: Annotated[str, one_of("nearest", "bilinear")] = "bilinear"
    seed: OptionalInt = None
    fill_value: float = 0.0

    _source: Callable[[Any, torch.Tensor, torch.Tensor], Places]

    def _moved(self, images: torch.Tensor, numbers: Any, interpolation: str) -> torch.Tensor:
        values = images.to(torch.promote_types(images.dtype, torch.float32))
        sizes = height, width = values.shape[2:]
        y, x = (torch.arange(size, dtype=values.dtype, device=values.device) - (size - 1) / 2 for size in sizes)
        places = torch.broadcast_tensors(*self._source(numbers, x, y.unsqueeze(1)))
        if interpolation == "nearest":  # rounded here, where halves are exact
            middle = (width - 1) / 2, (height - 1) / 2
            places = [(place + half).round() - half for place, half in zip(places, middle, strict=True)]
        grid = torch.stack([places[0] * (2 / width), places[1] * (2 / height)], -1).squeeze(1)
        values = values - self.fill_value  # `grid_sample` fills with 0
        found = F.grid_sample(values, grid, interpolation, BEYOND_EDGE[self.fill_mode], align_corners=False)
        return (found + self.fill_value).to(images.dtype)


class RandomRotation(RandomAffine):
    """Rotates images in training, each by a random angle, counter-clockwise about its centre.

    Options:
        factor (float from -1 to 1, or two): the range of the angle, in whole turns; one number is (-factor, factor).

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomRotation(0.1)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_rotation/
    """

    factor: Shares

    def _drawn(self, draws: Draws) -> torch.Tensor:
        return draws.each(*self.factor) * (2 * pi)

    def _source(self, numbers: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Places:
        angle = numbers
        return x * angle.cos() - y * angle.sin(), y * angle.cos() + x * angle.sin()


class RandomTranslation(RandomAffine):
    """Shifts images in training, each by random shares of its height and width.

    Options:
        height_factor (float from -1 to 1, or two): the range of the share of the height, downwards where it is above 0;
            one number is (-height_factor, height_factor).
        width_factor (float from -1 to 1, or two): the same for the width, to the right where it is above 0.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomTranslation(0.1, 0.2)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_translation/
    """

    height_factor: Shares
    width_factor: Shares

    def _drawn(self, draws: Draws) -> Places:
        return draws.each(*self.height_factor), draws.each(*self.width_factor)

    def _source(self, numbers: Places, x: torch.Tensor, y: torch.Tensor) -> Places:
        down, right = numbers
        return x - right * len(x), y - down * len(y)


class RandomZoom(RandomAffine):
    """Shrinks or enlarges images in training, each by random factors, about its centre.

    Options:
        height_factor (float above -1 up to 1, or two): the range of the change of the visible height: above 0 the image
            shrinks, below 0 it grows; one number is (-height_factor, height_factor).
        width_factor (float above -1 up to 1, two or None, default None): the same for the width; None takes the number
            drawn for the height.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomZoom(0.2)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_zoom/
    """

    height_factor: Annotated[Any, ZOOM]
    width_factor: Annotated[Any, optional(ZOOM)] = None

    def _drawn(self, draws: Draws) -> Places:
        down = 1 + draws.each(*self.height_factor)
        return down, down if self.width_factor is None else 1 + draws.each(*self.width_factor)

    def _source(self, numbers: Places, x: torch.Tensor, y: torch.Tensor) -> Places:
        down, right = numbers
        return x * right, y * down


class RandomContrast(RandomImage):
    """In training, `(x - mean) * c + mean`, with the mean of each channel and a random c for each image; else `x`.

    Options:
        factor (float from 0 to 1, or two): c is drawn from `1 - factor[0]` to `1 + factor[1]`; one number is
            (0, factor).
        value_range (two floats, the lower first, default (0, 255)): the range that results are clipped to.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomContrast(0.5)(torch.full((1, 2, 2, 1), 7.0), training=True).unique()
        tensor([7.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_contrast/
    """

    factor: SharesFrom0
    value_range: ValueRange = (0, 255)

    def _drawn(self, draws: Draws) -> torch.Tensor:
        return draws.each(1 - self.factor[0], 1 + self.factor[1])

    def _changed(self, images: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        return contrasted(images, numbers.to(images.dtype), self.value_range)


def contrasted(images: torch.Tensor, contrast: torch.Tensor, value_range: Sequence[float]) -> torch.Tensor:
    """Images whose values are `contrast` times as far from the mean of their channel."""
    mean = images.mean((2, 3), keepdim=True)
    return ((images - mean) * contrast + mean).clamp(*value_range)


class RandomCrop(RandomImage):
    """In training, cuts a window from all images of a batch, at one random place; else resizes their middle.

    The middle is the largest part that has the window's aspect ratio. In training it is used too if, along one axis,
    the images are no longer than the window. (Keras 3.15 documents this, but cuts smaller images at another place in
    training, and does not cut them outside of training.)

    Options:
        height (positive integer): the height of the window.
        width (positive integer): the width of the window.

    Shapes:
        (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
            `data_format`

    Example:
        >>> RandomCrop(4, 5)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 4, 5, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_crop/
    """

    height: Positive
    width: Positive

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            layer = self.layer
            return layer._shaped(input_shape, (layer.height, layer.width), input_shape[layer._axis_of_channels])

    def _drawn(self, draws: Draws) -> Places | None:
        """The rows and the columns of the window; None for the middle."""
        size, images = (self.height, self.width), draws.images
        spare = [there - wanted for there, wanted in zip(images.shape[2:], size, strict=True)]
        if min(spare) <= 0:
            return None
        rows, columns = (
            torch.randint(most + 1, (1,), device=images.device, generator=draws.generator)
            + torch.arange(wanted, device=images.device)
            for most, wanted in zip(spare, size, strict=True)
        )
        return rows.unsqueeze(1), columns

    def _changed(self, images: torch.Tensor, numbers: Places | None) -> torch.Tensor:
        return self._unchanged(images) if numbers is None else images[:, :, numbers[0], numbers[1]]

    def _changed_masks(self, masks: torch.Tensor, numbers: Places | None) -> torch.Tensor:
        return self._unchanged_masks(masks) if numbers is None else self._changed(masks, numbers)

    def _unchanged(self, images: torch.Tensor) -> torch.Tensor:
        return fitted(images, (self.height, self.width))

    def _unchanged_masks(self, masks: torch.Tensor) -> torch.Tensor:
        values = masks if masks.is_floating_point() else masks.float()
        return fitted(values, (self.height, self.width), "nearest").to(masks.dtype)
