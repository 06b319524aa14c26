"""What is where in an HDF5 file: headers, trees, tables, heaps and arrays; the marks of a damaged address of an array.

HDF5 has no checksum of such an address.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from struct import Struct
from typing import NamedTuple

import h5py
from h5py import h5d, h5i, h5o

from torchkeras.saving.containers.parts import Dataset, part_of

LAYOUT, ATTRIBUTE, MORE, TABLE = 0x08, 0x0C, 0x10, 0x11  # kinds of messages in a header
PREFIX, SHARED = 16, 2  # bytes of a header before its messages; a message's flag for "it is elsewhere"
PIECES, LISTS = 2, 9  # a layout; a class of types, of which texts of any length are
NOWHERE = (1 << 64) - 1
START, MESSAGE, PAIR, WORD, LONG = map(Struct, ("<8xL4x", "<HHB3x", "<QQ", "<H", "<Q"))
NODE, HEAP, LIST, ITEM = map(Struct, ("<4sxBH16x", "<4s4xQ8xQ", "<4s4xQ", "<H6xQ"))
SIZES, IN_LIST = Struct("<BBHHH"), Struct("<4xQ4x")  # of an attribute; where one of its texts is
ENTRY = 40  # bytes of a name in a table
SEARCHED = 1 << 16  # bytes that are read, compared with 0, or searched, at once
# Bytes that are kept: an object's blocks are mostly together, and those of a small file are read once.
WINDOW, FIRST_WINDOW = 1 << 12, 1 << 18
NAMES, TEXTS = "the names of ", "the texts of "


class Block(NamedTuple):
    """Where bytes begin and end, and what they are of an object: "" for a header, or words before its name."""

    begin: int
    end: int
    what: str = ""


class Blocks:
    """The blocks of one file of `size` bytes. `read(begin, size)` gives them, counted from where HDF5 begins.

    `first`: how many bytes the first block has. `tell_all`: whether the blocks that were found are all that there are.
    """

    def __init__(self, read: Callable[[int, int], bytes], size: int):
        self._bytes, self._left, self._seen = read, size, set[int]()
        begins = range(0, min(size, FIRST_WINDOW), SEARCHED)
        self._window, self._begin = b"".join(read(begin, SEARCHED) for begin in begins), 0  # what was read last
        start = self._read(0, 32)
        version = start[8]
        self.first, self.tell_all = {0: 96, 1: 100}.get(version, 48), version < 2
        self._has_long_addresses = (start[13:15] if version < 2 else start[9:11]) == b"\x08\x08"
        # What half a table of names, half a tree of names, and half a tree of pieces have room for. A later first block
        # does not say it.
        table, names, pieces = (WORD.unpack_from(start, place)[0] for place in (16, 18, 24))
        sizes = {0: (table, names, 32), 1: (table, names, pieces)}
        self._table, self._names, self._pieces = sizes.get(version, (4, 16, 32))

    def of(self, at: int, size: int) -> list[Block]:
        """The blocks of the object whose header begins `at`; it has `size` bytes if it is in one piece, else 0.

        Raises ValueError for a tree or a heap that HDF5 could not read, or at which it would not come to an end.
        """
        content = self._once(at, size or PREFIX)
        if content[0] != 1 or not self._has_long_addresses:
            self.tell_all = False
            return [Block(at, at + max(size, 1))]
        size = size or PREFIX + START.unpack(content)[0]
        found = [Block(at, at + size)]
        if len(content) < size:
            content = self._read(at, size)
        pending = [content[PREFIX:]]
        while pending:
            content, place = pending.pop(), 0
            while place + MESSAGE.size <= len(content):
                kind, length, flags = MESSAGE.unpack_from(content, place)
                place += MESSAGE.size + length
                if kind == MORE:
                    begin, size = PAIR.unpack_from(content, place - length)
                    found.append(Block(begin, begin + size))
                    pending.append(self._once(begin, size))
                elif kind in FOLLOWED and not flags & SHARED:
                    found += FOLLOWED[kind](self, content[place - length : place])
        return found

    def of_names(self, message: bytes) -> list[Block]:
        """The heap of a group's names, and the tree that has them."""
        tree, heap = PAIR.unpack_from(message)
        kind, size, begin = HEAP.unpack(self._once(heap, HEAP.size))
        _require(kind == b"HEAP", "a heap", heap)
        of_heap = [Block(heap, heap + HEAP.size, NAMES), Block(begin, begin + size, NAMES)]
        return of_heap + self._of_tree(tree, LONG.size, self._names, LONG.size + 2 * self._table * ENTRY)

    def of_pieces(self, message: bytes) -> list[Block]:
        """The tree of an array's pieces."""
        version, kind, axes = message[:3]
        if version != 3 or kind != PIECES:
            return []
        (tree,) = LONG.unpack_from(message, 3)
        return [] if tree == NOWHERE else self._of_tree(tree, LONG.size * (1 + axes), self._pieces, 0)

    def _of_tree(self, at: int, key: int, half: int, leaf: int) -> list[Block]:
        """The nodes of a tree, and what the lowest ones lead to, unless it is a piece: `leaf` is 0, not its bytes."""
        found: list[Block] = []
        pending, step = [(at, 256)], key + LONG.size
        size = NODE.size + 2 * half * step + key
        while pending:
            at, above = pending.pop()
            content = self._once(at, size)
            kind, level, used = NODE.unpack_from(content)
            _require(kind == b"TREE" and level < above and used <= 2 * half, "a tree", at)
            found.append(Block(at, at + size, NAMES if leaf else ""))
            first = NODE.size + key
            below = [LONG.unpack_from(content, place)[0] for place in range(first, first + used * step, step)]
            if level:
                pending += [(place, level) for place in below]
            elif leaf:
                found += [Block(place, place + leaf, NAMES) for place in below]
        return found

    def of_attribute(self, message: bytes) -> list[Block]:
        """The heaps that hold the texts of an attribute, if these are of any length."""
        version, flags, *sizes = SIZES.unpack_from(message)
        if version == 1:
            sizes = [-(-size // 8) * 8 for size in sizes]
        elif flags:
            return []  # its type is elsewhere
        kind = SIZES.size + (version == 3) + sizes[0]
        if message[kind] & 15 != LISTS:
            return []
        found: list[Block] = []
        texts = message[kind + sizes[1] + sizes[2] :]
        for (heap,) in IN_LIST.iter_unpack(texts[: len(texts) // IN_LIST.size * IN_LIST.size]):
            if heap and heap not in self._seen:
                found.append(Block(heap, heap + self._size_of_list(heap), TEXTS))
        return found

    def _size_of_list(self, at: int) -> int:
        """The bytes of a heap of texts. HDF5 stays at a text of no number and no length, and never ends."""
        kind, size = LIST.unpack(self._once(at, LIST.size))
        self._left -= size  # two do not overlap, so together they are not longer than the file
        _require(kind == b"GCOL" and self._left >= 0, "a heap of texts", at)
        content, place = self._read(at, size), LIST.size
        while place + LIST.size <= size:
            number, length = ITEM.unpack_from(content, place)
            length = LIST.size + -(-length // 8) * 8 if number else length
            _require(LIST.size <= length <= size - place, "a heap of texts", at)
            place += length
        return size

    def _read(self, at: int, size: int) -> bytes:
        if not self._begin <= at <= self._begin + len(self._window) - size:
            self._window, self._begin = self._bytes(at, max(size, WINDOW)), at
            _require(size <= len(self._window), f"{size} bytes", at)
        return self._window[at - self._begin : at - self._begin + size]

    def _once(self, at: int, size: int) -> bytes:
        """Bytes at which a block begins. No two begin at one place, so the search comes to an end."""
        _require(at not in self._seen, "a block of its own", at)
        self._seen.add(at)
        return self._read(at, size)


FOLLOWED = {TABLE: Blocks.of_names, LAYOUT: Blocks.of_pieces, ATTRIBUTE: Blocks.of_attribute}


def _require(holds: bool, what: str, at: int) -> None:
    if not holds:
        raise ValueError(f"byte {at} does not begin {what}")


# --- arrays -----------------------------------------------------------------------------------------------------------


ALIGNED = 4  # bytes: arrays of longer numbers begin at multiples of it, too
DELETED = re.compile(rb"\x01\x00[^\x00]\x00\x01\x00{3}")  # how the header of something deleted begins, in 8 bytes


class Extent(NamedTuple):
    """Where bytes begin and end, whose they are, and where the header of this is.

    `item`: bytes of one number of an array, 1 for a piece of one; 0: no array.
    """

    begin: int
    end: int
    name: str
    header: int
    item: int = 0

    @property
    def size(self) -> int:
        return self.end - self.begin


class Gap(NamedTuple):
    """Bytes that belong to nothing, what is before and after them, and how many of the first and last ones are 0."""

    begin: int
    end: int
    before: Extent
    after: Extent
    first_zeros: int
    last_zeros: int

    @property
    def size(self) -> int:
        return self.end - self.begin

    @property
    def used(self) -> int:
        return max(0, self.size - self.first_zeros - self.last_zeros)

    @property
    def is_between_arrays(self) -> bool:
        return self.before.item > 0 and self.after.item > 0


def file_size(place: h5py.Group | h5py.Dataset) -> int:
    """The bytes of the file that is open. Another one may have its name by now."""
    part = part_of(place)
    return h5i.get_file_id(place.id).get_filesize() if part is None else part.size


def bytes_at(place: h5py.Group | h5py.Dataset, begin: int, size: int) -> bytes:
    """Bytes of the file that is open; fewer where it ends."""
    part = part_of(place)
    if part is not None:
        found = bytearray(min(size, part.size))
        return bytes(found[: part.fill(memoryview(found), begin)])
    with open(place.file.filename, "rb") as raw:  # Windows, where no other file takes the name of an open one
        raw.seek(begin)
        return raw.read(size)


class Account:
    """What is where in a file: its root, and what `add` takes. When this is all, `overlap` and `doubts` judge."""

    def __init__(self, file: h5py.Group):
        self._file, self._size = file, file_size(file)
        self._base = file.file.userblock_size  # HDF5 counts headers from there, and arrays from the file's beginning
        self._blocks = Blocks(lambda begin, size: bytes_at(file, self._base + begin, size), self._size)
        self._taken = [Extent(0, self._base + self._blocks.first, "the file's first block", 0)]
        self._headers = set[int]()
        self._begins: dict[int, int] = {}  # of arrays, by their headers; the end of the file where nothing is stored
        self._has_pieces = False
        self.add(file)

    def add(self, found: h5py.Group | Dataset) -> bool:
        """Add a group or dataset; False if it is there already. Raises ValueError for damaged blocks."""
        info, name = h5o.get_info(found.id), str(found.name)
        header = self._base + info.addr
        if header in self._headers:
            return False
        self._headers.add(header)
        for begin, end, what in self._blocks.of(info.addr, info.hdr.space.total if info.hdr.nchunks == 1 else 0):
            self._taken.append(Extent(self._base + begin, self._base + end, what + name, header))
        if isinstance(found, Dataset):
            self._add_array(found, name, header)
        return True

    def _add_array(self, found: Dataset, name: str, header: int) -> None:
        if found.layout == h5d.CHUNKED:
            self._has_pieces = True
            pieces = [found.id.get_chunk_info(index) for index in range(found.id.get_num_chunks())]
            places = [(piece.byte_offset, piece.size, 1) for piece in pieces]
        else:
            places = [(found.id.get_offset(), found.id.get_storage_size(), found.kind.get_size())]
        stored = [Extent(begin, begin + size, name, header, item) for begin, size, item in places if begin and size]
        self._taken += stored
        self._begins[header] = min((each.begin for each in stored), default=self._size)

    def overlap(self) -> str | None:
        """The error of the first two, in order of places, that overlap; None if none do."""
        self._taken.sort()
        for before, after in pairwise(self._taken):
            if after.begin < before.end:
                return f"{before.name} and {after.name} overlap"
        return None

    def doubts(self) -> Iterator[str]:
        """What looks like a damaged address, after `overlap`. Only for files in the form of Keras's.

        - An array that begins at no multiple of its numbers' size, with a gap before it, in a file whose headers all
          begin at such a multiple: HDF5 goes on where the file ended, which may be after an odd number of bytes.
        - One gap is a hole: it is between arrays, or is not all 0. The array after it has an end that is 0, over
          as many bytes: it seems to belong where the hole begins. The same with an array before it, and its beginning.
        - An array is all 0, beside a gap, and there is one hole, elsewhere, with room for it.

        One damaged address leaves one hole. Several are what somebody left who edited the file.
        """
        if not self._blocks.tell_all or self._has_pieces:
            return
        gaps = [*self._gaps()]
        yield from self._not_aligned(gaps)
        holes = [gap for gap in gaps if gap.first_zeros < gap.size] or [gap for gap in gaps if gap.is_between_arrays]
        if len(holes) == 1 and not self._has_header(holes[0]):
            yield from self._misplaced(holes[0], gaps)

    def _not_aligned(self, gaps: list[Gap]) -> Iterator[str]:
        """The doubts about arrays after a gap that begin at no multiple of their numbers' size."""
        places = {(header - self._base) % ALIGNED for header in self._headers}
        for _, begin, before, after, *_ in gaps:
            begins_at = (begin - self._base) % ALIGNED
            if after.item and begins_at % min(after.item, ALIGNED) and begins_at not in places:
                yield f"{after.name} is at byte {begin}, apart from what is before it, which ends at byte {before.end}"

    def _misplaced(self, hole: Gap, gaps: list[Gap]) -> Iterator[str]:
        """The doubts about arrays that seem to belong into the only hole: those around it, or else those all 0."""
        before, after = hole.before, hole.after
        if after.item and self._has_moved(hole, after, before, hole.first_zeros, -1):
            yield f"{hole.size} bytes before {after.name} belong to nothing, and it ends with as many that are 0"
        elif before.item and self._has_moved(hole, before, after, hole.last_zeros, 1):
            yield f"{hole.size} bytes after {before.name} belong to nothing, and it begins with as many that are 0"
        else:
            for found in dict.fromkeys(each for gap in gaps for each in (gap.before, gap.after) if each.item):
                if self._has_room(hole, found) and not self._follows(found):
                    yield f"{found.name} is all 0, and {hole.size} bytes at byte {hole.begin} belong to nothing"

    def _gaps(self) -> Iterator[Gap]:
        for before, after in pairwise([*self._taken, Extent(self._size, self._size, "", 0)]):
            if before.end < after.begin:
                space = Extent(before.end, after.begin, "", 0)
                yield Gap(space.begin, space.end, before, after, self._zeros(space, 1), self._zeros(space, -1))

    def _zeros(self, found: Extent, step: int) -> int:
        """How many of the first (`step` 1) or last (-1) bytes are 0. It reads no further than to another one."""
        for done in range(0, found.size, SEARCHED):
            size = min(SEARCHED, found.size - done)
            content = bytes_at(self._file, found.begin + done if step > 0 else found.end - done - size, size)
            left = len(content.lstrip(b"\0") if step > 0 else content.rstrip(b"\0"))
            if left:
                return done + size - left
        return found.size

    def _has_moved(self, hole: Gap, found: Extent, other: Extent, zeros: int, step: int) -> bool:
        """Whether an array beside a hole seems to belong where the hole begins, at `other`.

        `zeros`: bytes there that are 0; `step`: the side of the array, as in `_zeros`, that would be beyond its place.
        """
        moved, empty = hole.size if other.item else hole.size - zeros, self._zeros(found, step)
        if moved == 0 or empty < min(moved, found.size):
            return False
        differs = empty < found.size or zeros < min(hole.size, found.size)
        is_own = empty < found.size or hole.used <= found.size < hole.size
        return differs and not self._is_of_another(hole, found, is_placed=not is_own)

    def _has_room(self, hole: Gap, found: Extent) -> bool:
        """Whether an array that is all 0 may belong into a hole elsewhere: one of its size, if it is between arrays."""
        fits = hole.size == found.size if hole.is_between_arrays else hole.used <= found.size <= hole.size
        if not hole.used or not fits or self._zeros(found, 1) < found.size:
            return False
        low, high = self._headers_around(hole)
        return low < found.header < high or not self._is_of_another(hole, found)

    def _follows(self, found: Extent) -> bool:
        """Whether an array is in its place: right after the one whose header is the last before its own."""
        before = max((header for header in self._begins if header < found.header), default=0)
        return any(each.header == before and each.end == found.begin and each.item for each in self._taken)

    def _has_header(self, hole: Gap) -> bool:
        """Whether the header of something deleted is in a hole."""
        begins = range(hole.begin, hole.end, SEARCHED)
        pieces = (bytes_at(self._file, begin, min(SEARCHED + 8, hole.end - begin)) for begin in begins)
        return any(DELETED.search(piece) for piece in pieces)

    def _is_of_another(self, hole: Gap, found: Extent, is_placed: bool = False) -> bool:
        """Whether a hole is rather what an array left that was written again, or what was before it.

        This is before the hole, in half precision, and `found` is not; or it is elsewhere, after its successor, though
        its header is between those of the arrays around the hole. `is_placed`: `found` may be this successor.
        """
        if 0 < hole.before.item < min(found.item, ALIGNED):
            return True
        low, high = self._headers_around(hole)
        others = sorted(item for item in self._begins.items() if is_placed or item[0] != found.header)
        return any(low < header < high and after < begin for (header, begin), (_, after) in pairwise(others))

    def _headers_around(self, hole: Gap) -> tuple[int, int]:
        arrays = [each for each in self._taken if each.item]
        before = next((each.header for each in reversed(arrays) if each.begin < hole.begin), 0)
        return before, next((each.header for each in arrays if each.begin > hole.begin), self._size)
