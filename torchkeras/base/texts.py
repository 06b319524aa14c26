"""Strings as tensors, since torch has none.

A tensor of strings is one of `torch.uint32`, which nothing else here uses, with one axis more than the strings have. It
holds the UTF-8 bytes of each string, four in an element, and zeros after the last. So strings are batched, shuffled,
divided between processes and copied to a device as numbers are, and layers such as TextVectorization read them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from torchkeras.base.dtypes import dtype_name

STRING = torch.uint32
BYTES = STRING.itemsize  # of an element
UTF8 = ("utf-8", "surrogatepass")  # Python's strings may hold half a pair of surrogates


def type_name(dtype: torch.dtype) -> str:
    """The name of a type of tensors, "string" for that of strings."""
    return "string" if dtype == STRING else dtype_name(dtype)


def keras_shape(tensor: Any) -> tuple[Any, ...]:
    """The shape of a tensor; of one of strings without the axis of their bytes, as Keras has it."""
    return tuple(tensor.shape[:-1] if tensor.dtype == STRING else tensor.shape)


def are_strings(value: Any) -> bool:
    """Whether this is an array of strings, or a nested list of them."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, (str, bytes)) or are_strings(item) for item in value)
    kind = value.dtype.kind if isinstance(value, np.ndarray) else ""
    return kind in ("S", "U") or (kind == "O" and all(isinstance(item, (str, bytes)) for item in value.flat))


def tensor_of_strings(value: Any, where: str, ndim: int | None = None) -> torch.Tensor:
    """The tensor of an array or nested list of strings, on the CPU. Bytes must be UTF-8.

    A list of strings gets a second axis of length 1 where a tensor of `ndim` axes, 3, is expected, as numbers do.
    `where` begins the text of errors. Raises TypeError for what is no string, ValueError for other bytes.
    """
    strings = np.asarray(value, dtype=object)
    for item in strings.flat:
        if not isinstance(item, (str, bytes)):
            missing = " Give '' for what is missing: texts.fillna('')." if item is None or item != item else ""
            raise TypeError(f"{where} takes strings; found {item!r}, of type {type(item).__name__}.{missing}")
    if strings.ndim == 1 and ndim == 3:
        strings = strings[:, None]
    encoded = [_utf8(item, where) for item in strings.flat]
    elements = max(1, -(-max(map(len, encoded), default=0) // BYTES))
    held = np.array(encoded, dtype=f"S{elements * BYTES}")
    return torch.from_numpy(held.view(np.uint32).reshape(*strings.shape, elements))


def strings_as_tensors(value: Any) -> Any:
    """The same nested value with tensors for arrays and lists of strings. Raises as `tensor_of_strings`."""
    if are_strings(value):
        return tensor_of_strings(value, "An input")
    if isinstance(value, Mapping):
        return {key: strings_as_tensors(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(strings_as_tensors, value))
    return value


def strings_of_tensor(tensor: torch.Tensor) -> np.ndarray:
    """The strings of a tensor of them, as an array of Python's objects."""
    held = np.ascontiguousarray(tensor.detach().cpu().numpy())
    found = held.view(f"S{held.shape[-1] * BYTES}")[..., 0]
    return array_of_strings([item.decode(*UTF8) for item in found.ravel()], found.shape)


def array_of_strings(strings: Sequence[str], shape: tuple[int, ...]) -> np.ndarray:
    """An array of Python's strings: where one is long, NumPy's own would take that much for each."""
    made = np.empty(len(strings), dtype=object)
    made[:] = strings
    return made.reshape(shape)


def _utf8(item: str | bytes, where: str) -> bytes:
    if isinstance(item, str):
        return item.encode(*UTF8)
    try:
        item.decode(*UTF8)
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} takes strings, or bytes in UTF-8; found {item!r}: {error}.") from error
    return item
