"""The part of every batch that one of several processes has, and how it is seen that they share the same batches."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchkeras.data.raw_batch import rows_of
from torchkeras.world.parts import bounds, taken

if TYPE_CHECKING:
    from torchkeras.data.batch import Batch

SMALL = 4096  # bytes: a tensor up to here goes into a checksum in whole, of a larger one the first and the last row


@dataclass(frozen=True, slots=True)
class Part:
    """Of every batch the rows of process `rank`, one of `processes`.

    A batch smaller than the number of processes leaves some without a sample. These take its first one, so that they
    stay in step with the others; it counts for nothing.
    """

    rank: int
    processes: int

    def size(self, samples: int) -> int:
        """How many of the samples of a batch this process has."""
        first, last = bounds(samples, self.rank, self.processes)
        return last - first

    def size_of(self, samples: int, batch_size: int) -> int:
        """How many samples it has of all batches of an epoch."""
        batches, rest = divmod(samples, batch_size)
        return batches * self.size(batch_size) + self.size(rest)

    def rows(self, samples: int) -> slice:
        """Which of the samples of a batch this process takes: at least one."""
        return taken(samples, self.rank, self.processes)

    def of(self, batch: Batch) -> Batch:
        """The rows of this process of a batch that is whole. Raises ValueError for a `raw` one that has no rows."""
        rows, whole = self.rows(batch.size), batch.size
        if batch.raw is not None:
            return self.counted(replace(batch, raw=rows_of(batch.raw, rows, whole)), whole)
        return self.counted(batch.mapped(itemgetter(rows)), whole)

    def counted(self, batch: Batch, whole: int) -> Batch:
        """A batch that has the rows of this process alone, of `whole` samples."""
        size = self.size(whole)
        return replace(batch, size=size, others=whole - size)


def checksum(tensors: Iterable[Tensor], before: int = 0) -> int:
    """A number that two lists of tensors share where their shapes and values are equal, and hardly where not.

    Of large tensors it looks at the first row and the last. `before`: the number of what came before.
    """
    for tensor in tensors:
        seen = tensor.detach()
        if seen.nbytes > SMALL:
            seen = seen[:: max(len(seen) - 1, 1)]
        before = zlib.crc32(repr(tuple(tensor.shape)).encode(), before)
        before = zlib.crc32(seen.cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes(), before)
    return before
