"""The numbers of an epoch, added up on the device."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from torchkeras.data.batch import Batch
from torchkeras.engine.step.compiled_model import BatchStep
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.output_metric import as_reported
from torchkeras.metrics import Metric

Numbers = Mapping[str, torch.Tensor]  # device scalars by name
Done = Sequence[tuple[Numbers, int]]  # the numbers and the size of some batches


@dataclass
class Sums:
    """The reported numbers of an epoch so far: sums weighted by batch size, the samples seen, the batches done, the
    size of the last one.

    `kept`: the metrics with a state of their own; with `named_alone` only those that the numbers name are reported,
    since a custom step may not have updated the others. `guard`: leaves batches out; None where all count. Where
    several processes share each batch, `distribution.shared_sums.SharedSums` stands in its place.
    """

    kept: Mapping[str, Metric] = field(default_factory=dict)
    named_alone: bool = False
    totals: dict[str, torch.Tensor] = field(default_factory=dict)
    seen: int = 0
    batches: int = 0
    last_size: int = 0
    guard: Guard | None = None

    def add(self, values: Numbers, size: int) -> None:
        """Add the numbers of one more batch, which record no gradients.

        Raises RuntimeError when their names differ from those before.
        """
        if self.guard is not None:
            values = self.guard.counting(values)
        if not size:  # a sample that stood in for none
            values = {name: torch.zeros_like(value) for name, value in values.items()}
        if not self.totals:
            # In half precision a sum would soon stand still.
            wide = [value.to(torch.promote_types(value.dtype, torch.float32)) for value in values.values()]
            self.totals = dict(zip(values, torch._foreach_mul(wide, size), strict=True))
        elif self.totals.keys() == values.keys():
            more = list(map(values.__getitem__, self.totals))
            torch._foreach_add_(list(self.totals.values()), more, alpha=size)
        else:
            raise RuntimeError(
                "The names of the reported numbers changed within an epoch, from "
                f"{list(self.totals)} to {list(values)}."
            )
        self.seen += size
        self.batches += 1
        self.last_size = size

    def means(self) -> dict[str, torch.Tensor]:
        """The means, and the results of the metrics with state, as device scalars."""
        if self.guard is not None:
            return self._means(self.totals, self.guard.good_samples)  # 0 / 0 where all are left out
        return self._means(self.totals, max(self.seen, 1))

    def _means(self, totals: Numbers, seen: Any) -> dict[str, torch.Tensor]:
        means = {name: total / seen for name, total in totals.items()}
        return {**means, **results(self._reporting(means))}

    def means_of(self, done: Done) -> Mapping[str, Any]:
        """The means of some batches, and as functions the results of the metrics with state for all batches so far."""
        last, _ = done[-1]
        if len(done) == 1 or not last:
            return {**last, **self.reported(last)}
        means = Sums()
        for values, size in done:
            means.add(values, size)
        return {**means.means(), **self.reported(last)}

    def reported(self, values: Numbers) -> dict[str, Callable[[], Any]]:
        """The results of the metrics with state for all batches so far, as functions; `values`: of the last batch."""
        return {name: metric.result for name, metric in self._reporting(values).items()}

    def _reporting(self, values: Numbers) -> Mapping[str, Metric]:
        """The metrics with state that are reported next to these numbers."""
        if not self.named_alone:
            return self.kept
        return {name: self.kept[name] for name in values if name in self.kept}

    def of_one(self, step: BatchStep, batch: Batch) -> dict[str, torch.Tensor]:
        """Run a step on one batch; its numbers alone."""
        values = step(batch)
        return {**values, **results(self._reporting(values))}


def ordered(values: Numbers, names: list[str]) -> dict[str, torch.Tensor]:
    """Numbers in the order of `names`; those with other names after them."""
    return {name: values[name] for name in dict.fromkeys((*names, *values)) if name in values}


def results(metrics: Mapping[str, Metric]) -> dict[str, torch.Tensor]:
    """The present results of metrics by name. Raises TypeError for one that gives no numbers."""
    return {name: as_reported(name, metric.result()) for name, metric in metrics.items()}
