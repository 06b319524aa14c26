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

from torchkeras.optimizers.base import Optimizer
from torchkeras.optimizers.kernels import fused_adam
from torchkeras.optimizers.moments import adam_rate
from torchkeras.optimizers.parameter_groups import Group
from torchkeras.optimizers.state import Slot

MATRIX = "matrix"
LEAST_NORM = 1e-7


@dataclass(eq=False)
class Muon(Optimizer):
    """m = momentum * m + g; p -= lr_t * rms_rate * sqrt(longer side) * orthogonal(g + momentum * m)

    For weights that Keras has as matrices; without `nesterov` orthogonal(m), without `rms_rate` no factor. `orthogonal`
    divides by the norm and takes `ns_steps` times x -> muon_a * x + (muon_b * y + muon_c * y @ y) @ x with y = x @ x.T.
    All others train by Adam with lr_t * adam_lr_ratio, the betas of `adam_beta_1`, `adam_beta_2`, and the weight decay
    `adam_weight_decay`; so do, with `exclude_embeddings`, weights in whose path ("layer/weight") stands "embedding",
    and those in whose path a pattern of `exclude_layers` is found. Jordan et al., https://kellerjordan.github.io/posts/muon/;
    Liu et al., https://arxiv.org/abs/2502.16982; options as in Keras 3.
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
        """The matrix with its singular values brought near to 1, by Newton's and Schulz's iteration."""
        tall = matrix.shape[0] > matrix.shape[1]
        x = matrix.t() if tall else matrix
        x = x / (torch.linalg.vector_norm(x) + LEAST_NORM)
        for _ in range(self.ns_steps):
            y = x @ x.t()
            x = self.muon_a * x + (self.muon_b * y + self.muon_c * y @ y) @ x
        return x.t() if tall else x
