"""The one loop over the batches of an epoch, for training and evaluation alike."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from torchkeras.activations.logits import carried
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.engine.fit.one_process import ONE_PROCESS, OneProcess
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.step.step import (
    CompiledModel,
    ForwardPass,
    TrainFunction,
    TrainPass,
    Values,
    can_wait,
    forward,
    metrics,
    score,
    train_step,
)


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


# --- scores of several batches at once --------------------------------------------------------------------------------


MOST_BYTES = 2**20  # of targets and outputs that wait
MOST_BATCHES = 64


def may_wait(model: CompiledModel, source: Source, hooks: CallbackList, kind: str) -> bool:
    """Whether the numbers of a batch are means over samples, no callback asks for them, and the batch stays."""
    asked = hooks.wants(f"on_{kind}_batch_begin") or hooks.wants(f"on_{kind}_batch_end")
    return model.by_sample and source.stays and not asked


class BatchedScores:
    """Steps whose numbers are computed later: targets and outputs wait while they can be concatenated.

    A step, for `run_epoch`, returns None for a batch that waits. Its numbers are added to `sums` later; `finish` is
    called after the last batch.
    """

    def __init__(self, model: CompiledModel, sums: Sums, train_pass: TrainFunction | None = None):
        self._model, self._sums, self._train_pass = model, sums, train_pass
        self._waiting: list[tuple[list[torch.Tensor], list[torch.Tensor], Values | None, int]] = []
        self._kind: object = None
        self._bytes = 0

    def test_step(self, batch: Batch) -> Values | None:
        """Evaluate a batch."""
        passed = forward(self._model, batch)
        if can_wait(batch, passed):
            self._wait(batch, passed.outputs)
            return None
        self.finish()
        return score(self._model, batch, passed)[1]

    def train_step(self, batch: Batch) -> Values | None:
        """Train on a batch."""
        passed: list[TrainPass] = []

        def train_pass(model: CompiledModel, batch: Batch) -> TrainPass:
            assert self._train_pass is not None
            passed.append(self._train_pass(model, batch, defer_metrics=True))
            return passed[0]

        train_step(self._model, batch, train_pass)
        found = passed[0]
        if found.outputs is None:
            self.finish()
            return found.values
        self._wait(batch, found.outputs, found.values)
        return None

    def _wait(self, batch: Batch, outputs: list[torch.Tensor], known: Values | None = None) -> None:
        """`known`: the numbers of losses, if only the metrics are to be computed."""
        kind = [(tensor.shape[1:], tensor.dtype) for tensor in (*outputs, *batch.targets)]
        if kind != self._kind:
            self.finish()
            self._kind = kind
        self._waiting.append((batch.targets, outputs, known, batch.size))
        for tensor in outputs:
            self._bytes += tensor.untyped_storage().nbytes()
        for tensor in batch.targets:
            self._bytes += tensor.nbytes
        if self._bytes >= MOST_BYTES or len(self._waiting) == MOST_BATCHES:
            self.finish()

    @torch.no_grad()
    def finish(self) -> None:
        """Compute the numbers of the batches that wait."""
        if not self._waiting:
            return
        targets, outputs, known, sizes = zip(*self._waiting, strict=True)
        joined, none = _joined_batches(outputs), [None] * len(outputs[0])
        batch = Batch([], _joined_batches(targets), [None] * len(targets[0]), sum(sizes))
        passed = ForwardPass(joined, none, [], {})
        if known[0] is None:
            self._sums.add(score(self._model, batch, passed)[1], batch.size)
        else:
            found = metrics(self._model, batch, passed, {})
            # In this order the sum has the same last digit as without waiting.
            for losses, size in zip(known, sizes, strict=True):
                self._sums.add({**losses, **found}, size)
        self._waiting, self._bytes = [], 0


def _joined_batches(parts: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each tensor of all batches as one, marked as logits where they are."""
    if len(parts) == 1:
        return parts[0]
    return [carried(tensors[0], lambda _, all_of=tensors: torch.cat(all_of)) for tensors in zip(*parts, strict=True)]
