"""What is read of an open file: its parts, and the groups and datasets of HDF5 in them.

What HDF5 reads as a file may be a member of an archive, which needs no copy of it. Groups and datasets of a file that
is only read keep what HDF5 has answered: h5py makes an object for most answers, and registers it: for one array it made
twenty-four, now five.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5f, h5fd, h5g, h5i

from torchkeras.base.python import lazy_property
from torchkeras.saving.containers import pieces

CAN_READ = hasattr(os, "preadv")  # Windows has none
MOST = 1024  # arrays that one call of the system fills
POLYNOMIAL = 0xEDB88320  # of zip's checksum, with its bits reversed


class Part(io.RawIOBase):
    """`size` bytes of an open file, from `begin` on. HDF5 calls it by its `name`."""

    def __init__(self, descriptor: int, begin: int, size: int):
        self.descriptor, self.begin, self.size = descriptor, begin, size
        self.name = f"part {id(self)}"  # h5py changes what is no ASCII
        self._at = 0

    def __repr__(self) -> str:
        return self.name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        count = self.fill(memoryview(buffer), self._at)
        self._at += count
        return count

    def fill(self, buffer: memoryview, at: int) -> int:
        """Read the bytes from `at` on; how many there are, up to the length of the buffer."""
        left = buffer.cast("B")[: max(0, self.size - at)]
        wanted = len(left)
        while left:
            count = os.preadv(self.descriptor, [left], self.begin + at)
            if not count:
                break
            at, left = at + count, left[count:]
        return wanted - len(left)

    def fill_lines(self, lines: Sequence[Any], at: int) -> bool:
        """Fill arrays of equal length with the bytes from `at` on; whether there are so many.

        Not memoryviews: thousands of them would make Python collect its garbage, which takes longer than the reading.
        """
        size = lines[0].nbytes
        if at + len(lines) * size > self.size:
            return False
        for first in range(0, len(lines), MOST):
            some, begin = lines[first : first + MOST], at + first * size
            if os.preadv(self.descriptor, some, self.begin + begin) < len(some) * size and any(
                self.fill(memoryview(line), begin + k * size) < size for k, line in enumerate(some)
            ):
                return False
        return True


def checksums(parts: Sequence[Part], threads: int | None = None) -> list[int]:
    """The CRC-32 of all bytes of each part, as if zeros stood where the file ends too early. `threads`: at most."""
    wanted = [(part, begin) for part in parts for begin in range(0, part.size, pieces.SLAB)]
    found = iter(pieces.by_threads(_checksum, wanted, sum(part.size for part in parts), threads))
    return [reduce(_joined, (next(found) for _ in range(0, part.size, pieces.SLAB)), 0) for part in parts]


def _checksum(piece: tuple[Part, int]) -> tuple[int, int]:
    """Of a part's piece: its checksum, and its size."""
    part, begin = piece
    content = bytearray(min(pieces.SLAB, part.size - begin))
    part.fill(memoryview(content), begin)
    return zlib.crc32(content), len(content)


@dataclass(frozen=True)
class Stretch:
    """An array that lies in a part in one piece: the place of its first byte, its type, and its name in errors.

    `bfloat16`: whether these are the bits of bfloat16, as 16-bit integers. `axes`: its axes in the order in which they
    lie there, the fastest last; None for the order of the array itself.
    """

    part: Part
    begin: int
    dtype: np.dtype
    name: str
    bfloat16: bool = False
    axes: tuple[int, ...] | None = None


# --- checksums of pieces, joined -------------------------------------------------------------------------------------

# CRC-32 is linear: that of two pieces is that of the first, as if zeros of the second's length followed, plus (by
# exclusive or) that of the second. What zeros do is a matrix of bits, kept as its 32 columns.
Matrix = tuple[int, ...]


def _joined(checksum: int, piece: tuple[int, int]) -> int:
    """The checksum when a piece follows, of which the checksum and the size are known."""
    of_piece, size = piece
    for power in range(size.bit_length()):
        if checksum and size >> power & 1:
            checksum = _times(_zeros(power), checksum)
    return checksum ^ of_piece


@cache
def _zeros(power: int) -> Matrix:
    """What 2**power bytes of zeros do to a checksum: twice what half as many do; power -3 is one bit."""
    if power == -3:
        return (POLYNOMIAL, *(1 << k for k in range(31)))
    half = _zeros(power - 1)
    return tuple(_times(half, column) for column in half)


def _times(matrix: Matrix, checksum: int) -> int:
    found = 0
    for k in range(32):
        if checksum >> k & 1:
            found ^= matrix[k]
    return found


# --- groups and datasets ----------------------------------------------------------------------------------------------


class Group(h5py.Group):
    """A group of a file that was checked: `kept` has all inside, by the names.

    `part`: the bytes that HDF5 reads as the file, where they can be read beside it. `name`: its path.
    """

    # In place of properties, which take a lock or ask HDF5 each time.
    id: Any = None
    name: str = ""  # type: ignore[reportIncompatibleMethodOverride]

    def __init__(self, bind: h5g.GroupID, part: Part | None, name: str):
        super().__init__(bind)
        self.id, self.part, self.name = bind, part, name
        self.kept: dict[str, Group | Dataset] = {}


class Folder(Group):
    """A group that exists in the names of others alone, as `layers` in `layers\\dense`."""

    def __init__(self, root: Group, path: str):
        super().__init__(root.id, root.part, path)


class Dataset(h5py.Dataset):
    """A dataset: its type, its shape and how it is stored. `part`, `name`: as of a group.

    `is_plain`: whether its type has passed the checks.
    """

    is_plain: bool = False
    id: Any = None
    name: str = ""  # type: ignore[reportIncompatibleMethodOverride]

    def __init__(self, bind: h5d.DatasetID, part: Part | None, name: str):
        super().__init__(bind)
        self.id, self.part, self.name = bind, part, name

    dtype = lazy_property(lambda self: self.kind.dtype)  # type: ignore[assignment]
    shape = lazy_property(lambda self: self.id.shape)  # type: ignore[assignment]
    kind = lazy_property(lambda self: self.id.get_type())
    plist = lazy_property(lambda self: self.id.get_create_plist())
    layout = lazy_property(lambda self: self.plist.get_layout())


def part_of(place: h5py.Group | h5py.Dataset) -> Part | None:
    """The bytes that HDF5 reads as a file, where they can be read beside it; None otherwise."""
    if isinstance(place, (Group, Dataset)):
        return place.part
    file = h5i.get_file_id(place.id)
    # HDF5 may keep back what was written to a file, and in memory there is no descriptor.
    if not CAN_READ or file.get_intent() != h5f.ACC_RDONLY or file.get_access_plist().get_driver() != h5fd.SEC2:
        return None
    descriptor = file.get_vfd_handle()
    return Part(descriptor, 0, os.fstat(descriptor).st_size)
