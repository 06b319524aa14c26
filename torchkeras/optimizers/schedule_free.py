"""AdamW without a schedule of rates: the weights are drawn to an average of all steps."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.base import Optimizer, leaky_squares
from torchkeras.optimizers.parameter_groups import Group
from torchkeras.optimizers.root_mean_square import rooted


@dataclass(eq=False)
class ScheduleFreeAdamW(Optimizer):
    """z -= lr_t * g / (sqrt(v / (1 - beta_2**t)) + epsilon); x += (z - x) / t; p = (1 - beta_1) * z + beta_1 * x.

    Here v = beta_2 * v + (1 - beta_2) * g**2, t is the number of the step, from 1, z begins as the weight p, and x is
    computed from p and z. Options are as in Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.0025): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of x in the weight; not 0, since x is found by
            dividing by it.
        beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
        epsilon (number of at least 0 or None, default 1e-08): keeps the division finite; None is `config.epsilon()`.
        warmup_steps (integer of at least 0, default 0): over how many steps the rate rises from 0 to lr_t.

    Errors:
        ValueError: `beta_1` is 0.

    Example:
        >>> weight = torch.ones(2)
        >>> ScheduleFreeAdamW(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Defazio et al., https://arxiv.org/abs/2405.15682
    """

    lr: Any = 0.0025
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    warmup_steps: int = 0

    moment_names = ("momentums", "velocities")

    def _read(self, name: str, value: Any) -> Any:
        found = super()._read(name, value)
        if name == "beta_1" and not found:
            raise ValueError(f"{type(self).__name__}: beta_1 must be a number above 0 and below 1; found {value!r}.")
        return found

    def __post_init__(self, *given: Any) -> None:
        super().__post_init__(*given)
        self._read("beta_1", self.beta_1)

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        _, velocities = super()._zeros(group)
        return [[p.detach().clone(memory_format=torch.preserve_format) for p in group.parameters], velocities]

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        momentums, velocities = group.moments
        t = self.iterations + 1
        if self.warmup_steps:
            rate *= min(t / self.warmup_steps, 1.0)
        leaky_squares(velocities, gradients, self.beta_2)
        scaled = torch._foreach_div(velocities, 1.0 - self.beta_2**t)
        denominators = rooted(list(scaled), self.epsilon, False)
        # x of before is (p - (1 - beta_1) * z) / beta_1: in place in p, while z is still that of before.
        averages: Any = group.parameters
        torch._foreach_add_(averages, momentums, alpha=self.beta_1 - 1.0)
        torch._foreach_div_(averages, self.beta_1)
        torch._foreach_addcdiv_(momentums, gradients, denominators, value=-rate)
        torch._foreach_lerp_(averages, momentums, 1.0 / t)
        torch._foreach_lerp_(group.parameters, momentums, 1.0 - self.beta_1)
