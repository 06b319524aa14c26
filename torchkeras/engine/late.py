"""An evaluation whose loss and metrics are computed for several batches at once.

On a small batch they cost more in calls than in arithmetic. The forward pass stays that of each batch, since a layer
may mix its samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from torchkeras.engine.data import Batch
from torchkeras.engine.loop import Sums
from torchkeras.engine.recipe import Recipe
from torchkeras.engine.steps import Pass, forward, score
from torchkeras.losses.shared import carried

MOST_BYTES = 2**20  # of what waits for its numbers
MOST_BATCHES = 64


def run_late(recipe: Recipe, batches: Iterable[Batch], sums: Sums) -> None:
    """Evaluate all batches; for a recipe that is `by_sample`, where nobody wants the numbers of single batches."""
    waiting = _Waiting(recipe, sums)
    for batch in batches:
        waiting.take(batch, forward(recipe, batch.inputs))
    waiting.finish()


class _Waiting:
    """Batches with their outputs, as long as they can be joined; their numbers go to `sums`."""

    def __init__(self, recipe: Recipe, sums: Sums):
        self._recipe, self._sums = recipe, sums
        self._waiting: list[tuple[Batch, list[torch.Tensor]]] = []
        self._kind: object = None
        self._bytes = 0

    def take(self, batch: Batch, passed: Pass) -> None:
        if passed.losses or passed.metrics or any(weight is not None for weight in batch.weights):
            self.finish()
            self._sums.add(score(self._recipe, batch, passed)[1], batch.size)
            return
        tensors = [*passed.outputs, *batch.targets]
        kind = [(tensor.shape[1:], tensor.dtype) for tensor in tensors]
        if kind != self._kind:
            self.finish()
            self._kind = kind
        self._waiting.append((batch, passed.outputs))
        self._bytes += sum(tensor.untyped_storage().nbytes() for tensor in passed.outputs)
        self._bytes += sum(tensor.nbytes for tensor in batch.targets)
        if self._bytes >= MOST_BYTES or len(self._waiting) == MOST_BATCHES:
            self.finish()

    def finish(self) -> None:
        """Score what waits."""
        if not self._waiting:
            return
        batches, outputs = zip(*self._waiting, strict=True)
        size = sum(batch.size for batch in batches)
        joined = Batch([], _joined([batch.targets for batch in batches]), batches[0].weights, size)
        passed = Pass(_joined(outputs), [None] * len(outputs[0]), [], {})
        self._sums.add(score(self._recipe, joined, passed)[1], size)
        self._waiting, self._bytes = [], 0


def _joined(parts: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each tensor of all batches as one, marked as logits where they are."""
    if len(parts) == 1:
        return parts[0]
    return [carried(tensors[0], lambda _, all_of=tensors: torch.cat(all_of)) for tensors in zip(*parts, strict=True)]
