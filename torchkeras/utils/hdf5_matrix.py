"""A part of an HDF5 dataset, used in place of an array."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from typing import Any

import h5py
import numpy as np

from torchkeras.base.rules import FUNCTION, STRING, integer, optional, read, read_path


class HDF5Matrix:
    """Rows `start` to `end` of a dataset in an HDF5 file, read when they are asked for.

    An index is a number, a slice, or a list of numbers in ascending order. `fit` reads it batch by batch; its shuffle
    must be "batch" or False. The file stays open for reading. A copy for another process opens it again.

    Options:
        datapath (path): the file.
        dataset (text): the name of the dataset.
        start (integer, default 0): the first row.
        end (integer or None, default None): the row after the last; None is the end of the dataset.
        normalizer (function or None, default None): called on the rows that are read; its result replaces them.

    Errors:
        KeyError: the file has no such dataset.
        ValueError: an option has a bad value, or the dataset does not have these rows.
        IndexError: a row outside of `start` to `end` is asked for.
        TypeError: `datapath` is no path, or an index is of an unsupported kind.

    Example:
        >>> import h5py
        >>> with h5py.File("data.h5", "w") as file:
        ...     file["x"] = np.arange(6).reshape(3, 2)
        >>> HDF5Matrix("data.h5", "x", start=1)[0].tolist()
        [2, 3]

    Source: Keras 2.2.4, https://github.com/keras-team/keras/blob/2.2.4/keras/utils/io_utils.py
    """

    def __init__(
        self,
        datapath: str | os.PathLike[str],
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ):
        self.datapath = read_path("HDF5Matrix", "datapath", datapath)
        self.dataset = read("HDF5Matrix", "dataset", STRING, dataset)
        self.normalizer = read("HDF5Matrix", "normalizer", FUNCTION, normalizer)
        start, end = read("HDF5Matrix", "start", integer(), start), read("HDF5Matrix", "end", optional(integer()), end)
        self._open()
        rows = self.data.shape[0] if self.data.shape else 0
        self.start, self.end = start, rows if end is None else end
        if not 0 <= self.start < self.end <= rows:
            raise ValueError(
                f"HDF5Matrix: start and end must be rows of {dataset!r}, which has {rows}; found start={start!r}, "
                f"end={end!r}."
            )
        first = self._normalized(self.data[self.start : self.start + 1])
        self._base_shape, self._dtype = tuple(first.shape[1:]), first.dtype

    def _open(self) -> None:
        file = h5py.File(self.datapath, "r")
        if not isinstance(file.get(self.dataset), h5py.Dataset):
            file.close()
            raise KeyError(f"{self.datapath}: there is no dataset {self.dataset!r}.")
        self.data: Any = file[self.dataset]

    def _normalized(self, values: Any) -> Any:
        return values if self.normalizer is None else self.normalizer(values)

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        """The rows, after the normalizer. Raises IndexError for missing rows, TypeError for another kind of index."""
        return self._normalized(self.data[self._rows(key)])

    def _rows(self, key: Any) -> Any:
        """The index, counted in rows of the whole dataset."""
        if isinstance(key, slice):
            if key.stop is not None and key.stop > len(self):
                raise IndexError(f"HDF5Matrix: row {key.stop} asked for; there are {len(self)}.")
            first, last, step = key.indices(len(self))
            return slice(self.start + first, self.start + max(first, last), step)
        single = isinstance(key, (int, np.integer))
        numbers = np.atleast_1d(np.asarray(key))
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"HDF5Matrix: rows must be integers or a slice; found {key!r}.")
        numbers = np.where(numbers < 0, numbers + len(self), numbers)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(self)):
            raise IndexError(f"HDF5Matrix: row {np.max(key)} asked for; there are {len(self)}.")
        rows = (numbers + self.start).tolist()
        return rows[0] if single else rows

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, ...), after the normalizer."""
        return (len(self), *self._base_shape)

    @property
    def dtype(self) -> Any:
        """The type of the values, after the normalizer."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        return prod(self.shape)

    def __getstate__(self) -> dict[str, Any]:
        # An open file cannot be copied to another process.
        return {key: value for key, value in self.__dict__.items() if key != "data"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()
