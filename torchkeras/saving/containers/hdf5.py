"""HDF5 groundwork: files, groups, datasets and attributes, each checked before it is read.

`hdf5_rules` has the checks. All errors about a file's content are those of `errors`.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from threading import local
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5o, h5p, h5t

from torchkeras.base.atomic_file import replacing
from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError
from torchkeras.saving.containers import hdf5_rules as rules, pieces
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.containers.open_file import filename, require_file, shown
from torchkeras.saving.containers.parts import Dataset, Group, Part, Stretch, part_of

ATTRIBUTE_LIMIT = 64512  # bytes; HDF5 keeps an attribute in an object header of 64 kB
AHEAD = 1 << 18  # bytes of a part of a file that are read at once
COLUMNS = 128  # of an array that are copied at once
CAN_WRITE = hasattr(os, "pwrite")  # Windows has none
DESCRIPTORS: dict[int, int] = {}  # of each file that `new_file` has made and that is open, by HDF5's number of it


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """A new HDF5 file that replaces `path` if the block ends without an error, as `atomic_file.replacing` does.

    Raises FileLimitError for more groups and datasets than are read.
    """
    with replacing(path) as part, new_file(part) as file:
        yield file
        rules.check_count(file, shown(path))


@contextmanager
def new_file(path: Path, **options: Any) -> Iterator[h5py.File]:
    """A new HDF5 file. `options`: of h5py. Raises OSError if the system refuses to write it all, as on a full disk."""
    with _NewFile(path) as raw:
        try:
            with h5py.File(raw, "w", **options) as file:
                number = h5o.get_info(file.id).fileno
                DESCRIPTORS[number] = raw.fileno()
                try:
                    yield file
                finally:
                    del DESCRIPTORS[number]
        finally:
            if raw.refused is not None:
                raise raw.refused


class _NewFile(io.RawIOBase):
    """A file that HDF5 writes. HDF5 ends the process where the system refuses a write, so it hears of none.

    `refused`: the first error. After it nothing more is written.
    """

    def __init__(self, path: Path):
        self._file = path.open("w+b", buffering=0)
        self.refused: OSError | None = None

    def __repr__(self) -> str:
        return str(self._file.name)

    def write(self, content: Any) -> int:
        try:
            left = memoryview(content)
            while left and self.refused is None:
                left = left[self._file.write(left) :]
        except OSError as error:
            self.refused = error
        return len(content)

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self.refused = self.refused or error
            return size or 0

    def readinto(self, buffer: Any) -> int | None:
        return self._file.readinto(buffer)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def reading(source: str | os.PathLike[str] | Part, strict: bool = True) -> Iterator[h5py.Group]:
    """The root of an HDF5 file, or of the part of a file that is one, after its links and storage are checked.

    `strict`: also what may be damage is an error.

    Raises FileNotFoundError, UnreadableFileError if it is not HDF5, ForbiddenContentError, FileLimitError.
    """
    if not isinstance(source, Part):
        require_file(source)
    name = source.name if isinstance(source, Part) else source
    try:
        file = h5py.File(_ReadAhead(source, AHEAD) if isinstance(source, Part) else source, "r")
    except rules.DAMAGE as error:
        rules.check_memory(shown(name), error)
        raise UnreadableFileError(f"{shown(name)}: not a readable HDF5 file ({error}).") from error
    with file:
        with rules.readable(shown(name)):
            root = Group(h5g.open(file.id, b"/"), source if isinstance(source, Part) else part_of(file), "/")
        rules.check_end(root)
        rules.check_file(root, strict)
        yield root


class _ReadAhead(io.BufferedReader):
    """A part of a file, of which HDF5 asks for some bytes at a time: three times for each array. It has its name."""

    def __repr__(self) -> str:
        return repr(self.raw)


# --- groups and datasets ---------------------------------------------------------------------------------------------


def group_in(group: h5py.Group, name: str) -> h5py.Group:
    """The group of that name inside `group`.

    Raises UnreadableFileError if there is none, ForbiddenContentError for a link in its path.
    """
    found = rules.member(group, name)
    if not isinstance(found, h5py.Group):
        raise UnreadableFileError(f"{filename(group)}: {group.name} has no group {name!r}.")
    return found


def dataset_in(group: h5py.Group, name: str) -> Dataset:
    """The dataset of that name inside `group`, after a check of its type.

    Raises UnreadableFileError if there is none, ForbiddenContentError for a link, or for an element type other than
    numbers and texts of a fixed length.
    """
    found = rules.member(group, name)
    if not isinstance(found, Dataset):
        raise UnreadableFileError(f"{filename(group)}: {group.name} has no dataset {name!r}.")
    rules.check_type(found)
    return found


def members(group: h5py.Group) -> dict[str, Any]:
    """The groups and datasets inside `group` by their names, in the order of these."""
    with rules.readable(rules.Place(group)):
        found = rules.members(group)
        for each in found.values():
            if isinstance(each, Dataset):
                rules.check_type(each)
    return found


def groups(group: h5py.Group) -> list[str]:
    """The names of the groups in a group."""
    return [name for name, found in members(group).items() if isinstance(found, h5py.Group)]


def values(dataset: Dataset) -> np.ndarray:
    """The numbers of a dataset; bfloat16 becomes float32.

    Raises UnreadableFileError if not all of them are stored, ForbiddenContentError if they are not numbers.
    """
    rules.check_type(dataset)
    where = rules.Place(dataset)
    with rules.readable(where):
        bfloat16 = rules.is_bfloat16(dataset)
        if not bfloat16 and dataset.kind.get_class() == h5t.STRING:
            raise ForbiddenContentError(f"{where} holds texts, not numbers.")
        rules.check_bytes(dataset)
        if bfloat16:
            bits = np.asarray(dataset[()]).view(np.uint16).astype(np.uint32)
            return (bits << 16).view(np.float32).reshape(dataset.shape)
        return np.asarray(dataset[()])


def stretch(dataset: Dataset) -> Stretch | None:
    """Where a dataset's numbers are; None if they are not in one stretch, or have to be interpreted.

    It is valid while the file is open.
    """
    with rules.readable(rules.Place(dataset)):
        bfloat16, begin = rules.is_bfloat16(dataset), dataset.id.get_offset()
        dtype = np.dtype("<i2") if bfloat16 else dataset.dtype
        if begin is None or dtype.kind not in "fiu" or dataset.part is None:
            return None
        return Stretch(dataset.part, begin, dtype, str(rules.Place(dataset)), bfloat16)


def ready(dataset: Dataset) -> Dataset | np.ndarray:
    """A dataset that is certain to be readable: itself if it is stored in one piece, else its values.

    Called for all arrays before the first one is used, so that a damaged file changes nothing. Raises as `values`.
    """
    with rules.readable(rules.Place(dataset)):
        if dataset.layout == h5d.CHUNKED:
            return values(dataset)
        rules.check_type(dataset)
        rules.check_bytes(dataset)
        return dataset


# --- attributes ------------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """A text attribute; old files have bytes. Raises UnreadableFileError if it is not UTF-8."""
    try:
        found = value.decode("utf-8") if isinstance(value, bytes) else str(value)
        found.encode("utf-8")
    except UnicodeError as error:
        raise UnreadableFileError(f"A text that is not UTF-8 ({error}).") from error
    return found


def has_attribute(place: h5py.Group | Dataset, name: str) -> bool:
    """Whether a group or dataset has an attribute."""
    with rules.readable(rules.AttributePlace(place, name)):
        return h5a.exists(place.id, name.encode("utf-8"))


def attribute(place: h5py.Group | Dataset, name: str, default: Any = None) -> Any:
    """An attribute as a plain value: a text, a number, a bool or a list of them; `default` if it is missing.

    Raises ForbiddenContentError for values of another type, FileLimitError for too many values, UnreadableFileError
    for texts that are not UTF-8.
    """
    where = rules.AttributePlace(place, name)
    with rules.readable(where):
        if not h5a.exists(place.id, name.encode("utf-8")):
            return default
        found = h5a.open(place.id, name.encode("utf-8"))
        shape = found.shape
        if shape is None:  # of an attribute without a value
            return []
        kind = found.get_type()
        _check_attribute(kind, prod(shape), where, place)
        value = np.empty(shape, kind.dtype)
        found.read(value)
        try:
            return _plain(value.tolist())
        except UnicodeError as error:
            raise UnreadableFileError(f"{where} is not UTF-8 ({error}).") from error


def attributes(place: h5py.Group | Dataset) -> dict[str, Any]:
    """All attributes by their names."""
    with rules.readable(rules.Place(place)):
        if h5a.get_num_attrs(place.id) > LIMITS.parts:
            raise FileLimitError(f"{rules.Place(place)} has more than {LIMITS.parts} attributes.")
        names = [text(name) for name in place.attrs]
    return {name: attribute(place, name) for name in names}


def _check_attribute(
    kind: h5t.TypeID, count: int, where: rules.Place, place: h5py.Group | Dataset, limits: Limits = LIMITS
) -> None:
    """Refuse `count` values of a type that are no texts or numbers, or too many. Raises as `attribute`."""
    if isinstance(kind, h5t.TypeStringID) and kind.is_variable_str():
        # HDF5 does not say their sizes, and each text of a list may be as long as the file.
        size = rules.file_size(place)
        if count > 1 and count * size > limits.texts:
            raise FileLimitError(f"{where} is a list of {count} texts of undeclared sizes in a file of {size} bytes.")
        return
    if kind.get_class() not in (h5t.STRING, *rules.NUMBERS):
        what = rules.TYPES.get(kind.get_class(), "values of an unknown type")
        raise ForbiddenContentError(f"{where} holds {what}; texts and numbers are read.")
    if count * kind.get_size() > limits.attribute:
        raise FileLimitError(f"{where} has {count * kind.get_size()} bytes; at most {limits.attribute} are read.")


def _plain(value: Any) -> Any:
    """A value with texts in the place of bytes."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, bytes):
        return value
    if b"\0" in value:
        raise ValueError("a text with a zero byte in it")
    return value.decode("utf-8")


def read_names(group: h5py.Group, attribute_name: str) -> list[str]:
    """A list of names; one over the limit is split into `attribute_name0`, `attribute_name1`, and so on."""
    whole = attribute(group, attribute_name)
    if whole is not None:
        return _texts_of(group, attribute_name, whole)
    names: list[str] = []
    for part in (f"{attribute_name}{index}" for index in range(LIMITS.parts + 1)):
        found = attribute(group, part)
        if found is None:
            return names
        names += _texts_of(group, part, found)
    raise FileLimitError(f"{rules.Place(group)}: {attribute_name!r} is split into more than {LIMITS.parts} parts.")


def _texts_of(group: h5py.Group, attribute_name: str, found: Any) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise UnreadableFileError(f"{rules.Place(group)}: attribute {attribute_name!r} is no list of names.")
    return found


def write_array(group: Any, name: str, array: np.ndarray) -> None:
    """Write an array into a group, or a place of `shards`. Of a large one, threads write the pieces into the file."""
    if not isinstance(group, h5py.Group) or array.nbytes <= pieces.SLAB:
        group.create_dataset(name, data=array)
        return
    dataset, buffers = group.create_dataset(name, array.shape, array.dtype, dcpl=_at_once()), _Buffers()
    begin = dataset.id.get_offset()
    descriptor = DESCRIPTORS.get(h5o.get_info(group.id).fileno) if CAN_WRITE else None

    def write(piece: tuple[pieces.Index, range]) -> None:
        index, begins = piece
        content = buffers.in_file_order(array[index])
        if descriptor is not None:
            for at, run in zip(begins, content.reshape(len(begins), -1).view(np.uint8), strict=True):
                _write_at(descriptor, run.data, at)
        else:
            dataset[index] = content

    where = pieces.cut(array.shape, array.strides, array.itemsize, begin or 0)
    pieces.by_threads(write, where, array.nbytes, 1 if descriptor is None else None)


def _at_once() -> h5p.PropDCID:
    """Options of a dataset that has its place in the file before anything is written."""
    found = h5p.create(h5p.DATASET_CREATE)
    found.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    found.set_fill_time(h5d.FILL_TIME_NEVER)
    return found


class _Buffers(local):
    """The memory of each thread in which it brings a piece into the order of the file."""

    def __init__(self) -> None:
        self._piece, self._columns = (np.empty(pieces.SLAB, np.uint8) for _ in range(2))

    def in_file_order(self, array: np.ndarray) -> np.ndarray:
        """An array, contiguous. What memory has side by side is copied first, so that it is still in the cache."""
        if array.flags.c_contiguous:
            return array
        found = self._piece[: array.nbytes].view(array.dtype).reshape(array.shape)
        axes = np.argsort(array.strides)[::-1]
        for column in range(0, array.shape[-1], COLUMNS):
            some = array[..., column : column + COLUMNS].transpose(axes)
            near = self._columns[: some.nbytes].view(array.dtype).reshape(some.shape)
            np.copyto(near, some)
            np.copyto(found[..., column : column + COLUMNS], near.transpose(np.argsort(axes)))
        return found


def _write_at(descriptor: int, content: memoryview, at: int) -> None:
    """Write all bytes, which one call of the system need not do."""
    while content:
        count = os.pwrite(descriptor, content, at)
        content, at = content[count:], at + count


def write_names(group: h5py.Group, attribute: str, names: list[str]) -> None:
    """The inverse of `read_names`. Raises ValueError for a single name over the limit."""
    encoded = np.array([name.encode("utf-8") for name in names])
    parts = 1
    while any(part.nbytes > ATTRIBUTE_LIMIT for part in np.array_split(encoded, parts)):
        parts += 1
        if parts > len(names):
            raise ValueError(f"A name longer than {ATTRIBUTE_LIMIT} bytes cannot be written to HDF5.")
    if parts == 1:
        group.attrs[attribute] = encoded
    else:
        for index, part in enumerate(np.array_split(encoded, parts)):
            group.attrs[f"{attribute}{index}"] = part
