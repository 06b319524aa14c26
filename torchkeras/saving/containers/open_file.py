"""Files held open: what is read of a file is read of one file, also while another one takes its name.

Errors call a temporary copy by the name that the user gave.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import h5py

from torchkeras.errors import UnreadableFileError

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


# --- open files -------------------------------------------------------------------------------------------------------


OPENED = "/proc/self/fd"  # Linux: each file that is open here, by its number


@contextmanager
def open_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path that leads to the file that `path` leads to now, inside the `with` block. Errors about it say `path`.

    A file that is replaced meanwhile, as `atomic_file.replacing` does, is read to its end. Where the system has no such
    paths, `path` itself. Raises FileNotFoundError, UnreadableFileError for a folder, a pipe or the like.
    """
    descriptor = _opened(path)
    try:
        own = Path(OPENED) / str(descriptor)
        if not own.exists():
            yield Path(path)
            return
        with shown_as(own, path):
            yield own
    finally:
        os.close(descriptor)


def check_same(raw: IO[bytes], own: Path) -> None:
    """Raise UnreadableFileError if `own` no longer leads to the open file, where `open_path` has no path of its own."""
    if not os.path.samestat(os.fstat(raw.fileno()), own.stat()):
        raise UnreadableFileError(f"{shown(own)}: another file took its place while it was opened.")


def require_file(path: str | os.PathLike[str]) -> None:
    """Raise FileNotFoundError for a missing file, UnreadableFileError for a folder, a pipe or the like."""
    os.close(_opened(path))


def _opened(path: str | os.PathLike[str]) -> int:
    name = shown(path)
    if os.path.isdir(path):
        raise UnreadableFileError(f"{name}: not a regular file, but a folder.")
    try:
        # Without waiting for the other end of a pipe.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"{name}: there is no such file.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFileError(f"{name}: not a regular file.")
    return descriptor
