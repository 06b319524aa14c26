"""Write a new model file from what passed the checks of reading an old one: plain groups, texts, numbers, arrays."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from torchkeras.errors import FileLimitError, ForbiddenContentError
from torchkeras.saving import formats
from torchkeras.saving.containers import archive, array_archive, hdf5_rules as rules, shards
from torchkeras.saving.containers.hdf5 import ATTRIBUTE_LIMIT, attributes, members, new_file, reading
from torchkeras.saving.containers.limits import LIMITS, MIB
from torchkeras.saving.containers.open_file import shown
from torchkeras.saving.containers.parts import Dataset
from torchkeras.saving.formats import named

PathLike = str | os.PathLike[str]

PIECE = 8 * MIB  # of an array, copied at once


def write_known(source: PathLike, target: PathLike) -> None:
    """`write_clean`, for a file that may be of no known format. Raises UnknownFormatError too."""
    formats.format_of(source)
    write_clean(source, target)


def write_clean(source: PathLike, target: PathLike, strict: bool = True) -> None:
    """Copy a model file to `target`. Raises the errors of reading it; warns of what may be damage if not `strict`."""
    tensors = formats.of_tensors(source)
    if tensors is not None:
        named(tensors.check)(source)
        shutil.copyfile(source, target)
        return
    if archive.is_archive(source):
        with archive.opened(source, strict) as found, found.weights(threads=1) as weights:
            copy_weights = lambda group: _copy_groups(weights, group)  # noqa: E731
            archive.write(target, found.config, found.metadata, copy_weights, found.extract_assets)
        return
    content = shards.opened if shards.is_index(source) else reading
    with content(source, strict) as file, new_file(Path(target)) as copy:
        _copy_groups(file, copy)


def write_text(source: PathLike, target: PathLike) -> None:
    """Copy a text, such as an architecture in JSON. Raises FileLimitError."""
    with open(source, "rb") as file:
        found = file.read(LIMITS.json + 1)
    if len(found) > LIMITS.json:
        raise FileLimitError(f"{shown(source)}: it has over {LIMITS.json} bytes.")
    Path(target).write_bytes(found)


# What may be asked for, by name.
COPIES: Mapping[str, Callable[[PathLike, PathLike], None]] = {
    "model": write_clean,
    "doubtful model": partial(write_clean, strict=False),
    "file": write_known,
    "text": write_text,
    "arrays": array_archive.write_clean,
}


def _copy_groups(source: h5py.Group, target: h5py.Group) -> None:
    pending = [(source, target)]
    while pending:
        group, copy = pending.pop()
        _copy_attributes(group, copy)
        for name, found in members(group).items():
            if isinstance(found, h5py.Group):
                pending.append((found, copy.create_group(name)))
            else:
                _copy_array(found, copy, name)


def _copy_array(source: Dataset, group: h5py.Group, name: str) -> None:
    where = rules.Place(source)
    with rules.readable(where):
        rules.check_bytes(source)
        dtype, shape = source.dtype, source.shape
    if dtype.kind == "S":
        raise ForbiddenContentError(f"{where} holds texts, not numbers.")
    copy = group.create_dataset(name, shape, dtype)
    _copy_attributes(source, copy)
    if 0 in shape:
        return
    rows = max(1, PIECE // max(1, copy.nbytes // (shape[0] if shape else 1)))
    for start in range(0, shape[0] if shape else 1, rows):
        piece = slice(start, start + rows) if shape else ()
        with rules.readable(where):
            values = source[piece]
        copy[piece] = values


def _copy_attributes(source: h5py.Group | Dataset, target: h5py.Group | h5py.Dataset) -> None:
    for name, value in attributes(source).items():
        target.attrs[name] = _stored(value)


def _stored(value: Any) -> Any:
    """A list of texts as bytes of equal length, as Keras writes it, unless this takes too much space."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return value
    encoded = np.array([item.encode("utf-8") for item in value])
    return encoded if encoded.nbytes <= ATTRIBUTE_LIMIT else np.array(value, h5py.string_dtype())
