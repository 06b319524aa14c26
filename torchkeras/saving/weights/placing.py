"""Arrays of a file put straight into the memory of tensors.

Each byte is read once: by pieces that fit a cache, through the descriptor of the open file, in several threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from threading import local

import numpy as np
import torch
from torch import Tensor

from torchkeras.engine.weights.weight import NO_MEMORY
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
    for target, stretch in jobs:
        if target.is_meta:
            raise ValueError(f"{stretch.name}: the weight that it is for {NO_MEMORY}")
    pieces = [piece for target, stretch in jobs for piece in _pieces(target.detach(), stretch, stretch.begin)]
    shared = [piece for piece in pieces if _by_numpy(piece)]
    size = sum(piece.target.numel() * piece.stretch.dtype.itemsize for piece in shared)
    threads = min(THREADS, torch.get_num_threads(), size // SLAB)
    placer = _Placer()
    if threads >= 2:
        with ThreadPoolExecutor(threads, "torchkeras-files") as pool:
            deque(pool.map(placer.place, shared), maxlen=0)  # which raises what a thread did
        pieces = [piece for piece in pieces if not _by_numpy(piece)]
    for piece in pieces:
        placer.place(piece)


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


class _Placer(local):
    """Places pieces, with one buffer for each thread."""

    def __init__(self) -> None:
        self._buffer = np.empty(SLAB + SLAB // LONG * APART, np.uint8)
        self._cut: tuple[int, int, int] | None = None

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
            _read_into(piece, [array.reshape(-1).view(np.uint8)])
        else:
            np.copyto(array, self._values(piece), casting="unsafe")

    def _values(self, piece: _Piece) -> np.ndarray:
        """The numbers of a piece, in a buffer that the next piece will use.

        Long rows have some bytes between them: with a power of two, few numbers of a column would fit in the cache,
        and transposing would take three times as long.
        """
        dtype, shape = piece.stretch.dtype, tuple(piece.target.shape)
        rows, length = prod(shape[:-1]), prod(shape[-1:])
        is_long = rows > 1 and length * dtype.itemsize >= LONG
        if not is_long:
            rows, length = 1, rows * length
        table, lines = self._lines(rows, length * dtype.itemsize, APART if is_long else 0)
        _read_into(piece, lines)
        return table.view(dtype)[:, :length].reshape(shape)

    def _lines(self, count: int, size: int, gap: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """The buffer as a table, and its lines without the gap at the end of each. Most pieces have the same."""
        if self._cut != (count, size, gap):
            self._cut = (count, size, gap)
            self._table = self._buffer[: count * (size + gap)].reshape(count, size + gap)
            self._list = list(self._table[:, :size])
        return self._table, self._list


def _read_into(piece: _Piece, lines: Sequence[np.ndarray]) -> None:
    """Fill arrays of equal length with the bytes of a piece, one after the other."""
    if not piece.stretch.part.fill_lines(lines, piece.begin):
        raise UnreadableFileError(f"{piece.stretch.name} goes beyond the end of the file.")
