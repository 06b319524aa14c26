"""The format of a file, by its first bytes."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path

from torchkeras.errors import FileLimitError, UnknownFormatError, UnreadableFileError
from torchkeras.saving.containers.hdf5 import require_file
from torchkeras.saving.containers.limits import LIMITS

HDF5, ARCHIVE, SAFETENSORS, STATE = "HDF5", ".keras archive", "safetensors file", "torch state_dict"

SIGNATURE = b"\x89HDF\r\n\x1a\n"
ZIP = b"PK\x03\x04"
PICKLE = b"\x80"
DAMAGED = {
    ".safetensors": SAFETENSORS,
    ".pt": STATE,
    ".pth": STATE,
}  # the format that a damaged file should have
HEADER = 30  # bytes of a zip's member before its name; the length of the name is at 26
FIRST_BLOCK = 512  # HDF5 may begin at 0, here, or at any doubling of this


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


def of_tensors(path: str | os.PathLike[str]) -> str | None:
    """SAFETENSORS or STATE for a file of tensors, by its first bytes, without parsing; None for another file.

    Raises FileNotFoundError, UnknownFormatError for a program of torch.export.
    """
    require_file(path)
    with Path(path).open("rb") as file:
        first = file.read(HEADER)
        if first.startswith(ZIP):
            member = file.read(int.from_bytes(first[26:28], "little"))
            if b"/data/" in member or member.endswith(b"/archive_format"):
                raise UnknownFormatError(
                    f"{path}: a program of torch.export, which has no layers to build; `torch.export.load` reads it."
                )
            return STATE if member.endswith(b"data.pkl") else None  # the member that torch writes first
    if superblock_at(path) is not None:
        return None
    if first[8:9] == b"{":
        return SAFETENSORS
    return STATE if first.startswith(PICKLE) else DAMAGED.get(Path(path).suffix.lower())


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
    """Where HDF5 begins in a file; None if it is not HDF5."""
    size, at = Path(path).stat().st_size, 0
    with Path(path).open("rb") as file:
        while at < size:
            file.seek(at)
            if file.read(len(SIGNATURE)) == SIGNATURE:
                return at
            at = 2 * at or FIRST_BLOCK
    return None
