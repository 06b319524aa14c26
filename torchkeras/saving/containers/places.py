"""The name of a file in errors: a temporary copy is called by the name that the user gave."""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

_shown: dict[str, str] = {}


@contextmanager
def shown_as(path: str | os.PathLike[str], original: str | os.PathLike[str]) -> Iterator[None]:
    """Inside the `with` block, errors about `path` say `original`."""
    key = os.fspath(path)
    _shown[key] = shown(original)
    try:
        yield
    finally:
        del _shown[key]


def shown(path: str | os.PathLike[str]) -> str:
    """The name of a file in errors."""
    return _shown.get(os.fspath(path), os.fspath(path))


def filename(place: h5py.Group | h5py.Dataset) -> str:
    """The name, in errors, of the file that holds a group or dataset."""
    return shown(os.fsdecode(h5py.h5f.get_name(place.id)))  # place.file would open the file's root
