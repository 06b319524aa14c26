"""Losses and metrics computed for several batches at once, where nobody wants the numbers of single ones.

On a small batch they cost more in calls than in arithmetic. The forward pass stays that of each batch, since a layer
may mix its samples; in training so does the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.data.sources import Source
from torchkeras.engine.fit.epoch import Sums
from torchkeras.engine.step.compiled_model import CompiledModel, Values
from torchkeras.engine.step.step import Learned, Learner, Pass, can_wait, forward, metrics, score, train_step
from torchkeras.losses.shared import carried

MOST_BYTES = 2**20  # of what waits for its numbers
MOST_BATCHES = 64


def may_wait(model: CompiledModel, source: Source, hooks: CallbackList, kind: str) -> bool:
    """Whether the numbers of a batch are means over its samples that no callback asks for, and the batch stays."""
    wanted = any(hooks.wants(f"on_{kind}_batch_{end}") for end in ("begin", "end"))
    return model.by_sample and source.stays and not wanted


def evaluate_late(model: CompiledModel, batches: Iterable[Batch], sums: Sums) -> None:
    """Evaluate all batches."""
    waiting = _Waiting(model, sums)
    for batch in batches:
        passed = forward(model, batch.inputs)
        if can_wait(batch, passed):
            waiting.take(batch, passed.outputs)
        else:
            waiting.finish()
            sums.add(score(model, batch, passed)[1], batch.size)
    waiting.finish()


def train_late(
    model: CompiledModel, learn: Learner, batches: Iterable[Batch], sums: Sums, stopped: Callable[[], Any]
) -> None:
    """Train on all batches, until the end or `stopped()`."""
    waiting = _Waiting(model, sums)

    def learned(model: CompiledModel, batch: Batch) -> Learned:
        found = learn(model, batch, late=True)
        if found.outputs is None:
            waiting.finish()
            sums.add(found.values, batch.size)
        else:
            waiting.take(batch, found.outputs, found.values)
        return found

    for batch in batches:
        train_step(model, batch, learned)
        del batch  # before the next one is made, which can then lie where this one lay
        if stopped():
            break
    waiting.finish()


class _Waiting:
    """Targets and outputs of batches, as long as they can be joined; their numbers go to `sums`."""

    def __init__(self, model: CompiledModel, sums: Sums):
        self._model, self._sums = model, sums
        self._waiting: list[tuple[list[torch.Tensor], list[torch.Tensor], Values | None, int]] = []
        self._kind: object = None
        self._bytes = 0

    def take(self, batch: Batch, outputs: list[torch.Tensor], known: Values | None = None) -> None:
        """`known`: the numbers of losses, where the metrics alone are wanted."""
        kind = [(tensor.shape[1:], tensor.dtype) for tensor in (*outputs, *batch.targets)]
        if kind != self._kind:
            self.finish()
            self._kind = kind
        self._waiting.append((batch.targets, outputs, known, batch.size))
        self._bytes += sum(tensor.untyped_storage().nbytes() for tensor in outputs)
        self._bytes += sum(tensor.nbytes for tensor in batch.targets)
        if self._bytes >= MOST_BYTES or len(self._waiting) == MOST_BATCHES:
            self.finish()

    @torch.no_grad()
    def finish(self) -> None:
        """Score what waits."""
        if not self._waiting:
            return
        targets, outputs, known, sizes = zip(*self._waiting, strict=True)
        joined, none = _joined(outputs), [None] * len(outputs[0])
        batch = Batch([], _joined(targets), [None] * len(targets[0]), sum(sizes))
        if known[0] is None:
            self._sums.add(score(self._model, batch, Pass(joined, none, [], {}))[1], batch.size)
        else:
            found = metrics(self._model, batch, joined, none)
            for losses, size in zip(known, sizes, strict=True):  # added up as without waiting, to the last digit
                self._sums.add({**losses, **found}, size)
        self._waiting, self._bytes = [], 0


def _joined(parts: Sequence[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each tensor of all batches as one, marked as logits where they are."""
    if len(parts) == 1:
        return parts[0]
    return [carried(tensors[0], lambda _, all_of=tensors: torch.cat(all_of)) for tensors in zip(*parts, strict=True)]
