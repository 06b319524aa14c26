"""Arrays of a file put straight into the memory of tensors.

Each byte is read once: by pieces that fit a cache, through the descriptor of the open file, in several threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from threading import local

import numpy as np
import torch
from torch import Tensor

from torchkeras.errors import UnreadableFileError
from torchkeras.saving.containers.parts import Stretch

SLAB = 1 << 22  # bytes of a piece
APART = 64  # bytes between the rows of a piece: one cache line
LONG = 1024  # bytes of a row from which on rows are kept apart
THREADS = 8  # at most; beyond, memory is no faster


@dataclass(frozen=True)
class _Piece:
    """Some rows of a stretch, from the byte `begin` on, and where their numbers belong."""

    target: Tensor
    stretch: Stretch
    begin: int


def put(jobs: Sequence[tuple[Tensor, Stretch]]) -> None:
    """Fill tensors with the numbers of arrays of the same shapes. Types and orders of axes may differ.

    Raises UnreadableFileError if the file ends before an array does.
    """
    pieces = [piece for target, stretch in jobs for piece in _pieces(target.detach(), stretch, stretch.begin)]
    alone = [piece for piece in pieces if not _by_numpy(piece)]
    shared = [piece for piece in pieces if _by_numpy(piece)]
    size = sum(piece.target.numel() * piece.stretch.dtype.itemsize for piece in shared)
    threads = min(THREADS, torch.get_num_threads(), size // SLAB)
    buffers = _Buffers()
    if threads < 2:
        alone = pieces
    else:
        with ThreadPoolExecutor(threads, "torchkeras-files") as pool:
            for _ in pool.map(buffers.place, shared):
                pass
    for piece in alone:
        buffers.place(piece)


def _pieces(target: Tensor, stretch: Stretch, begin: int) -> Iterator[_Piece]:
    size = target.numel() * stretch.dtype.itemsize
    if size <= SLAB:
        yield _Piece(target, stretch, begin)
        return
    row = size // len(target)
    if row > SLAB:
        for index, inner in enumerate(target):
            yield from _pieces(inner, stretch, begin + index * row)
        return
    step = SLAB // row
    for first in range(0, len(target), step):
        yield _Piece(target[first : first + step], stretch, begin + first * row)


def _by_numpy(piece: _Piece) -> bool:
    """Whether NumPy can place the numbers. Torch does so in threads of its own, which would wait for each other."""
    target = piece.target
    return target.device.type == "cpu" and (target.dtype == torch.bfloat16) == piece.stretch.bfloat16


class _Buffers:
    """Places pieces, with one buffer for each thread."""

    def __init__(self) -> None:
        self._held = local()

    def place(self, piece: _Piece) -> None:
        stretch, target = piece.stretch, piece.target
        if not target.numel():
            return
        if not _by_numpy(piece):
            values = self._values(piece)
            found = torch.from_numpy(values.astype(values.dtype.newbyteorder("="), copy=False))
            target.copy_(found.view(torch.bfloat16) if stretch.bfloat16 else found)
            return
        array = (target.view(torch.int16) if stretch.bfloat16 else target).numpy()
        if array.flags.c_contiguous and array.dtype == stretch.dtype:
            _read(stretch, array.reshape(-1).view(np.uint8), piece.begin)
        else:
            np.copyto(array, self._values(piece), casting="unsafe")

    def _values(self, piece: _Piece) -> np.ndarray:
        """The numbers of a piece, in a buffer that the next piece will use.

        Long rows have some bytes between them: with a power of two, few numbers of a column would fit in the cache,
        and transposing would take three times as long.
        """
        dtype, shape = piece.stretch.dtype, tuple(piece.target.shape)
        size = prod(shape) * dtype.itemsize
        held = self._buffer(0, size)
        _read(piece.stretch, held, piece.begin)
        values = held.view(dtype).reshape(shape)
        if values.ndim < 2 or shape[-1] * dtype.itemsize < LONG:
            return values
        rows, row, apart = prod(shape[:-1]), shape[-1], APART // dtype.itemsize
        padded = self._buffer(1, size + rows * APART).view(dtype).reshape(rows, row + apart)[:, :row].reshape(shape)
        np.copyto(padded, values)
        return padded

    def _buffer(self, index: int, size: int) -> np.ndarray:
        if not hasattr(self._held, "buffers"):
            self._held.buffers = [np.empty(SLAB, np.uint8), np.empty(SLAB + SLAB // LONG * APART, np.uint8)]
        return self._held.buffers[index][:size]  # type: ignore[no-any-return]


def _read(stretch: Stretch, target: np.ndarray, begin: int) -> None:
    """Fill an array with the bytes from `begin` on."""
    if stretch.part.fill(target.data, begin) < target.nbytes:
        raise UnreadableFileError(f"{stretch.name} goes beyond the end of the file.")
