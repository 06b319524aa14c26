"""`keras.utils.conv_utils`: options and lengths of convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchkeras.keras2.backend import normalize_data_format
from torchkeras.keras2.renamed import renamed
from torchkeras.layers.spatial import windows

__all__ = [
    "conv_input_length",
    "conv_output_length",
    "convert_kernel",
    "deconv_length",
    "normalize_data_format",
    "normalize_padding",
    "normalize_tuple",
]

PADDINGS = ("valid", "same", "causal")


def normalize_tuple(value: Any, n: int, name: str) -> tuple[Any, ...]:
    """`n` numbers from one number or from `n` of them. ValueError for anything else; `name` is the option's."""
    if isinstance(value, int):
        return (value,) * n
    try:
        found = tuple(value)
        whole = [int(each) for each in found]
    except (TypeError, ValueError) as error:
        raise _no_tuple(value, n, name) from error
    if len(whole) != n:
        raise _no_tuple(value, n, name)
    return found


def _no_tuple(value: Any, n: int, name: str) -> ValueError:
    return ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")


def normalize_padding(value: str) -> str:
    """ "valid", "same" or "causal" in lower case. ValueError for another word."""
    padding = value.lower()
    if padding not in PADDINGS:
        raise ValueError(
            f'The `padding` argument must be one of "valid", "same" (or "causal" for Conv1D). Received: {padding}'
        )
    return padding


def convert_kernel(kernel: Any) -> np.ndarray:
    """A kernel (..., in, out) of 3 to 5 axes, turned round in its spatial axes: Theano's for TensorFlow's, or back."""
    array = np.asarray(kernel)
    if not 3 <= array.ndim <= 5:
        raise ValueError("Invalid kernel shape:", array.shape)
    return np.flip(array, tuple(range(array.ndim - 2))).copy()


@renamed(border_mode="padding")
def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The length that a convolution gives; `padding`: "same", "valid", "full" or "causal". None stays None."""
    if input_length is not None:
        _check(padding, "same", "valid", "full", "causal")
    return windows(input_length, padding, filter_size, stride, dilation)


@renamed(border_mode="padding")
def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length that a convolution was given; `padding`: "same", "valid" or "full". None stays None."""
    if output_length is None:
        return None
    return (output_length - 1) * stride - 2 * _padded(padding, filter_size) + filter_size


def deconv_length(
    dim_size: int | None,
    stride_size: int,
    kernel_size: int,
    padding: str,
    output_padding: int | None,
    dilation: int = 1,
) -> int | None:
    """The length that a transposed convolution gives; `padding`: "same", "valid" or "full". None stays None.

    `output_padding`: how many rows more there are at the end; None finds it.
    """
    pad = _padded(padding, size := (kernel_size - 1) * dilation + 1)
    if dim_size is None:
        return None
    if output_padding is not None:
        return (dim_size - 1) * stride_size + size - 2 * pad + output_padding
    return dim_size * stride_size + {"valid": max(size - stride_size, 0), "full": 2 - stride_size - size}.get(
        padding, 0
    )


def _padded(padding: str, size: int) -> int:
    """The rows added at each end."""
    _check(padding, "same", "valid", "full")
    return {"same": size // 2, "valid": 0, "full": size - 1}[padding]


def _check(padding: str, *allowed: str) -> None:
    if padding not in allowed:  # an AssertionError, as in Keras, which scripts may catch
        raise AssertionError(f"padding must be one of {', '.join(allowed)}; found {padding!r}.")
