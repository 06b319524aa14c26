"""Write a new model file from what passed the checks of reading an old one: plain groups, texts, numbers, arrays."""

from __future__ import annotations

import os
from typing import Any

import h5py
import numpy as np

from torchkeras.errors import ForbiddenContentError
from torchkeras.saving.containers import archive, hdf5_rules as rules
from torchkeras.saving.containers.hdf5 import ATTRIBUTE_LIMIT, attributes, members, reading
from torchkeras.saving.containers.limits import MIB

PIECE = 64 * MIB  # of an array, copied at once


def write_clean(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy `source`, an HDF5 file or a `.keras` archive, to `target`. Raises the errors of reading it."""
    if archive.is_archive(source):
        with archive.opened(source) as found, found.weights(threads=1) as weights:
            archive.write(target, found.config, found.metadata, lambda group: _copy_groups(weights, group))
        return
    with reading(source) as file, h5py.File(target, "w") as copy:
        _copy_groups(file, copy)


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


def _copy_array(source: h5py.Dataset, group: h5py.Group, name: str) -> None:
    where = rules.place_of(source)
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


def _copy_attributes(source: h5py.Group | h5py.Dataset, target: h5py.Group | h5py.Dataset) -> None:
    for name, value in attributes(source).items():
        target.attrs[name] = _stored(value)


def _stored(value: Any) -> Any:
    """A list of texts as bytes of equal length, as Keras writes it, unless this takes too much space."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return value
    encoded = np.array([item.encode("utf-8") for item in value])
    return encoded if encoded.nbytes <= ATTRIBUTE_LIMIT else np.array(value, h5py.string_dtype())
