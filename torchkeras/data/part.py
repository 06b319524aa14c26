"""The part of every batch that one of several processes has, and the checksum of the batches that they share."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.data.raw_batch import rows_of

if TYPE_CHECKING:
    from torchkeras.data.batch import Batch

SMALL = 4096  # bytes: a checksum reads all of a tensor up to this size, of a larger one the first and the last row


def bounds(samples: Any, rank: int, processes: int) -> tuple[Any, Any]:
    """The first of the samples of a batch that the process `rank` has, and the one after its last."""
    return samples * rank // processes, samples * (rank + 1) // processes


def taken(samples: int, rank: int, processes: int) -> slice:
    """The samples of a batch that the process `rank` takes: its own, or the first one where it has none."""
    first, last = bounds(samples, rank, processes)
    return slice(first, last) if first < last else slice(0, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of every batch for process `rank` of `processes`.

    A batch smaller than the number of processes leaves some without a sample. These compute on its first sample, to
    stay in step with the others; it does not count.
    """

    rank: int
    processes: int

    def size(self, samples: int) -> int:
        """The number of samples of a batch that this process has."""
        first, last = bounds(samples, self.rank, self.processes)
        return last - first

    def size_of(self, samples: int, batch_size: int) -> int:
        """The number of samples of this process in all batches of an epoch."""
        batches, rest = divmod(samples, batch_size)
        return batches * self.size(batch_size) + self.size(rest)

    def rows(self, samples: int) -> slice:
        """The rows of a batch that this process computes on: at least one."""
        return taken(samples, self.rank, self.processes)

    def of(self, batch: Batch) -> Batch:
        """The rows of a whole batch for this process. Raises ValueError for a `raw` batch without rows."""
        rows, whole = self.rows(batch.size), batch.size
        if batch.raw is not None:
            return self.counted(replace(batch, raw=rows_of(batch.raw, rows, whole)), whole)
        return self.counted(batch.mapped(itemgetter(rows)), whole)

    def counted(self, batch: Batch, whole: int) -> Batch:
        """A batch with only the rows of this process, counted as a part of `whole` samples."""
        size = self.size(whole)
        return replace(batch, size=size, others=whole - size)


def checksum(tensors: Iterable[Tensor], before: int = 0) -> int:
    """A checksum of the shapes and values of tensors; of large tensors it reads the first row and the last.

    `before`: the checksum so far.
    """
    for tensor in tensors:
        seen = tensor.detach()
        if seen.nbytes > SMALL:
            seen = seen[:: max(len(seen) - 1, 1)]
        before = zlib.crc32(repr(tuple(tensor.shape)).encode(), before)
        before = zlib.crc32(seen.cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes(), before)
    return before
