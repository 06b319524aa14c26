"""Adafactor: mean squares of gradients, kept as their means over rows and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.optimizers.base import Optimizer
from torchkeras.optimizers.parameter_groups import Group, in_order
from torchkeras.optimizers.state import Slot

FACTORED = "factored"


@dataclass(eq=False)
class Adafactor(Optimizer):
    """p -= max(epsilon_2, rms(p)) * min(lr, 1 / sqrt(t)) * u / max(1, rms(u) / clip_threshold), where u = g / sqrt(v).

    v is the mean of g**2 + epsilon_1, with the weight 1 - t**beta_2_decay on the past. For weights with two axes or
    more only its means r over the last axis and c over the last but one are kept, and v = r / mean(r) * c. Options are
    as in Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        beta_2_decay (number of at most 0, default -0.8): how fast the weight of the past grows.
        epsilon_1 (number of at least 0, default 1e-30): added to squares of gradients.
        epsilon_2 (number of at least 0, default 0.001): the least size that a step is scaled by.
        clip_threshold (number over 0, default 1.0): the root mean square that u is scaled down to.
        relative_step (bool, default True): kept in the config. As in Keras 3 the rate is at most 1 / sqrt(t) either
            way.

    Example:
        >>> weight = torch.ones(2)
        >>> Adafactor(0.1).update([weight], [torch.tensor([1.0, -2.0])])
        True
        >>> weight
        tensor([0.9000, 1.1000])

    Source: Shazeer and Stern, https://arxiv.org/abs/1804.04235
    """

    lr: Any = 0.001
    beta_2_decay: float = -0.8
    epsilon_1: float = 1e-30
    epsilon_2: float = 1e-3
    clip_threshold: float = 1.0
    relative_step: bool = True

    moment_names = ("rows", "columns", "velocities")
    takes_arrays = True

    def _kind(self, array: int, tensors: list[Tensor]) -> str:
        return FACTORED if len(self._arrangements[array].shape(tensors)) >= 2 else ""

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        # Rows and columns are of Keras's arrays: they stand with the first parameter of each.
        rows, columns, velocities = ([p.new_zeros(0) for p in group.parameters] for _ in range(3))
        for array, places in group.by_array().items():
            if group.kind == FACTORED:
                *rest, height, width = self._arrangements[array].shape([group.parameters[k] for k in places])
                rows[places[0]] = group.parameters[places[0]].new_zeros(*rest, height)
                columns[places[0]] = group.parameters[places[0]].new_zeros(*rest, width)
            else:
                for k in places:
                    velocities[k] = torch.zeros_like(group.parameters[k], requires_grad=False)
        return [rows, columns, velocities]

    def slots(self) -> list[Slot]:
        self._begin()
        rows, columns, velocities = (in_order(self._groups, moment) for moment in range(3))
        found, place = [], 0
        for array, made in enumerate(self._arrangements):
            if self._kinds[array] == FACTORED:
                found += [
                    Slot(n, array, IN_ORDER, [v[place]], False) for n, v in (("rows", rows), ("columns", columns))
                ]
            else:
                found.append(Slot("velocities", array, made, velocities[place : place + made.count]))
            place += made.count
        return sorted(found, key=lambda slot: self.moment_names.index(slot.moment))

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        t = self.iterations + 1
        rate, new = min(rate, t**-0.5), t**self.beta_2_decay
        for array, places in group.by_array().items():
            made = self._arrangements[array]
            values, given = ([tensors[k] for k in places] for tensors in (group.parameters, gradients))
            value, gradient = made.array(values), made.array(given)
            squares = gradient.square().add_(self.epsilon_1)
            if group.kind == FACTORED:
                squares = self._factored(group, places[0], squares, new)
            else:
                velocities = [group.moments[2][k] for k in places]
                made.assign(velocities, made.array(velocities).lerp(squares, new))
                squares = made.array(velocities)
            update = gradient / squares.sqrt()
            update = update / (_rms(update) / self.clip_threshold).clamp(min=1.0)
            made.assign(values, value - _rms(value).clamp(min=self.epsilon_2) * rate * update)

    def _factored(self, group: Group, place: int, squares: Tensor, new: float) -> Tensor:
        rows, columns = group.moments[0][place], group.moments[1][place]
        rows.lerp_(squares.mean(-1), new)
        columns.lerp_(squares.mean(-2), new)
        return (rows / rows.mean(-1, keepdim=True)).unsqueeze(-1) * columns.unsqueeze(-2)


def _rms(values: Tensor) -> Tensor:
    return values.square().mean().sqrt()
