"""Whether a callback will be able to write a file, asked before the first epoch: nothing is written or made."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise the OSError of writing a file that cannot be written; missing folders would be made."""
    place = Path(os.path.abspath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folder = next(each for each in place.parents if os.path.lexists(each))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
