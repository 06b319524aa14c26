"""What a run collects on the device: the sums of losses and metrics, and the predictions of many batches."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import to_numpy
from torchkeras.data.batch import Batch
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.output_metric import as_reported
from torchkeras.engine.step.step import BatchStep
from torchkeras.metrics import Metric

Numbers = Mapping[str, torch.Tensor]  # device scalars by name
Done = Sequence[tuple[Numbers, int]]  # the numbers and the size of some batches


class OfLastBatch(dict[str, torch.Tensor]):
    """Numbers of a batch that stand for the whole epoch until those of the next one come."""


@dataclass
class Sums:
    """The reported numbers of an epoch so far: sums weighted by batch size, the samples seen, the batches done, the
    size of the last one. Of numbers that are `OfLastBatch`, those of the last batch alone are in the sums.

    `kept`: the metrics with a state of their own; with `named_alone` only those that the numbers name are reported,
    since a custom step may not have updated the others; with `OfLastBatch` none, unless the numbers are just they.
    `guard`: leaves batches out; None where all count. Where several processes share each batch,
    `distribution.shared_sums.SharedSums` stands in its place.
    """

    kept: Mapping[str, Metric] = field(default_factory=dict)
    named_alone: bool = False
    totals: dict[str, torch.Tensor] = field(default_factory=dict)
    seen: int = 0
    batches: int = 0
    last_size: int = 0
    guard: Guard | None = None
    of_last: bool = False

    def add(self, values: Numbers, size: int) -> None:
        """Add the numbers of one more batch, which record no gradients.

        Raises RuntimeError when their names differ from those before.
        """
        if isinstance(values, OfLastBatch):
            self.of_last, self.totals, self.seen = True, {}, 0
        elif self.guard is not None:
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
        if self.guard is not None and not self.of_last:
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
        counted = {name: metric for name, metric in self.kept.items() if metric.has_counted}
        if not self.named_alone:
            return counted
        if isinstance(values, OfLastBatch):
            return {}
        if self.of_last:
            return counted if counted.keys() == self.kept.keys() == values.keys() else {}
        return {name: counted[name] for name in values if name in counted}

    def of_one(self, step: BatchStep, batch: Batch) -> dict[str, torch.Tensor]:
        """Run a step on one batch; its numbers alone."""
        values = step(batch)
        self.totals, self.seen = dict(values), 1
        return {**values, **results(self._reporting(values))}


def ordered(values: Numbers, names: list[str]) -> dict[str, torch.Tensor]:
    """Numbers in the order of `names`; those with other names after them."""
    return {name: values[name] for name in dict.fromkeys((*names, *values)) if name in values}


def results(metrics: Mapping[str, Metric]) -> dict[str, torch.Tensor]:
    """The present results of metrics by name. Raises TypeError for one that gives no numbers."""
    return {name: as_reported(name, metric.result()) for name, metric in metrics.items()}


class Gathered:
    """One output of all batches, on the host: each batch is written to its place in an array of so many samples.

    Where the number of samples is not known, or the output of a batch has no place there, batches are stored one by one
    and joined at the end. A GPU computes the next batch while the one before is copied.
    """

    def __init__(self, samples: int | None):
        self._samples = samples
        self._whole: Tensor | None = None
        self._filled = 0
        self._parts: list[Tensor] = []
        self._coming: tuple[Tensor, int, Any] | None = None  # an output on its way, of so many samples, and its arrival

    def add(self, output: Tensor, size: int) -> None:
        """Add the output of a batch of `size` samples; it stays on its device until the next one at most."""
        self._arrive()
        if output.is_cuda:
            here = output.to("cpu", non_blocking=True)  # to pinned memory
            self._coming = here, size, torch.cuda.current_stream(output.device).record_event()
        else:
            self._store(output.to("cpu"), size)

    def array(self) -> np.ndarray:
        """All that was added, one after another. Raises as `torch.cat` where sizes differ."""
        return to_numpy(self.tensor())

    def tensor(self) -> Tensor:
        """The same as a tensor."""
        self._arrive()
        if self._whole is None:
            return torch.cat(self._parts)
        return self._whole[: self._filled]

    def _arrive(self) -> None:
        if self._coming is not None:
            (output, size, arrival), self._coming = self._coming, None
            arrival.synchronize()
            self._store(output, size)

    def _store(self, output: Tensor, size: int) -> None:
        if self._samples and not self._filled and output.shape[:1] == (size,):
            self._whole = torch.empty((self._samples, *output.shape[1:]), dtype=output.dtype, device="cpu")
        place = self._place_for(output)
        if place is None:
            self._store_part(output)
        else:
            place.copy_(output)
        self._filled += len(torch.atleast_1d(output))

    def _place_for(self, output: Tensor) -> Tensor | None:
        """The rows of the array for an output; None where it does not fit there."""
        if self._whole is None or not output.dim():
            return None
        place = self._whole[self._filled : self._filled + len(output)]
        if place.shape != output.shape or place.dtype != output.dtype:
            return None
        return place

    def _store_part(self, output: Tensor) -> None:
        if self._whole is not None:
            self._parts, self._whole = [self._whole[: self._filled].clone()], None
        # A view would hold on to all of its memory, and pinned memory is for what is on its way.
        if output.untyped_storage().nbytes() > output.nbytes or output.is_pinned():
            output = output.clone()
        self._parts.append(output)
