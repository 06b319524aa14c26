"""`TorchScheduler`: any scheduler of `torch.optim.lr_scheduler` drives a model's learning rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchkeras.callbacks.base import Callback
from torchkeras.optimizers.scheduled import RateHolder, rate_holder


class TorchScheduler(Callback):
    """`scheduler(optimizer)`, a class, a partial of one or a function, makes the scheduler when training begins.

    `per`: "epoch" or "batch", after each of which it takes a step. `monitor`: the number of the logs it is given then,
    as ReduceLROnPlateau needs it. It drives optimizers of Keras and of torch; a second `fit` with the same optimizer
    goes on with it. `scheduler.scheduler` is torch's own, None before training.

        TorchScheduler(partial(torch.optim.lr_scheduler.OneCycleLR, max_lr=0.1, total_steps=1000), per="batch")

    Raises TypeError for what cannot be called, ValueError for another `per`, and at a step for a `monitor` that the
    logs do not have.
    """

    def __init__(self, scheduler: Callable[[Any], Any], per: str = "epoch", monitor: str | None = None):
        if not callable(scheduler):
            raise TypeError(
                "TorchScheduler: scheduler must be a class or function of an optimizer, such as "
                f"functools.partial(StepLR, step_size=3); found {scheduler!r}."
            )
        if per not in ("epoch", "batch"):
            raise ValueError(f"TorchScheduler: per must be 'epoch' or 'batch'; found {per!r}.")
        self.make, self.per, self.monitor = scheduler, per, monitor
        self.needs_each_batch = per == "batch"
        self.scheduler: Any = None
        self._of: Any = None
        self._holder: Any = None
        self._pending: Mapping[str, Any] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Make the scheduler, which sets the rate of the first step, unless it has been made for this optimizer."""
        optimizer = self.model.optimizer
        if self._of is not optimizer:
            self._of, self._holder = optimizer, rate_holder(optimizer)
            self.scheduler = self.make(self._holder)
            self._hand_over()
        if self._pending is not None:
            self._load(self._pending)
            self._pending = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """A step of the scheduler, with `per="epoch"`."""
        if self.per == "epoch":
            self._step(logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """A step of the scheduler, with `per="batch"`."""
        if self.per == "batch":
            self._step(logs)

    def _step(self, logs: Any) -> None:
        if isinstance(self._holder, RateHolder):
            self._holder.step()  # torch warns of a scheduler whose optimizer has taken none
            self._holder.param_groups[0]["lr"] = self._of.lr  # another callback may have changed it
        if self.monitor is None:
            self.scheduler.step()
        elif self.monitor in (logs or {}):
            self.scheduler.step(logs[self.monitor])
        else:
            raise ValueError(
                f"TorchScheduler: monitor {self.monitor!r} is not among the logs, which have {', '.join(logs or {})}."
            )
        self._hand_over()

    def _hand_over(self) -> None:
        if isinstance(self._holder, RateHolder):
            self._holder.hand_over()

    # --- going on ----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The scheduler's state and the rates that it has set; {} before training."""
        if self.scheduler is None:
            return {}
        groups = [{key: value for key, value in g.items() if key != "params"} for g in self._holder.param_groups]
        return {"scheduler": self.scheduler.state_dict(), "groups": groups}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave: at once, or when training begins."""
        if not state:
            return
        if self.scheduler is None:
            self._pending = state
        else:
            self._load(state)

    def _load(self, state: Mapping[str, Any]) -> None:
        self.scheduler.load_state_dict(state["scheduler"])
        for group, saved in zip(self._holder.param_groups, state["groups"], strict=True):
            group.update(saved)
        self._hand_over()
