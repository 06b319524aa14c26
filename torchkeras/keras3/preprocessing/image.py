"""`keras.preprocessing.image`."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchkeras.base.rules import one_of, read
from torchkeras.keras3 import ops
from torchkeras.keras3.utils import array_to_img, img_to_array, load_img, save_img

__all__ = ["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"]


def smart_resize(
    x: Any,
    size: tuple[int, int],
    interpolation: str = "bilinear",
    data_format: str = "channels_last",
    backend_module: None = None,
) -> Any:
    """The middle of images that has the proportions of `size`, in that size.

    Arguments:
        x (array or tensor): an image of 3 axes, or a batch of them.
        size (two positive integers): the height and the width of the result.
        interpolation (text, default "bilinear"): as in `keras.ops.image.resize`.
        data_format ("channels_last" or "channels_first", default "channels_last"): where the channels are.
        backend_module (None, default None): must be None.

    Returns:
        An array for an array, a tensor for a tensor, in the data type of x or in float32.

    Errors:
        ValueError: an option has a bad value, or x has another number of axes.

    Example:
        >>> smart_resize(np.ones((8, 6, 3)), (4, 4)).shape
        (4, 4, 3)

    Source: https://keras.io/api/data_loading/image/
    """
    read("smart_resize", "backend_module", one_of(None), backend_module)
    if len(size) != 2:
        raise ValueError(f"smart_resize: size must be (height, width); found {size!r}.")
    if len(x.shape) not in (3, 4):
        raise ValueError(f"smart_resize: x must be an image of 3 axes or a batch of 4; found shape {tuple(x.shape)}.")
    found = ops.image.resize(
        x, tuple(size), interpolation=interpolation, data_format=data_format, crop_to_aspect_ratio=True
    )
    return np.asarray(found) if isinstance(x, np.ndarray) else found
