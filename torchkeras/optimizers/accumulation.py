"""The mean of the gradients of several batches, in one buffer for each parameter."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.parameter_groups import Gradients


class Accumulator:
    """mean = sum(samples * gradient) / sum(samples) over the batches since the last `take`.

    The buffers always hold the mean, so that half types do not overflow. `count`: the number of batches in it.
    `samples`: the number of their samples; None where a file has only the number of batches, which then all count as
    many samples as the next one; a tensor where only the device knows, since batches without finite numbers are left
    out.
    """

    def __init__(self) -> None:
        self.count = 0
        self.samples: float | Tensor | None = 0.0
        self.buffers: list[Tensor] = []
        self.present: set[int] = set()  # the parameters that had a gradient in any batch

    def samples_with(self, samples: Any) -> Any:
        """The number of samples of the mean after a further batch."""
        return samples + (self.count * samples if self.samples is None else self.samples)

    def add(self, parameters: Sequence[Tensor], gradients: Gradients, samples: Any) -> None:
        """Add the gradients of a batch to the mean; None counts as zeros. `samples`: a number, or a tensor."""
        if len(self.buffers) != len(parameters):
            self.buffers = _zeros_like(parameters)
        found = {i: gradient for i, gradient in enumerate(gradients) if gradient is not None}
        given, buffers = list(found.values()), [self.buffers[i] for i in found]
        weight = self._weight(samples)
        if self.count == 0:
            torch._foreach_zero_(self.buffers)
            if found and (isinstance(weight, Tensor) or weight):
                torch._foreach_copy_(buffers, given)
        else:
            self._mix(buffers, given, weight)
        self.present.update(found)
        self.count += 1

    def _weight(self, samples: Any) -> Any:
        """The share of a batch in the mean, itself included."""
        self.samples = self.samples_with(samples)
        if isinstance(self.samples, Tensor):
            return samples / self.samples.clamp(min=1)
        return samples / self.samples if self.samples else 0.0

    def _mix(self, buffers: list[Tensor], given: list[Tensor], weight: Any) -> None:
        """Move the mean in `buffers` by `weight` towards the gradients, and all other buffers towards 0."""
        if given and len(given) == len(self.buffers) and not isinstance(weight, Tensor):
            torch._foreach_lerp_(self.buffers, given, weight)
            return
        torch._foreach_mul_(self.buffers, 1.0 - weight)
        if not given:
            return
        if isinstance(weight, Tensor):
            torch._foreach_add_(buffers, torch._foreach_mul(given, weight))
        else:
            torch._foreach_add_(buffers, given, alpha=weight)

    def take(self) -> list[Tensor | None]:
        """The mean, valid until the next `add`; None where no batch had a gradient."""
        mean = [buffer if i in self.present else None for i, buffer in enumerate(self.buffers)]
        self.count, self.samples, self.present = 0, 0.0, set()
        return mean

    def state_dict(self) -> dict[str, Any]:
        """The state, to continue from; the gradients are the buffers themselves."""
        return {
            "count": self.count,
            "samples": self.samples,
            "present": sorted(self.present),
            "gradients": list(self.buffers) if self.count else [],
        }

    def load_state_dict(self, state: Mapping[str, Any], parameters: list[Tensor]) -> None:
        """Restore a state of `state_dict`."""
        self.count, self.samples, self.present = state["count"], state["samples"], set(state["present"])
        self.buffers = fitted_to(parameters, state["gradients"]) if state["gradients"] else []

    def follow(self, parameters: list[Tensor]) -> None:
        """Move the buffers to where the parameters are now."""
        if self.buffers:
            self.buffers = fitted_to(parameters, self.buffers)


def _zeros_like(parameters: Sequence[Tensor]) -> list[Tensor]:
    return [torch.zeros_like(p, requires_grad=False) for p in parameters]


def fitted_to(parameters: list[Tensor], values: list[Tensor]) -> list[Tensor]:
    """Copies of the values with the device, type and memory layout of the parameters."""
    with torch.no_grad():
        return [torch.empty_like(p, requires_grad=False).copy_(v) for p, v in zip(parameters, values, strict=True)]
