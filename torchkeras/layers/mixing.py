"""Layers that mix the images of a batch in training, or several changes of an image.

Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from torchkeras.base.rules import ABOVE_0, integer
from torchkeras.engine.options import Positive
from torchkeras.layers.augmentation import (
    RandomContrast,
    RandomImage,
    RandomRotation,
    RandomTranslation,
    SharesFrom0,
    ValueRange,
)
from torchkeras.layers.colors import (
    RandomBrightness,
    RandomColor,
    RandomColorDegeneration,
    RandomPosterization,
    RandomSharpness,
    Solarization,
)
from torchkeras.layers.distortions import Interpolation, RandomShear
from torchkeras.layers.histograms import AutoContrast, Equalization
from torchkeras.layers.image_samples import Draws, ImageLayer

# --- images with images ----------------------------------------------------------------------------------------------


def mixed(first: Tensor, second: Tensor, weight: Tensor) -> Tensor:
    """`weight * first + (1 - weight) * second`, with a weight for each index of the first axis."""
    weight = weight.view(-1, *[1] * (first.dim() - 1))
    return weight * first + (1 - weight) * second


class MixUp(RandomImage):
    """In training, `w * x + (1 - w) * other`, with another image of the batch, and the labels likewise.

    Pass labels together with the images, as vectors: `MixUp()({"images": images, "labels": labels})`.

    Options:
        alpha (float above 0, default 0.2): both parameters of the beta distribution of w; the smaller, the closer
            it is to 0 or 1.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> images, labels = torch.rand(4, 8, 8, 3), torch.eye(4)
        >>> MixUp()({"images": images, "labels": labels}, training=True)["labels"].sum(1)
        tensor([1., 1., 1., 1.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/mix_up/
    """

    alpha: Annotated[float, ABOVE_0] = 0.2

    _option_order = ("data_format", "seed")

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor]:
        return draws.order(), draws.beta(self.alpha, len(draws.images))

    def _changed(self, images: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        order, weight = numbers
        return mixed(images, images[order], weight)

    def _changed_labels(self, labels: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        return self._changed(labels, numbers)

    def _changed_masks(self, masks: Tensor, numbers: tuple[Tensor, Tensor]) -> Tensor:
        return self._changed(masks, numbers)


class CutMix(RandomImage):
    """In training, replaces a rectangle of each image by that of another image of the batch; labels are mixed by area.

    Pass labels together with the images, as vectors: `CutMix()({"images": images, "labels": labels})`.

    Options:
        factor (float from 0 to 1, or two, default 1.0): the range of both parameters of the beta distribution that the
            areas are drawn from; one number is (0, factor). All images of a batch share the parameter.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`

    Example:
        >>> images, labels = torch.rand(4, 8, 8, 3), torch.eye(4)
        >>> CutMix()({"images": images, "labels": labels}, training=True)["labels"].sum(1)
        tensor([1., 1., 1., 1.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/cut_mix/
    """

    factor: SharesFrom0 = 1.0

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor, Tensor]:
        alpha = draws.uniform(*self.factor) + 1e-6
        side = (1 - draws.beta(alpha, len(draws.images), 1, 1, 1)).sqrt()
        place, area = draws.rectangle(side, side)
        return draws.order(), place, 1 - area

    def _changed(self, images: Tensor, numbers: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        order, place, _ = numbers
        return torch.where(place, images[order], images)

    def _changed_masks(self, masks: Tensor, numbers: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        return self._changed(masks, numbers)

    def _changed_labels(self, labels: Tensor, numbers: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        order, _, weight = numbers
        return mixed(labels, labels[order], weight)


# --- changes with changes --------------------------------------------------------------------------------------------

Step = tuple[ImageLayer, Any]  # a layer, with the numbers drawn for it


@lru_cache(64)
def parts(share: tuple[float, float], value_range: tuple[float, float], interpolation: str) -> tuple[ImageLayer, ...]:
    """The layers that RandAugment and AugMix choose from; they draw from the generator of these."""
    first: dict[str, Any] = {"data_format": "channels_first"}
    moving = {**first, "interpolation": interpolation}
    colored = {**first, "value_range": value_range}
    return (
        RandomShear(share, share, **moving, name="shear"),
        RandomTranslation(share, share, **moving, name="translation"),
        RandomRotation(share, **moving, name="rotation"),
        # As Keras 3.15 has it: at least one bit, and less than `8 * share[1]` of them.
        RandomPosterization((1, max(1, int(8 * share[1]))), **colored, name="posterization"),
        Solarization(share, share, **colored, name="solarization"),
        AutoContrast(**colored, name="auto_contrast"),
        Equalization(**colored, name="equalization"),
        RandomBrightness(share, **colored, name="brightness"),
        RandomColorDegeneration(share, **colored, name="color_degeneration"),
        RandomContrast(share, **colored, name="contrast"),
        RandomSharpness(share, **colored, name="sharpness"),
    )


def in_turn(images: Tensor, steps: Sequence[Step], masks: bool = False) -> Tensor:
    """Images, or masks, after these changes."""
    for part, numbers in steps:
        images = (part._changed_masks if masks else part._changed)(images, numbers)
    return images


class RandomParts(RandomColor, abstract=True):
    """The base of layers that change images by several of `parts`, chosen at random for a batch."""

    value_range: ValueRange = (0, 255)
    factor: SharesFrom0 = 0.5
    interpolation: Interpolation = "bilinear"

    _channels: ClassVar[tuple[int, ...]] = (1, 3)
    _waits = True

    def _parts(self) -> tuple[ImageLayer, ...]:
        low, high = self.value_range
        return parts(self.factor, (low, high), self.interpolation)

    def _changed_masks(self, masks: Tensor, numbers: Any) -> Tensor:
        return self._by_steps(masks, numbers, True)

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        return self._by_steps(images, numbers, False)

    def _by_steps(self, images: Tensor, numbers: Any, masks: bool) -> Tensor:
        raise NotImplementedError


class RandAugment(RandomParts):
    """In training, applies several changes to images, one after the other, which are chosen at random for each batch.

    The changes are RandomShear, RandomTranslation, RandomRotation, RandomPosterization, Solarization, AutoContrast,
    Equalization, RandomBrightness, RandomColorDegeneration, RandomContrast and RandomSharpness. The host waits for the
    choice.

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.
        num_ops (integer from 0, default 2): how many changes are made.
        factor (float from 0 to 1, or two, default 0.5): the factors of the changes; one number is (0, factor).
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`; 1 or 3 channels

    Example:
        >>> RandAugment()(torch.rand(2, 8, 8, 3) * 255, training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/rand_augment/
    """

    value_range: ValueRange = (0, 255)
    num_ops: Annotated[int, integer(0)] = 2
    factor: SharesFrom0 = 0.5
    interpolation: Interpolation = "bilinear"

    def _drawn(self, draws: Draws) -> list[Step]:
        every = self._parts()
        return [(every[k], every[k]._drawn(draws)) for k in draws.choices(self.num_ops, len(every))]

    def _by_steps(self, images: Tensor, numbers: list[Step], masks: bool) -> Tensor:
        return in_turn(images, numbers, masks)


class AugMix(RandomParts):
    """In training, mixes images with the results of several chains of changes, chosen at random for each batch.

    The changes are those of RandAugment. The host waits for the choice.

    Options:
        value_range (two floats, the lower first, default (0, 255)): the values that images may have.
        num_chains (positive integer, default 3): the number of chains.
        chain_depth (positive integer, default 3): how many changes a chain has at most.
        factor (float from 0 to 1, or two, default 0.3): the factors of the changes; one number is (0, factor).
        alpha (float above 0, default 1.0): the parameter of the distributions of the weights: Dirichlet of the chains,
            beta of the images themselves.
        all_ops (bool, default True): whether brightness, color, contrast and sharpness are among the changes.
        interpolation ("bilinear" or "nearest", default "bilinear"): how values between pixels are found.

    Shapes:
        (batch, height, width, channels) -> the same, or with the channels first by `data_format`; 1 or 3 channels

    Example:
        >>> AugMix()(torch.rand(2, 8, 8, 3) * 255, training=True).shape
        torch.Size([2, 8, 8, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_augmentation/aug_mix/
    """

    value_range: ValueRange = (0, 255)
    num_chains: Positive = 3
    chain_depth: Positive = 3
    factor: SharesFrom0 = 0.3
    alpha: Annotated[float, ABOVE_0] = 1.0
    all_ops: bool = True
    interpolation: Interpolation = "bilinear"

    def _drawn(self, draws: Draws) -> tuple[Tensor, Tensor, list[list[Step]]]:
        """The weights of the chains, that of the images, and the chains."""
        every = self._parts()[: 11 if self.all_ops else 7]
        chains = []
        for _ in range(self.num_chains):
            chosen = [k for k in draws.choices(self.chain_depth, len(every) + 1) if k < len(every)]  # the last: none
            chains.append([(every[k], every[k]._drawn(draws)) for k in chosen])
        return draws.shares(self.alpha, self.num_chains), draws.beta(self.alpha), chains

    def _by_steps(self, images: Tensor, numbers: tuple[Tensor, Tensor, list[list[Step]]], masks: bool) -> Tensor:
        shares, weight, chains = numbers
        found: Any = sum(share * in_turn(images, chain, masks) for share, chain in zip(shares, chains, strict=True))
        return weight * images + (1 - weight) * found

    def _changed(self, images: Tensor, numbers: Any) -> Tensor:
        return super()._changed(images, numbers).clamp(*self.value_range)
