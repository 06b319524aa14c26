"""Large arrays in pieces that threads work on: what a file has in few runs, and memory in long ones.

Keras and torch keep the axes of most weights in another order, so numbers that the file has side by side lie far apart
in memory, or the other way round. Pieces are small enough for the processor's cache, where that costs little.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import prod
from typing import TypeVar

from torchkeras.data.sources.ordered import in_threads

Item = TypeVar("Item")
Result = TypeVar("Result")

SLAB = 1 << 22  # bytes of a piece, at most
RUNS = 64  # of one piece in the file, at most: a kernel of 3 x 3 has 9

THREADS = min(8, os.cpu_count() or 1)  # at most; beyond, memory is no faster

Index = tuple[int | slice, ...]


def by_threads(do: Callable[[Item], Result], items: Sequence[Item], size: int, most: int | None = None) -> list[Result]:
    """What `do` returns for each item, in their order. Raises the first error.

    `size`: the bytes of all; one thread is not worth its start for fewer than a slab. `most`: threads.
    """
    threads = min(THREADS, size // SLAB, THREADS if most is None else most)
    return [do(item) for item in items] if threads < 2 else list(in_threads(do, items, threads, 2 * threads))


def cut(shape: Sequence[int], strides: Sequence[int], itemsize: int, begin: int) -> list[tuple[Index, range]]:
    """Where the pieces of an array are: the index in the array, and the bytes in the file where their runs begin.

    The file has the array in the order of its axes, from the byte `begin` on. The runs of a piece are equally long.
    `strides`: the distances in memory along each axis.
    """
    size = prod(shape) * itemsize
    if size <= SLAB:
        return [((), range(begin, begin + 1))]
    axis = _axis_to_cut(shape, strides)
    count = shape[axis]
    if size // count > SLAB:
        row = size // shape[0]
        rows = [cut(shape[1:], strides[1:], itemsize, begin + k * row) for k in range(shape[0])]
        return [((k, *index), runs) for k, pieces in enumerate(rows) for index, runs in pieces]
    run = size // prod(shape[:axis])  # bytes in the file, of all along the axis
    step = (SLAB * count // size - 1) | 1  # odd: a power of two would make numbers of a column share the cache's lines
    before = (slice(None),) * axis
    return [
        ((*before, slice(first, first + step)), range(begin + first * run // count, begin + size, run))
        for first in range(0, count, step)
    ]


def _axis_to_cut(shape: Sequence[int], strides: Sequence[int]) -> int:
    """The axis along which numbers lie farthest apart in memory.

    A kernel of a convolution is cut along its input channels, not along the height and width of its window, of which
    memory has all numbers side by side. The last axis is not cut, since the file has that side by side.
    """
    axes = [axis for axis in range(max(1, len(shape) - 1)) if prod(shape[:axis]) <= RUNS]
    return max(axes, key=lambda axis: strides[axis])
