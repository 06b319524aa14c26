"""Which format a file has, told by its first bytes, and files made safe to read for the commands."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchkeras.saving.errors import FileLimitError, UnknownFormatError, UnreadableFileError
from torchkeras.saving.files.hdf5 import require_file
from torchkeras.saving.files.isolated import cleaned
from torchkeras.saving.files.limits import GIB, LIMITS

HDF5, ARCHIVE, SAFETENSORS, STATE = "HDF5", ".keras archive", "safetensors file", "torch state_dict"

SIGNATURE = b"\x89HDF\r\n\x1a\n"
ZIP = b"PK\x03\x04"
PICKLE = b"\x80"
FIRST_BLOCK = 512  # HDF5 may begin at 0, here, or at this doubled any number of times


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a file. Raises FileNotFoundError, UnreadableFileError, UnknownFormatError, FileLimitError."""
    require_file(path)
    with Path(path).open("rb") as file:
        first = file.read(9)
    if not first:
        raise UnreadableFileError(f"{path}: the file is empty.")
    if first.startswith(ZIP):
        return _format_of_zip(path)
    if superblock_at(path) is not None:
        return HDF5
    if first[8:] == b"{":
        return SAFETENSORS
    if first.startswith(PICKLE):
        return STATE
    raise UnknownFormatError(f"{path}: it begins neither as HDF5, nor as a zip, nor as safetensors.")


def _format_of_zip(path: str | os.PathLike[str]) -> str:
    try:
        with zipfile.ZipFile(path) as found:
            names = found.namelist()
    except (zipfile.BadZipFile, ValueError, LookupError, OSError, EOFError, struct.error, NotImplementedError) as error:
        raise UnreadableFileError(f"{path}: not a readable archive ({error}).") from error
    if len(names) > LIMITS.members:
        raise FileLimitError(f"{path}: it has {len(names)} members; at most {LIMITS.members} are read.")
    return STATE if any(name.endswith("data.pkl") for name in names) else ARCHIVE


def superblock_at(path: str | os.PathLike[str]) -> int | None:
    """Where HDF5 begins in a file; None when it is none."""
    size, at = Path(path).stat().st_size, 0
    with Path(path).open("rb") as file:
        while at < size:
            file.seek(at)
            if file.read(len(SIGNATURE)) == SIGNATURE:
                return at
            at = 2 * at or FIRST_BLOCK
    return None


@contextmanager
def safe(path: str | os.PathLike[str], format: str, seconds: float | None = None, memory: int = GIB) -> Iterator[Path]:
    """The path of what may be read of a file: a clean copy of HDF5 and archives, made by a process with limits.

    safetensors and state_dicts are read where they are: the one is a list of places, of the other only tensors are
    made. Raises the errors of `isolated.cleaned`.
    """
    if format in (SAFETENSORS, STATE):
        yield Path(path)
        return
    with cleaned(path, seconds, memory) as copy:
        yield copy
