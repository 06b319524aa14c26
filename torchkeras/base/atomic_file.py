"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NUMBER = re.compile(r"errno = (\d+)|os error (\d+)")  # the system's error in messages of HDF5 and safetensors
PROBE = 1 << 20  # bytes


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The path of a new, empty file that replaces `path` if the block ends without an error.

    It is in the same folder, is flushed to the disk, then renamed: after a crash the old file is still whole. The mode
    of the old file is kept. A symbolic link stays: the file that it leads to is replaced. What the system refuses (a
    full disk, a read-only folder) is an OSError that names `path`, whichever library met it; so is a pipe or a device.
    """
    given, part = Path(path), None
    try:
        target = _led_to(given)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent)
        os.close(descriptor)
        part = Path(name)
        yield part
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        part.chmod(mode)
        _sync(part)
        part.replace(target)
    except BaseException as error:
        refusal = _refusal(error, part)
        if part is not None:
            part.unlink(missing_ok=True)
        if refusal is None:
            raise
        raise _naming(refusal, given) from error
    _sync(target.parent)


def _led_to(path: Path) -> Path:
    """The file that a path leads to through its symbolic links. Raises OSError for a pipe, a device, a loop."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file")
    return target


def _refusal(error: BaseException, part: Path | None) -> OSError | None:
    """The system's error under an error of creating or writing `part`; None if it has another cause."""
    found = NUMBER.search(str(error)) if isinstance(error, Exception) else None
    if found is not None:  # also in an OSError of HDF5, whose text is of its own calls
        number = int(found[1] or found[2])
        return OSError(number, os.strerror(number))
    if isinstance(error, OSError) and error.errno is not None:
        return error if part is None or error.filename in (None, str(part)) else None
    if part is not None and isinstance(error, RuntimeError):  # torch's, which hides the cause
        return _refusal_of_more(part)
    return None


def _refusal_of_more(part: Path) -> OSError | None:
    """The system's error when the disk takes no more of a file; None if it takes more."""
    try:
        with part.open("ab") as file:
            file.write(bytes(PROBE))
            os.fsync(file.fileno())
    except OSError as refused:
        return refused
    return None


def _naming(refusal: OSError, target: Path) -> OSError:
    lacks_folder = refusal.errno == errno.ENOENT and not target.parent.exists()
    return OSError(
        refusal.errno, f"There is no folder {target.parent}" if lacks_folder else refusal.strerror, str(target)
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    # Windows cannot open a folder.
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
