"""One process: what a step asks of the others, where there are none.

A formula over a batch (a loss, a metric, batch normalization) never asks how many processes there are. What it needs of
samples that others may have, such as a mean or the rows, it asks of `CURRENT.batch`. That is a `WholeBatch`, which
gives back what it is given, unless several processes share the batch: `distribution.shared_batch.SharedBatch` then
takes its place while a step runs. In the same way a step passes forward and gets its gradients by a `OneReplica`, or by
one of the classes of `distribution.replicas` and `distribution.sharding`.

Tensors that several processes may share, each with a part of the rows, are asked of `sharing()`. While no processes
have formed a group, no tensor is shared: `WholeTensors` gives back what it is given. With a group
`distribution.shared_tensors` answers, for torch's DTensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from torchkeras.base.annexes import annex
from torchkeras.world.batch_norm import batch_norm, masked_moments

# --- tensors ----------------------------------------------------------------------------------------------------------


# Whether this process belongs to a group. Torch's own function: it is asked in places that every model passes.
has_group: Callable[[], bool] = dist.is_initialized if dist.is_available() else bool


class WholeTensors:
    """Tensors that this process has whole."""

    def is_sharded(self, tensor: Any) -> bool:
        """Whether a tensor is shared, each process having a part."""
        return False

    def part(self, tensor: Any) -> Any:
        """What this process has of a tensor, in the same memory: always the same object."""
        return tensor

    def parts(self, tensors: Iterable[Any]) -> list[Any]:
        """`part` of each, None of None."""
        return list(tensors)

    def rows(self, tensor: Any) -> slice:
        """Which rows of a tensor this process has."""
        return slice(None)

    def wholes(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The tensors with the rows of all processes. Their gradients are the means of those of the processes."""
        return tensors

    def keep(self, tensor: Tensor, values: Tensor) -> None:
        """Set a tensor that is shared to values of its whole shape: each process takes its rows, and asks no other."""

    def in_all(self, flags: Tensor, tensors: Sequence[Tensor]) -> Tensor:
        """Where flags are True in every process, if processes share the tensors; otherwise the flags themselves."""
        return flags

    def refuse(self, tensors: Iterable[Tensor], what: str) -> None:
        """Raise ValueError for tensors that processes share, of what does something with them that needs all."""

    def shared_in(self, tensors: Iterable[Tensor]) -> list[tuple[Tensor, Any]]:
        """Those of the tensors that are shared, once each: pairs of a part and of what it is shared as."""
        return []

    def collected(self, shared: Sequence[tuple[Tensor, Any]]) -> AbstractContextManager[bool]:
        """Whole copies, on the CPU of the first process, of what `shared_in` gives; True in the process that writes."""
        return nullcontext(True)


_whole_tensors = WholeTensors()
_sharing: Any = _whole_tensors


def sharing() -> WholeTensors:
    """How tensors are shared: once there was a group of processes, as one may be, else not at all."""
    global _sharing
    if _sharing is _whole_tensors and has_group():
        _sharing = annex("shared tensors")
    return _sharing  # type: ignore[no-any-return]


# --- batches and replicas ---------------------------------------------------------------------------------------------


Batch = TypeVar("Batch")  # a `data.batch.Batch`


class WholeBatch:
    """A batch of which this process has all samples.

    `whole`: how many samples the batch has in all processes; None for those that there are. (batch, ...) is the shape
    of values that have a row for each sample of this process.
    """

    whole: int | None = None
    weight = 1.0  # the factor of this process's loss, where gradients are averaged over the processes

    # --- sizes and rows ----------------------------------------------------------------------------------------------

    def in_all(self, samples: int) -> int:
        """How many samples the batch has in all processes; `samples`: the rows that this process has."""
        return samples

    def counted(self, batch: Batch) -> Batch:
        """A batch made of the rows of this process, with the numbers of samples that it and others have."""
        return batch

    def own(self, values: Tensor) -> Tensor:
        """The rows of this process of values for the samples of all processes."""
        return values

    def rows(self, values: Tensor) -> Tensor:
        """The rows of all processes, of values (batch, ...). They record no gradients of others."""
        return values

    def joined(self, values: Tensor) -> Tensor:
        """As `rows`; gradients go to the rows of this process, as if each process used the result in its own loss."""
        return values

    # --- numbers -----------------------------------------------------------------------------------------------------

    def mean(self, values: Tensor, of: Tensor | None = None) -> Tensor:
        """The mean of values, (batch, ...), over the batch. `of`: the tensor they were made of, by which it is known.

        Where several processes share the batch, it records no gradients.
        """
        return values.mean()

    def sum(self, values: Tensor) -> Tensor:
        """The sum of values, (batch, ...), over the batch; see `mean`."""
        return values.sum()

    def of_sum(self, value: Tensor) -> Tensor:
        """A sum over the samples of this process as a part of its loss: the losses of processes are averaged."""
        return value

    def weighted(self, gradient: Tensor) -> Tensor:
        """A gradient of this process's loss as it counts in the mean over the processes."""
        return gradient

    def all(self, flag: Tensor) -> Tensor:
        """Whether a flag is True in every process."""
        return flag

    # --- losses, metrics and gradients -------------------------------------------------------------------------------
    # `of`: the `Objective` or `Measure` that is computed; see its `adds_up`.

    def value(self, of: Any, compute: Callable[..., Any], *given: Tensor | None) -> Any:
        """`compute(*given)` of a loss or metric: of the samples of all processes, unless its values add up."""
        return compute(*given)

    def count(self, of: Any, update: Callable[..., Any], *given: Tensor | None) -> None:
        """`update(*given)` of a metric with a state, as `value`."""
        update(*given)

    def averaged(self, gradients: Sequence[Tensor | None], replicas: OneReplica) -> Sequence[Tensor | None]:
        """The means over the processes of gradients that a step of the user's own has computed."""
        return gradients

    # --- batch statistics --------------------------------------------------------------------------------------------
    # `synchronized`: whether a layer's statistics are those of the whole batch, even where `compile` said otherwise.

    def follows(self, synchronized: bool = False) -> bool:
        """Whether moving statistics follow the statistics of the batch."""
        return True

    def check_axis(self, axis: int, synchronized: bool = True) -> None:
        """Raise ValueError where statistics for each sample, along `axis`, would need the samples of all processes."""

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
        """`torch.batch_norm` in training; see `world.batch_norm`."""
        moving = moving_mean, moving_variance
        return batch_norm(inputs, weight, bias, *moving, share, epsilon, by_population, followed_epsilon)

    def moments(self, inputs: Tensor, axes: list[int]) -> tuple[Tensor, Tensor, Any]:
        """(mean, variance, count) over axes, the batch's among them; these axes stay, with size 1."""
        variance, mean = torch.var_mean(inputs, axes, correction=0, keepdim=True)
        return mean, variance, inputs.numel() / mean.numel()

    def masked_moments(
        self, inputs: Tensor, mask: Tensor, axes: list[int], synchronized: bool = False
    ) -> tuple[Tensor, Tensor]:
        """(mean, variance) over axes of the values where `mask` is True; these axes stay, with size 1.

        Where no value is left, both are 0.
        """
        return masked_moments(inputs, lambda values: torch.where(mask, values, 0).sum(axes, keepdim=True))


class OneReplica:
    """The only replica of a model: how a step passes forward over it, and gets its gradients.

    `hooks`: the `id`s of hooks at the calls of layers whose work `passing` and `gradients` do.
    """

    hooks: frozenset[int] = frozenset()

    def passing(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run`, a forward pass over the network, as one whose gradients are those of all replicas."""
        return run

    def gradients(self, loss: Tensor, parameters: list[Tensor], one: Tensor | None) -> Sequence[Tensor | None]:
        """The gradients of `one * loss`, for all replicas their mean; None for a parameter that has none."""
        return torch.autograd.grad(loss, parameters, one, allow_unused=True)

    def averaged(self, gradients: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        """The means over all replicas of gradients that each has computed."""
        return gradients


class Current:
    """`batch`: the one of the step under way, as this process sees it."""

    def __init__(self) -> None:
        self.batch = WHOLE

    @contextmanager
    def on(self, batch: WholeBatch) -> Iterator[None]:
        """Inside the block a step runs on this batch."""
        before, self.batch = self.batch, batch
        try:
            yield
        finally:
            self.batch = before


WHOLE = WholeBatch()
ONE_REPLICA = OneReplica()
CURRENT = Current()
