"""Optimizers that divide a gradient by the root of its mean square: RMSprop, Adagrad, Adadelta."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.base import Optimizer, fused_adam, leaky, leaky_squares, newer
from torchkeras.optimizers.parameter_groups import Group


@dataclass(eq=False)
class RMSprop(Optimizer):
    """a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon).

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        rho (number from 0 to below 1, default 0.9): the share of a that stays.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
        momentum (number of at least 0, default 0.0): with one, v = momentum * v + lr_t * g / denominator; p -= v.
        centered (bool, default False): whether a - mean(g)**2 replaces a; the mean is a moving average like a.
        epsilon_inside_root (bool, default False): whether the denominator is sqrt(a + epsilon), as in Keras 3.

    Example:
        >>> weight = torch.ones(2)
        >>> RMSprop(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.6838, 1.3162])

    Source: Hinton's lecture 6, http://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf
    """

    lr: Any = 0.001
    rho: float = 0.9
    epsilon: float = None  # type: ignore[assignment]  # the configuration's, by its rule
    decay: float = 0.0
    momentum: float = newer(0.0)
    centered: bool = newer(False)
    epsilon_inside_root: bool = newer(False)

    counts_steps = False

    @property
    def moment_names(self) -> tuple[str, ...]:  # type: ignore[override]
        more = (("velocities",) if self.momentum else ()) + (("means",) if self.centered else ())
        return ("accumulators", *more)

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        if not (self.momentum or self.centered or self.epsilon_inside_root):
            # Adam whose first moment is the gradient itself: one kernel, in 0.24 of the time of five foreach calls.
            fused_adam(group, gradients, [gradients, *group.moments], rate, 0.0, self.rho, self.epsilon)
            return
        squares: Any = group.moments[0]
        leaky_squares(squares, gradients, self.rho)
        if self.centered:
            means = group.moments[-1]
            leaky(means, gradients, self.rho)
            squares = torch._foreach_addcmul(squares, means, means, value=-1.0)
        denominators = rooted(squares, self.epsilon, self.epsilon_inside_root)
        if self.momentum:
            velocities = group.moments[1]
            torch._foreach_mul_(velocities, self.momentum)
            torch._foreach_addcdiv_(velocities, gradients, denominators, value=rate)
            torch._foreach_sub_(group.parameters, velocities)
        else:
            torch._foreach_addcdiv_(group.parameters, gradients, denominators, value=-rate)


@dataclass(eq=False)
class Adagrad(Optimizer):
    """a += g**2; p -= lr_t * g / (sqrt(a) + epsilon).

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
        initial_accumulator_value (number of at least 0, default 0.0): the a before the first step; 0.1 in Keras 3.
        epsilon_inside_root (bool, default False): whether the denominator is sqrt(a + epsilon), as in Keras 3.

    Example:
        >>> weight = torch.ones(2)
        >>> Adagrad(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Duchi et al., https://www.jmlr.org/papers/volume12/duchi11a/duchi11a.pdf
    """

    lr: Any = 0.01
    epsilon: float = None  # type: ignore[assignment]
    decay: float = 0.0
    initial_accumulator_value: float = newer(0.0)
    epsilon_inside_root: bool = newer(False)

    moment_names = ("accumulators",)
    counts_steps = False

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        start = self.initial_accumulator_value
        return [[torch.full_like(p, start, requires_grad=False) for p in group.parameters]]

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        if not self.epsilon_inside_root:
            _adagrad(group, gradients, rate, self.epsilon)
            return
        (squares,) = group.moments
        torch._foreach_addcmul_(squares, gradients, gradients)
        denominators = rooted(squares, self.epsilon, True)
        torch._foreach_addcdiv_(group.parameters, gradients, denominators, value=-rate)


@dataclass(eq=False)
class Adadelta(Optimizer):
    """a = rho * a + (1 - rho) * g**2; u = g * sqrt(d + epsilon) / sqrt(a + epsilon).

    Then p -= lr_t * u; d = rho * d + (1 - rho) * u**2.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 1.0): the learning rate.
        rho (number from 0 to below 1, default 0.95): the share of a and d that stays.
        epsilon (number of at least 0 or None, default None): keeps the roots over 0; None is `config.epsilon()`.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).

    Example:
        >>> weight = torch.ones(2)
        >>> Adadelta(epsilon=0.01).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.5918, 1.4364])

    Source: Zeiler, https://arxiv.org/abs/1212.5701
    """

    lr: Any = 1.0
    rho: float = 0.95
    epsilon: float = None  # type: ignore[assignment]
    decay: float = 0.0

    moment_names = ("accumulators", "delta_accumulators")
    counts_steps = False

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        squares, deltas = group.moments
        leaky_squares(squares, gradients, self.rho)
        updates = rooted(deltas, self.epsilon, True)
        torch._foreach_div_(updates, rooted(squares, self.epsilon, True))
        torch._foreach_mul_(updates, gradients)
        torch._foreach_add_(group.parameters, updates, alpha=-rate)
        leaky_squares(deltas, updates, self.rho)


def rooted(squares: list[Tensor], epsilon: float, inside: bool) -> list[Tensor]:
    """sqrt(squares + epsilon) if `inside`, else sqrt(squares) + epsilon."""
    if inside:
        found = torch._foreach_add(squares, epsilon)
        torch._foreach_sqrt_(found)
    else:
        found = torch._foreach_sqrt(squares)
        torch._foreach_add_(found, epsilon)
    return list(found)


def _adagrad(group: Group, gradients: list[Tensor], rate: float, epsilon: float) -> None:
    """a += g**2; p -= rate * g / (sqrt(a) + epsilon)"""
    (sums,) = group.moments
    if _has_fused_adagrad(group.parameters[0].device.type):
        torch._fused_adagrad_(
            group.parameters,
            gradients,
            sums,
            group.once,
            lr=rate,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=epsilon,
            maximize=False,
        )
        return
    torch._foreach_addcmul_(sums, gradients, gradients)
    denominators = torch._foreach_sqrt(sums)
    torch._foreach_add_(denominators, epsilon)
    torch._foreach_addcdiv_(group.parameters, gradients, denominators, value=-rate)


@lru_cache
def _has_fused_adagrad(device: str) -> bool:
    # torch 2.6 has it for the CPU alone.
    return device in ("cpu", "cuda") and torch._C._dispatch_has_kernel_for_dispatch_key(
        "aten::_fused_adagrad_", device.upper()
    )
