"""Ftrl: follow the regularized leader."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.base import Optimizer
from torchkeras.optimizers.parameter_groups import Group


@dataclass(eq=False)
class Ftrl(Optimizer):
    """p = (clip(z, -l1, l1) - z) / (n**power / lr_t + 2 * l2 + beta / lr_t), the power being -learning_rate_power.

    Before it z += g + 2 * l2_shrinkage * p - (n_new**power - n**power) / lr_t * p; n_new = n + g**2. At a rate of 0, by
    which the formula divides, weights and state do not change. Options are as in Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        learning_rate_power (number of at most 0, default -0.5): how fast the step shrinks with n; 0 keeps it.
        initial_accumulator_value (number of at least 0, default 0.1): the n before the first step.
        l1_regularization_strength (number of at least 0, default 0.0): l1, which makes weights 0.
        l2_regularization_strength (number of at least 0, default 0.0): l2, which makes weights small.
        l2_shrinkage_regularization_strength (number of at least 0, default 0.0): l2_shrinkage, a penalty on the weights
            before the step.
        beta (number of at least 0, default 0.0): makes steps smaller, most of all where n is small.

    Example:
        >>> weight = torch.ones(2)
        >>> Ftrl(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.6031, 0.9426])

    Source: McMahan et al., https://research.google.com/pubs/archive/41159.pdf
    """

    lr: Any = 0.001
    learning_rate_power: float = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    l2_shrinkage_regularization_strength: float = 0.0
    beta: float = 0.0

    moment_names = ("accumulators", "linears")

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        _, linears = super()._zeros(group)
        start = self.initial_accumulator_value
        return [[torch.full_like(p, start, requires_grad=False) for p in group.parameters], linears]

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        if not rate:
            return
        parameters, (sums, linears) = group.parameters, group.moments
        grown = self._power(torch._foreach_addcmul(sums, gradients, gradients))
        shift: Any = torch._foreach_sub(grown, self._power(sums))
        torch._foreach_mul_(shift, parameters)
        torch._foreach_add_(linears, gradients)
        torch._foreach_add_(linears, shift, alpha=-1.0 / rate)
        if self.l2_shrinkage_regularization_strength:
            # Before the weights change: the penalty is on the old ones.
            twice = 2.0 * self.l2_shrinkage_regularization_strength
            torch._foreach_add_(linears, parameters, alpha=twice)
        denominators: Any = torch._foreach_div(grown, rate)
        torch._foreach_add_(denominators, 2.0 * self.l2_regularization_strength + self.beta / rate)
        limit = self.l1_regularization_strength
        clipped: Any = torch._foreach_clamp_max(linears, limit)
        torch._foreach_clamp_min_(clipped, -limit)
        torch._foreach_sub_(clipped, linears)
        torch._foreach_div_(clipped, denominators)
        torch._foreach_copy_(parameters, clipped)
        torch._foreach_addcmul_(sums, gradients, gradients)

    def _power(self, sums: Any) -> Any:
        return torch._foreach_pow(sums, -self.learning_rate_power)
