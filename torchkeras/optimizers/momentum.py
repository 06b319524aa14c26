"""Optimizers whose state is a velocity: SGD and Lion. See `base` for lr_t, the rate of a step."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.optimizers.base import Optimizer, fused_sgd, leaky
from torchkeras.optimizers.parameter_groups import Group


@dataclass(eq=False)
class SGD(Optimizer):
    """v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g.

    Without momentum no velocity is kept, and `get_weights` gives zeros for it.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
        momentum (number of at least 0, default 0.0): the share of the velocity v that stays.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
        nesterov (bool, default False): whether the momentum is Nesterov's.

    Example:
        >>> weight = torch.ones(2)
        >>> SGD(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.2000])

    Source: https://keras.io/api/optimizers/sgd/
    """

    lr: Any = 0.01
    momentum: float = 0.0
    decay: float = 0.0
    nesterov: bool = False

    moment_names = ("moments",)

    @property
    def keeps_moments(self) -> bool:
        return self.momentum > 0

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        sgd = partial(fused_sgd, group.parameters, gradients, found_inf=self.skipping)
        if not self.momentum:
            sgd([], lr=rate, momentum=0.0, dampening=0.0)
            return
        # torch's buffer with a dampening of 1 - rate is -v: it holds whatever the rate of earlier steps was.
        ahead = self.momentum if self.nesterov else 1.0
        sgd(group.moments[0], lr=ahead, momentum=self.momentum, dampening=1.0 - rate)
        if self.nesterov:
            torch._foreach_add_(group.parameters, gradients, alpha=-rate)

    @property
    def can_skip(self) -> bool:
        return not (self.nesterov or self.weight_decay or self.use_ema or self.gradient_accumulation_steps)

    def get_weights(self) -> list[np.ndarray]:
        weights = super().get_weights()
        return weights[:1] + [0.0 - buffer for buffer in weights[1:]]

    def set_weights(self, weights: Sequence[Any]) -> None:
        super().set_weights([*weights[:1], *(-np.asarray(velocity) for velocity in weights[1:])])


@dataclass(eq=False)
class Lion(Optimizer):
    """p -= lr_t * sign(beta_1 * m + (1 - beta_1) * g); m = beta_2 * m + (1 - beta_2) * g.

    Options are as in Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of m in the step.
        beta_2 (number from 0 to below 1, default 0.99): the share of m that stays.

    Example:
        >>> weight = torch.ones(2)
        >>> Lion(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Chen et al., https://arxiv.org/abs/2302.06675
    """

    lr: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.99

    moment_names = ("momentums",)

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        (momentums,) = group.moments
        directions = torch._foreach_lerp(momentums, gradients, 1.0 - self.beta_1)
        torch._foreach_sign_(directions)
        torch._foreach_add_(group.parameters, directions, alpha=-rate)
        leaky(momentums, gradients, self.beta_2)
