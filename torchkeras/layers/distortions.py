"""Layers that bend, blur or erase parts of images at random in training, with different numbers for each image.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from dataclasses import replace
from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras.base.rules import Rule, is_integer, is_number, one_of, rule
from torchkeras.engine.options import Share
from torchkeras.layers.augmentation import SHARES, RandomImage, RandomMove, SharesFrom0, ValueRange
from torchkeras.layers.image_samples import Draws, precise
from torchkeras.tensor_functions.operations.image import (
    INSIDE,
    affine_transform,
    elastic_transform,
    gaussian_blur,
    perspective_transform,
)

FIRST = "channels_first"
# One number stands in configs as it was given: Keras 3.15 does not read (-0.1, 0.1), which it writes.
SHEAR = replace(SHARES, write=lambda kept: kept[1] if kept[0] == -kept[1] else kept)
Interpolation = Annotated[str, one_of("nearest", "bilinear")]


def _kernel_size(value: Any) -> tuple[int, int]:
    found: Any = (value, value) if is_integer(value) else tuple(value)
    if len(found) != 2 or not all(is_integer(v) and v > 0 and v % 2 for v in found):
        raise ValueError(f"must be a positive odd integer, or two of them; found {value!r}.")
    return found


FILL = rule(
    "must be a number, a list of one for each channel, or None",
    lambda v: v is None or is_number(v) or (isinstance(v, (list, tuple)) and all(map(is_number, v)) and len(v) > 0),
    takes="float | Sequence[float] | None",
)


class RandomShear(RandomMove):
    """Shears images in training: the pixel at (x, y) comes from `(x + a * y, y + b * x)`, with random a and b.

    The pixel at (0, 0) stays. Half of the images are sheared the other way, by -a and -b.

    Options:
        x_factor (float from -1 to 1, or two, default 0.0): the range of a; one number is (-x_factor, x_factor).
        y_factor (float from -1 to 1, or two, default 0.0): the range of b.
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
        fill_mode ("reflect", "wrap", "nearest" or "constant", default "reflect"): what is beyond the edge: "reflect"
            (d c b a | a b c d | d c b a), "wrap" (a b c d | a b c d | a b c d), "nearest" (a a a a | a b c d |
            d d d d), or "constant", the `fill_value`.
        fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomShear(0.2, 0.1)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_shear/
    """

    x_factor: Annotated[Any, SHEAR] = 0.0
    y_factor: Annotated[Any, SHEAR] = 0.0
    interpolation: Interpolation = "bilinear"
    fill_mode: Annotated[str, one_of("reflect", "wrap", "constant", "nearest")] = "reflect"
    fill_value: float = 0.0

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> Tensor:
        sign = draws.sign()
        down, right = draws.each(*self.y_factor) * sign, draws.each(*self.x_factor) * sign
        one, zero = torch.ones_like(down), torch.zeros_like(down)
        return torch.cat([one, right, zero, down, one, zero, zero, zero], 1).flatten(1)

    def _moved(self, images: Tensor, numbers: Tensor, interpolation: str) -> Tensor:
        return affine_transform(precise(images), numbers, interpolation, self.fill_mode, self.fill_value, FIRST)


class RandomPerspective(RandomMove):
    """Changes the perspective of images in training, each with a random probability; the pixel at (0, 0) stays.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of the probability, which is drawn for each image;
            one number is (0, factor), and (1, 1) changes all images.
        scale (float from 0 to 1, default 1.0): how far the corners move: by up to half of the scale, times the height
            and the width.
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
        fill_value (float, default 0.0): the value beyond the edge.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomPerspective(scale=0.3)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_perspective/
    """

    factor: SharesFrom0 = 1.0
    scale: Share = 1.0
    interpolation: Interpolation = "bilinear"
    fill_value: float = 0.0

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor]:
        return draws.chance(*self.factor), draws.uniform(-0.5 * self.scale, 0.5 * self.scale, len(draws.images), 4, 2)

    def _moved(self, images: Tensor, numbers: tuple[Tensor, Tensor], interpolation: str) -> Tensor:
        chosen, shares = numbers
        (height, width), values = images.shape[2:], precise(images)
        corners = shares.new_zeros(4, 2)  # filled where it lies: a list would be sent, and waited for
        corners[1::2, 0].fill_(width - 1)
        corners[2:, 1].fill_(height - 1)
        start = corners.expand_as(shares)
        end = start + start * shares
        moved = perspective_transform(values, start, end, interpolation, self.fill_value, FIRST)
        return torch.where(chosen, moved, images)


class RandomElasticTransform(RandomMove):
    """Displaces the pixels of images smoothly in training, each image with a random probability.

    All images of a batch have the same strength; the host waits for it.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of the probability, which is drawn for each image;
            one number is (0, factor), and (1, 1) changes all images.
        scale (float from 0 to 1, or two, default 1.0): the range of the strength; one number is (0, scale).
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.
        fill_mode ("reflect", "wrap", "mirror", "nearest" or "constant", default "reflect"): what is beyond the edge,
            as for `keras.ops.image.elastic_transform`.
        fill_value (float, default 0.0): the value beyond the edge with fill_mode="constant".
        value_range (two floats, the lower first, default (0, 255)): the range that results are clipped to.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomElasticTransform(scale=0.5)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_elastic_transform/
    """

    factor: SharesFrom0 = 1.0
    scale: SharesFrom0 = 1.0
    interpolation: Interpolation = "bilinear"
    fill_mode: Annotated[str, one_of(*INSIDE)] = "reflect"
    fill_value: float = 0.0
    value_range: ValueRange = (0, 255)

    _waits = True

    def _drawn(self, draws: Draws) -> tuple[Tensor, float, int]:
        """Which images, how strongly, and the seed of the displacements."""
        return draws.chance(*self.factor), float(draws.uniform(*self.scale)), draws.choices(1, 2**24)[0]

    def _moved(self, images: Tensor, numbers: tuple[Tensor, float, int], interpolation: str) -> Tensor:
        chosen, strength, seed = numbers
        if strength == 0:
            return images
        sizes = images.shape[2:]
        alpha, sigma = 0.1 * strength * max(sizes), 0.05 * strength * min(sizes)
        options = alpha, sigma, interpolation, self.fill_mode, self.fill_value, seed, FIRST
        return torch.where(chosen, elastic_transform(precise(images), *options), images)

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        return super()._changed(images, numbers).clamp(*self.value_range)


class RandomGaussianBlur(RandomImage):
    """Smooths images by a Gaussian kernel in training, each with a random probability.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of the probability, which is drawn for each image;
            one number is (0, factor), and (1, 1) blurs all images.
        kernel_size (odd integer or two, default 3): the height and width of the kernel.
        sigma (float from 0 to 1, or two, default 1.0): the range of the kernel's standard deviations along both axes,
            which are drawn once for a batch; one number is (0, sigma).
        value_range (two floats, the lower first, default (0, 255)): the range that results are clipped to.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomGaussianBlur(sigma=0.5)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_gaussian_blur/
    """

    factor: SharesFrom0 = 1.0
    kernel_size: Annotated[Any, Rule(_kernel_size, takes="int | Sequence[int]")] = 3
    sigma: SharesFrom0 = 1.0
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor]:
        return draws.chance(*self.factor), draws.uniform(*self.sigma, 2) + 1e-6

    def _changed(self, images: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        chosen, sigma = numbers
        blurred = gaussian_blur(precise(images), self.kernel_size, sigma, FIRST)
        return torch.where(chosen, blurred, images).clamp(*self.value_range)


class RandomErasing(RandomImage):
    """Erases a rectangle from images in training, each with a random probability.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of the probability, which is drawn for each image;
            one number is (0, factor), and (1, 1) changes all images.
        scale (float from 0 to 1, or two, default (0.02, 0.33)): the range of the squares of the rectangle's height and
            width, in shares of the image's; one number is (0, scale).
        fill_value (number, a list of one for each channel, or None, default None): the values of the rectangle; None
            draws them from a normal distribution, times the upper end of the value range.
        value_range (two floats, the lower first, default (0, 255)): the range that the values of the rectangle are
            clipped to.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> layer = RandomErasing((1.0, 1.0), scale=(1.0, 1.0), fill_value=7)
        >>> layer(torch.zeros(2, 8, 8, 3), training=True).unique()
        tensor([7.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_erasing/
    """

    factor: SharesFrom0 = 1.0
    scale: SharesFrom0 = (0.02, 0.33)
    fill_value: Annotated[Any, FILL] = None
    value_range: ValueRange = (0, 255)

    def _make_modules(self, input_shape: Any) -> None:
        channels, values = input_shape[self._axis_of_channels], self.fill_value
        if isinstance(values, (list, tuple)) and channels is not None and len(values) not in (1, channels):
            raise ValueError(
                f"fill_value must be a number, or {channels} of them, one for each channel; found {values!r}."
            )

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor]:
        """Where an image is erased, and what is put there."""
        height, width = (draws.each(*self.scale).sqrt() for _ in range(2))
        place = draws.rectangle(height, width)[0] & draws.chance(*self.factor)
        if self.fill_value is None:
            values = draws.normal(*draws.images.shape) * self.value_range[1]
        else:
            values = draws.each(0, 0) + draws.images.new_tensor(self.fill_value).view(1, -1, 1, 1)
        return place, values.clamp(*self.value_range)

    def _changed(self, images: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        place, values = numbers
        return torch.where(place, values.to(images.dtype), images)
