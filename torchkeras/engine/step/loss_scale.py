"""The loss scale: it keeps the gradients of layers that compute in float16 within the range of float16.

The gradients are those of scale * loss, and are divided by the scale before they are used. The scale starts at 2**15.
Gradients that are not finite halve it; after 2000 steps in a row without any it doubles. These are Keras's numbers,
except that a loss which is not finite itself leaves the scale as it is. The device skips the update by such gradients,
without waiting: by the optimizer's own kernel (Adam, SGD), or else by taking back weights and the optimizer's state
from a copy.

As in `engine.step.nonfinite`, the host still counts: an optimizer's `iterations` include a skipped step.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own GradScaler calls the same.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.step.nonfinite import Guard, Watched, all_finite

INITIAL = 2.0**15
GROWTH_STEPS = 2000
SMALLEST = 2.0**-24  # from 0 it could not grow again


class LossScale(Guard):
    """The scale of a compiled model, and the guard that takes back updates by gradients that overflow float16.

    `hides`: whether such gradients become zeros, so that the guard of `on_nonfinite` does not see them.
    """

    def __init__(self, watched: Watched, device: torch.device, hides: bool):
        super().__init__("skip", watched, device)
        self._hides = hides
        self.scale = torch.full((), INITIAL, device=device)
        self.good_in_a_row = torch.zeros((), dtype=torch.int32, device=device)

    def state_dict(self) -> dict[str, Tensor]:
        """The scale, and the steps since it last changed."""
        return {"scale": self.scale, "good_in_a_row": self.good_in_a_row}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from a state."""
        for name, value in self.state_dict().items():
            value.copy_(state[name])

    def for_loss(self, loss: Tensor) -> Tensor:
        """The scale, as the gradient of `loss` by itself."""
        if self.scale.device != loss.device:  # the model was moved
            self._move(loss.device)
        return self.scale.to(loss.dtype)

    def _move(self, device: torch.device) -> None:
        self._device, self._true, self._zero = device, self._true.to(device), self._zero.to(device)
        self.scale, self.good_in_a_row = self.scale.to(device), self.good_in_a_row.to(device)
        self.begin()

    def judged(
        self, loss: Tensor | None, gradients: Sequence[Tensor | None], samples: float, optimizer: Any
    ) -> tuple[Sequence[Tensor | None], Any]:
        """The gradients divided by the scale, and otherwise as `Guard.judged`; the scale follows what it finds."""
        assert loss is not None  # gradients made by hand have no scale of ours
        found = [gradient for gradient in gradients if gradient is not None]
        # Not in place: autograd may give one tensor as the gradient of two parameters.
        divided = iter(torch._foreach_mul(found, self.scale.reciprocal()) if found else [])
        gradients = [None if gradient is None else next(divided) for gradient in gradients]
        gradients, samples = super().judged(loss, gradients, samples, optimizer)
        too_large = (all_finite([loss]) & ~self._finite).float()
        torch._amp_update_scale_(self.scale, self.good_in_a_row, too_large, 2.0, 0.5, GROWTH_STEPS)
        self.scale.clamp_(min=SMALLEST)
        if getattr(optimizer, "can_skip", False):
            optimizer.skipping = (~self._finite).float()
        if self._hides:
            gradients = self._zeroed(gradients, self._finite)
        return gradients, samples
