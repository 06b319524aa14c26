"""Objects that make a batch for each number: Keras's `Sequence`, and whatever has `__len__` and `__getitem__`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from torchkeras.data import random_state
from torchkeras.data.contents import plain
from torchkeras.data.part import Part
from torchkeras.data.sources.processes import in_processes, start_method
from torchkeras.data.sources.source import Prepare
from torchkeras.data.sources.streamed import Streamed


class _Batches:
    """The batches of a Sequence by their numbers; a StopIteration is an error, since it would end the epoch unseen."""

    def __init__(self, sequence: Any):
        self._sequence = sequence

    def __getitem__(self, number: int) -> Any:
        try:
            return self._sequence[number]
        except StopIteration as error:
            name = type(self._sequence).__name__
            raise RuntimeError(f"A Sequence must have a batch {number}: {name} raised StopIteration for it.") from error


@dataclass(frozen=True)
class Workers:
    """How batches are made: by `count` threads, or with `multiprocessing` processes; 0: by the calling thread.

    `waiting`: how many batches in advance.
    """

    count: int = 1
    multiprocessing: bool = False
    waiting: int = 10

    @property
    def num_workers(self) -> int:
        """How many processes make the batches."""
        return self.count if self.multiprocessing else 0

    def loader_options(self) -> dict[str, Any]:
        """The options of a DataLoader whose batches these processes make; none where there are no processes."""
        if not self.num_workers:
            return {}
        ahead = max(1, self.waiting // self.num_workers)
        return {
            "num_workers": self.num_workers,
            "prefetch_factor": ahead,
            "multiprocessing_context": start_method(),
        }


class SequenceSource(Streamed):
    """`sequence[0]` to `sequence[len(sequence) - 1]`, each x, (x,), (x, y) or (x, y, sample_weight).

    Both random orders shuffle whole batches, which keep their order whatever the number of workers. Where several
    processes share the batches, each makes whole batches, and takes its rows of them.
    """

    kind = "a Sequence"

    def __init__(
        self,
        sequence: Any,
        prepare: Prepare,
        device: torch.device,
        workers: Workers | None = None,
        part: Part | None = None,
    ):
        super().__init__(prepare, device, part)
        self._sequence, self._workers = sequence, workers or Workers()
        self._ends: list[dict[str, Any]] = []

    def contents(self) -> dict[str, Any]:
        workers = {"count": self._workers.count, "processes": self._workers.multiprocessing}
        return {
            **super().contents(),
            "batches": self.steps,
            "sequence": plain(self._sequence, deep=True),
            "workers": workers,
        }

    @property
    def steps(self) -> int:
        try:
            return len(self._sequence)
        except TypeError as error:
            name = type(self._sequence).__name__
            raise TypeError(
                f"A Sequence must have a whole number of batches, as math.ceil gives it; the length of {name} is "
                f"{self._sequence.__len__()!r}."
            ) from error

    def on_epoch_end(self) -> None:
        if not hasattr(self._sequence, "on_epoch_end"):
            return
        before = random_state.state(self.generators()) if self.keeps and not self._has_state else {}
        self._sequence.on_epoch_end()
        if before:
            drawn_from = random_state.changed(before, random_state.state(self.generators()))
            self._ends.append({part: before[part] for part in drawn_from})

    on_pass_end = on_epoch_end

    @property
    def _has_state(self) -> bool:
        return hasattr(self._sequence, "state_dict") and hasattr(self._sequence, "load_state_dict")

    def state_dict(self) -> dict[str, Any]:
        """The Sequence's own state, if it has one; else the random numbers that each `on_epoch_end` drew from."""
        if self._has_state:
            return {"own": self._sequence.state_dict()}
        return {"ends": list(self._ends)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """If the Sequence has no state, call its `on_epoch_end` as often, with the same random states."""
        if "own" in state:
            self._sequence.load_state_dict(state["own"])
            return
        own = self.generators()
        now = random_state.state(own)
        for before in state["ends"]:
            random_state.restore(before, own)
            self._sequence.on_epoch_end()
        random_state.restore(now, own)
        self._ends = list(state["ends"])

    def generators(self) -> dict[str, Any]:
        return random_state.found_in(sequence=self._sequence)

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        if hasattr(self._sequence, "on_epoch_begin"):
            self._sequence.on_epoch_begin()
        numbers = list(range(self.steps))
        if order != "sequential":
            numbers = torch.randperm(self.steps, device="cpu").tolist()
        workers, made = self._workers, _Batches(self._sequence)
        if workers.count and workers.multiprocessing:
            # Skipped batches are made too: processes draw random numbers while they make them.
            return self._passed(in_processes(made, numbers, workers.count, workers.waiting), skip)
        if workers.count:
            return self._in_threads(made.__getitem__, numbers[skip:], workers.count, workers.waiting)
        return map(made.__getitem__, numbers[skip:])
