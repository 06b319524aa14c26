"""The contents of safetensors files and state_dicts, for `inspect`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchkeras.arrays import to_numpy
from torchkeras.commands.contents import Array, Contents, StoredLayer
from torchkeras.errors import FileLimitError, ModelFileError, UnreadableFileError
from torchkeras.saving import model_file
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.limits import LIMITS, MIB
from torchkeras.saving.weights import orderings, state

SAFETENSORS, STATE = "safetensors, names of a state_dict", "torch state_dict (.pt)"

# The element types of safetensors: their usual names, and NumPy's types to read them.
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
SLAB = 16 * MIB


@contextmanager
def contents_of_safetensors(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """The contents of a safetensors file, by its header.

    Raises UnreadableFileError if the header or a place in it is wrong, FileLimitError.
    """
    size = Path(path).stat().st_size
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LIMITS.json:
            raise FileLimitError(f"{path}: its header has {length} bytes; at most {LIMITS.json} are read.")
        header = json_text.parse(file.read(length), f"{path}: its header")
    if not isinstance(header, dict):
        raise UnreadableFileError(f"{path}: its header is no JSON object.")
    metadata = header.pop("__metadata__", None)
    arrays, end = [], 0
    for name, about in sorted(header.items(), key=_place):
        dtype, shape, begin, after = _entry(path, name, about)
        if begin != end or 8 + length + after > size:
            raise UnreadableFileError(
                f"{path}: {name[:100]!r} does not begin where the one before ends, or is cut off."
            )
        end = after
        at = 8 + length + begin
        arrays.append(
            Array(name, shape, DTYPES[dtype][0], after - begin, partial(_mapped, path, dtype, at, after - begin))
        )
    about = metadata.get(state.ABOUT) if isinstance(metadata, dict) else None
    contents = _contents(SAFETENSORS, arrays, about, path)
    if 8 + length + end < size:
        contents.find("trailing", "", f"{size - 8 - length - end} bytes follow the last array")
    yield contents


def _place(item: tuple[str, Any]) -> tuple[int, ...]:
    """The place of a tensor, for sorting; entries without a place come first and are refused later."""
    return _sizes(item[1].get("data_offsets")) or () if isinstance(item[1], dict) else ()


def _entry(path: Any, name: str, about: Any) -> tuple[str, tuple[int, ...], int, int]:
    """The type, shape and place of a tensor."""
    where = f"{path}: {name[:100]!r}"
    if not isinstance(about, dict) or about.get("dtype") not in DTYPES:
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


def _mapped(path: Any, dtype: str, at: int, size: int) -> Iterator[np.ndarray]:
    with Path(path).open("rb") as file:
        file.seek(at)
        while size > 0:
            found = np.frombuffer(file.read(min(size, SLAB)), DTYPES[dtype][1])
            if not found.size:
                return
            size -= found.nbytes
            yield (found.astype(np.uint32) << 16).view(np.float32) if dtype == "BF16" else found


@contextmanager
def contents_of_state(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """The contents of a state_dict that `torch.save` wrote. Raises the errors of `state.opened`."""
    with state.opened(path) as stored:
        arrays = [
            Array(
                name,
                shape,
                str(dtype).removeprefix("torch."),
                prod(shape) * dtype.itemsize,
                partial(_whole, stored.value_of, name),
            )
            for name, (dtype, shape) in stored.tensors.items()
        ]
    yield _contents(STATE, arrays, stored.about, path)


def _whole(value_of: Callable[[str], torch.Tensor], name: str) -> Iterator[np.ndarray]:
    yield to_numpy(value_of(name))


def _contents(format: str, arrays: list[Array], about: str | None, path: str | os.PathLike[str]) -> Contents:
    """The arrays, and the model that the text stored with them describes, if there is one."""
    contents = Contents(f"{format}: {'weights alone' if about is None else 'a whole model'}", layers=_by_layer(arrays))
    contents.whole = about is not None
    if about is not None:
        try:
            described = model_file.described(about, str(path))
        except ModelFileError as error:
            contents.find("text", f"metadata {state.ABOUT!r}", str(error))
        else:
            contents.config, contents.training = described.config, described.training
            contents.keras_version = described.version or None
            contents.data_format = orderings.of_config(described.config)
    return contents


def _by_layer(arrays: list[Array]) -> list[StoredLayer]:
    """The arrays grouped by module: the part of the name before the last dot."""
    found: dict[str, list[Array]] = {}
    for array in arrays:
        found.setdefault(array.path.rpartition(".")[0], []).append(array)
    return [StoredLayer(name, None, tuple(held)) for name, held in found.items()]
