"""Losses and metrics computed for several batches at once, where nobody wants the numbers of single ones.

On a small batch they cost more in calls than in arithmetic. The forward pass stays that of each batch, since a layer
may mix its samples; in training so does the loss.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.engine.fit.sums import Sums
from torchkeras.engine.step.compiled_model import CompiledModel, Values
from torchkeras.engine.step.step import Learned, Learner, Pass, can_wait, forward, metrics, score, train_step
from torchkeras.losses.shared import carried

MOST_BYTES = 2**20  # of what waits for its numbers
MOST_BATCHES = 64


def may_wait(model: CompiledModel, source: Source, hooks: CallbackList, kind: str) -> bool:
    """Whether the numbers of a batch are means over its samples that no callback asks for, and the batch stays."""
    wanted = any(hooks.wants(f"on_{kind}_batch_{end}") for end in ("begin", "end"))
    return model.by_sample and source.stays and not wanted


class BatchedScores:
    """Steps that leave what they report to be computed later: targets and outputs wait while they can be joined.

    A step, to be run by `run_epoch`, gives None for a batch that waits. What waits goes to `sums`, and `finish` is
    called after the last batch.
    """

    def __init__(self, model: CompiledModel, sums: Sums, learn: Learner | None = None):
        self._model, self._sums, self._learn = model, sums, learn
        self._waiting: list[tuple[list[torch.Tensor], list[torch.Tensor], Values | None, int]] = []
        self._kind: object = None
        self._bytes = 0

    def test_step(self, batch: Batch) -> Values | None:
        """Evaluate a batch."""
        passed = forward(self._model, batch)
        if can_wait(batch, passed):
            self._take(batch, passed.outputs)
            return None
        self.finish()
        return score(self._model, batch, passed)[1]

    def train_step(self, batch: Batch) -> Values | None:
        """Train on a batch."""
        learned: list[Learned] = []

        def learn(model: CompiledModel, batch: Batch) -> Learned:
            assert self._learn is not None
            learned.append(self._learn(model, batch, late=True))
            return learned[0]

        train_step(self._model, batch, learn)
        found = learned[0]
        if found.outputs is None:
            self.finish()
            return found.values
        self._take(batch, found.outputs, found.values)
        return None

    def _take(self, batch: Batch, outputs: list[torch.Tensor], known: Values | None = None) -> None:
        """`known`: the numbers of losses, where the metrics alone are wanted."""
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
        """Score what waits."""
        if not self._waiting:
            return
        targets, outputs, known, sizes = zip(*self._waiting, strict=True)
        joined, none = _joined_batches(outputs), [None] * len(outputs[0])
        batch = Batch([], _joined_batches(targets), [None] * len(targets[0]), sum(sizes))
        passed = Pass(joined, none, [], {})
        if known[0] is None:
            self._sums.add(score(self._model, batch, passed)[1], batch.size)
        else:
            found = metrics(self._model, batch, passed, {})
            for losses, size in zip(known, sizes, strict=True):  # added up as without waiting, to the last digit
                self._sums.add({**losses, **found}, size)
        self._waiting, self._bytes = [], 0


def _joined_batches(parts: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each tensor of all batches as one, marked as logits where they are."""
    if len(parts) == 1:
        return parts[0]
    return [carried(tensors[0], lambda _, all_of=tensors: torch.cat(all_of)) for tensors in zip(*parts, strict=True)]
