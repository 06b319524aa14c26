"""Data that is read slice by slice, never whole: HDF5 datasets, `HDF5Matrix`, `numpy.memmap`."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from math import prod
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from torchkeras.data import checks
from torchkeras.data.batch import batch_numbers, check_batch_size, split_at
from torchkeras.data.contents import plain
from torchkeras.data.part import Part
from torchkeras.data.sources.ordered import in_threads
from torchkeras.data.sources.source import Prepare
from torchkeras.data.sources.streamed import OwnSamples, Streamed

READ = 16  # rows that identify the data
BLOCK = 1 << 18  # bytes: batches are read ahead of the step in blocks of this size, or one by one if they are larger
AHEAD = 2  # blocks
READ_BY_LIBRARIES = (np.ndarray, Tensor, h5py.Dataset)  # without code of the user's


class SlicedSource(Streamed):
    """Rows `start` to `stop` of x, y and sample_weight: each an array, or a list or dict of arrays.

    Orders: "sequential" and "batch" read contiguous slices; "shuffled" needs arrays that can be read at any place, so
    no HDF5. The first batch is read and prepared at once, so that data that does not fit is found before any training.
    A thread reads ahead of the step, unless an array may run code of the user's, as a normalizer of `HDF5Matrix`.
    Raises ValueError for lengths that differ, TypeError for "shuffled" on HDF5.
    """

    kind = "data on disk"
    samples: int
    batch_size: int

    def __init__(
        self,
        data: tuple[Any, Any, Any],
        batch_size: int,
        prepare: Prepare,
        device: torch.device,
        part: Part | None = None,
    ):
        super().__init__(prepare, device, part)
        check_batch_size(batch_size)
        x, y, weight = (each(part, _as_array) for part in data)
        self._data = (x, y, weight)
        if any(len(leaf.shape) == 0 for part in self._data for leaf in leaves(part)):
            raise ValueError("x, y and sample_weight must have an axis of samples; found a single number.")
        checks.check_lengths(*(leaves(part) for part in self._data))
        self._start, self.batch_size = 0, int(batch_size)
        self.samples = len(leaves(self._data[0])[0])
        self._made(self._item(range(min(self.batch_size, self.samples))))

    def give_raw(self, prepare: Any) -> None:
        """Does nothing: rows of arrays on disk are checked like arrays in memory."""

    @property
    def steps(self) -> int:
        return -(-self.samples // self.batch_size)

    def contents(self) -> dict[str, Any]:
        rows: list[int] = []
        if self.samples:
            rows = sorted({k * (self.samples - 1) // max(READ - 1, 1) for k in range(READ)})
        some = [self._read(range(self._start + row, self._start + row + 1)) for row in rows]
        shapes = [[str(leaf.dtype), list(leaf.shape)] for part in self._data[:2] for leaf in leaves(part)]
        return {
            **super().contents(),
            "start": self._start,
            "arrays": shapes,
            "rows": plain([row[:2] for row in some], deep=True),
            "weights": plain([row[2] for row in some], deep=True),
        }

    def split(self, fraction: float) -> tuple[SlicedSource, SlicedSource]:
        """As `ArrayData.split`; nothing is read."""
        at = split_at(self.samples, fraction)
        return self._span(0, at), self._span(at, self.samples - at)

    def _span(self, start: int, samples: int) -> SlicedSource:
        span = object.__new__(SlicedSource)
        span.__dict__.update(self.__dict__, _start=self._start + start, samples=samples, _pass=None)
        return span

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        samples, size = self.samples, self.batch_size
        if order != "sequential":
            self._note_order()
        if order == "shuffled":
            check_can_shuffle(self._data)
            indices = torch.randperm(samples, device="cpu").split(size)[skip:]
            return self._read_ahead([(index + self._start).numpy() for index in indices])
        starts = [self._start + i * size for i in batch_numbers(samples, size, order)[skip:]]
        return self._read_ahead([range(start, min(start + size, self._start + samples)) for start in starts])

    def _read_ahead(self, places: Sequence[range | np.ndarray]) -> Iterator[Any]:
        """The values of the batches in these rows, read by a thread where only libraries read them."""
        arrays = [leaf for part in self._data for leaf in leaves(part)]
        if not all(isinstance(leaf, READ_BY_LIBRARIES) for leaf in arrays):
            yield from map(self._item, places)
            return
        of_row = sum(leaf.dtype.itemsize * prod(leaf.shape[1:]) for leaf in arrays)
        together = max(1, BLOCK // max(1, of_row * self.batch_size))
        blocks = [places[i : i + together] for i in range(0, len(places), together)]
        with closing(in_threads(self._block, blocks, 1, AHEAD)) as read:
            for items in read:
                yield from items

    def _block(self, places: Sequence[range | np.ndarray]) -> list[Any]:
        """The values of some batches; of batches that follow one another all rows are read at once."""
        ranges = [rows for rows in places if isinstance(rows, range)]
        follow = len(ranges) == len(places) and all(a.stop == b.start for a, b in pairwise(ranges))
        if self.part is not None or not follow:
            return [self._item(rows) for rows in places]
        start = ranges[0].start
        whole = self._read(range(start, ranges[-1].stop))
        return [_rows_of(whole, slice(rows.start - start, rows.stop - start)) for rows in ranges]

    def _item(self, rows: range | np.ndarray) -> Any:
        """The values of a batch in these rows, or in those of them that this process has."""
        if self.part is None:
            return self._read(rows)
        return OwnSamples(self._read(rows[self.part.rows(len(rows))]), len(rows))

    def _read(self, rows: range | np.ndarray) -> tuple[Any, Any, Any]:
        place = slice(rows.start, rows.stop) if isinstance(rows, range) else rows

        def read(leaf: Any) -> Any:
            values = leaf[place]
            if isinstance(values, np.memmap) and isinstance(place, slice):
                return _in_memory(values)
            return values if isinstance(values, Tensor) else np.asarray(values)

        x, y, weight = (each(part, read) for part in self._data)
        return x, y, weight


def _in_memory(values: Any) -> np.ndarray:
    """A copy of a memmap, for which the file is read now, and at once: else the kernel reads a few pages at a time."""
    mapped = values._mmap  # None for a copy of a memmap
    if mapped is not None and values.nbytes and values.flags.c_contiguous and hasattr(mmap, "MADV_WILLNEED"):
        start = values.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
        before = start % mmap.PAGESIZE
        with suppress(OSError):  # advice alone, which a kernel need not take
            mapped.madvise(mmap.MADV_WILLNEED, start - before, before + values.nbytes)
    return np.array(values)


def _rows_of(item: tuple[Any, Any, Any], rows: slice) -> tuple[Any, Any, Any]:
    x, y, weight = (each(part, lambda values: values[rows]) for part in item)
    return x, y, weight


def is_sliced(value: Any) -> bool:
    """Whether data lies on disk and is read by slices: it has a shape and a type, but is not an array in memory."""
    if isinstance(value, (h5py.Dataset, np.memmap, Tensor)):
        return not isinstance(value, Tensor)
    in_memory = ("__array__", "toarray")  # arrays, and SciPy's sparse matrices
    needed = ("__getitem__", "__len__", "shape", "dtype")
    return all(hasattr(value, name) for name in needed) and not any(hasattr(value, name) for name in in_memory)


def check_can_shuffle(data: tuple[Any, Any, Any]) -> None:
    """Raise TypeError, as Keras does, where single rows would be read from all over an HDF5 file."""
    if any(is_sliced(leaf) and not isinstance(leaf, np.memmap) for part in data for leaf in leaves(part)):
        raise TypeError(
            "HDF5 data is read in contiguous slices and cannot be shuffled sample by sample, which shuffle=True asks "
            'for: pass shuffle="batch", which shuffles whole batches, or shuffle=False.'
        )


def each(data: Any, change: Callable[[Any], Any]) -> Any:
    """The same list or dict of changed arrays, or one array changed. A list of numbers is an array; None stays."""

    def changed(leaf: Any) -> Any:
        return None if leaf is None else change(leaf)

    if isinstance(data, Mapping):
        return {key: changed(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)) and not _is_row(data):
        return [changed(value) for value in data]
    return changed(data)


def leaves(data: Any) -> list[Any]:
    """All its arrays, None left out."""
    found: list[Any] = []
    each(data, found.append)
    return found


def _is_row(values: Any) -> bool:
    return bool(len(values)) and all(isinstance(value, (int, float, np.number, np.bool_)) for value in values)


def _as_array(leaf: Any) -> Any:
    if is_sliced(leaf) or isinstance(leaf, Tensor):
        return leaf
    return np.asarray(leaf)
