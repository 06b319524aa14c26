"""The format of a file, by its first bytes."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

from torchkeras.errors import FileLimitError, UnknownFormatError, UnreadableFileError
from torchkeras.saving.containers.limits import LIMITS
from torchkeras.saving.containers.open_file import require_file, shown
from torchkeras.saving.formats import FORMATS, Format

SIGNATURE = b"\x89HDF\r\n\x1a\n"
ZIP = b"PK\x03\x04"
HEADER = 30  # bytes of a zip's member before its name; the length of the name is at 26
FIRST_BLOCK = 512  # HDF5 may begin at 0, here, or at any doubling of this


def format_of(path: str | os.PathLike[str]) -> Format:
    """The format of a file. Raises FileNotFoundError, UnreadableFileError, UnknownFormatError, FileLimitError."""
    require_file(path)
    with Path(path).open("rb") as file:
        first = file.read(HEADER)
    if not first:
        raise UnreadableFileError(f"{shown(path)}: the file is empty.")
    found = _recognized(path, first, _members(path) if first.startswith(ZIP) else None)
    if found is None:
        marks = dict.fromkeys(each.mark for each in FORMATS if each.begins)
        raise UnknownFormatError(f"{shown(path)}: it begins neither as {', nor as '.join(marks)}.")
    return found


def of_tensors(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file of tensors, by its first bytes, without parsing; None for another file.

    A damaged file is of the format of its suffix. Raises FileNotFoundError, UnknownFormatError for a program of
    torch.export.
    """
    require_file(path)
    members = None
    with Path(path).open("rb") as file:
        first = file.read(HEADER)
        if first.startswith(ZIP):
            member = file.read(int.from_bytes(first[26:28], "little"))
            if b"/data/" in member or member.endswith(b"/archive_format"):
                raise UnknownFormatError(
                    f"{shown(path)}: a program of torch.export, which has no layers to build; "
                    "`torch.export.load` reads it."
                )
            members = [member.decode("latin-1")]  # the member that torch writes first
    by_name = (each for each in FORMATS if Path(shown(path)).suffix.lower() in each.suffixes)
    found = _recognized(path, first, members) or next(by_name, None)
    return found if found and found.tensors else None


def _recognized(path: str | os.PathLike[str], first: bytes, members: Sequence[str] | None) -> Format | None:
    if members is not None or superblock_at(path) is not None:
        first = b""
    elif not first:
        return None
    return next((each for each in FORMATS if each.begins and each.begins(first, members)), None)


def _members(path: str | os.PathLike[str]) -> list[str]:
    try:
        with zipfile.ZipFile(path) as found:
            names = found.namelist()
    except (zipfile.BadZipFile, ValueError, LookupError, OSError, EOFError, struct.error, NotImplementedError) as error:
        raise UnreadableFileError(f"{shown(path)}: not a readable archive ({error}).") from error
    if len(names) > LIMITS.members:
        raise FileLimitError(f"{shown(path)}: it has {len(names)} members; at most {LIMITS.members} are read.")
    return names


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
