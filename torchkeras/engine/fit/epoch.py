"""The one loop over the batches of an epoch, for training and evaluation alike."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import Batch
from torchkeras.engine.fit.one_process import ONE_PROCESS, OneProcess
from torchkeras.engine.fit.sums import Sums
from torchkeras.engine.step.compiled_model import Values


class Executions:
    """The hooks `on_<kind>_batch_begin` and `_end` around groups of batches (`compile(steps_per_execution=)`).

    `begin` receives the index and size of the first batch in the group. `end` receives the index of the last batch, the
    number of samples and the mean numbers of the group, and the results of metrics with state for all batches in
    `sums`. Where several processes share the batches, the numbers are those of all processes, computed no more often
    than these exchange numbers, unless some callback needs each.
    """

    def __init__(
        self,
        callbacks: CallbackList,
        kind: str,
        every: int,
        sums: Sums | None = None,
        processes: OneProcess = ONE_PROCESS,
    ):
        self._sums = Sums() if sums is None else sums
        self._pace = processes.pace(every, callbacks.takes_means(f"on_{kind}_batch_end"))
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
        """A batch of `samples` ends, `size` of them in this process. Returns whether the hooks were called."""
        self._done.append((values, size))
        self._last, self._samples = index, self._samples + samples
        if len(self._done) < self._pace.interval:
            return False
        self.finish()
        return True

    def finish(self) -> None:
        """End the group of batches, if one has begun."""
        (done, samples), self._done, self._samples = (self._done, self._samples), [], 0
        if not done or self._report is None:
            return
        logs = Logs(self._sums.means_of(done), batch=self._last, size=samples)
        held = weakref.ref(logs)
        self._report(self._last, logs)
        del logs
        if (stored := held()) is not None:  # by a callback, while metrics count on
            stored.settle()


def run_epoch(
    step: Callable[[Batch], Values | None],
    batches: Iterable[Batch],
    sums: Sums,
    hooks: Executions,
    stopped: Callable[[bool], Any] = lambda called: False,
    processes: OneProcess = ONE_PROCESS,
) -> None:
    """Run a step on every batch, with the hooks around it, until the end or `stopped`.

    A step returns None if its numbers are computed later, together with those of other batches; then no hook needs
    them. `stopped` receives whether the hooks of the end were called.
    """
    with processes.sharing(step) as run:
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
