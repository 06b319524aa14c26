"""The numbers of an epoch whose batches several processes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

from torchkeras.callbacks.base import CallbackList
from torchkeras.data.batch import Batch
from torchkeras.engine.fit.epoch import Executions, run_epoch
from torchkeras.engine.fit.results import Done, Sums
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.step import BatchStep
from torchkeras.metrics import Metric

if TYPE_CHECKING:
    from torchkeras.distribution.training import Processes


class SharedSums(Sums):
    """As `Sums`, of the rows of this process. Means are those of all processes, which all ask for them at once."""

    def __init__(self, processes: Processes, kept: Mapping[str, Metric], named_alone: bool, guard: Guard | None = None):
        super().__init__(kept, named_alone, guard=guard)
        self._processes = processes

    def means(self) -> dict[str, Tensor]:
        own = self.seen if self.guard is None or self.of_last else self.guard.good_samples
        with self._processes.added_up(self.totals, own, self.kept) as (totals, seen):
            return self._means(totals, seen)

    def means_of(self, done: Done) -> dict[str, Tensor]:
        """The means of some batches, and what the metrics with state say of all batches so far."""
        sums = SharedSums(self._processes, self.kept, self.named_alone)
        for values, size in done:
            sums.add(values, size)
        return sums.means()

    def of_one(self, step: BatchStep, batch: Batch) -> dict[str, Tensor]:
        run_epoch(step, [batch], self, Executions(CallbackList(), "train", 1), processes=self._processes)
        return self.means()
