"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The path of a new, empty file that takes the place of `path` when the block ends well.

    It lies beside `path`, is flushed to the disk, then renamed: after a crash the old file is there whole. The mode of
    the old file is kept.
    """
    target = Path(path)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent)
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        part.chmod(mode)
        _sync(part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync(target.parent)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    # Windows has no descriptor of a folder.
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
