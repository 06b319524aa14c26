"""What happens when a loss or gradient is not a finite number: decided on the device, without waiting for it.

Under every policy an update that such numbers would make is taken back, weights, statistics, moments and metrics alike,
and the batch counts in no mean. `skip` goes on with the next batch. `stop` and `raise` take back all later updates as
well, until the host looks (some ten times a second, and at an epoch's end): the weights are then those of the last good
step. Where gradients accumulate, those of a bad batch are left out of the mean.

What the host counts goes on all the same: an optimizer's `iterations`, and what it computes from them (schedules,
decay, Adam's bias correction), count a skipped batch too. Random numbers that a bad batch drew stay drawn.
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

Values = Mapping[str, Tensor]


class Watched(Protocol):
    """What a step changes in place, by keys that stay."""

    def trained(self) -> dict[Any, Tensor]:
        """Weights, and the optimizer's state without accumulated gradients."""
        ...

    def counted(self) -> dict[Any, Tensor]:
        """Statistics of layers, and the states of metrics."""
        ...

    def forget(self, known: set[Any]) -> None:
        """Take away the state that a step created: all whose key is not known."""
        ...


class Guard:
    """Watches the steps of one epoch after another."""

    def __init__(self, policy: str, watched: Watched, device: torch.device, looks_at_each: bool = False):
        """`looks_at_each`: look after each batch, as several processes do, so that all look after the same one."""
        self.policy, self._looks_at_each = policy, looks_at_each
        self._watched, self._device = watched, device
        self._kept: dict[Any, Tensor] = {}
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
        self._next_look = time.perf_counter() + LOOK_EVERY

    def state_dict(self) -> dict[str, Tensor]:
        """The counts of the epoch, and whether all was finite so far."""
        return {"good": self._good, "good_steps": self.good_steps, "good_samples": self.good_samples}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        self._good, self.good_steps, self.good_samples = (
            state[name].to(self._device, copy=True) for name in ("good", "good_steps", "good_samples")
        )

    # --- a step ------------------------------------------------------------------------------------------------------

    def watched(self, step: Callable[[], Values], samples: int) -> dict[str, Tensor]:
        """Run a step and give its numbers; take back what it changed if its loss or a gradient is not finite.

        The step hands its gradients to `judged` on the way.
        """
        if self._active:  # a step of a user's own that calls the one it overrides
            return dict(step())
        self._keep()
        self._active, self._finite, self._update, self._updated = True, self._true, self._true, False
        try:
            values = step()
        finally:
            self._active = False
        with torch.no_grad():
            finite = self._finite & all_finite([values["loss"]]) if "loss" in values else self._finite
            good = finite if self.policy == "skip" else finite & self._good
            self._take_back(good)
            self._good = self._counts = good
            self.good_steps += good
            self.good_samples += good * samples
            return dict(values)

    def counting(self, values: Values) -> dict[str, Tensor]:
        """The numbers of the last step as they count in means: zeros for one that was taken back."""
        return {name: value.where(self._counts, 0) for name, value in values.items()}

    def judged(
        self, loss: Tensor | None, gradients: Sequence[Tensor | None], samples: float, optimizer: Any
    ) -> tuple[Sequence[Tensor | None], Any]:
        """What the optimizer may take of the gradients of a batch of so many samples, and how many samples they are of.

        They are as given, unless the optimizer accumulates: then zeros, of no samples, for a bad batch. `loss`: None
        where the gradients were made by hand.
        """
        if not self._active:
            return gradients, samples
        self._finite = self._finite & all_finite([each for each in (loss, *gradients) if each is not None])
        good = self._finite if self.policy == "skip" else self._finite & self._good
        self._update = good
        if not getattr(optimizer, "gradient_accumulation_steps", None):
            return gradients, samples
        masked = self._zeroed(gradients, good)
        counted = good * samples
        if self.policy == "skip":
            self._update = optimizer.samples_with(counted) > 0
        return masked, counted

    def _zeroed(self, gradients: Sequence[Tensor | None], good: Tensor) -> list[Tensor | None]:
        """The gradients where they are good, else zeros."""
        return [None if gradient is None else torch.where(good, gradient, self._zero) for gradient in gradients]

    def applied(self, updated: bool) -> None:
        """Called with whether the optimizer has changed the weights, rather than accumulated."""
        self._updated = self._updated or updated

    def tripped(self, now: bool = False) -> bool:
        """Whether training must end; looks at the device from time to time, or `now`."""
        if self.policy == "skip" or not (now or self._looks_at_each or time.perf_counter() >= self._next_look):
            return False
        self._next_look = time.perf_counter() + LOOK_EVERY
        return not self._good.item()

    @torch.no_grad()
    def _keep(self) -> None:
        tensors = {**self._watched.trained(), **self._watched.counted()}
        fit = self._kept.keys() == tensors.keys() and all(
            (kept.shape, kept.dtype, kept.device) == (tensors[key].shape, tensors[key].dtype, tensors[key].device)
            for key, kept in self._kept.items()
        )
        if not fit:
            self._kept = {key: torch.empty_like(tensor) for key, tensor in tensors.items()}
        if tensors:
            torch._foreach_copy_([self._kept[key] for key in tensors], list(tensors.values()))

    def _take_back(self, good: Tensor) -> None:
        trained, counted = self._watched.trained(), self._watched.counted()
        # An update of accumulated gradients is one of the good batches, also when a bad one completes their number.
        for tensors, stays in ((trained, self._update if self._updated else good), (counted, good)):
            at: dict[torch.device, Tensor] = {}
            for key, tensor in tensors.items():
                if key in self._kept:
                    if tensor.device not in at:  # some of torch's optimizers count on the CPU: there the host waits
                        at[tensor.device] = stays.to(tensor.device)
                    kept = self._kept[key].to(tensor.device)  # a metric goes to the device at its first batch
                    torch.where(at[tensor.device], tensor, kept, out=tensor.detach())
        # State that a first step has made of nothing: torch's optimizers begin theirs in ways of their own. There the
        # host waits too.
        if (trained.keys() | counted.keys()) - self._kept.keys() and not good.item():
            self._watched.forget(set(self._kept))


def all_finite(tensors: list[Tensor]) -> Tensor:
    """Whether all numbers are finite, in all processes that share the batch."""
    return CURRENT.batch.all(_finite_here(tensors))


def _finite_here(tensors: list[Tensor]) -> Tensor:
    norms = torch._foreach_norm([tensor for tensor in tensors if tensor.numel()], math.inf)
    if len({norm.dtype for norm in norms}) == 1:
        return torch.isfinite(torch.stack(norms)).all()
    return torch.stack([torch.isfinite(norm) for norm in norms]).all()
