"""Moving averages of the weights, by Keras 3's formula."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import torch
from torch import Tensor

from torchkeras.optimizers.accumulation import fitted_to


class Averages:
    """average = momentum * average + (1 - momentum) * weight; after the first step it is the weight."""

    def __init__(self) -> None:
        self.values: list[Tensor] = []

    def update(self, parameters: list[Tensor], iterations: int, momentum: float, every: int | None) -> None:
        """Add the weights; `iterations`: the updates before. `every`: how often the weights are set to the averages."""
        started = bool(self.values)
        self.begin(parameters)
        if iterations == 0:
            torch._foreach_copy_(self.values, parameters)
        elif started:
            torch._foreach_lerp_(self.values, parameters, 1.0 - momentum)
        if every is not None and (iterations + 1) % every == 0:
            torch._foreach_copy_(parameters, self.values)

    def begin(self, parameters: list[Tensor]) -> None:
        """Start the averages from the present weights, unless there are averages."""
        if not self.values:
            self.values = fitted_to(parameters, parameters)

    def swap(self, parameters: list[Tensor]) -> None:
        """Swap weights and averages in place."""
        self.begin(parameters)
        before = [average.clone() for average in self.values]
        torch._foreach_copy_(self.values, parameters)
        torch._foreach_copy_(parameters, before)
