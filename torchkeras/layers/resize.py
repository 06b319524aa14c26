"""Layers that make images and sequences larger or smaller without weights: cropping, zero padding, upsampling."""

from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F

from torchkeras.engine.layer.options import NEWER, DataFormat, Rule, Sizes, is_integer, one_of, rule, sizes
from torchkeras.layers.spatial import Spatial, torch_padding

Pairs = tuple[tuple[int, int], ...]


def _read_pairs(value: Any, rank: int) -> Pairs:
    """(before, after) of each axis from one number for all, one for each, or pairs; over one axis also its pair."""
    items: Any = (value,) * rank if is_integer(value) or (rank == 1 and _is_pair(value)) else value
    is_list = isinstance(items, (tuple, list))
    found = [(item, item) if is_integer(item) else item for item in items] if is_list else []
    if len(found) != rank or not all(map(_is_pair, found)):
        forms = "a pair (before, after)" if rank == 1 else f"{rank} integers, or {rank} pairs (before, after)"
        raise ValueError(f"must be an integer, {forms}, none of them negative; found {value!r}.")
    return tuple((int(before), int(after)) for before, after in found)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(is_integer(v) and v >= 0 for v in value)


PAIRS = "int | Sequence[int | Sequence[int]]"
AxisPairs = Annotated[
    Any, Rule(_read_pairs, lambda kept: kept[0] if len(kept) == 1 else kept, by_rank=True, takes=PAIRS)
]


class Cropping(Spatial, abstract=True):
    """The input without what lies at the ends of each spatial axis.

    `cropping`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
    Shape: (batch, *sizes, channels) -> (batch, *(size - before - after), channels), or by `data_format` the same with
    the channels at axis 1. Over one axis they are always last. Raises ValueError when nothing is left.
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

    `padding`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
    Shape: (batch, *sizes, channels) -> (batch, *(before + size + after), channels), or with
    data_format='channels_first' the same with the channels at axis 1.
    """

    padding: AxisPairs = 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.pad(inputs, torch_padding(self.padding))


class UpSampling(Spatial, abstract=True):
    """The input with each value repeated `size` times along each spatial axis.

    Shape: (batch, *sizes, channels) -> (batch, *(size * factor), channels), or with data_format='channels_first' the
    same with the channels at axis 1. Over one axis they are always last.
    """

    size: Sizes = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        # Not by "nearest", which is wrong for some factors (41, 47, ...). Less than half the time of repeat_interleave.
        return F.interpolate(inputs, scale_factor=tuple(map(float, self.size)), mode="nearest-exact")


class Cropping1D(Cropping):
    data_format: ClassVar[str] = "channels_last"
    rank = 1


class Cropping2D(Cropping):
    cropping = 0
    rank = 2


class Cropping3D(Cropping):
    rank = 3


class ZeroPadding1D(ZeroPadding):
    padding: AxisPairs = 1
    data_format: Annotated[DataFormat, NEWER] = "channels_last"  # whatever the configured one is, as in Keras 2
    rank = 1


class ZeroPadding2D(ZeroPadding):
    rank = 2


class ZeroPadding3D(ZeroPadding):
    rank = 3


class UpSampling1D(UpSampling):
    # A number in a config, as Keras has it.
    size: Annotated[Any, Rule(sizes().read, lambda kept: kept[0], by_rank=True, takes=sizes().takes)] = 2
    data_format: ClassVar[str] = "channels_last"
    rank = 1


class UpSampling2D(UpSampling):
    """The images with each value repeated `size` times along height and width, or with values between.

    `interpolation`: 'nearest' (repeated) or 'bilinear': output i lies at i / size of the input, as TensorFlow 1 has it;
    beyond the last value that value goes on. `half_pixel`: it lies at (i + 0.5) / size - 0.5, as later Kerases have it.
    Shape: (batch, height, width, channels) -> (batch, height * size[0], width * size[1], channels), or with
    data_format='channels_first' the same with the channels at axis 1.
    """

    size: Sizes = 2
    data_format: DataFormat = None
    interpolation: Annotated[str, one_of("nearest", "bilinear")] = "nearest"
    half_pixel: Annotated[bool, rule("must be True or False", lambda v: v in (0, 1), bool), NEWER] = False

    rank = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.interpolation == "nearest":
            return super().forward(inputs)
        if self.half_pixel:
            return F.interpolate(inputs, scale_factor=tuple(map(float, self.size)), mode="bilinear")
        # With one more value at the end, torch's aligned corners are TensorFlow's i / size, and one output too many.
        height, width = (size * factor for size, factor in zip(inputs.shape[2:], self.size, strict=True))
        longer = F.pad(inputs, (0, 1, 0, 1), mode="replicate")
        outputs = F.interpolate(longer, size=(height + 1, width + 1), mode="bilinear", align_corners=True)
        return outputs[..., :height, :width]


class UpSampling3D(UpSampling):
    rank = 3
