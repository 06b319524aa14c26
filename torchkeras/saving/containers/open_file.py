"""Files held open: what is read of a file is read of one file, also while another one takes its name."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchkeras.errors import UnreadableFileError
from torchkeras.saving.containers.places import shown, shown_as

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
