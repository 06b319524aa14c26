"""Layers without weights that make sequences, images and volumes larger or smaller: cropping, padding, upsampling."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F

from torchkeras.base.extensions import replaceable
from torchkeras.base.rules import Rule, is_integer, one_of, sizes
from torchkeras.engine.options import NEWER, DataFormat, Sizes
from torchkeras.layers.spatial import Spatial, torch_padding
from torchkeras.tensor_functions.operations.image import resize

Pairs = tuple[tuple[int, int], ...]


def _read_pairs(value: Any, rank: int) -> Pairs:
    """(before, after) of each axis, from one number for all, one for each, or pairs; for one axis also a bare pair."""
    of_all_axes = is_integer(value) or (rank == 1 and _is_pair(value))
    items: Any = (value,) * rank if of_all_axes else value
    of_one_axis = rank == 1 and not of_all_axes  # then a number alone is no pair
    found = [item if of_one_axis else _pair(item) for item in items] if isinstance(items, (tuple, list)) else []
    if len(found) != rank or not all(map(_is_pair, found)):
        forms = "a pair (before, after)" if rank == 1 else f"{rank} integers, or {rank} pairs (before, after)"
        raise ValueError(f"must be an integer, {forms}, none of them negative; found {value!r}.")
    return tuple((int(before), int(after)) for before, after in found)


def _pair(item: Any) -> Any:
    """(before, after): the same, where one number says both."""
    return (item, item) if is_integer(item) else item


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(is_integer(v) and v >= 0 for v in value)


def repeated(inputs: torch.Tensor, factors: Sequence[int]) -> torch.Tensor:
    """Channels-first inputs with each value repeated along the spatial axes."""
    if not inputs.is_floating_point():  # torch interpolates no integers
        for axis, factor in enumerate(factors, 2):
            inputs = inputs.repeat_interleave(factor, axis)
        return inputs
    # "nearest" is wrong for some factors (41, 47, ...); repeat_interleave takes more than twice the time.
    return F.interpolate(inputs, scale_factor=tuple(map(float, factors)), mode="nearest-exact")


def interpolated(images: torch.Tensor, factors: Sequence[int]) -> torch.Tensor:
    """Channels-first images with values between theirs, output i at i / factor, as TensorFlow 1 resizes."""
    return interpolated_to(images, [size * factor for size, factor in zip(images.shape[2:], factors, strict=True)])


def interpolated_to(images: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """Channels-first images in other sizes, output i at i * old / new, as TensorFlow 1 resizes."""
    # With one more value at the end, torch's aligned corners are TensorFlow's i / size, and one output too many.
    height, width = sizes
    longer = F.pad(images, (0, 1, 0, 1), mode="replicate")
    outputs = F.interpolate(longer, size=(height + 1, width + 1), mode="bilinear", align_corners=True)
    return outputs[..., :height, :width]


PAIRS = "int | Sequence[int | Sequence[int]]"
AxisPairs = Annotated[
    Any, Rule(_read_pairs, lambda kept: kept[0] if len(kept) == 1 else kept, by_rank=True, takes=PAIRS)
]


@replaceable("_make_modules")
class Cropping(Spatial, abstract=True):
    """The input without the values at the ends of each spatial axis.

    Options:
        cropping (integer, integers or pairs, default 1): how many values are removed: an integer for all ends, an
            integer for each axis, or a pair (before, after) for each axis. Something must be left.
    """

    cropping: AxisPairs = 1

    def _make_modules(self, input_shape: Any) -> None:
        for axis, pair in zip(self._spatial_axes, self.cropping, strict=True):
            size = input_shape[axis]
            if size is not None and size <= sum(pair):
                found = f"the input {tuple(input_shape)}: axis {axis} is {size} long"
                raise ValueError(f"cropping {self.cropping} leaves nothing of {found}.")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs[(..., *(slice(before, -after or None) for before, after in self.cropping))]


class ZeroPadding(Spatial, abstract=True):
    """The input with zeros before and after each spatial axis.

    Options:
        padding (integer, integers or pairs, default 1): how many zeros are added: an integer for all ends, an integer
            for each axis, or a pair (before, after) for each axis.
    """

    padding: AxisPairs = 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.pad(inputs, torch_padding(self.padding))


class UpSampling(Spatial, abstract=True):
    """The input with each value repeated along each spatial axis.

    Options:
        size (positive integer or tuple of them, default 2): how often a value is repeated along all spatial axes, or
            along each.
    """

    size: Sizes = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return repeated(inputs, self.size)


class Cropping1D(Cropping):
    """Sequences without their first and last steps.

    Options:
        cropping (integer or pair, default 1): how many steps are removed: at both ends, or a pair (before, after).
            Something must be left.

    Shapes:
        (batch, steps, channels) -> (batch, steps - before - after, channels)

    Example:
        >>> Cropping1D((1, 2))(torch.zeros(2, 10, 4)).shape
        torch.Size([2, 7, 4])
    """

    data_format: ClassVar[str] = "channels_last"
    rank = 1


class Cropping2D(Cropping):
    """Images without the rows and columns at their ends.

    Options:
        cropping (integer, two integers or two pairs, default 0): how much is removed: an integer for all ends, integers
            (height, width), or pairs ((top, bottom), (left, right)). Something must be left.

    Shapes:
        (batch, height, width, channels) -> (batch, height - top - bottom, width - left - right, channels)

    Example:
        >>> Cropping2D(((1, 0), (2, 2)))(torch.zeros(2, 9, 9, 3)).shape
        torch.Size([2, 8, 5, 3])
    """

    cropping = 0
    rank = 2


class Cropping3D(Cropping):
    """Volumes without the values at the ends of depth, height and width.

    Shapes:
        (batch, depth, height, width, channels) -> the same, each spatial size less before and after

    Example:
        >>> Cropping3D((1, 2, 3))(torch.zeros(2, 9, 9, 9, 1)).shape
        torch.Size([2, 7, 5, 3, 1])
    """

    rank = 3


class ZeroPadding1D(ZeroPadding):
    """Sequences with steps of zeros before and after them.

    Options:
        padding (integer or pair, default 1): how many steps are added: at both ends, or a pair (before, after).
        data_format (string or None, default "channels_last"): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.

    Shapes:
        (batch, steps, channels) -> (batch, before + steps + after, channels)

    Example:
        >>> ZeroPadding1D((1, 0))(torch.ones(1, 2, 1)).flatten().tolist()
        [0.0, 1.0, 1.0]
    """

    padding: AxisPairs = 1
    data_format: Annotated[DataFormat, NEWER] = "channels_last"  # not the configured one, as in Keras 2
    rank = 1


class ZeroPadding2D(ZeroPadding):
    """Images with rows and columns of zeros around them.

    Options:
        padding (integer, two integers or two pairs, default 1): how much is added: an integer for all ends, integers
            (height, width), or pairs ((top, bottom), (left, right)).

    Shapes:
        (batch, height, width, channels) -> (batch, top + height + bottom, left + width + right, channels)

    Example:
        >>> ZeroPadding2D(((1, 0), (2, 2)))(torch.zeros(2, 9, 9, 3)).shape
        torch.Size([2, 10, 13, 3])
    """

    rank = 2


class ZeroPadding3D(ZeroPadding):
    """Volumes with zeros around them.

    Shapes:
        (batch, depth, height, width, channels) -> the same, each spatial size with before and after added

    Example:
        >>> ZeroPadding3D((1, 2, 3))(torch.zeros(2, 9, 9, 9, 1)).shape
        torch.Size([2, 11, 13, 15, 1])
    """

    rank = 3


class UpSampling1D(UpSampling):
    """Sequences with each step repeated.

    Options:
        size (positive integer, default 2): how often a step is repeated.

    Shapes:
        (batch, steps, channels) -> (batch, steps * size, channels)

    Example:
        >>> UpSampling1D(2)(torch.tensor([[[1.0], [2.0]]])).flatten().tolist()
        [1.0, 1.0, 2.0, 2.0]
    """

    # A number in a config, as Keras has it.
    size: Annotated[Any, Rule(sizes().read, lambda kept: kept[0], by_rank=True, takes=sizes().takes)] = 2
    data_format: ClassVar[str] = "channels_last"
    rank = 1


class UpSampling2D(UpSampling):
    """Images with each value repeated along height and width, or with interpolated values.

    Options:
        interpolation (string, default "nearest"): "nearest" repeats values. "bilinear" interpolates: output i lies at
            i / size of the input, as in TensorFlow 1, and the last value is repeated at the end. "bicubic" interpolates
            as torch does, with output i at (i + 0.5) / size - 0.5.
        half_pixel (bool, default False): whether "bilinear" puts output i at (i + 0.5) / size - 0.5, as later versions
            of Keras do.

    Shapes:
        (batch, height, width, channels) -> (batch, height * size[0], width * size[1], channels)

    Example:
        >>> UpSampling2D((2, 3))(torch.zeros(1, 4, 4, 3)).shape
        torch.Size([1, 8, 12, 3])
    """

    size: Sizes = 2
    data_format: DataFormat = None
    interpolation: Annotated[str, one_of("nearest", "bilinear", "bicubic")] = "nearest"
    half_pixel: Annotated[bool, NEWER] = False

    rank = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.interpolation == "nearest":
            return super().forward(inputs)
        if self.interpolation == "bilinear" and not self.half_pixel:
            return interpolated(inputs, self.size)
        if not inputs.is_floating_point():  # torch interpolates no integers
            sizes = [size * factor for size, factor in zip(inputs.shape[2:], self.size, strict=True)]
            return resize(inputs, sizes, self.interpolation, data_format="channels_first")
        return F.interpolate(inputs, scale_factor=tuple(map(float, self.size)), mode=self.interpolation)


class UpSampling3D(UpSampling):
    """Volumes with each value repeated along depth, height and width.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, depth * size[0], height * size[1], width * size[2], channels)

    Example:
        >>> UpSampling3D()(torch.zeros(1, 2, 3, 4, 1)).shape
        torch.Size([1, 4, 6, 8, 1])
    """

    rank = 3
