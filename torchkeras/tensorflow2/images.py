"""`tf.image`: images as tensors (height, width, channels), or batches of them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import torch

from torchkeras.base.extras import extra
from torchkeras.keras2.lambdas.tensorflow_functions import FUNCTIONS as OLDER
from torchkeras.keras2.tf import arrays, images
from torchkeras.keras3 import ops, random
from torchkeras.tensorflow2.elements import StringTensor
from torchkeras.tensorflow2.signatures import Function, taking
from torchkeras.tensorflow2.tensors import as_value, sizes_in

SAME_AS_BEFORE = "flip_left_right flip_up_down grayscale_to_rgb per_image_standardization crop_to_bounding_box"


class ResizeMethod:
    """The methods of `tf.image.resize`."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


def resize(
    images: Any, size: Any, method: str = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False
) -> Any:
    """Images of another size; numbers have fractions unless `method` is "nearest".

    Raises ValueError for the methods "area", "gaussian" and "mitchellcubic".
    """
    x = as_value(images)
    kind = x.dtype
    x = x if method == "nearest" and x.is_floating_point() else ops.cast(x, "float32")
    height, width = sizes_in(size)
    if preserve_aspect_ratio:
        rows, columns = x.shape[-3:-1]
        share = min(height / rows, width / columns)
        height, width = round(rows * share), round(columns * share)
    found = ops.image.resize(x, (height, width), method, antialias, data_format="channels_last")
    return ops.cast(found, kind) if method == "nearest" else found


def _largest(dtype: torch.dtype) -> float:
    return 1.0 if dtype.is_floating_point else float(torch.iinfo(dtype).max)


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False) -> Any:
    """An image of another type, whose numbers are from 0 to 1 with fractions, and up to the greatest without."""
    x = as_value(image)
    kind = ops.cast(0, dtype).dtype
    if x.dtype == kind:
        return x
    if not kind.is_floating_point:
        scaled = ops.cast(x, "float64") * ((_largest(kind) + 0.5) / _largest(x.dtype))
        return ops.saturate_cast(ops.floor(scaled), kind) if saturate else ops.cast(ops.floor(scaled), kind)
    return ops.cast(x, kind) * (1.0 / _largest(x.dtype))


def _on_fractions(compute: Function) -> Function:
    """A function of images whose numbers have fractions, for others too, which get their type back."""

    def change(image: Any, *args: Any) -> Any:
        x = as_value(image)
        if x.is_floating_point():
            return compute(x, *args)
        return convert_image_dtype(compute(convert_image_dtype(x, torch.float32), *args), x.dtype, saturate=True)

    change.__doc__ = compute.__doc__
    return change


def adjust_brightness(image: Any, delta: Any) -> Any:
    """image + delta"""
    return image + delta


def adjust_contrast(image: Any, contrast_factor: Any) -> Any:
    """(image - mean) * contrast_factor + mean, of each channel"""
    mean = ops.mean(image, (-3, -2), True)
    return (image - mean) * contrast_factor + mean


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """gain * image ** gamma"""
    return image**gamma * gain


def adjust_saturation(image: Any, saturation_factor: Any) -> Any:
    """The saturation, from 0 to 1, times a factor."""
    hue, saturation, value = ops.unstack(ops.image.rgb_to_hsv(image, "channels_last"), axis=-1)
    changed = ops.stack([hue, ops.clip(saturation * saturation_factor, 0.0, 1.0), value], -1)
    return ops.image.hsv_to_rgb(changed, "channels_last")


def adjust_hue(image: Any, delta: Any) -> Any:
    """The hue, from 0 to 1 around the circle, and a number more."""
    hue, saturation, value = ops.unstack(ops.image.rgb_to_hsv(image, "channels_last"), axis=-1)
    return ops.image.hsv_to_rgb(ops.stack([ops.mod(hue + delta, 1.0), saturation, value], -1), "channels_last")


def rgb_to_grayscale(images: Any) -> Any:
    """0.2989 * red + 0.587 * green + 0.114 * blue"""
    return ops.sum(images * ops.cast([0.2989, 0.587, 0.114], images.dtype), -1, True)


def _drawn(seed: Any, low: Any, high: Any) -> float:
    return float(random.uniform((), float(low), float(high), seed=seed))


def _random(change: Function, between: Function) -> Function:
    """A change by a number that is drawn anew each time, between two that the arguments say."""

    def changed(image: Any, *args: Any) -> Any:
        *limits, seed = args
        return change(image, _drawn(seed, *between(*limits)))

    changed.__doc__ = change.__doc__
    return changed


def _random_flip(change: Function) -> Function:
    def flipped(image: Any, seed: Any = None) -> Any:
        x = as_value(image)
        if len(x.shape) == 3:
            return change(x) if _drawn(seed, 0, 1) < 0.5 else x
        chosen = random.uniform((x.shape[0], 1, 1, 1), seed=seed) < 0.5
        return ops.where(chosen, change(x), x)

    flipped.__doc__ = "Images of which half are flipped, at random."
    return taking("image seed=None", flipped)


def random_crop(value: Any, size: Any, seed: Any = None) -> Any:
    """A part of a tensor of a size, at random."""
    x, sizes = as_value(value), sizes_in(size)
    starts = [int(_drawn(seed, 0, whole - part + 1)) for whole, part in zip(x.shape, sizes, strict=True)]
    return x[tuple(slice(at, at + part) for at, part in zip(starts, sizes, strict=True))]


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = None,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
) -> tuple[Any, Any, Any]:
    """(begin, size, box) of a part of an image, at random, which covers a share of one of the boxes.

    Where no part is found in `max_attempts` (100), it is the whole image. Raises ValueError where there are no boxes,
    unless the whole image may stand for one.
    """
    height, width, *_ = sizes_in(image_size)
    boxes = as_value(bounding_boxes).reshape(-1, 4).tolist()
    if not boxes and not use_image_if_no_bounding_boxes:
        raise ValueError("sample_distorted_bounding_box: there are no boxes; use_image_if_no_bounding_boxes=True.")
    drawing = None if seed is None else random.SeedGenerator(seed)
    found = (0, 0, height, width)
    for _ in range(max_attempts or 100):
        ratio = _drawn(drawing, *(aspect_ratio_range or (0.75, 1.33)))
        area = _drawn(drawing, *(area_range or (0.05, 1.0))) * height * width
        rows, columns = round((area / ratio) ** 0.5), round((area * ratio) ** 0.5)
        if not (0 < rows <= height and 0 < columns <= width):
            continue
        top, left = int(_drawn(drawing, 0, height - rows + 1)), int(_drawn(drawing, 0, width - columns + 1))
        part = (top / height, left / width, (top + rows) / height, (left + columns) / width)
        if any(_covered(box, part) >= min_object_covered for box in boxes or [[0.0, 0.0, 1.0, 1.0]]):
            found = (top, left, rows, columns)
            break
    top, left, rows, columns = found
    box = [top / height, left / width, (top + rows) / height, (left + columns) / width]
    return torch.tensor([top, left, 0]), torch.tensor([rows, columns, -1]), torch.tensor([[box]])


def _covered(box: Any, part: Any) -> float:
    """The share of a box (top, left, bottom, right) that a part of the image covers."""
    rows = max(0.0, min(box[2], part[2]) - max(box[0], part[0]))
    columns = max(0.0, min(box[3], part[3]) - max(box[1], part[1]))
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return rows * columns / whole if whole else 0.0


def central_crop(image: Any, central_fraction: float) -> Any:
    """The middle of images, a share of each of the two sides."""
    x = as_value(image)
    starts = [int((side - side * central_fraction) / 2) for side in x.shape[-3:-1]]
    (top, left), (rows, columns) = starts, x.shape[-3:-1]
    return x[..., top : rows - top, left : columns - left, :]


def pad_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Any:
    """Images with zeros around them, of a size."""
    x = as_value(image)
    rows, columns = x.shape[-3:-1]
    below, right = target_height - rows - offset_height, target_width - columns - offset_width
    before = ((0, 0),) * (len(x.shape) - 3)
    return ops.pad(x, (*before, (offset_height, below), (offset_width, right), (0, 0)))


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Any:
    """The middle of images of a size, with zeros around where they are smaller."""
    x = as_value(image)
    rows, columns = x.shape[-3:-1]
    top, left = max((rows - target_height) // 2, 0), max((columns - target_width) // 2, 0)
    x = x[..., top : top + target_height, left : left + target_width, :]
    offsets = max((target_height - rows) // 2, 0), max((target_width - columns) // 2, 0)
    return pad_to_bounding_box(x, *offsets, target_height, target_width)


def resize_with_pad(
    image: Any, target_height: int, target_width: int, method: str = "bilinear", antialias: bool = False
) -> Any:
    """Images resized with their sides in the same ratio, with zeros around."""
    x = as_value(image)
    rows, columns = x.shape[-3:-1]
    share = max(rows / target_height, columns / target_width)
    found = resize(x, (int(rows / share), int(columns / share)), method, antialias=antialias)
    return resize_with_crop_or_pad(found, target_height, target_width)


def rot90(image: Any, k: int = 1) -> Any:
    """Images turned by k quarters against the clock."""
    return ops.rot90(as_value(image), k, axes=(-3, -2))


def psnr(a: Any, b: Any, max_val: Any) -> Any:
    """10 * log10(max_val ** 2 / mean((a - b) ** 2)), of each image"""
    factor = 1.0 / max_val
    error = ops.mean(ops.square(as_value(a) * factor - as_value(b) * factor), (-3, -2, -1))
    return -10.0 * ops.log10(error)


def total_variation(images: Any) -> Any:
    """The sum of the differences of neighbours, of each image."""
    x = as_value(images)
    down, right = x[..., 1:, :, :] - x[..., :-1, :, :], x[..., :, 1:, :] - x[..., :, :-1, :]
    return ops.sum(ops.abs(down), (-3, -2, -1)) + ops.sum(ops.abs(right), (-3, -2, -1))


def image_gradients(image: Any) -> tuple[Any, Any]:
    """The differences of each number from that above it, and from that to its left; 0 at the ends."""
    x = as_value(image)
    down = ops.pad(x[:, 1:] - x[:, :-1], ((0, 0), (0, 1), (0, 0), (0, 0)))
    return down, ops.pad(x[:, :, 1:] - x[:, :, :-1], ((0, 0), (0, 0), (0, 1), (0, 0)))


def decoded(contents: Any, channels: Any = 0, dtype: Any = "uint8") -> Any:
    """The image in the bytes of a JPEG, PNG, BMP or GIF file: (height, width, channels)."""
    image = extra("PIL.Image", "tf.io.decode_image").open(io.BytesIO(bytes(StringTensor.of(contents).numpy())))
    modes = {1: "L", 3: "RGB", 4: "RGBA"}
    if channels in modes:
        image = image.convert(modes[channels])
    elif image.mode not in modes.values():
        image = image.convert("RGB")
    array = np.asarray(image)
    found = as_value(array[..., None] if array.ndim == 2 else array)
    return convert_image_dtype(found, ops.cast(0, dtype).dtype)


def _encoder(kind: str) -> Function:
    def encode(image: Any, *args: Any) -> StringTensor:
        array = as_value(image).cpu().numpy()
        array = array[..., 0] if array.shape[-1] == 1 else array
        file = io.BytesIO()
        extra("PIL.Image", f"tf.io.encode_{kind.lower()}").fromarray(array).save(file, kind)
        return StringTensor.of(file.getvalue())

    encode.__doc__ = f"The bytes of a {kind} file of an image."
    return encode


_flip_left_right = arrays.on_tensors(OLDER["image.flip_left_right"])
_flip_up_down = arrays.on_tensors(OLDER["image.flip_up_down"])
_DECODED = taking("contents channels=0 dtype=uint8", decoded)
DECODERS: dict[str, Any] = {
    **dict.fromkeys(("decode_png", "decode_bmp"), _DECODED),
    "decode_image": taking(
        "contents channels=None dtype=uint8 expand_animations=True",
        lambda file, n, kind, _: decoded(file, n or 0, kind),
    ),
    **dict.fromkeys(
        ("decode_jpeg", "decode_and_crop_jpeg"),
        lambda contents, channels=0, *args, **options: decoded(contents, channels),
    ),
    "encode_jpeg": _encoder("JPEG"),
    "encode_png": _encoder("PNG"),
}
_between = {"above": lambda limit: (-limit, limit), "limits": lambda lower, upper: (lower, upper)}

NAMES: dict[str, Any] = {
    **DECODERS,
    **{
        name: arrays.published(f"image.{name}", arrays.on_tensors(OLDER[f"image.{name}"]))
        for name in SAME_AS_BEFORE.split()
    },
    "ResizeMethod": ResizeMethod,
    "adjust_brightness": taking("image delta", _on_fractions(adjust_brightness)),
    "adjust_contrast": taking("images contrast_factor", _on_fractions(adjust_contrast)),
    "adjust_gamma": taking("image gamma=1 gain=1", _on_fractions(adjust_gamma)),
    "adjust_hue": taking("image delta", _on_fractions(adjust_hue)),
    "adjust_saturation": taking("image saturation_factor", _on_fractions(adjust_saturation)),
    "central_crop": taking("image central_fraction", central_crop),
    "convert_image_dtype": taking("image dtype saturate=False", convert_image_dtype),
    "crop_and_resize": taking(
        "image boxes box_indices crop_size method=bilinear extrapolation_value=0.0",
        arrays.on_tensors(images.crop_and_resize),
    ),
    "extract_patches": arrays.published("image.extract_patches", images.NODES["image.extract_patches"]),
    "hsv_to_rgb": taking("images", lambda x: ops.image.hsv_to_rgb(as_value(x), "channels_last")),
    "image_gradients": taking("image", image_gradients),
    "non_max_suppression": images.PLAIN["image.non_max_suppression"],
    "pad_to_bounding_box": taking("image offset_height offset_width target_height target_width", pad_to_bounding_box),
    "psnr": taking("a b max_val", psnr),
    "random_brightness": taking(
        "image max_delta seed=None", _random(_on_fractions(adjust_brightness), _between["above"])
    ),
    "random_contrast": taking(
        "image lower upper seed=None", _random(_on_fractions(adjust_contrast), _between["limits"])
    ),
    "random_crop": taking("value size seed=None", random_crop),
    "random_flip_left_right": _random_flip(_flip_left_right),
    "random_flip_up_down": _random_flip(_flip_up_down),
    "random_hue": taking("image max_delta seed=None", _random(_on_fractions(adjust_hue), _between["above"])),
    "random_saturation": taking(
        "image lower upper seed=None", _random(_on_fractions(adjust_saturation), _between["limits"])
    ),
    "resize": taking("images size method=bilinear preserve_aspect_ratio=False antialias=False", resize),
    "resize_with_crop_or_pad": taking("image target_height target_width", resize_with_crop_or_pad),
    "resize_with_pad": taking("image target_height target_width method=bilinear antialias=False", resize_with_pad),
    "rgb_to_grayscale": taking("images", _on_fractions(rgb_to_grayscale)),
    "rgb_to_hsv": taking("images", lambda x: ops.image.rgb_to_hsv(as_value(x), "channels_last")),
    "rot90": taking("image k=1", rot90),
    "sample_distorted_bounding_box": taking(
        "image_size bounding_boxes seed=None min_object_covered=0.1 aspect_ratio_range=None area_range=None "
        "max_attempts=None use_image_if_no_bounding_boxes=None",
        sample_distorted_bounding_box,
    ),
    "total_variation": taking("images", total_variation),
    "transpose": taking("image", lambda image: ops.swapaxes(as_value(image), -3, -2)),
}
