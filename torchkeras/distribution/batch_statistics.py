"""Batch normalization by the statistics of a whole batch, of which several processes have a part each.

Forward, every process gathers the count, mean and variance of all. Backward, two sums for each channel are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.modules._functions import SyncBatchNorm
from torch.nn.modules.batchnorm import _NormBase
from torch.overrides import TorchFunctionMode

from torchkeras.engine.facts import is_own
from torchkeras.engine.layer.layer import Layer
from torchkeras.world.batch_norm import masked_moments
from torchkeras.world.one_process import CURRENT

if TYPE_CHECKING:
    from torchkeras.distribution.shared_batch import SharedBatch

_backward = torch.ops.aten.native_batch_norm_backward


def normalized(
    inputs: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    moving_mean: Tensor | None,
    moving_variance: Tensor | None,
    share: float,
    epsilon: float,
    shared: SharedBatch,
    by_population: bool = False,
) -> Tensor:
    """`torch.batch_norm` in training, (batch, channels, ...), by the statistics of the whole batch.

    The moving statistics, where given, follow those of the whole batch: `share` is torch's momentum. `by_population`:
    whether the moving variance follows one that is divided by n, not by n - 1.
    """
    arguments = inputs, weight, bias, moving_mean, moving_variance
    if (
        not by_population and inputs.is_cuda and shared.whole >= max(shared.processes, 2)
    ):  # torch's counts samples that stand in for none
        group = shared.group or dist.group.WORLD
        return SyncBatchNorm.apply(*arguments, epsilon, share, group, shared.processes)  # type: ignore[no-any-return]
    return _Normalized.apply(*arguments, share, epsilon, shared, by_population)  # type: ignore[no-any-return]


class _Normalized(torch.autograd.Function):
    """`normalized`, by torch's kernels for the statistics of one process."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        moving_mean: Tensor | None,
        moving_variance: Tensor | None,
        share: float,
        epsilon: float,
        shared: SharedBatch,
        by_population: bool,
    ) -> Tensor:
        kind = torch.promote_types(inputs.dtype, torch.float32)
        wide, weight, bias = inputs.to(kind), *(None if each is None else each.to(kind) for each in (weight, bias))
        mean, variance, count = _statistics(wide, shared)
        if moving_mean is not None and moving_variance is not None:
            of_samples = variance * (1 if by_population else count / (count - 1).clamp(min=1))
            for moving, found in ((moving_mean, mean), (moving_variance, of_samples)):
                moving.mul_(1 - share).add_(found.to(moving.dtype), alpha=share)
        ctx.save_for_backward(inputs, weight, mean, variance, count)
        ctx.epsilon, ctx.shared = epsilon, shared
        return torch.batch_norm(wide, weight, bias, mean, variance, False, 0.0, epsilon, False).to(inputs.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        inputs, weight, mean, variance, count = ctx.saved_tensors
        wide, gradient = inputs.to(mean.dtype), gradient.to(mean.dtype)
        fixed = (None, None, False, ctx.epsilon, [True] * 3)
        # As if the statistics were constants: what their own gradients add is a sum over the whole batch.
        # Given no weight, the kernel for CUDA gives no gradient of the bias.
        scale = torch.ones_like(mean) if weight is None else weight
        found, by_weight, by_bias = _backward(gradient, wide, scale, mean, variance, *fixed)
        if not ctx.shared.samples:
            found, by_weight, by_bias = map(torch.zeros_like, (found, by_weight, by_bias))
        if ctx.needs_input_grad[0]:
            means = ctx.shared.total(torch.stack([by_weight, by_bias])) / count
            if weight is not None:
                means = means * weight
            if ctx.shared.samples:
                scale, shift = means * torch.rsqrt(variance + ctx.epsilon)
                found -= torch.batch_norm(wide, scale, shift, mean, variance, False, 0.0, ctx.epsilon, False)
        of_three = (found.to(inputs.dtype), by_weight, by_bias)
        wanted = (each if need else None for each, need in zip(of_three, ctx.needs_input_grad, strict=False))
        return *wanted, None, None, None, None, None, None


def _statistics(inputs: Tensor, shared: SharedBatch) -> tuple[Tensor, Tensor, Tensor]:
    """(mean, variance, count) of each channel over the whole batch."""
    channels, (own_mean, own_variance) = inputs.shape[1], torch.batch_norm_update_stats(inputs, None, None, 0.0)
    own_count = own_mean.new_full((1,), inputs.numel() // channels if shared.samples else 0)
    of_all = shared.stacked(torch.cat([own_count, own_mean, own_variance]))
    counts, means, variances = of_all.split([1, channels, channels], 1)
    count = counts.sum()
    mean = (counts * means).sum(0) / count
    squares = counts * (variances + (means - mean) ** 2)  # Chan, Golub and LeVeque, 1979
    return mean, squares.sum(0) / count, count


def moments(inputs: Tensor, axes: list[int], shared: SharedBatch) -> tuple[Tensor, Tensor, Tensor]:
    """(mean, variance, count) over axes of the whole batch, the first among them; these axes stay, with size 1."""
    own = inputs[: shared.samples]
    total = own.sum(axes, keepdim=True)
    own_count = total.new_full((1,) * total.dim(), own.numel() / total.numel())
    count = shared.total(own_count)
    mean = _Total.apply(total, shared) / count
    return mean, _Total.apply((own - mean).square().sum(axes, keepdim=True), shared) / count, count


def shared_masked_moments(inputs: Tensor, mask: Tensor, axes: list[int], shared: SharedBatch) -> tuple[Tensor, Tensor]:
    """(mean, variance) over axes of the whole batch, of the values where `mask` is True; these axes stay, with size 1.

    Where no value is left, both are 0.
    """

    def total(values: Tensor) -> Tensor:
        kept = torch.where(mask, values, 0)
        return _Total.apply(kept[: shared.samples].sum(axes, keepdim=True), shared)  # type: ignore[no-any-return]

    return masked_moments(inputs, total)


class _Total(torch.autograd.Function):
    """`SharedBatch.total`, with gradients: each process's part counts in what every process makes of the total."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, shared: SharedBatch) -> Tensor:
        ctx.shared = shared
        return shared.total(values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        return _Total.apply(gradient, ctx.shared), None


class Synchronizing(TorchFunctionMode):
    """Inside the block, torch's own batch normalization, in a user's modules and functions, is by the whole batch."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        chosen, shared = _OF_WHOLE_BATCHES.get(func), CURRENT.batch
        if chosen is None or not getattr(shared, "sync_batch_norm", False):
            return func(*args, **kwargs or {})
        return chosen(shared, *args, **kwargs or {})


def _batch_norm(
    shared: SharedBatch,
    input: Tensor,  # torch's name
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`torch.nn.functional.batch_norm`."""
    arguments = input, weight, bias, running_mean, running_var
    return _torch_batch_norm(shared, *arguments, training, momentum, eps, torch.backends.cudnn.enabled)


def _torch_batch_norm(
    shared: SharedBatch,
    input: Tensor,  # torch's name
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`torch.batch_norm`."""
    arguments = input, weight, bias, running_mean, running_var
    if not training:
        return torch.batch_norm(*arguments, training, momentum, eps, cudnn_enabled)
    if shared.whole == 1 and input.numel() == input.shape[1]:
        raise ValueError(f"Batch normalization needs more than one value of a channel; found {tuple(input.shape)}.")
    return normalized(*arguments, momentum, eps, shared)


def _instance_norm(shared: SharedBatch, *args: Any, **kwargs: Any) -> Tensor:
    """`torch.nn.functional.instance_norm`, whose moving statistics are those of one process's samples."""
    running_mean = kwargs.get("running_mean", args[1] if len(args) > 1 else None)
    by_input = kwargs.get("use_input_stats", args[5] if len(args) > 5 else True)
    if running_mean is not None and by_input:
        raise NotImplementedError(
            "Instance normalization with track_running_stats=True follows the statistics of a batch, which several "
            "processes share here: make it with track_running_stats=False, or compile with sync_batch_norm=False."
        )
    return nn.functional.instance_norm(*args, **kwargs)


_OF_WHOLE_BATCHES: dict[Any, Callable[..., Tensor]] = {
    nn.functional.batch_norm: _batch_norm,
    torch.batch_norm: _torch_batch_norm,
    nn.functional.instance_norm: _instance_norm,
}


# --- models that may call torch's functions ---------------------------------------------------------------------------


def normalizing(network: nn.Module) -> AbstractContextManager[object]:
    """What a step on a shared batch runs in, so that all batch normalization is by the whole batch.

    Layers of this package ask for the whole batch themselves. A user's code may call torch's functions and modules:
    for a model that has any, these functions are replaced while the block runs.
    """
    return Synchronizing() if any(map(_may_normalize, _modules(network))) else nullcontext()


def _modules(module: nn.Module) -> Iterator[nn.Module]:
    """The modules of a model that may be called."""
    yield module
    if not (isinstance(module, Layer) and module._facts.knows_whole_batch):
        for child in module.children():
            yield from _modules(child)


def _may_normalize(module: nn.Module) -> bool:
    return isinstance(module, _NormBase) or runs_users_code(module)


def runs_users_code(module: nn.Module) -> bool:
    """Whether a module may compute anything, by code that is neither this package's nor torch's."""
    if isinstance(module, Layer) and module._facts.runs_users_code:
        return True
    kind = type(module)
    return not (is_own(kind) or kind.__module__.startswith("torch."))
