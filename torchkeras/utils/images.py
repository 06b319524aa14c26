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
from torchkeras.base.rules import FLAG_OR_DIGIT, Rule, integers, one_of, optional, read

MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
GRAY = ("L", "I;16", "I")  # of 8, 16 and 32 bits
CHANNELS = (1, 3, 4)
PATHS = (str, bytes, os.PathLike)
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")
DATA_FORMAT = optional(one_of(*config.DATA_FORMATS))
TARGET_SIZE = optional(
    integers("must be two integers of at least 1, the height and the width", lambda v: len(v) in (2, 3) and min(v) >= 1)
)
DTYPE = Rule(np.dtype)


def _data_format(function: str, data_format: str | None) -> str:
    return read(function, "data_format", DATA_FORMAT, data_format) or config.image_data_format()


def _array(function: str, values: Any, dtype: Any) -> np.ndarray:
    return np.asarray(values, read(function, "dtype", DTYPE, config.floatx() if dtype is None else dtype))


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """Convert an array to an image of Pillow.

    Arguments:
        x (array): the image, with 1 channel for gray, 3 for RGB, or 4 for RGBA.
        data_format (text or None, default None): "channels_last" for (height, width, channels), "channels_first" for
            (channels, height, width); None is `torchkeras.config.image_data_format()`.
        scale (bool, default True): whether the smallest number becomes 0 and the largest 255.
        dtype (type or None, default None): the type to compute in; None is `floatx`.

    Returns:
        image: of the mode "L", "RGB" or "RGBA"; "I" for gray above 255.

    Errors:
        ValueError: the array does not have three axes, has no pixels, or has a wrong number of channels.
        ImportError: Pillow is missing.

    Example:
        >>> array_to_img(np.ones((4, 6, 3))).size
        (6, 4)

    Source: https://keras.io/api/data_loading/image/
    """
    pillow = extra("PIL.Image", "array_to_img")
    first = _data_format("array_to_img", data_format) == "channels_first"
    array = _array("array_to_img", x, dtype)
    if array.ndim != 3 or not array.size:
        raise ValueError(f"array_to_img: x must have three axes, none of them empty; found shape {array.shape}.")
    if first:
        array = array.transpose(1, 2, 0)
    if array.shape[2] not in CHANNELS:
        raise ValueError(f"array_to_img: x must have 1, 3 or 4 channels; found {array.shape[2]}.")
    if read("array_to_img", "scale", FLAG_OR_DIGIT, scale):
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
    """Convert an image of Pillow to an array.

    Arguments:
        img (image): the image.
        data_format (text or None, default None): "channels_last" for (height, width, channels), "channels_first" for
            (channels, height, width); None is `torchkeras.config.image_data_format()`.
        dtype (type or None, default None): the type of the array; None is `floatx`.

    Errors:
        ValueError: it has neither two axes nor three.

    Example:
        >>> img_to_array(array_to_img(np.ones((4, 6, 3)))).shape
        (4, 6, 3)

    Source: https://keras.io/api/data_loading/image/
    """
    first = _data_format("img_to_array", data_format) == "channels_first"
    array = _array("img_to_array", img, dtype)
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
        ValueError: the array is no image, or Pillow writes no such format.
        TypeError: `path` is neither a path nor a file.
        ImportError: Pillow is missing.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> save_img(file, np.ones((4, 6, 3)), file_format="png")
        >>> load_img(file).size
        (6, 4)

    Source: https://keras.io/api/data_loading/image/
    """
    pillow = extra("PIL.Image", "save_img")
    if not isinstance(path, PATHS) and not hasattr(path, "write"):
        raise TypeError(f"save_img: path must be a path or a file; found {type(path).__name__}.")
    wanted = _suffix(path) if file_format is None else file_format
    written = pillow.registered_extensions().get(f".{wanted}".lower(), str(wanted).upper())
    if written not in pillow.SAVE:
        raise ValueError(f"save_img: file_format must be one that Pillow writes, such as 'png'; found {wanted!r}.")
    image = array_to_img(x, data_format, scale)
    if image.mode == "RGBA" and written == "JPEG":
        warnings.warn("save_img: JPEG has no transparency; the image is written as RGB.", stacklevel=2)
        image = image.convert("RGB")
    image.save(path, format=written, **kwargs)


def _suffix(path: Any) -> str:
    """The suffix of a path, or of that of a file; empty where it has none."""
    name = path if isinstance(path, PATHS) else getattr(path, "name", None)
    return Path(os.fsdecode(name)).suffix[1:] if isinstance(name, PATHS) else ""


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """Load an image of Pillow from a file.

    Arguments:
        path (path or io.BytesIO): the file.
        color_mode (text, default "rgb"): "grayscale", "rgb" or "rgba".
        target_size (two integers or None, default None): the height and width to resize it to; None keeps its size. A
            third integer, the channels, is ignored.
        interpolation (text, default "nearest"): "nearest", "bilinear", "bicubic", "hamming", "box" or "lanczos".
        keep_aspect_ratio (bool, default False): whether only the largest window in the middle that has the new aspect
            ratio is resized.

    Returns:
        image: of that mode; gray of 16 or 32 bits stays as it is in "grayscale", and is clipped at 255 in the others.

    Errors:
        ValueError: an option has a bad value.
        TypeError: `path` is neither a path nor a BytesIO.
        FileNotFoundError: there is no such file.
        PIL.UnidentifiedImageError: the file holds no image, or a damaged one. It is an OSError.
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
    wanted = read("load_img", "target_size", TARGET_SIZE, target_size)
    keeps_ratio = read("load_img", "keep_aspect_ratio", FLAG_OR_DIGIT, keep_aspect_ratio)
    image = _opened(pillow, path)
    if image.mode != MODES[color_mode] and not (color_mode == "grayscale" and image.mode in GRAY):
        image = image.convert(MODES[color_mode])
    if wanted is None:
        return image
    size = wanted[1::-1]
    if image.size == size:
        return image
    box = _window(image.size, size) if keeps_ratio else None
    return image.resize(size, getattr(pillow.Resampling, interpolation.upper()), box=box)


def _opened(pillow: Any, path: Any) -> Any:
    if isinstance(path, io.BytesIO):
        return _decoded(pillow, path, "the BytesIO")
    if not isinstance(path, PATHS):
        raise TypeError(f"load_img: path must be a path or an io.BytesIO; found {type(path).__name__}.")
    with open(path, "rb") as file:
        return _decoded(pillow, io.BytesIO(file.read()), repr(os.fsdecode(path)))


def _decoded(pillow: Any, file: io.BytesIO, name: str) -> Any:
    """The image in a file; its pixels are read now, so that the error of a damaged file has its `name`."""
    try:
        image = pillow.open(file)
        image.load()
    except pillow.UnidentifiedImageError as error:
        raise pillow.UnidentifiedImageError(f"load_img: {name} holds no image that Pillow can read.") from error
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
        text = f"load_img: {name} holds an image that Pillow cannot read: {error}"
        raise pillow.UnidentifiedImageError(text) from error
    return image


def _window(size: tuple[int, int], target: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of the largest window in the middle that has the aspect ratio of a size."""
    width, height = size
    new_width, new_height = min(width, height * target[0] // target[1]), min(height, width * target[1] // target[0])
    left, top = (width - new_width) // 2, (height - new_height) // 2
    return left, top, left + new_width, top + new_height
