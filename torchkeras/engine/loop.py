"""The one loop over the batches of an epoch, for training and evaluation alike."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from torchkeras.callbacks.base import CallbackList, Logs
from torchkeras.engine.data import Batch
from torchkeras.engine.guard import Guard
from torchkeras.engine.measures import one_number
from torchkeras.engine.recipe import Step
from torchkeras.metrics import Metric

WIDE = (torch.float32, torch.float64)


@dataclass
class Sums:
    """The reported numbers of an epoch so far: sums weighted by batch size, the samples seen, the batches done, the
    size of the last one.

    `kept`: the metrics that keep a state of their own; with `named_alone` only those among the numbers are reported, as
    a step of the user's own may have left others as they were. `guard`: tells which batches are left out; None where
    all count.
    """

    kept: Mapping[str, Metric] = field(default_factory=dict)
    named_alone: bool = False
    totals: dict[str, torch.Tensor] = field(default_factory=dict)
    seen: int = 0
    batches: int = 0
    last_size: int = 0
    guard: Guard | None = None

    def add(self, values: Mapping[str, torch.Tensor], size: int) -> None:
        """Take the numbers of one more batch, which record no gradients.

        Raises RuntimeError when their names are others than before.
        """
        values = values if self.guard is None else self.guard.counting(values)
        if not self.totals:
            # In half precision a sum would soon stand still.
            wide = [value if value.dtype in WIDE else value.float() for value in values.values()]
            self.totals = dict(zip(values, torch._foreach_mul(wide, size), strict=True))
        elif self.totals.keys() == values.keys():
            torch._foreach_add_(list(self.totals.values()), [values[name] for name in self.totals], alpha=size)
        else:
            raise RuntimeError(
                "The names of the reported numbers changed within an epoch, from "
                f"{list(self.totals)} to {list(values)}."
            )
        self.seen += size
        self.batches += 1
        self.last_size = size

    def means(self) -> dict[str, torch.Tensor]:
        """The means, and what the metrics with state give, as device scalars."""
        seen = max(self.seen, 1) if self.guard is None else self.guard.good_samples  # 0 / 0 where all are left out
        means = {name: total / seen for name, total in self.totals.items()}
        return {**means, **results(self.kept, means if self.named_alone else self.kept)}


def ordered(values: Mapping[str, torch.Tensor], names: list[str]) -> dict[str, torch.Tensor]:
    """Numbers in the order of `names`; those with other names behind."""
    known = [name for name in names if name in values]
    return {name: values[name] for name in [*known, *(name for name in values if name not in names)]}


def results(kept: Mapping[str, Metric], names: Iterable[str]) -> dict[str, torch.Tensor]:
    """What those of the metrics with these names give now. Raises ValueError for one that gives several numbers."""
    return {name: one_number(name, kept[name].result()) for name in names if name in kept}


def floats(values: Mapping[str, torch.Tensor]) -> dict[str, float]:
    """Device scalars as numbers, in one transfer."""
    dtype = torch.float64 if any(value.dtype == torch.float64 for value in values.values()) else torch.float32
    return dict(zip(values, torch.stack([value.to(dtype) for value in values.values()]).tolist(), strict=True))


def run_epoch(
    step: Step,
    batches: Iterable[Batch],
    sums: Sums,
    callbacks: CallbackList,
    kind: str,
    stopped: Callable[[], Any] = lambda: False,
) -> None:
    """Run a step on every batch, with the hooks `on_<kind>_batch_begin` and `_end`, until the end or `stopped()`."""
    announce, report = (
        getattr(callbacks, hook) if callbacks.wants(hook) else None
        for hook in (f"on_{kind}_batch_begin", f"on_{kind}_batch_end")
    )
    for batch in batches:
        index = sums.batches
        if announce is not None:
            announce(index, Logs(batch=index, size=batch.size))
        values = step(batch)
        sums.add(values, batch.size)
        if report is not None:
            names = values if sums.named_alone else sums.kept
            kept = {name: sums.kept[name].result for name in names if name in sums.kept}
            report(index, Logs({**values, **kept}, batch=index, size=batch.size))
        del batch  # before the next one is made, which can then lie where this one lay
        if stopped():
            break
