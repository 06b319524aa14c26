"""A batch that several processes share: each has a part of its samples, and formulas over the batch need the rest.

A reported number or a loss is that of the samples of one process; the mean over all processes, weighted by how many
samples each has, is the number of the whole batch. What is divided by a sum over the whole batch (of masks, of weights)
asks for that sum here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from torchkeras.activations.logits import carried
from torchkeras.data.part import bounds, taken
from torchkeras.distribution import batch_statistics
from torchkeras.world.one_process import CURRENT, WHOLE, OneReplica, WholeBatch
from torchkeras.world.processes import stacked


class SharedBatch(WholeBatch):
    """A batch of `whole` samples, of which this process has `samples`; where these are 0, one stands in for none.

    The sample that stands in keeps the process in step with the others. It counts for nothing. `sync_batch_norm`:
    whether batches are normalized by the statistics of the whole one. `processes`: how many share it, all of the group.
    """

    def __init__(
        self, samples: int, whole: int, group: Any = None, sync_batch_norm: bool = True, processes: int | None = None
    ):
        self.samples, self.group, self.sync_batch_norm = samples, group, sync_batch_norm
        self.whole: int = whole
        self.processes = dist.get_world_size(group) if processes is None else processes
        self.weight = self.processes * samples / whole
        # The factor that makes a sum over this process's samples a number as the mean over processes wants it.
        self.scale = whole / samples if samples else 0.0
        self._means: dict[int, tuple[Tensor, Tensor]] = {}

    def in_all(self, samples: int) -> int:
        """How many samples the batch has in all processes."""
        return self.whole

    def counted(self, batch: Any) -> Any:
        """A batch made of the rows of this process, with the numbers of samples that it and others have."""
        return replace(batch, size=self.samples, others=self.whole - self.samples)

    def total(self, values: Tensor) -> Tensor:
        """The sum of the values of all processes, of one shape. It records no gradients."""
        found = values.detach().clone()
        dist.all_reduce(found, group=self.group)
        return found

    def stacked(self, values: Tensor) -> Tensor:
        """The values of all processes, of one shape: (processes, ...). They record no gradients."""
        return stacked(values, self.group)

    def all(self, flag: Tensor) -> Tensor:
        """Whether a flag is True in every process."""
        return self.total((~flag).float()) == 0

    def weighted(self, gradient: Tensor) -> Tensor:
        """A gradient of this process's loss, multiplied by `weight`."""
        return gradient if self.weight == 1.0 else gradient * self.weight

    def of_sum(self, value: Tensor) -> Tensor:
        """A sum over the samples of this process, multiplied by `scale`."""
        return value * self.scale

    def sum(self, values: Tensor) -> Tensor:
        """The sum of values, (batch, ...), over the whole batch. It records no gradients."""
        return self.total(values[: self.samples].sum())

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
        return known[1].to(values.dtype)

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

    # --- losses, metrics and gradients -------------------------------------------------------------------------------

    def value(self, of: Any, compute: Callable[..., Any], *given: Tensor | None) -> Any:
        """`compute(*given)` of a loss or metric, for all samples where those of this process do not do."""
        return compute(*given) if of.adds_up else self._of_all(compute, *given)

    def count(self, of: Any, update: Callable[..., Any], *given: Tensor | None) -> None:
        """`update(*given)` of a metric with a state, as `value`; a sample that stands in for none is not counted."""
        if not of.adds_up:
            self._of_all(update, *given)
        elif self.samples:
            update(*given)

    def _of_all(self, compute: Callable[..., Any], *given: Tensor | None) -> Any:
        joined = [None if each is None else carried(each, self.joined) for each in given]
        with CURRENT.on(WHOLE):
            return compute(*joined)

    def averaged(self, gradients: Sequence[Tensor | None], replicas: OneReplica) -> Sequence[Tensor | None]:
        """The means over the processes of gradients that a step of the user's own has computed."""
        return replicas.averaged(gradients)

    # --- batch statistics --------------------------------------------------------------------------------------------

    def _synchronizes(self, synchronized: bool) -> bool:
        """Whether statistics are those of the whole batch, rather than of this process's samples."""
        return self.sync_batch_norm or synchronized

    def follows(self, synchronized: bool = False) -> bool:
        """Whether moving statistics follow: what stands in for no sample counts for nothing."""
        return self._synchronizes(synchronized) or self.samples > 0

    def check_axis(self, axis: int, synchronized: bool = True) -> None:
        """Raise ValueError for statistics of the whole batch along `axis`, which is that of the batch."""
        if self._synchronizes(synchronized):
            raise ValueError(f"axis {axis} is the batch, of which each process has only a part.")

    def batch_norm(
        self,
        inputs: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        moving_mean: Tensor | None,
        moving_variance: Tensor | None,
        share: float,
        epsilon: float,
        by_population: bool = False,
        followed_epsilon: float = 0.0,
        synchronized: bool = False,
    ) -> Tensor:
        """`torch.batch_norm` in training, by the whole batch or by the samples of this process."""
        moving = moving_mean, moving_variance
        if not self._synchronizes(synchronized):
            moving = moving if self.samples else (None, None)
            return super().batch_norm(inputs, weight, bias, *moving, share, epsilon, by_population, followed_epsilon)
        found = batch_statistics.normalized(inputs, weight, bias, *moving, share, epsilon, self, by_population)
        if followed_epsilon and moving_variance is not None:
            moving_variance.add_(share * followed_epsilon)
        return found

    def moments(self, inputs: Tensor, axes: list[int]) -> tuple[Tensor, Tensor, Any]:
        """(mean, variance, count) over axes, of the whole batch where `compile` said so."""
        return batch_statistics.moments(inputs, axes, self) if self.sync_batch_norm else super().moments(inputs, axes)

    def masked_moments(
        self, inputs: Tensor, mask: Tensor, axes: list[int], synchronized: bool = False
    ) -> tuple[Tensor, Tensor]:
        """(mean, variance) over axes of the values where `mask` is True, of the whole batch or of this process."""
        if self._synchronizes(synchronized):
            return batch_statistics.shared_masked_moments(inputs, mask, axes, self)
        return super().masked_moments(inputs, mask, axes)


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
