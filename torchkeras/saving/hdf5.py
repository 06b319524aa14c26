"""HDF5 groundwork: files that appear whole or not at all, and names in attributes."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from torchkeras.saving.errors import ModelFileError

ATTRIBUTE_LIMIT = 64512  # bytes; HDF5 keeps an attribute in an object header of 64 kB


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """A new HDF5 file that takes the place of `path` when the block ends well.

    It is written beside `path`, flushed to the disk, then renamed: after a crash the old file is there whole.
    """
    target = Path(path)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(descriptor)
    part = Path(name)
    try:
        with h5py.File(part, "w") as file:
            yield file
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        part.chmod(mode)
        _sync(part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync(target.parent)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """An HDF5 file to read. Raises FileNotFoundError when there is none, ModelFileError when it is no HDF5 file."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: there is no such file.")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ModelFileError(f"{path}: not a readable HDF5 file ({error}).") from error
    with file:
        yield file


def text(value: Any) -> str:
    """A string attribute, which old files hold as bytes."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def read_names(group: h5py.Group, attribute: str) -> list[str]:
    """A list of names; one over the limit is split into `attribute0`, `attribute1`, and so on."""
    if attribute in group.attrs:
        return _names(group.attrs[attribute])
    names: list[str] = []
    for part in itertools.takewhile(group.attrs.__contains__, (f"{attribute}{k}" for k in itertools.count())):
        names += _names(group.attrs[part])
    return names


def _names(attribute: Any) -> list[str]:
    return [] if isinstance(attribute, h5py.Empty) else [text(name) for name in attribute]


def group_in(group: h5py.Group, name: str) -> h5py.Group:
    """The group of that name inside `group`. Raises ModelFileError when there is none."""
    found = group.get(name)
    if not isinstance(found, h5py.Group):
        raise ModelFileError(f"{group.file.filename}: {group.name} has no group {name!r}.")
    return found


def dataset_in(group: h5py.Group, name: str) -> h5py.Dataset:
    """The dataset of that name inside `group`. Raises ModelFileError when there is none."""
    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise ModelFileError(f"{group.file.filename}: {group.name} has no dataset {name!r}.")
    return found


def write_names(group: h5py.Group, attribute: str, names: list[str]) -> None:
    """The inverse of `read_names`. Raises ValueError for a single name over the limit."""
    encoded = np.array([name.encode("utf-8") for name in names])
    parts = 1
    while any(part.nbytes > ATTRIBUTE_LIMIT for part in np.array_split(encoded, parts)):
        parts += 1
        if parts > len(names):
            raise ValueError(f"A name longer than {ATTRIBUTE_LIMIT} bytes cannot be written to HDF5.")
    if parts == 1:
        group.attrs[attribute] = encoded
    else:
        for index, part in enumerate(np.array_split(encoded, parts)):
            group.attrs[f"{attribute}{index}"] = part


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
