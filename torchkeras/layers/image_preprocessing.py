"""Layers that prepare images for a model: Rescaling, Resizing, CenterCrop.

Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/
"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import torch
import torch.nn.functional as F

from torchkeras.base.dtypes import dtype_of
from torchkeras.base.rules import one_of
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER, Positive
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape
from torchkeras.layers.activation import Pointwise
from torchkeras.layers.preprocessing import FLOATS, set_constant
from torchkeras.layers.spatial import Spatial
from torchkeras.tensor_functions.operations.image import resize

INTERPOLATIONS = {"bilinear": "bilinear", "nearest": "nearest-exact", "bicubic": "bicubic"}


def floating(layer: Layer, inputs: torch.Tensor) -> torch.Tensor:
    """The inputs, with integers as floating-point numbers of the layer's dtype."""
    return inputs if inputs.is_floating_point() else inputs.to(dtype_of(layer.compute_dtype))


class Rescaling(Pointwise):
    """`x * scale + offset`.

    Options:
        scale (number or array): the factor; an array has one for each index of the last axes.
        offset (number or array, default 0.0): what is added.

    Shapes:
        any -> the same

    Example:
        >>> Rescaling(1 / 255)(torch.tensor([0, 255]))
        tensor([0., 1.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/rescaling/
    """

    scale: Annotated[Any, FLOATS]
    offset: Annotated[Any, FLOATS] = 0.0

    class _Facts(Facts):
        keeps_shape = False  # integers become floating-point numbers

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if self.layer._by_value else Layout.KERAS

    @property
    def _by_value(self) -> bool:
        """Whether all values have one factor and one offset."""
        return not isinstance(self.scale, list) and not isinstance(self.offset, list)

    def _make_modules(self, input_shape: Any) -> None:
        if self._by_value:
            return
        for name in ("scale", "offset"):
            values = getattr(self, name)
            _check_sizes(name, np.shape(values), input_shape)
            set_constant(self, f"_{name}", values, dtype_of(self.compute_dtype))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        x = floating(self, inputs)
        return x * self.scale + self.offset if self._by_value else x * self._scale + self._offset


def _check_sizes(name: str, sizes: tuple[int, ...], input_shape: Shape) -> None:
    """Raise ValueError for an array that does not fit the last axes of the input."""
    pairs = zip(reversed(sizes), reversed(input_shape), strict=False)
    fits = all(size in (1, axis) or axis in (1, None) for size, axis in pairs)
    if len(sizes) > len(input_shape) or not fits:
        raise ValueError(
            f"{name} must be a number, or have one for each index of the last axes of the input; found the shape "
            f"{sizes} for the input shape {tuple(input_shape)}."
        )


def centered(images: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The window in the middle of images; the channels come first."""
    top, left = (images.shape[2] - height) // 2, (images.shape[3] - width) // 2
    return images[:, :, top : top + height, left : left + width]


def stretched(images: torch.Tensor, size: tuple[int, int], by: str = "bilinear", **smooth: Any) -> torch.Tensor:
    """Images stretched to a height and width."""
    options = {} if by == "nearest" else {"align_corners": False, **smooth}
    return F.interpolate(images, size, mode=INTERPOLATIONS[by], **options) if images.shape[2:] != size else images


def fitted(images: torch.Tensor, size: tuple[int, int], by: str = "bilinear", **smooth: Any) -> torch.Tensor:
    """Images cut to the largest window in their middle that has the aspect ratio of `size`, and stretched to `size`."""
    height, width = images.shape[2:]
    rows, columns = min(height, width * size[0] // size[1]), min(width, height * size[1] // size[0])
    return stretched(centered(images, max(rows, 1), max(columns, 1)), size, by, **smooth)


class Images(Spatial, abstract=True):
    """The base of layers of images, which also take a single one."""

    rank = 2

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute on a batch of images, or on a single image."""
        if isinstance(inputs, (torch.Tensor, KerasTensor)) and inputs.dim() == self.rank + 1:
            return super().__call__(inputs.unsqueeze(0), *args, **kwargs).squeeze(0)
        return super().__call__(inputs, *args, **kwargs)

    def _build(self, input_shapes: Any, *further: Any) -> None:
        super()._build([(None, *shape) if len(shape) == self.rank + 1 else shape for shape in input_shapes], *further)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        if inputs.dim() != self.rank + 1:
            return super()._infer_outputs(inputs, masks, arguments)
        outputs, _ = super()._infer_outputs(KerasTensor((None, *inputs.shape), inputs.dtype), masks, arguments)
        return KerasTensor(outputs.shape[1:], outputs.dtype), [None]


class Resizing(Images):
    """Resizes images to `height` and `width`; integers stay integers, rounded.

    Options:
        height (positive integer): the new height.
        width (positive integer): the new width.
        interpolation ("bilinear", "nearest" or "bicubic", default "bilinear"): how values between pixels are found.
        crop_to_aspect_ratio (bool, default False): whether the images are first cut to the largest window in the
            middle that has the new aspect ratio, and so are not distorted.
        pad_to_aspect_ratio (bool, default False): whether the images first get margins on both sides, up to the new
            aspect ratio, and so are not distorted.
        fill_mode ("constant", default "constant"): how margins are filled; must be "constant".
        fill_value (float, default 0.0): the value of margins.
        antialias (bool, default False): whether images that get smaller are smoothed. "nearest" does not smooth.

    Shapes:
        (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
            `data_format`

    Example:
        >>> Resizing(4, 5)(torch.zeros(2, 8, 8, 3)).shape
        torch.Size([2, 4, 5, 3])

    Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/resizing/
    """

    height: Positive
    width: Positive
    interpolation: Annotated[str, one_of(*INTERPOLATIONS)] = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: Annotated[bool, NEWER] = False
    fill_mode: Annotated[str, one_of("constant"), NEWER] = "constant"
    fill_value: Annotated[float, NEWER] = 0.0
    antialias: bool = False

    _option_order = ("pad_to_aspect_ratio", "fill_mode", "fill_value", "antialias", "data_format")

    def _make_modules(self, input_shape: Any) -> None:
        if self.crop_to_aspect_ratio and self.pad_to_aspect_ratio:
            raise ValueError("only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        images, size = floating(self, inputs), (self.height, self.width)
        if self.pad_to_aspect_ratio:
            margins = {"pad_to_aspect_ratio": True, "fill_value": self.fill_value, "data_format": "channels_first"}
            found = resize(images, size, self.interpolation, self.antialias, **margins)
        else:
            stretch = fitted if self.crop_to_aspect_ratio else stretched
            wide = images.to(torch.promote_types(images.dtype, torch.float32))  # torch smooths nothing in 16 bits
            found = stretch(wide, size, self.interpolation, antialias=self.antialias)
        if inputs.is_floating_point():
            return found.to(images.dtype)
        bounds = torch.iinfo(inputs.dtype)
        return found.round().clamp(bounds.min, bounds.max).to(inputs.dtype)


class CenterCrop(Images):
    """Cuts a window of `height` and `width` from the middle of images.

    Images that are smaller than the window along an axis are cut to the largest window in the middle that has its
    aspect ratio, and stretched.

    Options:
        height (positive integer): the height of the window.
        width (positive integer): the width of the window.

    Shapes:
        (batch, rows, columns, channels) -> (batch, height, width, channels), or with the channels first by
            `data_format`

    Example:
        >>> images = torch.arange(4.0).view(1, 1, 4, 1)
        >>> CenterCrop(1, 2)(images).flatten()
        tensor([1., 2.])

    Source: https://keras.io/api/layers/preprocessing_layers/image_preprocessing/center_crop/
    """

    height: Positive
    width: Positive

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        images, size = floating(self, inputs), (self.height, self.width)
        too_small = images.shape[2] < self.height or images.shape[3] < self.width
        return fitted(images, size) if too_small else centered(images, *size)
