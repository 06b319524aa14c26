"""Objects that make a batch for each number: Keras's `Sequence`, and whatever has `__len__` and `__getitem__`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from torchkeras.engine.sources.ordered import in_threads
from torchkeras.engine.sources.processes import in_processes
from torchkeras.engine.sources.source import Prepare, Streamed, passed_over


@dataclass(frozen=True)
class Workers:
    """Who makes the batches: `count` threads, or processes; none for the thread that asks. `waiting`: how far ahead."""

    count: int = 1
    processes: bool = False
    waiting: int = 10


class SequenceSource(Streamed):
    """`sequence[0]` to `sequence[len(sequence) - 1]`, each x, (x,), (x, y) or (x, y, sample_weight).

    Either random order is one of the batches, which come in that order however many workers make them.
    """

    kind = "a Sequence"

    def __init__(self, sequence: Any, prepare: Prepare, device: torch.device, workers: Workers | None = None):
        super().__init__(prepare, device)
        self._sequence, self._workers = sequence, workers or Workers()

    @property
    def steps(self) -> int:
        return len(self._sequence)

    def on_epoch_end(self) -> None:
        if hasattr(self._sequence, "on_epoch_end"):
            self._sequence.on_epoch_end()

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        numbers = list(range(self.steps)) if order == "sequential" else torch.randperm(self.steps).tolist()
        workers = self._workers
        if workers.count and workers.processes:
            # What is passed over is made all the same: processes draw random numbers of their own while they make it.
            return passed_over(in_processes(self._sequence, numbers, workers.count, workers.waiting), skip)
        made = self._sequence.__getitem__
        if workers.count:
            return in_threads(made, numbers[skip:], workers.count, workers.waiting)
        return map(made, numbers[skip:])
