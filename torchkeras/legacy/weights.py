"""Weights in the shapes and the order that Keras 1 gave them, made into today's arrays.

Keras 1 kept the kernels of `dim_ordering='th'` as (filters, channels, *sizes), a one-dimensional kernel with an extra
axis of 1, and the gates of LSTM (i, c, f, o) and GRU (z, r, h) each as three arrays of its own. Source: files of
genuine Keras 1.2.2.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Arrays = list[np.ndarray]


def modern(layer: Any, arrays: Arrays) -> Arrays:
    """Today's arrays for those that Keras 1 had for a layer; arrays of other shapes than expected are left alone."""
    convert = next((CONVERSIONS[cls.__name__] for cls in type(layer).__mro__ if cls.__name__ in CONVERSIONS), None)
    return arrays if convert is None else convert(layer, arrays)


def stored_count(layer: Any, count: int, first_name: str) -> int:
    """How many arrays Keras 1 stored for `count` weights of a layer of ours, the first of them called `first_name`."""
    gate = first_name.removesuffix(":0").rpartition("_W_")[2]
    return next((found for suffix, found in (("i", 12), ("z", 9)) if gate == suffix and count == 3), count)


def _channels_first(layer: Any) -> bool:
    return getattr(layer, "data_format", None) == "channels_first"


def _kernel(array: np.ndarray, first: bool) -> np.ndarray:
    """(filters, channels, *sizes) -> (*sizes, channels, filters), when the channels come first."""
    return np.moveaxis(array, (1, 0), (-2, -1)) if first and array.ndim > 2 else array


def _conv(layer: Any, arrays: Arrays) -> Arrays:
    kernel, *bias = arrays
    return [_kernel(kernel, _channels_first(layer)), *bias]


def _conv1d(layer: Any, arrays: Arrays) -> Arrays:
    kernel, *bias = arrays
    if kernel.ndim == 4 and kernel.shape[1] == 1:
        kernel = kernel[:, 0]
    elif kernel.ndim == 4 and kernel.shape[3] == 1:  # before Keras 1.1: (filters, channels, length, 1)
        kernel = _kernel(kernel[..., 0], True)
    return [kernel, *bias]


def _conv_transpose(layer: Any, arrays: Arrays) -> Arrays:
    kernel, *bias = _conv(layer, arrays)
    return [kernel.swapaxes(-1, -2) if kernel.ndim > 2 else kernel, *bias]


def _separable(layer: Any, arrays: Arrays) -> Arrays:
    return [_kernel(array, _channels_first(layer)) for array in arrays]


def _gates(order: tuple[int, ...]) -> Callable[[Any, Arrays], Arrays]:
    """Kernel, recurrent kernel and bias from three arrays a gate; `order`: where each of today's gates stands there."""

    def join(layer: Any, arrays: Arrays) -> Arrays:
        if len(arrays) != 3 * len(order):
            return arrays
        return [
            np.concatenate([_kernel(arrays[3 * gate + k], _channels_first(layer)) for gate in order], axis=-1)
            for k in range(3)
        ]

    return join


_LSTM = _gates((0, 2, 1, 3))

CONVERSIONS: Mapping[str, Callable[[Any, Arrays], Arrays]] = {
    "Conv1D": _conv1d,
    "Conv2D": _conv,
    "Conv2DTranspose": _conv_transpose,
    "Conv3D": _conv,
    "ConvLSTM2D": _LSTM,
    "GRU": _gates((0, 1, 2)),
    "LSTM": _LSTM,
    "SeparableConv2D": _separable,
}
