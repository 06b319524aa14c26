"""The one loop over the batches of an epoch, for training and evaluation alike."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from torchkeras.callbacks.base import CallbackList, Logs
from torchkeras.engine.data import Batch
from torchkeras.engine.steps import Step


@dataclass(frozen=True)
class Result:
    """The sums of the reported numbers over an epoch, each weighted by batch size, and the samples seen."""

    names: list[str]
    totals: list[torch.Tensor]
    seen: int

    def logs(self, prefix: str = "") -> Logs:
        """The means, to be read when someone asks."""
        return Logs(
            (prefix + name, total / max(self.seen, 1)) for name, total in zip(self.names, self.totals, strict=True)
        )

    def floats(self) -> list[float]:
        """The means, in one transfer."""
        return (torch.stack(self.totals) / max(self.seen, 1)).tolist()


def run_epoch(
    step: Step,
    batches: Iterable[Batch],
    names: list[str],
    device: torch.device,
    callbacks: CallbackList,
    kind: str,
    stopped: Callable[[], Any] = lambda: False,
) -> Result:
    """Run a step on every batch, with the hooks `on_<kind>_batch_begin` and `_end`, until the end or `stopped()`."""
    announce, report = (
        getattr(callbacks, hook) if callbacks.wants(hook) else None
        for hook in (f"on_{kind}_batch_begin", f"on_{kind}_batch_end")
    )
    totals = [torch.zeros((), device=device) for _ in names]
    seen = 0
    for index, batch in enumerate(batches):
        if announce is not None:
            announce(index, Logs(batch=index, size=batch.size))
        values = step(batch)
        with torch.no_grad():
            torch._foreach_add_(totals, values, alpha=batch.size)
        seen += batch.size
        if report is not None:
            report(index, Logs(zip(names, values, strict=True), batch=index, size=batch.size))
        if stopped():
            break
    return Result(names, totals, seen)
