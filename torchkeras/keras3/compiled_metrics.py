"""The metric objects that `compile` stands for in `model.metrics`: the loss, the losses of outputs, all metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.engine.fit.results import Sums
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.step.targets import measures_of
from torchkeras.keras3.metrics import Mean, Metric

if TYPE_CHECKING:
    from torchkeras.keras3.models import Model


class Reported(Mean):
    """The mean of a number that the built-in steps report: after a run the mean of that run.

    `reported`: the name in logs, with that of an output in front. `followed`: the sums that it has read, and how many
    samples these had.
    """

    def __init__(self, name: str | None = None, reported: str | None = None) -> None:
        super().__init__(name=name)
        self.reported = reported or self.name
        self.followed: tuple[Sums, int] | None = None

    @staticmethod
    def of(model: Model, reported: str, name: str | None = None) -> Reported:
        """That of a model, as the model's last run counted."""
        known = vars(model).setdefault("_reported", {})
        if reported not in known:
            known[reported] = LossTracker.of(model) if reported == "loss" else Reported(name or reported, reported)
        found = known[reported]
        training = training_of(model)
        if training.sums is not None and not training.has_own("train_step"):
            found.follow(training.sums)
        return found

    def follow(self, sums: Sums) -> None:
        """Count what a run has counted, unless it was read before."""
        if self.reported in sums.totals and (self.followed is None or self.followed != (sums, sums.seen)):
            self.followed = sums, sums.seen
            with torch.no_grad():
                self.total.copy_(sums.totals[self.reported])
                self.count.fill_(sums.seen)


class LossTracker(Reported):
    """The mean of the losses, also of those that a step of the user's counts in it.

    `further`: the other numbers that the built-in step and `compute_metrics` gave inside such steps.
    """

    has_counted = False

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.further = Sums()

    @staticmethod
    def of(model: Any) -> LossTracker:  # type: ignore[override]
        """That of a model."""
        found = vars(model).get("_loss_tracker")
        if found is None:
            found = vars(model)["_loss_tracker"] = LossTracker(name="loss")
        return found

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        self.has_counted = True
        super().update_state(values, sample_weight)

    def reset_state(self) -> None:
        self.has_counted = False
        self.further = Sums()
        super().reset_state()

    def so_far(self, steps: Any, of_batch: Mapping[str, Tensor], samples: int) -> dict[str, Any]:
        """Count the numbers of a batch: those of all batches so far, and of the metrics with a state."""
        values = dict(of_batch)
        if "loss" in values:
            self.update_state(values.pop("loss"), samples)
        if values:
            self.further.add(values, samples)
        return {"loss": self.result(), **self.further.means(), **steps.counted()}


class CompileMetrics(Metric):
    """All metrics of `compile`, for all outputs, as one metric; they are there once the model has seen data.

    `by_name`: each of them under the name that logs have.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(name="compile_metrics")
        compiled = training_of(model).compiled
        self.by_name: dict[str, Any] = {
            each.name: each.metric if each.keeps_state else Reported.of(model, each.name, each.own_name)
            for each in measures_of(() if compiled is None else compiled.targets)
        }
        self._of_outputs = training_of(model).own_steps.measured

    @property
    def metrics(self) -> list[Any]:
        """The metrics, output by output."""
        return list(self.by_name.values())

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Count a batch: targets and outputs in the form of the model's."""
        values = self._of_outputs(y_true, y_pred, sample_weight)
        for name, value in values.items():
            self.by_name[name].update_state(value)

    def result(self) -> dict[str, Any]:  # type: ignore[override]
        """The results by name."""
        return {name: metric.result() for name, metric in self.by_name.items()}


def compiled_metrics(model: Model) -> list[Any]:
    """The metrics of a compiled model: `loss`, those of `compile` as one, the losses of outputs."""
    training = training_of(model)
    found: list[Any] = [Reported.of(model, "loss")]
    if training.options.metrics or training.options.weighted_metrics:
        found.append(CompileMetrics(model))
    targets = () if training.compiled is None else training.compiled.targets
    return [*found, *(Reported.of(model, each.loss_name) for each in targets if each.loss_name is not None)]
