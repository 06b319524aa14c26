"""Operations of Keras 3 on images, `keras.ops.image`.

Images are (height, width, channels), or with the channels first, and may have a batch axis before. Inside, they are a
batch with the channels first.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.tensor_functions.operations.values import Tensors, floats, promoted, rows

# --- axes and types --------------------------------------------------------------------------------------------------


def _channels_last(data_format: str | None) -> bool:
    name = config.image_data_format() if data_format is None else str(data_format).lower()
    return _one_of("data_format", config.DATA_FORMATS, name) == "channels_last"


def _one_of(option: str, names: Any, name: Any) -> Any:
    if name not in names:
        raise ValueError(f"{option} must be one of {tuple(names)}; found {name!r}.")
    return name


def _batch(images: Tensor, data_format: str | None, rank: int = 2) -> Tensor:
    """The images as a batch with the channels first; ValueError where they have no such axes."""
    if images.dim() not in (rank + 1, rank + 2):
        found = f"{images.dim()}, of the shape {tuple(images.shape)}"
        raise ValueError(f"images must have {rank + 1} axes, or {rank + 2} with that of a batch; found {found}.")
    found = images if images.dim() == rank + 2 else images.unsqueeze(0)
    return found.movedim(-1, 1) if _channels_last(data_format) else found


def _in_type_of(images: Tensor, batch: Tensor, data_format: str | None, rank: int = 2) -> Tensor:
    """A batch with the channels first, with the axes of `images`."""
    found = batch.movedim(1, rank + 1) if _channels_last(data_format) else batch
    return found if images.dim() == rank + 2 else found.squeeze(0)


def _in_type(x: Tensor, kind: torch.dtype) -> Tensor:
    """The numbers in a type, rounded for one of whole numbers."""
    return (x.round() if not kind.is_floating_point and kind is not torch.bool else x).to(kind)


# --- colours ---------------------------------------------------------------------------------------------------------

GREY = (0.2989, 0.587, 0.114)  # red, green and blue in a grey


def rgb_to_grayscale(images: Tensor, data_format: str | None = None) -> Tensor:
    """One channel, the brightness, of red, green and blue; grey images stay as they are."""
    batch = _batch(images, data_format)
    if batch.shape[1] == 1:
        return images.clone()
    _one_of("the number of channels", (1, 3), batch.shape[1])
    red, green, blue = batch.split(1, 1)
    grey = GREY[0] * red + GREY[1] * green + GREY[2] * blue
    return _in_type_of(images, grey.to(images.dtype), data_format)


def rgb_to_hsv(images: Tensor, data_format: str | None = None) -> Tensor:
    """Hue, saturation and value of red, green and blue, all from 0 to 1."""
    batch = _batch(_checked_colours(images), data_format)
    batch = batch.where(batch.abs() >= torch.finfo(batch.dtype).eps, 0.0)
    red, green, blue = batch.split(1, 1)
    value, least = batch.amax(1, keepdim=True), batch.amin(1, keepdim=True)
    width = value - least
    sixth = 1.0 / (6.0 * width.where(width > 0, 1.0))
    hue = torch.where(value == green, sixth * (blue - red) + 2 / 6, sixth * (red - green) + 4 / 6)
    hue = torch.where(value == red, sixth * (green - blue), hue).where(width > 0, 0.0)
    saturation = (width / value.where(value > 0, 1.0)).where(value > 0, 0.0)
    return _in_type_of(images, torch.cat([hue + (hue < 0), saturation, value], 1), data_format)


def hsv_to_rgb(images: Tensor, data_format: str | None = None) -> Tensor:
    """Red, green and blue of hue, saturation and value."""
    hue, saturation, value = _batch(_checked_colours(images), data_format).split(1, 1)
    place = hue.remainder(1.0) * 6.0
    parts = ((place - 3.0).abs() - 1.0, 2.0 - (place - 2.0).abs(), 2.0 - (place - 4.0).abs())
    colours = [value * (1.0 - saturation + saturation * part.clamp(0.0, 1.0)) for part in parts]
    return _in_type_of(images, torch.cat(colours, 1), data_format)


def _checked_colours(images: Tensor) -> Tensor:
    if not images.is_floating_point():
        raise ValueError(f"images must be floating-point numbers; found {images.dtype}.")
    return images


# --- sizes -----------------------------------------------------------------------------------------------------------

INTERPOLATIONS = {"bilinear": "bilinear", "nearest": "nearest-exact", "bicubic": "bicubic"}


def resize(
    images: Tensor,
    size: Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Tensor:
    """Images of another height and width, `size`. Whole numbers are rounded.

    `crop_to_aspect_ratio`: take the largest window in the middle that has the new aspect ratio. `pad_to_aspect_ratio`:
    put `fill_value` on both sides till the image has it. `antialias`: smooth what becomes smaller.
    """
    _one_of("interpolation", INTERPOLATIONS, interpolation)
    _one_of("fill_mode", ("constant",), fill_mode)
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError("only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be True.")
    if len(size) != 2 or min(size) <= 0:
        raise ValueError(f"size must be two positive integers, the height and the width; found {size!r}.")
    height, width = size
    batch = _batch(images, data_format)
    batch = batch if batch.dtype in (torch.float32, torch.float64) else batch.float()
    if crop_to_aspect_ratio:
        batch = _cropped_to_ratio(batch, height, width)
    elif pad_to_aspect_ratio:
        batch = _padded_to_ratio(batch, height, width, fill_value)
    smooth = {} if interpolation == "nearest" else {"align_corners": False, "antialias": antialias}
    found = F.interpolate(batch, (height, width), mode=INTERPOLATIONS[interpolation], **smooth)
    if images.dtype is torch.uint8 and interpolation == "bicubic":
        found = found.clamp(0, 255)
    return _in_type_of(images, _in_type(found, images.dtype), data_format)


def _cropped_to_ratio(images: Tensor, height: int, width: int) -> Tensor:
    rows, columns = images.shape[2:]
    new_rows = max(min(rows, columns * height // width), 1)
    new_columns = max(min(columns, rows * width // height), 1)
    top, left = (rows - new_rows) // 2, (columns - new_columns) // 2
    return images[:, :, top : top + new_rows, left : left + new_columns]


def _padded_to_ratio(images: Tensor, height: int, width: int, value: float) -> Tensor:
    rows, columns = images.shape[2:]
    vertical = (max(rows, columns * height // width) - rows) // 2
    horizontal = (max(columns, rows * width // height) - columns) // 2
    return F.pad(images, (horizontal, horizontal, vertical, vertical), value=value)


def pad_images(
    images: Tensor,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Images with zeros around them; of the amounts before and after and the new size, two are given for each axis."""
    batch = _batch(images, data_format)
    rows, columns = batch.shape[2:]
    top, bottom = _both_ends("padding", top_padding, bottom_padding, _less(target_height, rows))
    left, right = _both_ends("padding", left_padding, right_padding, _less(target_width, columns))
    return _in_type_of(images, F.pad(batch, (left, right, top, bottom)), data_format)


def crop_images(
    images: Tensor,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Images without their margins; of the amounts before and after and the new size, two are given for each axis."""
    batch = _batch(images, data_format)
    rows, columns = batch.shape[2:]
    top, bottom = _both_ends("cropping", top_cropping, bottom_cropping, _less(rows, target_height))
    left, right = _both_ends("cropping", left_cropping, right_cropping, _less(columns, target_width))
    if top + bottom > rows or left + right > columns:
        raise ValueError(f"cropping leaves nothing of images of {rows} x {columns}.")
    return _in_type_of(images, batch[:, :, top : rows - bottom, left : columns - right], data_format)


def _less(size: int | None, other: int | None) -> int | None:
    return None if size is None or other is None else size - other


def _both_ends(option: str, before: int | None, after: int | None, total: int | None) -> tuple[int, int]:
    """(before, after) of an axis, one of which may be what is left of the total of both."""
    if [before, after, total].count(None) != 1:
        raise ValueError(f"two of the {option} before, the {option} after and the target size must be given.")
    if before is None or after is None:
        rest = (total or 0) - (before or after or 0)
        before, after = (rest, after) if before is None else (before, rest)
    found = int(before or 0), int(after or 0)
    if min(found) < 0:
        raise ValueError(f"the {option} must not be negative; found {found[0]} before and {found[1]} after.")
    return found


# --- patches ---------------------------------------------------------------------------------------------------------


def extract_patches(
    images: Tensor,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Windows of images, or of volumes where `size` has three numbers, each one as the channels at its place.

    `strides`: from one window to the next, the size by default. `padding`: "valid", or "same" for zeros around.
    """
    sizes = (size, size) if isinstance(size, int) else tuple(size)
    if len(sizes) not in (2, 3):
        raise ValueError(f"size must be an integer, or two or three of them; found {size!r}.")
    return _patches(images, sizes, strides, dilation_rate, padding, data_format)


def extract_patches_3d(
    volumes: Tensor,
    size: Any,
    strides: Any = None,
    dilation_rate: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """Windows of volumes (depth, height, width, channels), each one as the channels at its place."""
    sizes = (size, size, size) if isinstance(size, int) else tuple(size)
    if len(sizes) != 3:
        raise ValueError(f"size must be an integer or three of them; found {size!r}.")
    return _patches(volumes, sizes, strides, dilation_rate, padding, data_format)


def _patches(
    images: Tensor, sizes: tuple[int, ...], strides: Any, dilations: Any, padding: str, data_format: str | None
) -> Tensor:
    rank = len(sizes)
    steps = _of_each_image(strides or sizes, rank)
    rates = _of_each_image(dilations, rank)
    batch = _batch(images, data_format, rank)
    spans = [(length - 1) * rate + 1 for length, rate in zip(sizes, rates, strict=True)]
    if _one_of("padding", ("valid", "same"), padding) == "same":
        pairs = list(map(_same, batch.shape[2:], spans, steps))
        batch = F.pad(batch, [amount for pair in reversed(pairs) for amount in pair])
    for axis, (span, step, rate) in enumerate(zip(spans, steps, rates, strict=True), 2):
        batch = batch.unfold(axis, span, step)[..., ::rate]
    # batch, channels, places, and the places in a window: these and then the channels are its values
    found = batch.movedim(1, -1).flatten(-rank - 1).movedim(-1, 1)
    return _in_type_of(images, found, data_format, rank)


def _of_each_image(value: Any, rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _same(size: int, span: int, step: int) -> tuple[int, int]:
    """The zeros before and after an axis, so that there are `size / step` windows, rounded up."""
    total = max((math.ceil(size / step) - 1) * step + span - size, 0)
    return total // 2, total - total // 2


# --- values between pixels -------------------------------------------------------------------------------------------

Nodes = list[tuple[Tensor, Any]]  # indices, each with its weight


def _nearest(place: Tensor) -> Nodes:
    return [(floats(place).round().long(), 1)]


def _linear(place: Tensor) -> Nodes:
    below = floats(place).floor()
    upper = place - below
    return [(below.long(), 1 - upper), (below.long() + 1, upper)]


def _reflected(index: Tensor, size: int) -> Tensor:
    index = index.remainder(2 * size)
    return torch.minimum(index, 2 * size - 1 - index)


def _mirrored(index: Tensor, size: int) -> Tensor:
    period = max(2 * size - 2, 1)
    index = index.remainder(period)
    return torch.minimum(index, period - index)


NODES: Mapping[int, Callable[[Tensor], Nodes]] = {0: _nearest, 1: _linear}
ORDERS = {"nearest": 0, "bilinear": 1}
# The index inside of an axis that stands for one outside.
INSIDE: Mapping[str, Callable[[Tensor, int], Tensor]] = {
    "constant": lambda index, size: index.clamp(0, size - 1),
    "nearest": lambda index, size: index.clamp(0, size - 1),
    "wrap": lambda index, size: index.remainder(size),
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    inputs: Tensor, coordinates: Tensors, order: int, fill_mode: str = "constant", fill_value: float = 0
) -> Tensor:
    """The values of an array between its elements, at the places that `coordinates` has for each axis.

    `order`: 0 for the nearest element, 1 for linear interpolation. `fill_mode`: what is beyond the edges: "constant"
    for `fill_value`, "nearest", "wrap", "mirror" about the last element or "reflect" about the edge.
    """
    if len(coordinates) != inputs.dim() or coordinates[0].dim() < 1:
        raise ValueError(f"coordinates must have an array for each of the {inputs.dim()} axes of the inputs.")
    if order not in NODES:
        raise NotImplementedError(f"order must be 0 or 1; found {order!r}.")
    return _sampled(inputs, list(coordinates), (), order, fill_mode, fill_value)


def _sampled(
    values: Tensor, places: Sequence[Tensor], first: tuple[Tensor, ...], order: int, fill_mode: str, fill_value: float
) -> Tensor:
    """Values at `places` along the last axes, and at the indices `first` along those before."""
    inside = INSIDE[_one_of("fill_mode", INSIDE, fill_mode)]
    sizes = values.shape[len(first) :]
    fill = fill_value if values.is_floating_point() else int(fill_value)
    total: Any = 0
    for nodes in itertools.product(*(NODES[order](place) for place in places)):
        indices = [inside(index, size) for (index, _), size in zip(nodes, sizes, strict=True)]
        found = values[(*first, *indices)]
        if fill_mode == "constant":
            kept = [(index >= 0) & (index < size) for (index, _), size in zip(nodes, sizes, strict=True)]
            found = torch.where(functools.reduce(torch.logical_and, kept), found, fill)
        total = total + functools.reduce(operator.mul, [weight for _, weight in nodes]) * found
    return (total if values.is_floating_point() or not total.is_floating_point() else total.round()).to(values.dtype)


def _at(
    images: Tensor, y: Tensor, x: Tensor, interpolation: str, fill_mode: str, fill_value: float, data_format: str | None
) -> Tensor:
    """Images with the values that they have at the places `y` and `x`, (batch, height, width)."""
    order = ORDERS[_one_of("interpolation", ORDERS, interpolation)]
    batch = _batch(images, data_format)
    number = torch.arange(batch.shape[0], device=batch.device).reshape(-1, 1, 1, 1)
    channel = torch.arange(batch.shape[1], device=batch.device).reshape(-1, 1, 1)
    places = [y.unsqueeze(1), x.unsqueeze(1)]
    return _in_type_of(images, _sampled(batch, places, (number, channel), order, fill_mode, fill_value), data_format)


def _grid(images: Tensor, data_format: str | None, kind: torch.dtype) -> tuple[Tensor, Tensor]:
    """The row and the column of each pixel, (height, 1) and (1, width)."""
    height, width = _batch(images, data_format).shape[2:]
    rows = torch.arange(height, dtype=kind, device=images.device)
    return rows.unsqueeze(1), torch.arange(width, dtype=kind, device=images.device).unsqueeze(0)


def affine_transform(
    images: Tensor,
    transform: Tensor,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Images whose pixel (x, y) is that at (a0 x + a1 y + a2, b0 x + b1 y + b2).

    `transform`: a0, a1, a2, b0, b1, b2 and two numbers that do not count; one row for all images or one for each.
    """
    if transform.dim() not in (1, 2) or transform.shape[-1] != 8:
        raise ValueError(f"transform must have the shape (8,) or (batch, 8); found {tuple(transform.shape)}.")
    transform = floats(transform).reshape(-1, 8)
    a0, a1, a2, b0, b1, b2 = transform[:, :6].reshape(-1, 6, 1, 1).unbind(1)
    y, x = _grid(images, data_format, transform.dtype)
    new_y, new_x = b0 * x + b1 * y + b2, a0 * x + a1 * y + a2
    return _at(images, new_y, new_x, interpolation, fill_mode, fill_value, data_format)


def perspective_transform(
    images: Tensor,
    start_points: Tensor,
    end_points: Tensor,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Images moved in perspective, so that four points (x, y) come to others.

    `start_points`, `end_points`: (4, 2) for all images, or (batch, 4, 2).
    """
    if start_points.shape != end_points.shape or start_points.shape[-2:] != (4, 2) or start_points.dim() > 3:
        found = f"{tuple(start_points.shape)} and {tuple(end_points.shape)}"
        raise ValueError(f"start_points and end_points must be (4, 2) or (batch, 4, 2) both; found {found}.")
    start, end = (_precise(each).reshape(-1, 4, 2) for each in promoted(start_points, end_points))
    row = _homography(start, end).reshape(-1, 8, 1, 1).to(_precise(images).dtype)
    a0, a1, a2, b0, b1, b2, c0, c1 = row.unbind(1)
    y, x = _grid(images, data_format, row.dtype)
    scale = c0 * x + c1 * y + 1.0
    new_y, new_x = (b0 * x + b1 * y + b2) / scale, (a0 * x + a1 * y + a2) / scale
    return _at(images, new_y, new_x, interpolation, "constant", fill_value, data_format)


def _precise(x: Tensor) -> Tensor:
    """The numbers in single precision at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _homography(start: Tensor, end: Tensor) -> Tensor:
    """The eight numbers of the perspective that takes the points `end` to `start`."""
    x, y = end.unbind(-1)
    one, zero = torch.ones_like(x), torch.zeros_like(x)
    u, v = start.unbind(-1)
    rows_x = torch.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1)
    rows_y = torch.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)
    matrix = torch.stack([rows_x, rows_y], 2).flatten(1, 2)
    return torch.linalg.solve(matrix, start.reshape(-1, 8, 1)).squeeze(-1)


# --- filters ---------------------------------------------------------------------------------------------------------


def _gauss(size: int, sigma: Any, like: Tensor) -> Tensor:
    """The weights of a Gaussian curve in the type of `like`, with the sum 1."""
    distances = torch.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2
    weights = torch.exp(-0.5 * (distances / sigma) ** 2)
    return weights / weights.sum()


def _filtered(batch: Tensor, kernel: Tensor) -> Tensor:
    """Each channel of each image by itself, weighted by a kernel around each place that it fits."""
    return F.conv2d(batch.flatten(0, 1).unsqueeze(1), kernel[None, None]).unflatten(0, batch.shape[:2]).squeeze(2)


def gaussian_blur(
    images: Tensor, kernel_size: Any = (3, 3), sigma: Any = (1.0, 1.0), data_format: str | None = None
) -> Tensor:
    """Images smoothed by a Gaussian kernel, with zeros beyond the edges; they keep their size.

    `kernel_size`: its height and width. `sigma`: its standard deviations along the width and the height.
    """
    batch = _batch(floats(images), data_format)
    height, width = map(int, kernel_size)
    # Keras 3 documents `sigma` the other way round; on all backends the first one is along the width.
    kernel = torch.outer(_gauss(height, sigma[1], batch), _gauss(width, sigma[0], batch))
    margins = ((width - 1) // 2, width // 2, (height - 1) // 2, height // 2)
    return _in_type_of(images, _in_type(_filtered(F.pad(batch, margins), kernel), images.dtype), data_format)


def elastic_transform(
    images: Tensor,
    alpha: float = 20.0,
    sigma: float = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Images whose pixels are displaced at random, by amounts that change smoothly.

    `alpha`: how strongly. `sigma`: the standard deviation of the Gaussian kernel that smooths the displacements.
    `seed`: a number for the same displacements in each call; None draws from torch's generator.
    """
    batch = _batch(images, data_format)
    noise = _noise((2, batch.shape[0], *batch.shape[2:]), floats(images), seed) * sigma
    size = int(6 * sigma) | 1
    dx, dy = alpha * gaussian_blur(noise, (size, size), (sigma, sigma), "channels_first")
    y, x = _grid(images, data_format, noise.dtype)
    return _at(images, y + dy, x + dx, interpolation, fill_mode, fill_value, data_format)


def _noise(shape: tuple[int, ...], like: Tensor, seed: int | None) -> Tensor:
    """Normally distributed numbers."""
    device, generator = like.device, None
    if seed is not None and device.type != "meta":
        generator = torch.Generator(device)
        generator.manual_seed(int(seed))
    return torch.randn(shape, dtype=like.dtype, device=device, generator=generator)


def sobel_edges(images: Tensor, data_format: str | None = None) -> Tensor:
    """How fast a batch of images changes from row to row and from column to column: two values on a new last axis."""
    if images.dim() != 4:
        raise ValueError(f"images must have 4 axes; found the shape {tuple(images.shape)}.")
    batch = F.pad(_batch(images, data_format), (1, 1, 1, 1))
    rows = torch.tensor([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], dtype=batch.dtype, device=batch.device)
    return torch.stack([_in_type_of(images, _filtered(batch, kernel), data_format) for kernel in (rows, rows.T)], -1)


def ssim(
    image1: Tensor,
    image2: Tensor,
    max_val: float = 1.0,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    data_format: str | None = None,
) -> Tensor:
    """The structural similarity of each pair of images, a number from -1 to 1, which is 1 for equal ones.

    `max_val`: the largest value a pixel can have.
    """
    x = _batch(floats(image1), data_format)
    y = _batch(image2.to(x.dtype), data_format)
    weights = _gauss(filter_size, filter_sigma, x)
    kernel = torch.outer(weights, weights)
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_x, mean_y = _filtered(x, kernel), _filtered(y, kernel)
    variance_x, variance_y = (_filtered(z * z, kernel) - mean * mean for z, mean in ((x, mean_x), (y, mean_y)))
    covariance = _filtered(x * y, kernel) - mean_x * mean_y
    above = (2.0 * mean_x * mean_y + c1) * (2.0 * covariance + c2)
    below = (mean_x * mean_x + mean_y * mean_y + c1) * (variance_x + variance_y + c2)
    found = (above / below).mean((2, 3)).mean(1)
    return found if image1.dim() == 4 else found.squeeze(0)


# --- resampling ------------------------------------------------------------------------------------------------------


def _triangle(x: Tensor) -> Tensor:
    return (1 - x).clamp(min=0)


def _cubic(x: Tensor) -> Tensor:
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return torch.where(x < 1.0, near, far.where(x < 2.0, 0.0))


def _lanczos(radius: float) -> Callable[[Tensor], Tensor]:
    return lambda x: (torch.sinc(x) * torch.sinc(x / radius)).where(x <= radius, 0.0)


KERNELS: Mapping[str, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), _triangle),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}


def scale_and_translate(
    images: Tensor,
    output_shape: Sequence[int],
    scale: Tensor,
    translation: Tensor,
    spatial_dims: Sequence[int],
    method: str,
    antialias: bool = True,
) -> Tensor:
    """Images of a new shape: along each of `spatial_dims` what was at `x` comes to `x * scale + translation`.

    Pixel i is at `i + 0.5`, and there are zeros beyond the edges. `method`: "linear", "cubic", "lanczos3" or
    "lanczos5". `antialias`: smooth what becomes smaller.
    """
    kernel = KERNELS[_one_of("method", KERNELS, method)]
    scale, translation = promoted(floats(scale), floats(translation))
    found = floats(images)
    for k, axis in enumerate(spatial_dims):
        weights = _weights(images.shape[axis], output_shape[axis], scale[k], translation[k], kernel, antialias)
        found = (found.movedim(axis, -1) @ weights.to(found.dtype)).movedim(-1, axis)
    if found.dtype is images.dtype:
        return found
    return found.round().clamp(images.min(), images.max()).to(images.dtype)


def _weights(
    old: int, new: int, scale: Tensor, translation: Tensor, kernel: Callable[[Tensor], Tensor], antialias: bool
) -> Tensor:
    """How much each of the old values along an axis, in rows, has in each of the new ones."""
    step = 1.0 / scale
    places = (torch.arange(new, dtype=scale.dtype, device=scale.device) + 0.5) * step - translation * step - 0.5
    distances = (places - torch.arange(old, dtype=scale.dtype, device=scale.device).unsqueeze(1)).abs()
    weights = kernel(distances / step.clamp(min=1.0) if antialias else distances)
    total = weights.sum(0)
    enough = total.abs() > 1000.0 * torch.finfo(torch.float32).eps
    weights = (weights / total.where(total != 0, 1.0)).where(enough, 0.0)
    return weights.where((places >= -0.5) & (places <= old - 0.5), 0.0)


_NAMES: Mapping[str, Callable[..., Tensor]] = {
    function.__name__: function
    for function in (
        affine_transform,
        crop_images,
        elastic_transform,
        extract_patches,
        extract_patches_3d,
        gaussian_blur,
        hsv_to_rgb,
        map_coordinates,
        pad_images,
        perspective_transform,
        resize,
        rgb_to_grayscale,
        rgb_to_hsv,
        scale_and_translate,
        sobel_edges,
        ssim,
    )
}
OPERATIONS = rows(functions={f"image.{name}": function for name, function in _NAMES.items()})
