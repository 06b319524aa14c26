"""The outputs of batches that several processes share, as one array on each of them."""

from __future__ import annotations

import zlib
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import to_numpy
from torchkeras.data.part import bounds
from torchkeras.data.sources import Source
from torchkeras.engine.fit.results import Gathered
from torchkeras.world.processes import stacked

MOST_BYTES = 2**26  # that all processes together send at once


class OwnOutput:
    """One output of all batches: the rows of this process, without those that stand in for none.

    `regular`: whether each batch gave a row for each of its samples, all rows of one shape and type.
    """

    def __init__(self, source: Source):
        samples, size, part = source.samples, source.batch_size, source.part
        self._rows = Gathered(None if None in (samples, size) else part.size_of(samples, size))  # type: ignore[union-attr]
        self._kinds: set[tuple[tuple[int, ...], torch.dtype]] = set()
        self.regular = True

    def add(self, output: Tensor, size: int) -> None:
        """Take the output of a batch of which this process has `size` samples."""
        has_rows = output.dim() > 0 and len(output) == max(size, 1)
        self._kinds.add((tuple(output.shape[1:]), output.dtype))
        self.regular = self.regular and has_rows and len(self._kinds) == 1
        if size or output.dim():
            self._rows.add(output if size else output[:0], size)

    @property
    def kind(self) -> int:
        """A number for the shape and the type of the rows."""
        return zlib.crc32(repr(self._kinds).encode())

    def tensor(self) -> Tensor:
        """The rows of this process, on the host."""
        return self._rows.tensor()

    def array(self) -> np.ndarray:
        """The same as an array."""
        return self._rows.array()


def joined(outputs: list[OwnOutput], sizes: list[int], processes: Any, checksum: int) -> list[np.ndarray]:
    """The rows of all processes in the order of the samples, on each process; `sizes`: of the whole batches.

    `checksum`: that of the source. Raises ValueError, on all of them, where the rows cannot be joined.
    """
    _compare(outputs, sum(sizes), processes, checksum)
    count = processes.part.processes
    places = [_rows_of(torch.tensor(sizes, device="cpu"), rank, count) for rank in range(count)]
    return [to_numpy(_joined(output.tensor(), places, processes)) for output in outputs]


def _compare(outputs: list[OwnOutput], samples: int, processes: Any, checksum: int) -> None:
    own_form = [[int(output.regular), output.kind, samples, checksum] for output in outputs]
    found = stacked(torch.tensor(own_form, device=processes.device), processes.group)
    regular, kind, counted, batches = found.cpu().unbind(-1)
    if (counted != counted[0]).any() or (batches != batches[0]).any():
        raise ValueError(
            f"predict: the processes had different batches, of {counted[:, 0].tolist()} samples in all. Seed every "
            "process alike, so that each makes the same batches, or give gather=False."
        )
    if not regular.all() or (kind != kind[0]).any():
        raise ValueError(
            "predict: an output has not one row for each sample, or rows of several shapes, so that those of all "
            "processes cannot be joined. Give gather=False: each process then has its own."
        )


def _rows_of(sizes: Tensor, rank: int, processes: int) -> Tensor:
    """The places of a process's rows among those of all batches of these sizes."""
    first, last = bounds(sizes, rank, processes)
    counts = last - first
    begins = sizes.cumsum(0) - sizes + first  # of its rows of each batch
    return torch.arange(int(counts.sum()), device="cpu") + (begins - (counts.cumsum(0) - counts)).repeat_interleave(
        counts
    )


def _joined(own: Tensor, places: list[Tensor], processes: Any) -> Tensor:
    shape, numbers = own.shape[1:], prod(own.shape[1:])
    whole = torch.empty((sum(map(len, places)), *shape), dtype=own.dtype, device="cpu")
    longest, row = max(map(len, places)), numbers * own.element_size()
    at_once = max(1, MOST_BYTES // max(row * len(places), 1))
    for start in range(0, longest if numbers else 0, at_once):
        mine = own[start : start + at_once]
        # As bytes: not every type can be sent.
        sent = torch.zeros((min(at_once, longest - start), row), dtype=torch.uint8, device=processes.device)
        sent[: len(mine)] = mine.reshape(len(mine), numbers).contiguous().view(torch.uint8)
        for got, place in zip(stacked(sent, processes.group).cpu(), places, strict=True):
            here = place[start : start + at_once]
            whole[here] = got[: len(here)].view(own.dtype).reshape(len(here), *shape)
    return whole
