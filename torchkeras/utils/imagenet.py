"""Images as networks that were trained on ImageNet want them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of

MODES = ("caffe", "tf", "torch")
MEAN = (0.485, 0.456, 0.406)  # of the red, green and blue of ImageNet's images, from 0 to 1
DEVIATION = (0.229, 0.224, 0.225)
MEAN_BLUE_FIRST = (103.939, 116.779, 123.68)  # from 0 to 255


def of_tensor(x: Any, data_format: str, mode: str) -> Any:
    """Images from 0 to 255, a tensor or a symbolic one, as a mode of `preprocess_input` wants them."""
    if mode == "tf":
        return x / 127.5 - 1.0
    first = data_format == "channels_first"
    dtype = x.dtype if x.is_floating_point() else dtype_of(config.floatx())

    def by_channel(values: Any) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device=x.device).reshape((3, 1, 1) if first else (3,))

    if mode == "torch":
        return (x / 255.0 - by_channel(MEAN)) / by_channel(DEVIATION)
    return torch.flip(x, (-3 if first else -1,)) - by_channel(MEAN_BLUE_FIRST)


def of_array(x: np.ndarray, data_format: str, mode: str) -> np.ndarray:
    """The same for an array; one of floats is overwritten."""
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(config.floatx())
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    first = data_format == "channels_first"
    axis, shape = (-3, (3, 1, 1)) if first else (-1, (3,))
    if mode == "torch":
        x /= 255.0
        x -= np.reshape(MEAN, shape)
        x /= np.reshape(DEVIATION, shape)
        return x
    x = np.flip(x, axis)
    x -= np.reshape(MEAN_BLUE_FIRST, shape)
    return x
