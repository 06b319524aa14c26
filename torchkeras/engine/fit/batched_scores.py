"""Losses and metrics computed for several batches at once, if nobody asks for the numbers of single batches.

For a small batch they cost more in calls than in arithmetic. The forward pass runs for each batch, since a layer may
mix its samples; in training so does the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.engine.fit.sums import Sums
from torchkeras.engine.step.compiled_model import CompiledModel, Values
from torchkeras.engine.step.step import (
    ForwardPass,
    TrainFunction,
    TrainPass,
    can_wait,
    forward,
    metrics,
    score,
    train_step,
)
from torchkeras.losses.shared import carried

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
            for losses, size in zip(
                known, sizes, strict=True
            ):  # in this order the sum has the same last digit as without waiting
                self._sums.add({**losses, **found}, size)
        self._waiting, self._bytes = [], 0


def _joined_batches(parts: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each tensor of all batches as one, marked as logits where they are."""
    if len(parts) == 1:
        return parts[0]
    return [carried(tensors[0], lambda _, all_of=tensors: torch.cat(all_of)) for tensors in zip(*parts, strict=True)]
