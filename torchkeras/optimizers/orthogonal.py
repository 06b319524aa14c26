"""Muon: matrices take orthogonal steps, all other weights those of Adam."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.adaptive_moments import adam_rate
from torchkeras.optimizers.base import Optimizer, fused_adam
from torchkeras.optimizers.parameter_groups import Group
from torchkeras.optimizers.state import Slot

MATRIX = "matrix"
LEAST_NORM = 1e-7


@dataclass(eq=False)
class Muon(Optimizer):
    """m = momentum * m + g; p -= lr_t * rms_rate * sqrt(longer side) * orthogonal(g + momentum * m).

    This is for weights that are matrices in Keras; all other weights train by Adam. `orthogonal` divides by the norm
    and applies `ns_steps` times x -> muon_a * x + (muon_b * y + muon_c * y @ y) @ x with y = x @ x.T. Options are as in
    Keras 3.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.001): the learning rate.
        adam_beta_1 (number from 0 to below 1, default 0.9): Adam's beta_1.
        adam_beta_2 (number from 0 to below 1, default 0.999): Adam's beta_2.
        adam_weight_decay (number of at least 0 or None, default 0.004): the weight decay of weights that train by Adam.
        epsilon (number of at least 0 or None, default None): Adam's epsilon; None is `config.epsilon()`.
        weight_decay (number of at least 0 or None, default 0.004): the weight decay of matrices.
        exclude_layers (list of patterns, default ()): regular expressions; a matrix whose path ("layer/weight") has a
            match trains by Adam.
        exclude_embeddings (bool, default True): whether matrices with "embedding" in their path train by Adam.
        muon_a (number, default 3.4445): the coefficient of x.
        muon_b (number, default -4.775): the coefficient of y @ x.
        muon_c (number, default 2.0315): the coefficient of y @ y @ x.
        adam_lr_ratio (number of at least 0, default 1.0): Adam's rate is lr_t * adam_lr_ratio.
        momentum (number of at least 0, default 0.95): the share of m that stays.
        ns_steps (integer of at least 0, default 5): how often the matrix is brought nearer to an orthogonal one.
        nesterov (bool, default True): whether the momentum is Nesterov's; otherwise the step is orthogonal(m).
        rms_rate (number of at least 0 or None, default 0.2): the size of a step; None leaves out its factor and the
            root.

    Example:
        >>> weight = torch.zeros(2, 2)
        >>> Muon(0.1).update([weight], [torch.tensor([[1.0, 0.0], [0.0, -2.0]])])
        True
        >>> weight
        tensor([[-0.0315,  0.0000],
                [ 0.0000,  0.0195]])

    Source: Jordan et al., https://kellerjordan.github.io/posts/muon/; Liu et al., https://arxiv.org/abs/2502.16982
    """

    lr: Any = 0.001
    adam_beta_1: float = 0.9
    adam_beta_2: float = 0.999
    adam_weight_decay: float | None = 0.004
    epsilon: float = None  # type: ignore[assignment]  # the configuration's, by its rule
    _: KW_ONLY
    weight_decay: float | None = 0.004
    exclude_layers: Sequence[str] = ()
    exclude_embeddings: bool = True
    muon_a: float = 3.4445
    muon_b: float = -4.7750
    muon_c: float = 2.0315
    adam_lr_ratio: float = 1.0
    momentum: float = 0.95
    ns_steps: int = 5
    nesterov: bool = True
    rms_rate: float | None = 0.2

    moment_names = ("momentums", "velocities")
    decays_weights = True
    takes_arrays = True

    def _kind(self, array: int, tensors: list[Tensor]) -> str:
        if self.exclude_layers and self._names is None:
            raise ValueError("Muon: exclude_layers needs the weights' names; `bind` was given none.")
        path = self._path(array)
        excluded = self.exclude_embeddings and "embedding" in path.lower()
        excluded = excluded or any(re.search(pattern, path) for pattern in self.exclude_layers)
        return MATRIX if len(self._arrangements[array].shape(tensors)) == 2 and not excluded else ""

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        momentums, velocities = super()._zeros(group)
        return [momentums, [p.new_zeros(0) for p in group.parameters] if group.kind == MATRIX else velocities]

    def slots(self) -> list[Slot]:
        return [s for s in super().slots() if not (s.moment == "velocities" and self._kinds[s.array] == MATRIX)]

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        decay = self.weight_decay if group.kind == MATRIX else self.adam_weight_decay
        if decay and group.decays:
            torch._foreach_mul_(group.parameters, 1.0 - rate * decay)
        if group.kind == MATRIX:
            self._orthogonal_step(group, gradients, rate)
            return
        rate = adam_rate(rate * self.adam_lr_ratio, self.iterations + 1, self.adam_beta_1, self.adam_beta_2)
        fused_adam(group, gradients, group.moments, rate, self.adam_beta_1, self.adam_beta_2, self.epsilon)

    def _orthogonal_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        momentums: Any = group.moments[0]
        torch._foreach_mul_(momentums, self.momentum)
        torch._foreach_add_(momentums, gradients)
        if self.nesterov:
            momentums = torch._foreach_add(gradients, momentums, alpha=self.momentum)
        updates = [torch.empty_like(p, requires_grad=False) for p in group.parameters]
        for array, places in group.by_array().items():
            made = self._arrangements[array]
            matrix = made.array([momentums[k] for k in places])
            size = 1.0 if self.rms_rate is None else self.rms_rate * math.sqrt(max(matrix.shape))
            made.assign([updates[k] for k in places], self._orthogonal(matrix) * (rate * size))
        torch._foreach_sub_(group.parameters, updates)

    def _orthogonal(self, matrix: Tensor) -> Tensor:
        """The matrix with its singular values brought near to 1, by the iteration of Newton and Schulz."""
        tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.t() if tall else matrix
        x = x / (torch.linalg.vector_norm(x) + LEAST_NORM)
        for _ in range(self.ns_steps):
            y = x @ x.t()
            x = self.muon_a * x + (self.muon_b * y + self.muon_c * y @ y) @ x
        return x.t() if tall else x
