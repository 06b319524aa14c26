"""What a model file may hold, checked before it is read: hard links, plain arrays, known filters.

Keras writes nothing else. Links can lead to other files, external storage and virtual datasets read other files, and a
filter is a library that HDF5 loads from the machine.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import re
import struct
import warnings
import zlib
from itertools import count
from math import prod
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5t, h5z

from torchkeras.base.python import leave_room
from torchkeras.errors import FileLimitError, ForbiddenContentError, ModelFileError, UnreadableFileError
from torchkeras.saving.containers import hdf5_extents
from torchkeras.saving.containers.hdf5_extents import bytes_at, file_size
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.containers.parts import Dataset, Group, part_of

LINKS = {h5l.TYPE_SOFT: "a soft link", h5l.TYPE_EXTERNAL: "a link to another file"}
FILTERS = {h5z.FILTER_DEFLATE: "gzip", h5z.FILTER_SHUFFLE: "shuffle", h5z.FILTER_FLETCHER32: "fletcher32", 32000: "lzf"}
NUMBERS = (h5t.INTEGER, h5t.FLOAT, h5t.ENUM)  # h5py stores bool as an enumeration
# HDF5 allows any layout of bits for numbers. Only NumPy's are read, and a damaged layout is none of these.
KINDS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
NUMPY = [h5t.py_create(np.dtype(f"{order}{kind}")) for order in "<>" for kind in KINDS]
NUMPY.append(h5t.py_create(np.dtype(bool), logical=True))
TYPES = {
    h5t.BITFIELD: "bit fields",
    h5t.COMPOUND: "compounds",
    h5t.OPAQUE: "opaque bytes",
    h5t.REFERENCE: "references",
    h5t.VLEN: "lists of any length",
    h5t.ARRAY: "arrays",
}
# The errors for damaged files, of h5py and of hdf5_blocks.
DAMAGE = (OSError, RuntimeError, LookupError, ValueError, TypeError, OverflowError, struct.error)
NO_MEMORY = re.compile("memory allocation failed|(can't|unable to) allocate").search  # in HDF5's messages
FILTER_FAILED = "filter returned failure"  # all that HDF5 tells, of damage and of a lack of memory
UNPACKED = 4  # times the bytes of a chunk: a buffer that doubles while it is filled, and its copy
SIGNATURE = b"\x89HDF\r\n\x1a\n"
BFLOAT16 = "bfloat16"  # HDF5 does not have it: Keras 3 writes opaque bytes and an attribute


def tells_of_memory(error: BaseException) -> bool:
    """Whether an error says that there is not enough memory."""
    return isinstance(error, MemoryError) or NO_MEMORY(str(error)) is not None


def check_memory(where: Any, error: BaseException) -> None:
    """Raise FileLimitError for an error that says that a file asks for more memory than there is."""
    if FILTER_FAILED in str(error) and isinstance(where, Place):
        error = where.lack_of_memory() or error
    if tells_of_memory(error):
        raise FileLimitError(f"{where}: more memory is asked for than there is.") from error


class readable:  # noqa: N801  # used as a function: `with readable(place):`
    """The one place where errors of h5py for a damaged file become UnreadableFileError.

    A class, since it is entered some twenty times for each array: `contextmanager` takes four times as long.
    """

    __slots__ = ("_where",)

    def __init__(self, where: Place | str):
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ModelFileError) or not isinstance(error, (MemoryError, *DAMAGE)):
            return
        check_memory(self._where, error)
        raise UnreadableFileError(f"{self._where} cannot be read ({error}).") from error


class Place:
    """Of a group or dataset, or of what is called `name` in a group. As text, which only errors need: `file: /path`."""

    __slots__ = ("_found", "_name")

    def __init__(self, found: Any, name: str = ""):
        self._found, self._name = found, name

    def __str__(self) -> str:
        found, name = self._found, self._name
        path = f"{(found.name or '').rstrip('/')}/{name}" if name else found.name
        return f"{filename(found)}: {_short(path)}"

    def lack_of_memory(self) -> MemoryError | None:
        """The error if there is no memory to unpack a chunk of this dataset."""
        if isinstance(self._found, h5py.Dataset) and self._found.chunks:
            try:
                np.empty((UNPACKED, *self._found.chunks), self._found.dtype)
            except MemoryError as error:
                return error
        return None


class AttributePlace(Place):
    """Of an attribute of a group or dataset. As text: `file: attribute 'name' of /path`."""

    def __str__(self) -> str:
        found, name = self._found, self._name
        return f"{filename(found)}: attribute {name!r}" + ("" if found.name == "/" else f" of {found.name}")


def _short(text: Any, most: int = 200) -> str:
    found = str(text)
    return found if len(found) <= most else f"{found[:most]}..."


def member(group: h5py.Group, name: str, limits: Limits = LIMITS) -> h5py.Group | Dataset | None:
    """The object at a path inside a group, after a check of every part of the path; None if there is nothing.

    Raises ForbiddenContentError for links and for paths that lead out of the group.
    """
    if isinstance(group, Group) and name in group.kept:
        return group.kept[name]
    where = Place(group, name)
    parts = [part for part in name.split("/") if part]
    if not parts or name.startswith("/") or "." in parts:
        raise ForbiddenContentError(f"{filename(group)}: the name {_short(name)!r} leads out of {group.name}.")
    found: Any = group
    with readable(where):
        for part in parts:
            found = _step(found, part, where, limits) if isinstance(found, h5py.Group) else None
            if found is None:
                return None
    return found


def members(group: h5py.Group) -> dict[str, Any]:
    """The groups and datasets directly inside a group, by their names, in the order of these."""
    if isinstance(group, Group):
        return dict(group.kept)
    return {name: member(group, name) for name, _ in _links_of(group)}


def _links_of(group: h5py.Group) -> list[tuple[str, int]]:
    """The names of the links in a group, in their order, and what kind of link each is."""
    found: list[tuple[bytes, int]] = []
    group.id.links.iterate(lambda name, link: found.append((name, link.type)), info=True)
    return [(name.decode("utf-8"), link) for name, link in found]


def _step(group: h5py.Group, name: str, where: Place, limits: Limits) -> h5py.Group | Dataset | None:
    if isinstance(group, Group):
        return group.kept.get(name)
    links, encoded = group.id.links, name.encode("utf-8")
    return _opened(group, name, links.get_info(encoded).type, where, limits) if links.exists(encoded) else None


def _opened(group: h5py.Group, name: str, link: int, where: Place, limits: Limits) -> h5py.Group | Dataset:
    """The group or dataset inside `group`, after the checks. Groups are of its class. `link`: the kind of its link."""
    encoded = name.encode("utf-8")
    if len(encoded) > limits.name:
        raise FileLimitError(f"{where}: the name has {len(encoded)} bytes; at most {limits.name} are read.")
    if link != h5l.TYPE_HARD:
        what = LINKS.get(link, f"a link of kind {link}")
        raise ForbiddenContentError(f"{where} is {what}; a model file holds what it names itself.")
    found, path = h5o.open(group.id, encoded), f"{(group.name or '').rstrip('/')}/{name}"
    if isinstance(found, h5g.GroupID):
        return Group(found, group.part, path) if isinstance(group, Group) else h5py.Group(found)
    if not isinstance(found, h5d.DatasetID):
        raise ForbiddenContentError(f"{where} is neither a group nor a dataset ({type(found).__name__}).")
    dataset = Dataset(found, part_of(group), path)
    _check_storage(dataset, where)
    return dataset


def _check_storage(dataset: Dataset, where: Place) -> None:
    """Refuse storage that would make HDF5 open other files or load libraries."""
    layout, plist = dataset.layout, dataset.plist
    if layout == h5d.VIRTUAL:
        raise ForbiddenContentError(f"{where} is a virtual dataset, which reads other datasets or files.")
    if layout not in (h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED):
        raise ForbiddenContentError(f"{where} has a layout of an unknown kind ({layout}).")
    if plist.get_external_count():
        raise ForbiddenContentError(f"{where} keeps its bytes in another file.")
    codes = _filters(plist)
    for code in codes:
        if code not in FILTERS:
            known = ", ".join(FILTERS.values())
            raise ForbiddenContentError(f"{where} went through filter {code}; those read are {known}.")
    if len(set(codes)) < len(codes):
        raise ForbiddenContentError(f"{where} went through one filter several times.")


def check_end(file: h5py.Group) -> None:
    """Compare a file's length with its first block: inserted or missing bytes would shift the numbers."""
    start, length = bytes_at(file, 0, 64), file_size(file)
    at = {0: 24, 1: 28, 2: 12, 3: 12}.get(start[8] if len(start) == 64 else -1)
    if start[:8] != SIGNATURE or at is None:
        return  # something precedes it; HDF5 will say whether it can be read
    base, stated = (int.from_bytes(start[place : place + 8], "little") for place in (at, at + 16))
    if base == 0 and stated != length:
        raise UnreadableFileError(f"{filename(file)}: the file has {length} bytes; its first block says {stated}.")


def check_count(file: h5py.File, where: str, limits: Limits = LIMITS) -> None:
    """Raise FileLimitError if a file that was written has more groups and datasets than are read."""
    numbers = count(1)
    if h5o.visit(file.id, lambda name: next(numbers) > limits.members or None):
        raise FileLimitError(f"{where}: more than {limits.members} groups and datasets.")


def check_file(file: h5py.Group, strict: bool = True, limits: Limits = LIMITS) -> None:
    """Walk through the groups of a file and check every link, every dataset's storage, names, depth and number.

    Raises ForbiddenContentError, FileLimitError, UnreadableFileError; `strict`: also for what may be damage.
    """
    with readable(filename(file)):
        members, total, deepest, account = 0, 0, 0, hdf5_extents.Account(file)
    pending = [(file, 0)]
    while pending:
        group, depth = pending.pop()
        with readable(Place(group)):
            members += group.id.get_num_objs()
            if members > limits.members:
                raise FileLimitError(f"{filename(file)}: more than {limits.members} groups and datasets.")
            links = _links_of(group)
        deepest = max(deepest, depth)
        for name, link in links:
            if "/" in name or name in ("", "."):
                raise UnreadableFileError(f"{Place(group)} lists {name!r}, which is no name.")
            where = Place(group, name)
            with readable(where):
                found: Any = _opened(group, name, link, where, limits)
                if not account.add(found):
                    raise ForbiddenContentError(f"{where} is linked several times.")
                if isinstance(found, Dataset):
                    total += stored_size(found, limits)
                else:
                    _check_depth(found, depth, limits)
                    pending.append((found, depth + 1))
            if isinstance(group, Group):
                group.kept[name] = found
            if total > limits.total:
                raise FileLimitError(f"{filename(file)}: the arrays have more than {limits.total} bytes.")
    leave_room(deepest)
    overlapping = account.overlap()
    if overlapping is not None:
        raise UnreadableFileError(f"{filename(file)}: {overlapping}.")
    for text in account.doubts():
        _doubt(f"{filename(file)}: {text}.", strict)


def _doubt(text: str, strict: bool) -> None:
    """What may be damage, or may be an edit: raise UnreadableFileError; if not `strict` warn, and go on."""
    if strict:
        raise UnreadableFileError(f"{text} If the file is known to be whole, strict=False takes it.")
    warnings.warn(f"{text} It is taken, since strict is False.", stacklevel=2)


def _check_depth(group: h5py.Group, above: int, limits: Limits) -> None:
    """Refuse a group with too many groups above it, or too long a path."""
    if above == limits.depth:
        raise FileLimitError(f"{Place(group)}: groups are nested deeper than {limits.depth}.")
    if len(group.name or "") > limits.path:
        raise FileLimitError(f"{Place(group)}: its path has more than {limits.path} letters.")


def stored_size(dataset: Dataset, limits: Limits = LIMITS) -> int:
    """The bytes that a dataset's shape and type need. Raises FileLimitError for too many."""
    size = 0 if dataset.shape is None else prod(dataset.shape) * dataset.kind.get_size()
    if size > limits.array:
        raise FileLimitError(f"{Place(dataset)} has {size} bytes; at most {limits.array} are read.")
    return size


def check_type(dataset: Dataset, limits: Limits = LIMITS) -> None:
    """Refuse element types that are not plain values. Texts of a fixed length are harmless and pass."""
    if dataset.is_plain:
        return
    where = Place(dataset)
    with readable(where):
        if dataset.shape is None:
            raise UnreadableFileError(f"{where} holds no array at all.")
        kind = dataset.kind
        found = kind.get_class()
        is_text = found == h5t.STRING and not kind.is_variable_str()
        dataset.is_plain = is_text or any(map(kind.equal, NUMPY)) or is_bfloat16(dataset)
    if dataset.is_plain:
        return
    if found in NUMBERS:
        raise UnreadableFileError(f"{where} holds numbers in a layout of bits that is none of NumPy's.")
    what = "texts of any length" if found == h5t.STRING else TYPES.get(found, "values of an unknown type")
    raise ForbiddenContentError(f"{where} holds {what}, not numbers.")


def is_bfloat16(dataset: Dataset) -> bool:
    """Whether a dataset holds bfloat16, as Keras 3 writes it."""
    kind = dataset.kind
    if kind.get_class() != h5t.OPAQUE or kind.get_size() != 2 or not h5a.exists(dataset.id, b"dtype"):
        return False
    stated = h5a.open(dataset.id, b"dtype").get_type()
    return isinstance(stated, h5t.TypeStringID) and dataset.attrs["dtype"] in (BFLOAT16, BFLOAT16.encode())


def check_bytes(dataset: Dataset, limits: Limits = LIMITS) -> None:
    """Compare a declared shape with the stored bytes: all are there, and no fill value replaces data."""
    where = Place(dataset)
    with readable(where):
        size, length = stored_size(dataset, limits), file_size(dataset)
        if size == 0:
            return
        if dataset.layout == h5d.CHUNKED:
            _check_chunks(dataset, size, length, limits)
            return
        stored, offset = dataset.id.get_storage_size(), dataset.id.get_offset()
    if stored != size:
        raise UnreadableFileError(f"{where} has shape {dataset.shape}, {size} bytes; {stored} are stored.")
    if offset is not None and offset + size > length:
        raise UnreadableFileError(f"{where} goes {offset + size - length} bytes beyond the end of the file.")


def _check_chunks(dataset: Dataset, size: int, end: int, limits: Limits) -> None:
    """Compare a shape with the pieces that are stored: their number, their places and what they unpack to."""
    where, plist, shape = Place(dataset), dataset.plist, dataset.shape
    chunk = plist.get_chunk()
    chunk_size = prod(chunk) * dataset.kind.get_size()
    expected = prod(-(-length // step) for length, step in zip(shape, chunk, strict=True))
    if chunk_size > max(limits.ratio_from, size) or expected > limits.members:
        raise FileLimitError(f"{where} is cut into {expected} pieces of {chunk_size} bytes.")
    found = dataset.id.get_num_chunks()
    if found != expected:
        raise UnreadableFileError(f"{where} has shape {shape}, in {expected} pieces; {found} are stored.")
    pieces = [dataset.id.get_chunk_info(index) for index in range(found)]
    _check_places(pieces, shape, chunk, end, where)
    stored = sum(piece.size for piece in pieces)
    if size > limits.ratio_from and size > limits.ratio * stored:
        raise FileLimitError(f"{where}: {stored} bytes would become {size}, more than {limits.ratio} times as many.")
    filters = _filters(plist)
    for piece in pieces:
        _check_piece(dataset, piece, filters, chunk_size, where)


def _filters(plist: Any) -> list[int]:
    """The numbers of the filters that pack the pieces of a dataset."""
    return [plist.get_filter(index)[0] for index in range(plist.get_nfilters())]


def _check_places(pieces: list[Any], shape: tuple[int, ...], chunk: tuple[int, ...], end: int, where: Place) -> None:
    """Refuse pieces that overlap in the array, or lie outside of it or of the file, which has `end` bytes."""
    inside = {
        piece.chunk_offset
        for piece in pieces
        if all(
            0 <= at < length and at % step == 0
            for at, length, step in zip(piece.chunk_offset, shape, chunk, strict=True)
        )
    }
    if len(inside) < len(pieces):
        raise UnreadableFileError(f"{where} has pieces that overlap or lie outside of its shape.")
    if any(piece.byte_offset is None or piece.byte_offset + piece.size > end for piece in pieces):
        raise UnreadableFileError(f"{where} has pieces beyond the end of the file.")


def _check_piece(dataset: Dataset, piece: Any, filters: list[int], size: int, where: Place) -> None:
    """Check the size of a piece. HDF5 sets zlib no limit, so the piece is first unpacked here, with a limit."""
    used = [code for index, code in enumerate(filters) if not piece.filter_mask >> index & 1]
    if not used or used == [h5z.FILTER_SHUFFLE]:
        if piece.size != size:
            raise UnreadableFileError(f"{where} has a piece of {piece.size} bytes, which needs {size}.")
        return
    if h5z.FILTER_DEFLATE not in used:
        return
    _, raw = dataset.id.read_direct_chunk(piece.chunk_offset)
    end = len(raw) - 4 * (used[-1] == h5z.FILTER_FLETCHER32)  # whose checksum comes last
    try:
        unpacked = zlib.decompressobj().decompress(raw[:end], size + 8)
    except zlib.error as error:
        raise UnreadableFileError(f"{where} cannot be unpacked ({error}).") from error
    if not size <= len(unpacked) <= size + 4:
        raise UnreadableFileError(f"{where} has a piece that does not unpack to {size} bytes.")
