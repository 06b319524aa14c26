"""Layers that change the colors of images at random in training, with different numbers for each image.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.base.rules import Rule, is_integer, optional
from torchkeras.engine.options import Share
from torchkeras.layers.augmentation import (
    SHARES,
    SHARES_FROM_0,
    RandomImage,
    Shares,
    SharesFrom0,
    ValueRange,
    contrasted,
    factor,
)
from torchkeras.layers.image_samples import Draws, precise, rescaled
from torchkeras.tensor_functions.operations.image import hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv

FIRST = "channels_first"
# One number is read as Keras 3 documents it; its files have the two that it draws from, of which one is below 0.
UP_FROM_0 = factor("from -1 to 1", lambda v: -1 <= v <= 1, least=0.0)


def brightened(images: Tensor, share: Tensor, value_range: Sequence[float]) -> Tensor:
    """Images with a share of the range added."""
    return (images + share * (value_range[1] - value_range[0])).clamp(*value_range)


def saturated(images: Tensor, share: Tensor, value_range: Sequence[float]) -> Tensor:
    """Images with another saturation: grey for 0, as they are for 0.5, with as much as there can be for 1."""
    hue, saturation, value = rgb_to_hsv(rescaled(precise(images), value_range, (0, 1)), FIRST).split(1, 1)
    # Keras 3.15 cuts it to the value range, by which colors leave theirs where that is (0, 255).
    saturation = (saturation * (share / (1 - share + config.epsilon()))).clamp(0, 1)
    return rescaled(hsv_to_rgb(torch.cat([hue, saturation, value], 1), FIRST), (0, 1), value_range)


def turned(images: Tensor, turn: Tensor, value_range: Sequence[float]) -> Tensor:
    """Images whose hues are turned by a share of the circle of colors."""
    hue, saturation, value = rgb_to_hsv(rescaled(precise(images), value_range, (0, 1)), FIRST).split(1, 1)
    colors = hsv_to_rgb(torch.cat([hue + turn, saturation, value], 1), FIRST).clamp(0, 1)
    return rescaled(colors, (0, 1), value_range)


class RandomColor(RandomImage, abstract=True):
    """The base of layers whose images have red, green and blue."""

    _channels: ClassVar[tuple[int, ...]] = (3,)

    def _make_modules(self, input_shape: Any) -> None:
        channels = input_shape[self._axis_of_channels]
        if channels not in (*self._channels, None):
            grey = ", or one" if 1 in self._channels else ""
            raise ValueError(
                f"the images must have 3 channels, red, green and blue{grey}; found {channels}, for the input shape "
                f"{tuple(input_shape)}."
            )


class RandomBrightness(RandomImage):
    """In training, `x + share * (high - low)`, clipped to the value range (low, high); each image has a random share.

    Options:
        factor (float from -1 to 1, or two): the range of the share; one number is (-factor, factor).
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomBrightness((0.2, 0.2), (0, 1))(torch.full((1, 2, 2, 3), 0.5), training=True).unique()
        tensor([0.7000])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_brightness/
    """

    factor: Shares
    value_range: ValueRange = (0, 255)

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.each(*self.factor)

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        return brightened(images, numbers, self.value_range)


class RandomSaturation(RandomColor):
    """Makes the colors of images fainter or stronger in training, by a random number for each image.

    Keras 3.15 documents the same for one number, but draws from (-factor, factor).

    Options:
        factor (float from 0 to 1, or two): the range of the number: 0 makes an image grey, 0.5 leaves it unchanged, 1
            gives it as much color as it can have; one number is (0, factor).
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, 3) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomSaturation((0.0, 0.0), (0, 1))(torch.rand(1, 2, 2, 3), training=True).std(-1).max()
        tensor(0.)

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_saturation/
    """

    factor: Annotated[Any, UP_FROM_0]
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.each(*self.factor)

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        return saturated(images, numbers, self.value_range)


class RandomHue(RandomColor):
    """Turns the hues of images on the color circle in training, each image by a random angle in a random direction.

    Options:
        factor (float from 0 to 1, or two): the range of the angle, in half turns; one number is (0, factor).
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, 3) -> the same, or with the channels first by `data_format`

    Example:
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(1, 1, 1, 3)
        >>> RandomHue((1.0, 1.0), (0, 1))(red, training=True).flatten()
        tensor([0., 1., 1.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_hue/
    """

    factor: SharesFrom0
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.sign() * draws.each(*self.factor) * 0.5

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        return turned(images, numbers, self.value_range)


class RandomColorJitter(RandomColor):
    """RandomBrightness, RandomContrast, RandomSaturation and RandomHue, one after the other, in training.

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.
        brightness_factor (float from -1 to 1, two or None, default None): the `factor` of RandomBrightness; None leaves
            that change out.
        contrast_factor (float from 0 to 1, two or None, default None): the same for RandomContrast.
        saturation_factor (float from 0 to 1, two or None, default None): the same for RandomSaturation.
        hue_factor (float from 0 to 1, two or None, default None): the same for RandomHue.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`; 3 channels if hues or
            the saturation change

    Example:
        >>> RandomColorJitter(brightness_factor=0.2, hue_factor=0.1)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_color_jitter/
    """

    value_range: ValueRange = (0, 255)
    brightness_factor: Annotated[Any, optional(SHARES)] = None
    contrast_factor: Annotated[Any, optional(SHARES_FROM_0)] = None
    saturation_factor: Annotated[Any, optional(UP_FROM_0)] = None
    hue_factor: Annotated[Any, optional(SHARES_FROM_0)] = None

    def _make_modules(self, input_shape: Any) -> None:
        if self.saturation_factor or self.hue_factor:
            super()._make_modules(input_shape)

    def _drawn(self, draws: Draws) -> list[Any]:
        brightness, contrast = self.brightness_factor, self.contrast_factor
        return [
            brightness and draws.each(*brightness),
            contrast and draws.each(1 - contrast[0], 1 + contrast[1]),
            self.saturation_factor and draws.each(*self.saturation_factor),
            self.hue_factor and draws.sign() * draws.each(*self.hue_factor) * 0.5,
        ]

    def _changed(self, images: Tensor, numbers: list[Any]) -> Tensor:
        for change, number in zip((brightened, contrasted, saturated, turned), numbers, strict=True):
            images = images if number is None else change(images, number, self.value_range)
        return images


class RandomColorDegeneration(RandomColor):
    """In training, `x + share * (grey - x)`, with a random share for each image; else `x`.

    Keras 3.15 documents the same for one number, but draws from (-factor, factor).

    Options:
        factor (float from 0 to 1, or two): the range of the share; one number is (0, factor).
        value_range (two floats, the lower first, default (0, 255)): the range that results are clipped to.

    Shapes:
        (batch, height, width, 3) -> the same, or with the channels first by `data_format`

    Example:
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(1, 1, 1, 3)
        >>> RandomColorDegeneration((1.0, 1.0))(red, training=True).flatten()
        tensor([0.2989, 0.2989, 0.2989])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_color_degeneration/
    """

    factor: Annotated[Any, UP_FROM_0]
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")
    _channels = (1, 3)

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.each(*self.factor)

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        grey = rgb_to_grayscale(images, FIRST)
        return (images + numbers * (grey - images)).clamp(*self.value_range)


class RandomGrayscale(RandomColor):
    """Makes images grey in training, each with the probability `factor`; they keep their three channels.

    Options:
        factor (float from 0 to 1, default 0.5): the probability.

    Shapes:
        (batch, height, width, 3) -> the same, or with the channels first by `data_format`

    Example:
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(1, 1, 1, 3)
        >>> RandomGrayscale(1.0)(red, training=True).flatten()
        tensor([0.2989, 0.2989, 0.2989])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_grayscale/
    """

    factor: Share = 0.5

    _option_order = ("data_format", "seed")
    _channels = (1, 3)

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.each(0, 1) < self.factor

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        return torch.where(numbers, rgb_to_grayscale(images, FIRST), images)


class RandomInvert(RandomImage):
    """Inverts images in training, each with a random probability: `low + high - x` for the value range (low, high).

    Keras 3.15 computes `high - x`, which is the same where `low` is 0.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of the probability, which is drawn for each image;
            one number is (0, factor), and (1, 1) inverts all images.
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomInvert((1.0, 1.0))(torch.full((1, 2, 2, 1), 55.0), training=True).unique()
        tensor([200.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_invert/
    """

    factor: SharesFrom0 = 1.0
    value_range: ValueRange = (0, 255)

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.chance(*self.factor)

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        return torch.where(numbers, sum(self.value_range) - images, images)


def _bits(value: Any) -> tuple[int, int]:
    found: Any = tuple(value) if isinstance(value, (tuple, list)) and len(value) == 2 else (value, value)
    if not all(is_integer(v) and 1 <= v <= 8 for v in found):
        raise ValueError(f"must be an integer from 1 to 8, or two of them; found {value!r}.")
    return int(min(found)), int(max(found))


class RandomPosterization(RandomImage):
    """In training, keeps only some of the 8 bits of each value.

    Keras 3.15 documents the same for one integer, but then keeps from 1 to `factor - 1` bits, at random.

    Options:
        factor (integer from 1 to 8, or two): how many bits remain; of two integers, from the first to below the
            second, at random for each image.
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomPosterization(1)(torch.tensor([127.0, 129.0]).view(1, 1, 2, 1), training=True).flatten()
        tensor([  0., 128.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_posterization/
    """

    factor: Annotated[Any, Rule(_bits, takes="int | Sequence[int]")]
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> Tensor:
        low, high = self.factor
        return draws.each(low, high).floor().clamp(max=max(high - 1, low))

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        step = 2 ** (8 - numbers)
        steps = (rescaled(images, self.value_range, (0, 255)).clamp(0, 255) / step).floor()
        return rescaled(steps * step, (0, 255), self.value_range)


class RandomSharpness(RandomImage):
    """Blurs or sharpens images in training, each by a random number.

    Options:
        factor (float from 0 to 1, or two): the range of the number: 0 replaces each pixel by the mean of itself and its
            neighbours, 0.5 leaves it unchanged, 1 sharpens edges as much as 0 blurs them; one number is (0, factor).
        value_range (two floats, the lower first, default (0, 255)): the range that results are clipped to.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> RandomSharpness(0.5)(torch.zeros(2, 8, 8, 3), training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/random_sharpness/
    """

    factor: SharesFrom0
    value_range: ValueRange = (0, 255)

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> Tensor:
        return draws.each(*self.factor) * 2

    def _changed(self, images: Tensor, numbers: Tensor) -> Tensor:
        values, channels = precise(images), images.shape[1]
        kernel = torch.full((3, 3), 1 / 13, dtype=values.dtype, device=values.device)
        kernel[1, 1].fill_(5 / 13)  # beyond the edges are zeros
        smooth = F.conv2d(values, kernel.expand(channels, 1, 3, 3), padding=1, groups=channels)
        return (values + (1 - numbers) * (smooth - values)).clamp(*self.value_range)


class Solarization(RandomImage):
    """In training, adds a random number to each image, then inverts all values that are not below a random threshold.

    An inverted value is `low + high - x` for the value range (low, high). Keras 3.15 documents the same ranges, but
    draws from a lower end that is 255 times too small.

    Options:
        addition_factor (float from 0 to 1, or two, default 0.0): the range of what is added to an image, in shares of
            the value range; one number is (0, addition_factor).
        threshold_factor (float from 0 to 1, or two, default 0.0): the range of the threshold of an image, in the same
            shares; with 0 all values are inverted.
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> images = torch.tensor([50.0, 205.0]).view(1, 1, 2, 1)
        >>> Solarization(threshold_factor=(0.5, 0.5))(images, training=True).flatten()
        tensor([50., 50.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/solarization/
    """

    addition_factor: SharesFrom0 = 0.0
    threshold_factor: SharesFrom0 = 0.0
    value_range: ValueRange = (0, 255)

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor]:
        return draws.each(*self.addition_factor) * 255, draws.each(*self.threshold_factor) * 255

    def _changed(self, images: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        addition, threshold = numbers
        values = (rescaled(images, self.value_range, (0, 255)) + addition).clamp(0, 255)
        return rescaled(torch.where(values < threshold, values, 255 - values), (0, 255), self.value_range)
