"""The header of a `.safetensors` file: where each tensor is. Its places follow each other to the end of the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.containers.open_file import shown

# The element types: their usual names, and NumPy's types to read them.
DTYPES: Mapping[str, tuple[str, str]] = {
    "BOOL": ("bool", "?"),
    "U8": ("uint8", "<u1"),
    "I8": ("int8", "<i1"),
    "U16": ("uint16", "<u2"),
    "I16": ("int16", "<i2"),
    "U32": ("uint32", "<u4"),
    "I32": ("int32", "<i4"),
    "U64": ("uint64", "<u8"),
    "I64": ("int64", "<i8"),
    "F16": ("float16", "<f2"),
    "F32": ("float32", "<f4"),
    "F64": ("float64", "<f8"),
    "BF16": ("bfloat16", "<u2"),
}


@dataclass(frozen=True)
class Place:
    """A tensor: its name, type, shape, and its bytes, from `begin` of the file on."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    size: int


@dataclass(frozen=True)
class Header:
    """The tensors in the order of their places, the metadata, and how many bytes follow the last tensor."""

    places: tuple[Place, ...]
    metadata: Any
    trailing: int


def read(path: str | os.PathLike[str], limits: Limits = LIMITS) -> Header:
    """The header of a file. Raises UnreadableFileError if it or a place in it is wrong, FileLimitError."""
    where, size = shown(path), Path(path).stat().st_size
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > limits.json:
            raise FileLimitError(f"{where}: its header has {length} bytes; at most {limits.json} are read.")
        header = json_text.parse(file.read(length), f"{where}: its header")
    if not isinstance(header, dict):
        raise UnreadableFileError(f"{where}: its header is no JSON object.")
    metadata = header.pop("__metadata__", None)
    if len(header) > limits.members:
        raise FileLimitError(f"{where}: it holds {len(header)} tensors; at most {limits.members} are read.")
    places, end = [], 8 + length
    for name, about in sorted(header.items(), key=_order):
        dtype, shape, begin, after = _entry(where, name, about)
        if 8 + length + begin != end or 8 + length + after > size:
            raise UnreadableFileError(
                f"{where}: {name[:100]!r} does not begin where the one before ends, or is cut off."
            )
        places.append(Place(name, dtype, shape, end, after - begin))
        end = 8 + length + after
    return Header(tuple(places), metadata, size - end)


def _order(item: tuple[str, Any]) -> tuple[int, ...]:
    """The place of a tensor, for sorting; entries without a place come first and are refused later."""
    return _sizes(item[1].get("data_offsets")) or () if isinstance(item[1], dict) else ()


def _entry(file: str, name: str, about: Any) -> tuple[str, tuple[int, ...], int, int]:
    """The type, shape and place of a tensor."""
    where = f"{file}: {name[:100]!r}"
    if not (isinstance(about, dict) and isinstance(about.get("dtype"), str) and about["dtype"] in DTYPES):
        raise UnreadableFileError(f"{where} has no known 'dtype'.")
    shape, offsets = _sizes(about.get("shape")), _sizes(about.get("data_offsets"))
    if shape is None or offsets is None or len(offsets) != 2:
        raise UnreadableFileError(f"{where} has no 'shape' or no two 'data_offsets'.")
    size, place = np.dtype(DTYPES[about["dtype"]][1]).itemsize * prod(shape), offsets[1] - offsets[0]
    if place != size:
        raise UnreadableFileError(f"{where} has shape {shape}, {size} bytes; its place has {place}.")
    return about["dtype"], shape, offsets[0], offsets[1]


def _sizes(value: Any) -> tuple[int, ...] | None:
    are_sizes = isinstance(value, list) and all(type(number) is int and number >= 0 for number in value)
    return tuple(value) if are_sizes else None
