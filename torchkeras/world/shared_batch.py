"""A batch that several processes share: each has a part of its samples, and formulas over the batch need the rest.

A reported number or a loss is that of the samples of one process; the mean over all processes, weighted by how many
samples each has, is the number of the whole batch. What is divided by a sum over the whole batch (of masks, of weights)
asks for that sum here. In one process `SHARING.batch` is None, and what is here is the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def bounds(samples: Any, rank: int, processes: int) -> tuple[Any, Any]:
    """The first of the samples of a batch that the process `rank` has, and the one after its last."""
    return samples * rank // processes, samples * (rank + 1) // processes


def taken(samples: int, rank: int, processes: int) -> slice:
    """The samples of a batch that the process `rank` takes: its own, or the first one where it has none."""
    first, last = bounds(samples, rank, processes)
    return slice(first, last) if first < last else slice(0, 1)


def stacked(values: Tensor, group: Any = None) -> Tensor:
    """The values of all processes of a group, of one shape: (processes, ...). They record no gradients."""
    values = values.detach().contiguous()
    found = values.new_empty((dist.get_world_size(group), *values.shape))
    dist.all_gather(list(found.unbind(0)), values, group=group)
    return found


class SharedBatch:
    """A batch of `whole` samples, of which this process has `samples`; where these are 0, one stands in for none.

    The sample that stands in keeps the process in step with the others. It counts for nothing. `sync_batch_norm`:
    whether batches are normalized by the statistics of the whole one. `processes`: how many share it, all of the group.
    """

    def __init__(
        self, samples: int, whole: int, group: Any = None, sync_batch_norm: bool = True, processes: int | None = None
    ):
        self.samples, self.whole, self.group, self.sync_batch_norm = samples, whole, group, sync_batch_norm
        self.processes = dist.get_world_size(group) if processes is None else processes
        self._means: dict[int, tuple[Tensor, Tensor]] = {}

    @property
    def weight(self) -> float:
        """The factor of this process's loss, where gradients are averaged over the processes."""
        return self.processes * self.samples / self.whole

    def total(self, values: Tensor) -> Tensor:
        """The sum of the values of all processes, of one shape. It records no gradients."""
        found = values.detach().clone()
        dist.all_reduce(found, group=self.group)
        return found

    def stacked(self, values: Tensor) -> Tensor:
        """The values of all processes, of one shape: (processes, ...). They record no gradients."""
        return stacked(values, self.group)

    @property
    def scale(self) -> float:
        """The factor that makes a sum over this process's samples a number as the mean over processes wants it."""
        return self.whole / self.samples if self.samples else 0.0

    def all(self, flag: Tensor) -> Tensor:
        """Whether a flag is True in every process."""
        return self.total((~flag).float()) == 0

    def mean(self, values: Tensor, of: Tensor | None = None) -> Tensor:
        """The mean of values, (batch, ...), over the whole batch. It records no gradients.

        `of`: the tensor that the values were made of. Asked again of the same one, it communicates no more.
        """
        key = values if of is None else of
        known = self._means.get(id(key))
        if known is None:
            wide = values.detach() if values.is_floating_point() else values.to(torch.get_default_dtype())
            total = self.total(wide[: self.samples].sum())
            known = self._means[id(key)] = key, total / (values.numel() // len(values) * self.whole)
        return known[1]

    def own(self, values: Tensor) -> Tensor:
        """The rows of this process of values of the whole batch, (whole, ...); the first one where it has none."""
        return values[taken(self.whole, dist.get_rank(self.group), self.processes)]

    def joined(self, values: Tensor) -> Tensor:
        """The rows of all processes, (whole, ...), in order; gradients go to those of this process.

        They come as if each process used the result for a loss of its own, whose mean, weighted by samples, counts.
        """
        return _Joined.apply(values, self)  # type: ignore[no-any-return]

    def rows(self, values: Tensor) -> Tensor:
        """As `joined`, without gradients."""
        longest = -(-self.whole // self.processes)
        sent = values.new_zeros((longest, *values.shape[1:]))
        sent[: self.samples] = values[: self.samples].detach()
        found = self.stacked(sent.to(torch.uint8) if sent.dtype == torch.bool else sent).to(sent.dtype)
        spans = [bounds(self.whole, rank, self.processes) for rank in range(self.processes)]
        return torch.cat([part[: last - first] for part, (first, last) in zip(found, spans, strict=True)])


class _Joined(torch.autograd.Function):
    """`SharedBatch.joined`."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, shared: SharedBatch) -> Tensor:
        ctx.shared, ctx.shape = shared, values.shape
        return shared.rows(values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        shared = ctx.shared
        own = gradient.new_zeros(ctx.shape)
        if shared.samples:
            own[: shared.samples] = shared.own(gradient) * shared.scale
        return own, None


class Sharing:
    """`batch`: the one that a step under way shares with other processes; None in one process."""

    def __init__(self) -> None:
        self.batch: SharedBatch | None = None

    @contextmanager
    def of(self, batch: SharedBatch | None) -> Iterator[None]:
        """Inside the block a step runs on this batch; None: on one that is whole here."""
        before, self.batch = self.batch, batch
        try:
            yield
        finally:
            self.batch = before


SHARING = Sharing()


def batch_mean(values: Tensor, of: Tensor | None = None) -> Tensor:
    """The mean of values, (batch, ...), over the batch, wherever its samples are; see `SharedBatch.mean`."""
    shared = SHARING.batch
    return values.mean() if shared is None else shared.mean(values, of).to(values.dtype)
