"""The one loop over the batches of an epoch, for training and evaluation alike."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import Batch
from torchkeras.engine.step.compiled_model import Values
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.output_metric import as_reported
from torchkeras.metrics import Metric

WIDE = (torch.float32, torch.float64)


@dataclass
class Sums:
    """The reported numbers of an epoch so far: sums weighted by batch size, the samples seen, the batches done, the
    size of the last one.

    `kept`: the metrics that keep a state of their own; with `named_alone` only those among the numbers are reported, as
    a step of the user's own may have left others as they were. `guard`: tells which batches are left out; None where
    all count. `processes`: those that share each batch; the sums are then those of this process, until they are read.
    """

    kept: Mapping[str, Metric] = field(default_factory=dict)
    named_alone: bool = False
    totals: dict[str, torch.Tensor] = field(default_factory=dict)
    seen: int = 0
    batches: int = 0
    last_size: int = 0
    guard: Guard | None = None
    processes: Any = None

    def add(self, values: Mapping[str, torch.Tensor], size: int) -> None:
        """Take the numbers of one more batch, which record no gradients.

        Raises RuntimeError when their names are others than before.
        """
        values = values if self.guard is None else self.guard.counting(values)
        if not size:  # a sample that stood in for none
            values = {name: torch.zeros_like(value) for name, value in values.items()}
        if not self.totals:
            # In half precision a sum would soon stand still.
            wide = [value if value.dtype in WIDE else value.float() for value in values.values()]
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

    def reported(self, values: Mapping[str, torch.Tensor]) -> dict[str, Callable[[], Any]]:
        """What metrics with state say of all batches so far, as functions; `values`: the numbers of the last one."""
        names = values if self.named_alone else self.kept
        return {name: self.kept[name].result for name in names if name in self.kept}

    def means(self) -> dict[str, torch.Tensor]:
        """The means, and what the metrics with state give, as device scalars."""
        seen = max(self.seen, 1) if self.guard is None else self.guard.good_samples  # 0 / 0 where all are left out
        if self.processes is None:
            return self._means(self.totals, seen)
        with self.processes.added_up(self.totals, self.seen if self.guard is None else seen, self.kept) as found:
            return self._means(*found)

    def _means(self, totals: Mapping[str, torch.Tensor], seen: Any) -> dict[str, torch.Tensor]:
        means = {name: total / seen for name, total in totals.items()}
        return {**means, **results(self.kept, means if self.named_alone else self.kept)}


def ordered(values: Mapping[str, torch.Tensor], names: list[str]) -> dict[str, torch.Tensor]:
    """Numbers in the order of `names`; those with other names after them."""
    known = [name for name in names if name in values]
    return {name: values[name] for name in [*known, *(name for name in values if name not in names)]}


def results(kept: Mapping[str, Metric], names: Iterable[str]) -> dict[str, torch.Tensor]:
    """What those of the metrics with these names give now. Raises TypeError for one that gives no numbers."""
    return {name: as_reported(name, kept[name].result()) for name in names if name in kept}


class Executions:
    """The hooks `on_<kind>_batch_begin` and `_end` around every so many batches (`compile(steps_per_execution=)`).

    The first has the index of the first of them and its size, the second the index of the last, the samples of all and
    their mean numbers, and what metrics with state say of all batches in `sums`. Where several processes share the
    batches, the numbers are those of all, and are asked for no more often than these exchange numbers, unless some
    callback needs each.
    """

    def __init__(self, callbacks: CallbackList, kind: str, every: int, sums: Sums | None = None):
        self._every, self._sums = every, sums
        self._processes: Any = None if sums is None else sums.processes
        self._seldom = callbacks.takes_means(f"on_{kind}_batch_end")
        self._announce, self._report = (
            getattr(callbacks, hook) if callbacks.wants(hook) else None
            for hook in (f"on_{kind}_batch_begin", f"on_{kind}_batch_end")
        )
        self._done: list[tuple[Mapping[str, torch.Tensor], int]] = []
        self._last = self._samples = 0

    def begin(self, index: int, size: int) -> None:
        """A batch begins."""
        if self._announce is not None and not self._done:
            self._announce(index, Logs(batch=index, size=size))

    def end(self, index: int, size: int, values: Mapping[str, torch.Tensor], samples: int) -> bool:
        """A batch of so many samples ends, `size` of them of this process. Returns whether the hooks were called."""
        self._done.append((values, size))
        self._last, self._samples = index, self._samples + samples
        processes = self._processes if self._seldom else None
        if len(self._done) < (self._every if processes is None else processes.interval):
            return False
        self.finish()
        return True

    def finish(self) -> None:
        """No batch follows at once: what has begun ends."""
        (done, samples), self._done, self._samples = (self._done, self._samples), [], 0
        if not done or self._report is None:
            return
        if self._sums is None:
            numbers: Mapping[str, Any] = _together(done, Sums())
        elif self._processes is None:
            numbers = {**_together(done, Sums()), **self._sums.reported(done[-1][0])}
        else:
            kept, named_alone = self._sums.kept, self._sums.named_alone
            numbers = _together(done, Sums(kept, named_alone, processes=self._processes))
        logs = Logs(numbers, batch=self._last, size=samples)
        held = weakref.ref(logs)
        self._report(self._last, logs)
        del logs
        if (kept := held()) is not None:  # by a callback, while metrics count on
            kept.settle()


def _together(done: list[tuple[Mapping[str, torch.Tensor], int]], sums: Sums) -> Mapping[str, torch.Tensor]:
    """The mean numbers of some batches, added up in `sums`."""
    if sums.processes is None and (len(done) == 1 or not done[0][0]):
        return done[0][0]
    for values, size in done:
        sums.add(values, size)
    return sums.means()


def run_epoch(
    step: Callable[[Batch], Values | None],
    batches: Iterable[Batch],
    sums: Sums,
    hooks: Executions,
    stopped: Callable[[bool], Any] = lambda called: False,
) -> None:
    """Run a step on every batch, with the hooks around it, until the end or `stopped`.

    A step that gives None has left its numbers to be computed with those of other batches; no hook asks for them then.
    `stopped` receives whether the hooks of the end were called.
    """
    with nullcontext(step) if sums.processes is None else sums.processes.sharing(step) as run:
        for batch in batches:
            index, called, samples = sums.batches, False, batch.size + batch.others
            hooks.begin(index, samples)
            values = run(batch)
            if values is not None:
                sums.add(values, batch.size)
                sums.last_size = samples
                called = hooks.end(index, batch.size, values, samples)
            del batch  # before the next one is made, which can then lie where this one lay
            if stopped(called):
                break
    hooks.finish()
