"""Optimizers of two moments next to Adam: Adamax, Nadam, Lamb.

All have m = beta_1 * m + (1 - beta_1) * g and, except Adamax, v = beta_2 * v + (1 - beta_2) * g**2; t is the number of
the step, counted from 1.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.adaptive_moments import Adam, AdamW
from torchkeras.optimizers.base import Optimizer, leaky, leaky_squares
from torchkeras.optimizers.parameter_groups import Group
from torchkeras.optimizers.root_mean_square import rooted

__all__ = ["Adam", "AdamW", "Adamax", "Lamb", "Nadam"]  # earlier pickles name Adam and AdamW here


@dataclass(eq=False)
class Adamax(Optimizer):
    """u = max(beta_2 * u, |g|); p -= lr_t / (1 - beta_1**t) * m / (u + epsilon).

    Here m = beta_1 * m + (1 - beta_1) * g, and t is the number of the step, from 1.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.002): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
        beta_2 (number from 0 to below 1, default 0.999): the share of u that stays.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
        decay (number of at least 0, default 0.0): the rate of a step is lr / (1 + decay * iterations).

    Example:
        >>> weight = torch.ones(2)
        >>> Adamax(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Kingma and Ba, https://arxiv.org/abs/1412.6980v8, section 7
    """

    lr: Any = 0.002
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = None  # type: ignore[assignment]
    decay: float = 0.0

    moment_names = ("ms", "us")

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        firsts, largest = group.moments
        leaky(firsts, gradients, self.beta_1)
        torch._foreach_mul_(largest, self.beta_2)
        torch._foreach_maximum_(largest, torch._foreach_abs(gradients))
        rate /= 1.0 - self.beta_1 ** (self.iterations + 1)
        denominators = torch._foreach_add(largest, self.epsilon)
        torch._foreach_addcdiv_(group.parameters, firsts, denominators, value=-rate)


@dataclass(eq=False)
class Nadam(Optimizer):
    """Adam with Nesterov's momentum, which warms up: c_t = beta_1 * (1 - 0.96**(t * schedule_decay) / 2).

    With C_t the product of all c so far, p -= lr * ((1 - c_t) * g / (1 - C_t) + c_(t+1) * m / (1 - C_(t+1))) /
    (sqrt(v / (1 - beta_2**t)) + epsilon). m, v and t are those of Adam.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.002): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
        beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.
        schedule_decay (number of at least 0, default 0.004): how fast the momentum warms up; 1 in Keras 3.

    Example:
        >>> weight = torch.ones(2)
        >>> Nadam(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.8944, 1.1056])

    Source: Dozat, http://cs229.stanford.edu/proj2015/054_report.pdf
    """

    lr: Any = 0.002
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = None  # type: ignore[assignment]
    schedule_decay: float = 0.004

    moment_names = ("ms", "vs")

    def __post_init__(self, *given: Any) -> None:
        super().__post_init__(*given)
        self._product: Any = None  # a number of steps, and C after these

    def _momentum(self, t: int) -> float:
        return self.beta_1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay))

    def _product_before(self) -> float:
        """C after `iterations` steps: the product that was kept or, after a jump such as a file makes, a new one."""
        if self._product is None or self._product[0] != self.iterations:
            found, t = 1.0, 1
            while found and t <= self.iterations:
                found, t = found * self._momentum(t), t + 1
            self._product = (self.iterations, found)
        return self._product[1]

    def _update(self, gradients: Any) -> None:
        product = self._product_before()
        super()._update(gradients)
        self._product = (self.iterations, product * self._momentum(self.iterations))

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        firsts, squares = group.moments
        leaky(firsts, gradients, self.beta_1)
        leaky_squares(squares, gradients, self.beta_2)
        t = self.iterations + 1
        now, ahead = self._momentum(t), self._momentum(t + 1)
        product = self._product_before() * now
        scaled = torch._foreach_div(squares, 1.0 - self.beta_2**t)
        denominators = rooted(list(scaled), self.epsilon, False)
        for values, share in ((gradients, (1.0 - now) / (1.0 - product)), (firsts, ahead / (1.0 - product * ahead))):
            torch._foreach_addcdiv_(group.parameters, values, denominators, value=-rate * share)

    @property
    def momentum_product(self) -> float:
        """The product of all c so far."""
        return self._product_before()

    def _more(self) -> dict[str, float]:
        return {"product": self._product_before()}

    def _load_more(self, numbers: Mapping[str, float]) -> None:
        self._product = (self.iterations, numbers["product"])


@dataclass(eq=False)
class Lamb(Optimizer):
    """u = (m / (1 - beta_1**t)) / (sqrt(v / (1 - beta_2**t)) + epsilon); p -= lr_t * norm(p) / norm(u) * u.

    The norms are those of a weight; where one is 0 their ratio is 1. m, v and t are those of Adam, options as in Keras
    3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        beta_1 (number from 0 to below 1, default 0.9): the share of m that stays.
        beta_2 (number from 0 to below 1, default 0.999): the share of v that stays.
        epsilon (number of at least 0 or None, default None): keeps the division finite; None is `config.epsilon()`.

    Example:
        >>> weight = torch.ones(2)
        >>> Lamb(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: You et al., https://arxiv.org/abs/1904.00962
    """

    lr: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = None  # type: ignore[assignment]

    moment_names = ("ms", "vs")
    takes_arrays = True

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        firsts, squares = group.moments
        leaky(firsts, gradients, self.beta_1)
        leaky_squares(squares, gradients, self.beta_2)
        t = self.iterations + 1
        scaled = torch._foreach_div(squares, 1.0 - self.beta_2**t)
        updates: Any = torch._foreach_div(firsts, 1.0 - self.beta_1**t)
        torch._foreach_div_(updates, rooted(list(scaled), self.epsilon, False))
        sizes, lengths = group.array_norms(group.parameters), group.array_norms(updates)
        ratios = torch.where((sizes > 0) & (lengths > 0), sizes / lengths, torch.ones_like(sizes))
        torch._foreach_mul_(updates, list(ratios.to(updates[0].dtype).unbind()))
        torch._foreach_add_(group.parameters, updates, alpha=-rate)
