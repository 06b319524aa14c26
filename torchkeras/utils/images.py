"""Images of Pillow to arrays, files, and back."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from torchkeras import config
from torchkeras.base.extras import extra
from torchkeras.base.rules import one_of, optional, read

MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
GRAY = ("L", "I;16", "I")  # of 8, 16 and 32 bits
CHANNELS = (1, 3, 4)
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
DATA_FORMAT = optional(one_of(*config.DATA_FORMATS))


def _data_format(function: str, data_format: str | None) -> str:
    return read(function, "data_format", DATA_FORMAT, data_format) or config.image_data_format()


def _array(values: Any, dtype: Any) -> np.ndarray:
    return np.asarray(values, config.floatx() if dtype is None else dtype)


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """An array as an image of Pillow.

    Arguments:
        x (array): the image, with 1 channel for gray, 3 for RGB, or 4 for RGBA.
        data_format (text or None, default None): "channels_last" for (height, width, channels), "channels_first" for
            (channels, height, width); None is the default of `keras.config`.
        scale (bool, default True): whether the smallest number becomes 0 and the largest 255.
        dtype (type or None, default None): the type to compute in; None is `floatx`.

    Returns:
        image: of the mode "L", "RGB" or "RGBA"; "I" for gray above 255.

    Errors:
        ValueError: the array has not three axes, or another number of channels.
        ImportError: Pillow is missing.

    Example:
        >>> array_to_img(np.ones((4, 6, 3))).size
        (6, 4)

    Source: https://keras.io/api/data_loading/image/
    """
    pillow = extra("PIL.Image", "array_to_img")
    first = _data_format("array_to_img", data_format) == "channels_first"
    array = _array(x, dtype)
    if array.ndim != 3:
        raise ValueError(f"array_to_img: x must have three axes, as one image has; found shape {array.shape}.")
    if first:
        array = array.transpose(1, 2, 0)
    if array.shape[2] not in CHANNELS:
        raise ValueError(f"array_to_img: x must have 1, 3 or 4 channels; found {array.shape[2]}.")
    if scale:
        array = _scaled(array)
    if array.shape[2] != 1:
        return pillow.fromarray(array.astype("uint8"))
    kind = "int32" if array.max() > 255 else "uint8"
    return pillow.fromarray(array[:, :, 0].astype(kind))


def _scaled(array: np.ndarray) -> np.ndarray:
    array = array - np.min(array)
    most = np.max(array)
    return (array / most if most != 0 else array) * 255


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> np.ndarray:
    """An image of Pillow as an array.

    Arguments:
        img (image): the image.
        data_format (text or None, default None): "channels_last" for (height, width, channels), "channels_first" for
            (channels, height, width); None is the default of `keras.config`.
        dtype (type or None, default None): the type of the array; None is `floatx`.

    Errors:
        ValueError: it has neither two axes nor three.

    Example:
        >>> img_to_array(array_to_img(np.ones((4, 6, 3)))).shape
        (4, 6, 3)

    Source: https://keras.io/api/data_loading/image/
    """
    first = _data_format("img_to_array", data_format) == "channels_first"
    array = _array(img, dtype)
    if array.ndim == 2:
        return array[None] if first else array[:, :, None]
    if array.ndim != 3:
        raise ValueError(f"img_to_array: an image has two axes, or three with channels; found shape {array.shape}.")
    return array.transpose(2, 0, 1) if first else array


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array as an image into a file.

    Arguments:
        path (path or file): the file.
        x (array): the image, as `array_to_img` takes it.
        data_format (text or None, default None): the order of its axes, as in `array_to_img`.
        file_format (text or None, default None): the format, such as "png"; None is that of the path's suffix.
        scale (bool, default True): whether the smallest number becomes 0 and the largest 255.
        **kwargs (any): options of Pillow's `Image.save`.

    Errors:
        ValueError: the array is no image, or Pillow does not know the format.
        ImportError: Pillow is missing.

    Example:
        >>> file = io.BytesIO()
        >>> save_img(file, np.ones((4, 6, 3)), file_format="png")
        >>> load_img(file).size
        (6, 4)

    Source: https://keras.io/api/data_loading/image/
    """
    if file_format is None and isinstance(path, (str, os.PathLike)):
        file_format = Path(path).suffix[1:]
    if file_format and file_format.lower() == "jpg":
        file_format = "jpeg"
    image = array_to_img(x, data_format, scale)
    if image.mode == "RGBA" and (file_format or "").lower() == "jpeg":
        warnings.warn("save_img: JPEG has no transparency; the image is written as RGB.", stacklevel=2)
        image = image.convert("RGB")
    image.save(path, format=file_format or None, **kwargs)


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """An image of Pillow from a file.

    Arguments:
        path (path or io.BytesIO): the file.
        color_mode (text, default "rgb"): "grayscale", "rgb" or "rgba".
        target_size (two integers or None, default None): the height and width to resize it to; None leaves it.
        interpolation (text, default "nearest"): "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
        keep_aspect_ratio (bool, default False): whether only the largest window in the middle that has the new aspect
            ratio is resized.

    Returns:
        image: of that mode; gray of 16 or 32 bits stays as it is.

    Errors:
        ValueError: an option has a bad value.
        TypeError: `path` is neither a path nor a BytesIO.
        ImportError: Pillow is missing.

    Example:
        >>> save_img("image.png", np.ones((4, 6, 3)))
        >>> load_img("image.png", target_size=(2, 3)).size
        (3, 2)

    Source: https://keras.io/api/data_loading/image/
    """
    pillow = extra("PIL.Image", "load_img")
    read("load_img", "color_mode", one_of(*MODES), color_mode)
    read("load_img", "interpolation", one_of(*INTERPOLATIONS), interpolation)
    image = _opened(pillow, path)
    if image.mode != MODES[color_mode] and not (color_mode == "grayscale" and image.mode in GRAY):
        image = image.convert(MODES[color_mode])
    if target_size is None:
        return image
    size = (int(target_size[1]), int(target_size[0]))
    if image.size == size:
        return image
    box = _window(image.size, size) if keep_aspect_ratio else None
    return image.resize(size, getattr(pillow.Resampling, interpolation.upper()), box=box)


def _opened(pillow: Any, path: Any) -> Any:
    if isinstance(path, io.BytesIO):
        return pillow.open(path)
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"load_img: path must be a path or an io.BytesIO; found {type(path).__name__}.")
    with open(path, "rb") as file:
        return pillow.open(io.BytesIO(file.read()))


def _window(size: tuple[int, int], target: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the largest window in the middle that has the aspect ratio of a size."""
    width, height = size
    new_width, new_height = min(width, height * target[0] // target[1]), min(height, width * target[1] // target[0])
    left, top = (width - new_width) // 2, (height - new_height) // 2
    return left, top, left + new_width, top + new_height
