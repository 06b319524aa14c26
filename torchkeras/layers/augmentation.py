"""Images changed at random in training, each by numbers of its own; outside of training they pass as they are.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from collections.abc import Callable
from math import pi
from typing import Annotated, Any

import torch
import torch.nn.functional as F

from torchkeras.engine.layer.options import OptionalInt, Positive, Rule, is_number, one_of, optional, rule
from torchkeras.layers.preprocessing import fitted, floating
from torchkeras.layers.random import Seeded
from torchkeras.layers.spatial import Spatial

Places = tuple[torch.Tensor, torch.Tensor]


def factor(text: str, holds: Callable[[float], bool], least: float = -1.0) -> Rule:
    """The range to draw from: two numbers, or one that stands for (-number, number), cut at `least`."""

    def read_factor(value: Any) -> tuple[float, float]:
        found: Any = value if isinstance(value, (tuple, list)) and len(value) == 2 else [value]
        if not all(is_number(v) and holds(v) for v in found):
            raise ValueError(f"must be a number {text}, or two of them; found {value!r}.")
        ends = found if len(found) == 2 else (max(-abs(found[0]), least), abs(found[0]))
        return float(min(ends)), float(max(ends))

    return Rule(read_factor, takes="float | Sequence[float]")


Shares = Annotated[Any, factor("from -1 to 1", lambda v: -1 <= v <= 1)]
ZOOM = factor("above -1 up to 1", lambda v: -1 < v <= 1)
VALUE_RANGE = rule(
    "must be two numbers, the lower first",
    lambda v: len(v) == 2 and all(map(is_number, v)) and v[0] < v[1],
    takes="Sequence[float]",
)


class RandomImage(Seeded, Spatial, abstract=True):
    """The base: `_augment` says what becomes of floating-point images, channels first, in training."""

    _augment: Callable[[torch.Tensor], torch.Tensor]
    rank = 2

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        images = floating(self, inputs)
        return self._augment(images) if (self.training if training is None else training) else self._unchanged(images)

    def _unchanged(self, images: torch.Tensor) -> torch.Tensor:
        """The images outside of training."""
        return images

    def _draw(self, images: torch.Tensor, low: float, high: float) -> torch.Tensor:
        """A number for each image, uniform from `low` to `high`, of shape (batch, 1, 1, 1)."""
        dtype, device = torch.promote_types(images.dtype, torch.float32), images.device
        drawn = torch.rand((len(images), 1, 1, 1), dtype=dtype, device=device, generator=self._generator_on(device))
        return drawn.mul_(high - low).add_(low)


class RandomFlip(RandomImage):
    """In training, each image with a chance of 1/2 mirrored: left to right, top to bottom, or both ways at once.

    Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
    """

    mode: Annotated[str, one_of("horizontal", "vertical", "horizontal_and_vertical")] = "horizontal_and_vertical"

    def _augment(self, images: torch.Tensor) -> torch.Tensor:
        axes = {"horizontal": (3,), "vertical": (2,), "horizontal_and_vertical": (2, 3)}[self.mode]
        return torch.where(self._draw(images, 0, 1) <= 0.5, images.flip(axes), images)


BEYOND_EDGE = {"reflect": "reflection", "constant": "zeros", "nearest": "border"}  # as `grid_sample` calls them


class RandomAffine(RandomImage, abstract=True):
    """The base of what moves pixels: `_source` gives where the pixels at (x, y), seen from the centre, come from."""

    fill_mode: Annotated[str, one_of(*BEYOND_EDGE)] = "reflect"
    interpolation: Annotated[str, one_of("nearest", "bilinear")] = "bilinear"
    seed: OptionalInt = None
    fill_value: float = 0.0

    _source: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Places]

    def _augment(self, images: torch.Tensor) -> torch.Tensor:
        values = images.to(torch.promote_types(images.dtype, torch.float32))
        sizes = height, width = values.shape[2:]
        y, x = (torch.arange(size, dtype=values.dtype, device=values.device) - (size - 1) / 2 for size in sizes)
        places = torch.broadcast_tensors(*self._source(values, x, y.unsqueeze(1)))
        if self.interpolation == "nearest":  # rounded here, where a half is exact
            middle = (width - 1) / 2, (height - 1) / 2
            places = [(place + half).round() - half for place, half in zip(places, middle, strict=True)]
        grid = torch.stack([places[0] * (2 / width), places[1] * (2 / height)], -1).squeeze(1)
        values = values - self.fill_value  # `grid_sample` fills with 0
        found = F.grid_sample(values, grid, self.interpolation, BEYOND_EDGE[self.fill_mode], align_corners=False)
        return (found + self.fill_value).to(images.dtype)


class RandomRotation(RandomAffine):
    """In training, each image turned counter-clockwise about its centre, by an angle drawn from the range `factor`.

    `factor`: in whole turns, two numbers, or one for (-factor, factor). `fill_mode`: what lies beyond the edge:
    'reflect' (d c b a | a b c d | d c b a), 'nearest' (a a a a | a b c d | d d d d), or 'constant': the `fill_value`.
    Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
    """

    factor: Shares

    def _source(self, images: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Places:
        angle = self._draw(images, *self.factor) * (2 * pi)
        return x * angle.cos() - y * angle.sin(), y * angle.cos() + x * angle.sin()


class RandomTranslation(RandomAffine):
    """In training, each image moved down and right by shares of its height and width (up and left where negative).

    `height_factor`, `width_factor`: the ranges of the shares: two numbers, or one for (-factor, factor). The other
    options are those of `RandomRotation`.
    Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
    """

    height_factor: Shares
    width_factor: Shares

    def _source(self, images: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Places:
        down = self._draw(images, *self.height_factor) * len(y)
        return x - self._draw(images, *self.width_factor) * len(x), y - down


class RandomZoom(RandomAffine):
    """In training, each image smaller about its centre (by a factor above 0) or larger (below 0).

    `height_factor`, `width_factor`: the ranges of the share by which more is seen: two numbers, or one for (-factor,
    factor); without the latter the width goes with the height. The other options are those of `RandomRotation`.
    Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
    """

    height_factor: Annotated[Any, ZOOM]
    width_factor: Annotated[Any, optional(ZOOM)] = None

    def _source(self, images: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Places:
        down = 1 + self._draw(images, *self.height_factor)
        right = down if self.width_factor is None else 1 + self._draw(images, *self.width_factor)
        return x * right, y * down


class RandomContrast(RandomImage):
    """In training, `(x - mean) * c + mean` with the mean of each channel and a c for each image, cut to `value_range`.

    `factor`: c is drawn from 1 - factor[0] to 1 + factor[1]; a single number is the latter, and the former is 0.
    Shape: (batch, height, width, channels) -> the same, or by `data_format` with the channels first.
    """

    factor: Annotated[Any, factor("from 0 to 1", lambda v: 0 <= v <= 1, least=0.0)]
    value_range: Annotated[Any, VALUE_RANGE] = (0, 255)

    def _augment(self, images: torch.Tensor) -> torch.Tensor:
        contrast = self._draw(images, 1 - self.factor[0], 1 + self.factor[1]).to(images.dtype)
        mean = images.mean((2, 3), keepdim=True)
        return ((images - mean) * contrast + mean).clamp(*self.value_range)


class RandomCrop(RandomImage):
    """In training, a window cut out of all images of a batch at one random place; else the middle, made to fit.

    Images that are no larger than the window are made to fit in training as well. (Keras 3.15 documents this, and cuts
    smaller images elsewhere in training, and not at all outside of it.)
    Shape: (batch, height, width, channels) -> (batch, *window, channels), or by `data_format` with the channels first.
    """

    height: Positive
    width: Positive

    def _augment(self, images: torch.Tensor) -> torch.Tensor:
        size, device = (self.height, self.width), images.device
        spare = [there - wanted for there, wanted in zip(images.shape[2:], size, strict=True)]
        if min(spare) <= 0:
            return fitted(images, size)
        rows, columns = (
            torch.randint(most + 1, (1,), device=device, generator=self._generator_on(device))
            + torch.arange(wanted, device=device)
            for most, wanted in zip(spare, size, strict=True)
        )
        return images[:, :, rows.unsqueeze(1), columns]

    def _unchanged(self, images: torch.Tensor) -> torch.Tensor:
        return fitted(images, (self.height, self.width))
