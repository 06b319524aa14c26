"""What happens when a loss or gradient is not a finite number: decided on the device, without waiting for it.

Under every policy an update that such numbers would make is taken back, weights, statistics, moments and metrics alike.
`skip` goes on with the next batch, and the skipped samples count in no mean. `stop` and `raise` take back all later
updates as well, until the host looks (some ten times a second, and at an epoch's end): the weights are then those of
the last good step.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

POLICIES = (None, "stop", "skip", "raise")
LOOK_EVERY = 0.1  # seconds

Values = dict[str, Tensor]


class Guard:
    """Watches the steps of one epoch after another. `tensors`: gives all that a step changes in place."""

    def __init__(self, policy: str, tensors: Callable[[], list[Tensor]], device: torch.device):
        self.policy = policy
        self._tensors = tensors
        self._device = device
        self._kept: dict[int, Tensor] = {}
        self._good = torch.ones((), dtype=torch.bool, device=device)
        self.begin()

    def begin(self) -> None:
        """Begin an epoch."""
        self.good_steps = torch.zeros((), dtype=torch.int64, device=self._device)
        self.good_samples = torch.zeros((), device=self._device)
        self._next_look = time.perf_counter() + LOOK_EVERY

    def state_dict(self) -> dict[str, Tensor]:
        """The counts of the epoch, and whether all was finite so far."""
        return {"good": self._good, "good_steps": self.good_steps, "good_samples": self.good_samples}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        self._good, self.good_steps, self.good_samples = (
            state[name].to(self._device, copy=True) for name in ("good", "good_steps", "good_samples")
        )

    def watched(self, step: Callable[[], tuple[Values, Sequence[Tensor | None]]], samples: int) -> Values:
        """Run a step that returns its numbers and gradients; take it back, and give zeros, if one is not finite."""
        self._keep()
        values, gradients = step()
        with torch.no_grad():
            finite = _finite([values["loss"], *(gradient for gradient in gradients if gradient is not None)])
            good = finite if self.policy == "skip" else finite & self._good
            self._take_back_unless(good)
            self._good = good
            self.good_steps += good
            self.good_samples.add_(good, alpha=samples)
            return {name: value.where(good, 0) for name, value in values.items()}

    def tripped(self, now: bool = False) -> bool:
        """Whether training must end; looks at the device from time to time, or `now`."""
        if self.policy == "skip" or not (now or time.perf_counter() >= self._next_look):
            return False
        self._next_look = time.perf_counter() + LOOK_EVERY
        return not self._good.item()

    @torch.no_grad()
    def _keep(self) -> None:
        tensors = list({id(tensor): tensor for tensor in self._tensors()}.values())
        if self._kept.keys() != {id(tensor) for tensor in tensors}:
            self._kept = {id(tensor): torch.empty_like(tensor) for tensor in tensors}
        torch._foreach_copy_(list(self._kept.values()), tensors)

    def _take_back_unless(self, good: Tensor) -> None:
        for tensor in self._tensors():
            before = self._kept.get(id(tensor))  # None: made in this step, from zeros
            torch.where(good, tensor, torch.zeros_like(tensor) if before is None else before, out=tensor.detach())


def _finite(tensors: list[Tensor]) -> Tensor:
    return torch.isfinite(torch.stack([norm.float() for norm in torch._foreach_norm(tensors, math.inf)])).all()
