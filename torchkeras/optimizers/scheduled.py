"""What a scheduler of `torch.optim.lr_scheduler` needs to drive an optimizer of Keras."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras.optimizers.schedules import LearningRateSchedule
from torchkeras.optimizers.torch_optimizer import TorchOptimizer


class RateHolder(torch.optim.Optimizer):
    """A torch optimizer that takes no steps: its one group has the rate and the momentum of a Keras optimizer.

    `momentum` (of SGD and RMSprop) and `betas` are there for schedulers that cycle them. `hand_over()` copies what a
    scheduler made of them to the Keras optimizer. Raises ValueError when the rate of that is a schedule.
    """

    def __init__(self, optimizer: Any):
        if isinstance(optimizer.lr, LearningRateSchedule):
            raise ValueError(
                f"{type(optimizer).__name__}: its lr is a {type(optimizer.lr).__name__}; a scheduler of torch needs a "
                "number to begin with."
            )
        self.keras = optimizer
        defaults: dict[str, Any] = {"lr": optimizer.lr}
        if hasattr(optimizer, "beta_1"):
            defaults["betas"] = (optimizer.beta_1, getattr(optimizer, "beta_2", 0.0))
        elif hasattr(optimizer, "momentum"):
            defaults["momentum"] = optimizer.momentum
        super().__init__([torch.zeros(0, device="cpu")], defaults)

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Do nothing: the Keras optimizer takes the steps."""

    def hand_over(self) -> None:
        """Set the Keras optimizer's rate and momentum to those of the group."""
        group = self.param_groups[0]
        self.keras.lr = group["lr"]
        if "betas" in group:
            self.keras.beta_1 = group["betas"][0]
        elif "momentum" in group:
            self.keras.momentum = group["momentum"]


def rate_holder(optimizer: Any) -> torch.optim.Optimizer:
    """What a scheduler of torch works on: the optimizer of torch that a model trains with, or a `RateHolder`."""
    return optimizer._bound() if isinstance(optimizer, TorchOptimizer) else RateHolder(optimizer)
