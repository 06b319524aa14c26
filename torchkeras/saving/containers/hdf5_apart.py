"""Where the arrays of an HDF5 file are: the marks of a damaged address, of which HDF5 has no checksum.

Such an address would give other numbers without an error. Overlaps are errors. The other marks may be those of a file
that somebody edited: an array that was deleted and written again is away from the others, too. They are doubts.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import h5py
from h5py import h5d, h5i, h5o

from torchkeras.saving.containers.hdf5_kept import Dataset, part_of

FIRST_BLOCK = 48  # bytes of the shortest superblock
SMALL_BLOCK = 2048  # bytes that HDF5 allocates at once for small arrays; unused ones stay 0
# What HDF5 writes beside headers and arrays, by their first bytes: trees and tables of groups, trees of pieces, heaps.
SIGNATURES = re.compile(rb"TREE[\x00\x01][\x00-\x09]|SNOD\x01\x00|HEAP\x00{4}|GCOL\x01\x00{3}")
TREE, TREE_OF_PIECES, TABLE, HEAP = 544, 2096, 328, 32  # their least bytes, in files as Keras makes them
BEFORE, INSIDE = 1 << 20, 1 << 13  # bytes before an array, and of it, that are searched for them
PIECE = 1 << 16  # bytes of an array that are compared with 0 at once


class Extent(NamedTuple):
    """Where bytes begin and end, whose they are, and whether they are an array's and not a header's.

    `header`: where the header is.
    """

    begin: int
    end: int
    name: str
    is_array: bool
    header: int


def file_size(place: h5py.Group | h5py.Dataset) -> int:
    """The bytes of the file that is open. Another one may have its name by now."""
    part = part_of(place)
    return h5i.get_file_id(place.id).get_filesize() if part is None else part.size


def bytes_at(place: h5py.Group | h5py.Dataset, begin: int, size: int) -> bytes:
    """Bytes of the file that is open."""
    part = part_of(place)
    if part is not None:
        found = bytearray(size)
        return bytes(found[: part.fill(memoryview(found), begin)])
    with open(place.file.filename, "rb") as raw:  # Windows, where no other file takes the name of an open one
        raw.seek(begin)
        return raw.read(size)


def first_block(base: int) -> Extent:
    """The bytes up to the end of the file's first block. `base`: where HDF5 begins in the file."""
    return Extent(0, base + FIRST_BLOCK, "the file's first block", False, 0)


def extents(found: h5py.Group | Dataset, base: int) -> list[Extent]:
    """Where the header of a group or dataset is, as far as HDF5 says, and the bytes of a dataset.

    HDF5 counts headers from its `base` on, and arrays from the file's beginning.
    """
    told, name = h5o.get_info(found.id), str(found.name)
    at, size = base + told.addr, told.hdr.space.total if told.hdr.nchunks == 1 else 1
    taken = [Extent(at, at + size, name, False, at)]
    if not isinstance(found, Dataset):
        return taken
    if found.plist.get_layout() == h5d.CHUNKED:
        pieces = [found.id.get_chunk_info(index) for index in range(found.id.get_num_chunks())]
        places = [(piece.byte_offset, piece.size) for piece in pieces if piece.byte_offset is not None]
    else:
        offset = found.id.get_offset()
        places = [] if offset is None else [(offset, found.id.get_storage_size())]
    return taken + [Extent(offset, offset + size, name, True, at) for offset, size in places if size]


def overlap(taken: list[Extent]) -> str | None:
    """The error of the first array, in order of places, that overlaps another one or a header; None if none does."""
    for before, after in pairwise(taken):
        if after.begin < before.end:
            return f"{before.name} and {after.name} overlap"
    return None


def doubts(file: h5py.Group, taken: list[Extent], base: int) -> Iterator[str]:
    """What looks like a damaged address, in order of places.

    - An array is where a tree, a table or a heap of HDF5 is.
    - An array is all 0. So is the space between it and the array before, except for exactly its size right after that
      array, where its own numbers seem to be.
    - An array is all 0 and away from the others, and these have a gap of exactly its size, followed by an array that
      was made later. HDF5 puts one after the other.
    """
    gaps: dict[int, int] = {}  # by their sizes, where the header of the last array after such a gap is
    for before, after in pairwise(taken):
        if before.is_array and after.is_array and before.end < after.begin:
            size = after.begin - before.end
            gaps[size] = max(gaps.get(size, 0), after.header)
    for before, found, after in zip(taken, taken[1:], [*taken[2:], None], strict=False):
        if not found.is_array or before.end == found.begin:
            continue
        size, alone = found.end - found.begin, after is None or found.end < after.begin
        if _is_elsewhere(file, before, found, base):
            yield f"{found.name} is where another part of the file is"
        elif before.is_array and _stands_behind_its_numbers(file, before, found):
            yield (
                f"{found.name} is all 0, and {found.begin - before.end} bytes before it are numbers of its size that "
                "belong to nothing"
            )
        elif alone and found.header < gaps.get(size, 0) and _is_all_0(file, found):
            yield f"{found.name} is away from the gap that it would fill"


def _is_all_0(file: h5py.Group, found: Extent) -> bool:
    """Whether an array is all 0. It is read up to the piece in which something else is."""
    pieces = ((at, min(PIECE, found.end - at)) for at in range(found.begin, found.end, PIECE))
    return not any(bytes_at(file, at, size).strip(b"\0") for at, size in pieces)


def _stands_behind_its_numbers(file: h5py.Group, before: Extent, found: Extent) -> bool:
    size, gap = found.end - found.begin, found.begin - before.end
    if not 2 * size <= gap < SMALL_BLOCK:
        return False
    content = bytes_at(file, before.end, gap + size)
    return any(content[:size]) and not any(content[size:])


def _is_elsewhere(file: h5py.Group, before: Extent, found: Extent, base: int) -> bool:
    """Whether an array is where a tree, a table or a heap is: one that begins in it, or in the space before it."""
    begin = max(before.end, found.begin - BEFORE)
    content = bytes_at(file, begin, min(found.end, found.begin + INSIDE) - begin)
    blocks = (
        (begin + match.start(), begin + match.start() + _length(content[match.start() :], begin + match.start() - base))
        for match in SIGNATURES.finditer(content)
    )
    return any(start < found.end and found.begin < end for start, end in blocks)


def _length(block: bytes, at: int) -> int:
    """The bytes of a block that begins `at` this place, by HDF5's count."""
    kind, told = block[:4], int.from_bytes(block[8:16], "little")
    if kind == b"HEAP":  # its names follow it, or are elsewhere
        return HEAP + told * (int.from_bytes(block[24:32], "little") == at + HEAP)
    if kind == b"GCOL":
        return told
    return TABLE if kind == b"SNOD" else (TREE_OF_PIECES if block[4] else TREE)
