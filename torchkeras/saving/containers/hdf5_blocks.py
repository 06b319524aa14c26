"""Where an HDF5 file has what is no array: headers, and the trees, tables and heaps that they lead to.

This is read without HDF5, in the form of Keras's files: headers of version 1. Those of version 2 have checksums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

LAYOUT, ATTRIBUTE, MORE, TABLE = 0x08, 0x0C, 0x10, 0x11  # kinds of messages in a header
PREFIX, SHARED = 16, 2  # bytes of a header before its messages; a message's flag for "it is elsewhere"
PIECES, LISTS = 2, 9  # a layout; a class of types, of which texts of any length are
NOWHERE = (1 << 64) - 1
START, MESSAGE, PAIR, WORD, LONG = map(Struct, ("<8xL4x", "<HHB3x", "<QQ", "<H", "<Q"))
NODE, HEAP, LIST, ITEM = map(Struct, ("<4sxBH16x", "<4s4xQ8xQ", "<4s4xQ", "<H6xQ"))
SIZES, IN_LIST = Struct("<BBHHH"), Struct("<4xQ4x")  # of an attribute; where one of its texts is
ENTRY = 40  # bytes of a name in a table
WINDOW = 1 << 12  # bytes that are read at once: an object's blocks are mostly together
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
        self._window, self._begin = b"", 0  # what was read last, and where it begins
        start = self._read(0, 32)
        version = start[8]
        self.first, self.tell_all = {0: 96, 1: 100}.get(version, 48), version < 2
        self._has_long_addresses = (start[13:15] if version < 2 else start[9:11]) == b"\x08\x08"
        # What half a table of names, half a tree of names, and half a tree of pieces have room for. A later first block
        # does not say it.
        table, names, pieces = (WORD.unpack_from(start, place)[0] for place in (16, 18, 24))
        sizes = {0: (table, names, 32), 1: (table, names, pieces)}
        self._table, self._names, self._pieces = sizes.get(version, (4, 16, 32))

    def of(self, at: int, size: int) -> Iterator[Block]:
        """The blocks of the object whose header begins `at`; it has `size` bytes if it is in one piece, else 0.

        Raises ValueError for a tree or a heap that HDF5 could not read, or at which it would not come to an end.
        """
        content = self._once(at, size or PREFIX)
        if content[0] != 1 or not self._has_long_addresses:
            self.tell_all = False
            yield Block(at, at + max(size, 1))
            return
        size = size or PREFIX + START.unpack(content)[0]
        yield Block(at, at + size)
        if len(content) < size:
            content = self._read(at, size)
        pending = [content[PREFIX:]]
        while pending:
            content = pending.pop()
            for kind, flags, first, last in _messages(content):
                if kind == MORE:
                    begin, size = PAIR.unpack_from(content, first)
                    yield Block(begin, begin + size)
                    pending.append(self._once(begin, size))
                elif kind in FOLLOWED and not flags & SHARED:
                    yield from FOLLOWED[kind](self, content[first:last])

    def of_names(self, message: bytes) -> Iterator[Block]:
        tree, heap = PAIR.unpack_from(message)
        kind, size, begin = HEAP.unpack(self._once(heap, HEAP.size))
        _require(kind == b"HEAP", "a heap", heap)
        yield Block(heap, heap + HEAP.size, NAMES)
        yield Block(begin, begin + size, NAMES)
        yield from self._of_tree(tree, LONG.size, self._names, LONG.size + 2 * self._table * ENTRY)

    def of_pieces(self, message: bytes) -> Iterator[Block]:
        version, kind, axes = message[:3]
        if version == 3 and kind == PIECES:
            (tree,) = LONG.unpack_from(message, 3)
            if tree != NOWHERE:
                yield from self._of_tree(tree, LONG.size * (1 + axes), self._pieces, 0)

    def _of_tree(self, at: int, key: int, half: int, leaf: int) -> Iterator[Block]:
        """The nodes of a tree, and what the lowest ones lead to, unless it is a piece: `leaf` is 0, not its bytes."""
        pending, step = [(at, 256)], key + LONG.size
        size = NODE.size + 2 * half * step + key
        while pending:
            at, above = pending.pop()
            content = self._once(at, size)
            kind, level, used = NODE.unpack_from(content)
            _require(kind == b"TREE" and level < above and used <= 2 * half, "a tree", at)
            yield Block(at, at + size, NAMES if leaf else "")
            first = NODE.size + key
            below = [LONG.unpack_from(content, place)[0] for place in range(first, first + used * step, step)]
            if level:
                pending += [(place, level) for place in below]
            elif leaf:
                yield from (Block(place, place + leaf, NAMES) for place in below)

    def of_attribute(self, message: bytes) -> Iterator[Block]:
        """The heaps that hold the texts of an attribute, if these are of any length."""
        version, flags, *sizes = SIZES.unpack_from(message)
        if version == 1:
            sizes = [-(-size // 8) * 8 for size in sizes]
        elif flags:
            return  # its type is elsewhere
        kind = SIZES.size + (version == 3) + sizes[0]
        if message[kind] & 15 != LISTS:
            return
        texts = message[kind + sizes[1] + sizes[2] :]
        for (heap,) in IN_LIST.iter_unpack(texts[: len(texts) // IN_LIST.size * IN_LIST.size]):
            if heap and heap not in self._seen:
                yield Block(heap, heap + self._size_of_list(heap), TEXTS)

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
        return self._window[at - self._begin :][:size]

    def _once(self, at: int, size: int) -> bytes:
        """Bytes at which a block begins. No two begin at one place, so the search comes to an end."""
        _require(at not in self._seen, "a block of its own", at)
        self._seen.add(at)
        return self._read(at, size)


def _messages(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(kind, flags, begin, end) of what each message in a piece of an object's header holds."""
    place = 0
    while place + MESSAGE.size <= len(content):
        kind, length, flags = MESSAGE.unpack_from(content, place)
        place += MESSAGE.size + length
        yield kind, flags, place - length, place


FOLLOWED = {TABLE: Blocks.of_names, LAYOUT: Blocks.of_pieces, ATTRIBUTE: Blocks.of_attribute}


def _require(holds: bool, what: str, at: int) -> None:
    if not holds:
        raise ValueError(f"byte {at} does not begin {what}")
