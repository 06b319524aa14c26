"""What happens when a loss or gradient is not finite: the device decides it, and the host does not wait.

Every policy takes back the update of such a batch: weights, statistics, moments and metrics. The batch counts in no
mean. `skip` goes on with the next batch. `stop` and `raise` take back all later updates too, until the host looks: ten
times a second, or every 16 batches where several processes train, and at the end of an epoch. The weights are then
those of the last good step. If gradients accumulate, those of a bad batch are left out of the mean.

The host still counts a skipped batch: in an optimizer's `iterations`, and in all that depends on them (schedules,
decay, Adam's bias correction). Random numbers that a bad batch drew stay drawn.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from torchkeras.world.one_process import CURRENT

POLICIES = (None, "stop", "skip", "raise")
LOOK_EVERY = 0.1  # seconds
LOOK_EVERY_BATCHES = 16  # in several processes, all of which must look after the same batch

Values = Mapping[str, Tensor]


class Watched(Protocol):
    """The tensors that a step changes in place, by keys that stay the same."""

    def trained(self) -> dict[Any, Tensor]:
        """Weights, and the optimizer's state without accumulated gradients."""
        ...

    def counted(self) -> dict[Any, Tensor]:
        """Statistics of layers, and the states of metrics."""
        ...

    def forget(self, known: set[Any]) -> None:
        """Remove the state that a step created, which has none of the known keys."""
        ...


class Guard:
    """Watches the steps of epochs, and takes back those that are not finite."""

    def __init__(self, policy: str, watched: Watched, device: torch.device, by_batches: bool = False):
        """`by_batches`: whether the host looks after a number of batches, rather than by the clock."""
        self.policy, self._by_batches = policy, by_batches
        self._watched, self._device = watched, device
        self._copies: dict[Any, Tensor] = {}  # of what a step changes, as it was before
        self._active = False
        self._true = torch.ones((), dtype=torch.bool, device=device)
        self._zero = torch.zeros((), device=device)
        self._finite = self._update = self._counts = self._true
        self._updated = False
        self.begin()

    def begin(self) -> None:
        """Begin an epoch."""
        self._good = self._true
        self.good_steps = torch.zeros((), dtype=torch.int64, device=self._device)
        self.good_samples = torch.zeros((), dtype=torch.int64, device=self._device)
        self._batches = 0
        self._look_later()

    def state_dict(self) -> dict[str, Tensor]:
        """The counts of the epoch, and whether all numbers were finite so far."""
        return {"good": self._good, "good_steps": self.good_steps, "good_samples": self.good_samples}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        self._good = state["good"].to(self._device, copy=True)
        self.good_steps = state["good_steps"].to(self._device, copy=True)
        self.good_samples = state["good_samples"].to(self._device, copy=True)

    # --- a step ------------------------------------------------------------------------------------------------------

    def watched(self, step: Callable[[], Values], samples: int) -> dict[str, Tensor]:
        """Run a step and return its numbers; take back what it changed if its loss or a gradient is not finite.

        The step passes its gradients to `judged`.
        """
        if self._active:  # a user's step that calls the step that it overrides
            return dict(step())
        self._copy()
        self._batches += 1
        self._active, self._finite, self._update, self._updated = True, self._true, self._true, False
        try:
            values = step()
        finally:
            self._active = False
        with torch.no_grad():
            finite = self._finite & all_finite([values["loss"]]) if "loss" in values else self._finite
            good = self._good_if(finite)
            self._take_back(good)
            self._good = self._counts = good
            self.good_steps += good
            self.good_samples += good * samples
            return dict(values)

    def counting(self, values: Values) -> dict[str, Tensor]:
        """The numbers of the last step as they count in means: zeros if it was taken back."""
        return {name: value.where(self._counts, 0) for name, value in values.items()}

    def judged(
        self, loss: Tensor | None, gradients: Sequence[Tensor | None], samples: float, optimizer: Any
    ) -> tuple[Sequence[Tensor | None], Any]:
        """The gradients for the optimizer, and the number of their samples.

        Both are as passed, unless the optimizer accumulates: then a bad batch has gradients of 0, of no samples.
        `loss`: None if the gradients were made by hand.
        """
        if not self._active:
            return gradients, samples
        self._finite = self._finite & all_finite([each for each in (loss, *gradients) if each is not None])
        self._update = good = self._good_if(self._finite)
        if not getattr(optimizer, "gradient_accumulation_steps", None):
            return gradients, samples
        masked = self._zeroed(gradients, good)
        counted = good * samples
        if self.policy == "skip":
            self._update = optimizer.samples_with(counted) > 0
        return masked, counted

    def _good_if(self, finite: Tensor) -> Tensor:
        """Whether a step counts: those after a bad one do so only under `skip`."""
        return finite if self.policy == "skip" else finite & self._good

    def _zeroed(self, gradients: Sequence[Tensor | None], good: Tensor) -> list[Tensor | None]:
        """The gradients where they are good, else zeros."""
        return [None if gradient is None else torch.where(good, gradient, self._zero) for gradient in gradients]

    def applied(self, updated: bool) -> None:
        """`updated`: whether the optimizer has changed the weights, and not only accumulated gradients."""
        self._updated = self._updated or updated

    def tripped(self, now: bool = False) -> bool:
        """Whether training must end; waits for the device only from time to time, or `now`."""
        if self.policy == "skip" or not (now or self._passed() >= self._next_look):
            return False
        self._look_later()
        return not self._good.item()

    def _passed(self) -> float:
        """What has passed, in batches or in seconds."""
        return self._batches if self._by_batches else time.perf_counter()

    def _look_later(self) -> None:
        self._next_look = self._passed() + (LOOK_EVERY_BATCHES if self._by_batches else LOOK_EVERY)

    @torch.no_grad()
    def _copy(self) -> None:
        tensors = {**self._watched.trained(), **self._watched.counted()}
        if _kinds(self._copies) != _kinds(tensors):
            self._copies = {key: torch.empty_like(tensor) for key, tensor in tensors.items()}
        if tensors:
            torch._foreach_copy_([self._copies[key] for key in tensors], list(tensors.values()))

    def _take_back(self, good: Tensor) -> None:
        trained, counted = self._watched.trained(), self._watched.counted()
        update = self._update if self._updated else good  # accumulated gradients are good, even if this batch is bad
        for tensors, stays in ((trained, update), (counted, good)):
            at: dict[torch.device, Tensor] = {}
            for key, tensor in tensors.items():
                if key in self._copies:
                    if tensor.device not in at:  # some of torch's optimizers count on the CPU: there the host waits
                        at[tensor.device] = stays.to(tensor.device)
                    copy = self._copies[key].to(tensor.device)  # a metric goes to the device at its first batch
                    torch.where(at[tensor.device], tensor, copy, out=tensor.detach())
        # A first step creates state, which each of torch's optimizers starts in its own way. There the host waits too.
        if (trained.keys() | counted.keys()) - self._copies.keys() and not good.item():
            self._watched.forget(set(self._copies))


def _kinds(tensors: Mapping[Any, Tensor]) -> dict[Any, Any]:
    return {key: (tensor.shape, tensor.dtype, tensor.device) for key, tensor in tensors.items()}


def all_finite(tensors: list[Tensor]) -> Tensor:
    """Whether all numbers are finite, in all processes that share the batch."""
    return CURRENT.batch.all(_finite_here(tensors))


def _finite_here(tensors: list[Tensor]) -> Tensor:
    norms = torch._foreach_norm([tensor for tensor in tensors if tensor.numel()], math.inf)
    if len({norm.dtype for norm in norms}) == 1:
        return torch.isfinite(torch.stack(norms)).all()
    return torch.stack([torch.isfinite(norm) for norm in norms]).all()
