"""Adam and AdamW, by torch's fused kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from torchkeras.optimizers.base import Optimizer, fused_adam
from torchkeras.optimizers.parameter_groups import Group


@dataclass(eq=False)
class Adam(Optimizer):
    """p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon).

    Here m = beta_1 * m + (1 - beta_1) * g, v = beta_2 * v + (1 - beta_2) * g**2, and t is the number of the step, from
    1.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
        beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).
        amsgrad (bool, default False): whether the largest v so far replaces v.

    Example:
        >>> weight = torch.ones(2)
        >>> Adam(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Kingma and Ba, https://arxiv.org/abs/1412.6980v8; Reddi et al., https://openreview.net/forum?id=ryQu7f-RZ
    """

    lr: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = None  # type: ignore[assignment]  # the configuration's, by its rule
    decay: float = 0.0
    amsgrad: bool = False

    decays_weights = True

    @property
    def moment_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("ms", "vs", "vhats") if self.amsgrad else ("ms", "vs")

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        t, betas, moments = self.iterations + 1, (self.beta_1, self.beta_2), group.moments
        # The kernel decays by its own rate, which has the bias correction in it.
        decay = self.weight_decay / adam_rate(1.0, t, *betas) if self.weight_decay and group.decays else 0.0
        fused_adam(group, gradients, moments, adam_rate(rate, t, *betas), *betas, self.epsilon, decay, self.skipping)

    @property
    def can_skip(self) -> bool:
        return not (self.use_ema or self.gradient_accumulation_steps)

    def get_weights(self) -> list[np.ndarray]:
        return super().get_weights() + self._unused()

    def set_weights(self, weights: Sequence[Any]) -> None:
        unused = self._unused()
        kept = len(weights) - len(unused)
        if any(np.shape(array) != (1,) for array in weights[kept:]):
            raise ValueError(
                f"{type(self).__name__}: without amsgrad the last arrays of the state, one a parameter, have shape "
                "(1,)."
            )
        super().set_weights(weights[:kept])

    def _unused(self) -> list[np.ndarray]:
        # Keras writes a zero for each parameter where amsgrad would have its maximum.
        return [] if self.amsgrad else [np.zeros(1, np.float32) for _ in self._arrangements]


@dataclass(eq=False)
class AdamW(Adam):
    """Adam after p -= lr_t * weight_decay * p, in one kernel.

    Defaults are those of Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        weight_decay (number of at least 0 or None, default 0.004): the share of p that is subtracted at a rate of 1.

    Example:
        >>> weight = torch.ones(2)
        >>> AdamW(0.1, weight_decay=0.5).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.8500, 1.0500])

    Source: Loshchilov and Hutter, https://arxiv.org/abs/1711.05101
    """

    weight_decay: float = 0.004


def adam_rate(rate: float, t: int, beta_1: float, beta_2: float) -> float:
    """rate * sqrt(1 - beta_2**t) / (1 - beta_1**t)"""
    return rate * math.sqrt(1.0 - beta_2**t) / (1.0 - beta_1**t)
