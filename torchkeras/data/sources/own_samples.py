"""Batches of which a process loads only its own samples: it cuts the lists of indices before anything is loaded."""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from torchkeras.data.part import Part
from torchkeras.data.sources.streamed import OwnSamples, close

END = object()
SEEDS = 1_000_003  # from one process to the next: more than there are workers in one, whose seeds follow each other


class OwnIndices:
    """The lists of indices of a batch sampler, each cut to those of one process.

    The sampler draws from the random numbers that are equal in all processes. Loading draws from others: processes load
    different samples, and otherwise the order of the next epoch would differ between them.
    """

    def __init__(self, lists: Iterable[Sequence[Any]], part: Part, generator: torch.Generator | None = None):
        self._lists, self._part, self._generator = lists, part, generator
        self._known: deque[tuple[int, int]] = deque()  # of each list given: its whole length, and its checksum
        self.begin()

    def begin(self) -> None:
        """An epoch begins: to be called before its sampler or loader draws anything."""
        self._random = _RandomOfProcess(self._part, self._generator)

    def __len__(self) -> int:
        return len(self._lists)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[list[Any]]:
        self._known.clear()
        lists = iter(self._lists)
        while (indices := self._next(lists)) is not END:
            self._known.append((len(indices), zlib.crc32(repr(list(indices)).encode())))
            yield list(indices[self._part.rows(len(indices))])

    def _next(self, lists: Iterator[Any]) -> Any:
        with self._random.alike():
            return next(lists, END)

    def items(self, loaded: Iterator[Any], skipped: int = 0) -> Iterator[OwnSamples]:
        """The batches of a DataLoader with these indices. The first `skipped` ones were skipped by their indices."""
        for _ in range(skipped):
            self._known.popleft()
        return self._items(loaded, skipped)

    def _items(self, loaded: Iterator[Any], number: int) -> Iterator[OwnSamples]:
        try:
            while (item := self._load(loaded, number)) is not END:
                number += 1
                yield OwnSamples(item, *self._known.popleft())
        finally:
            close(loaded)

    def _load(self, loaded: Iterator[Any], number: int) -> Any:
        with self._random.of_its_own(number):
            return next(loaded, END)


class _RandomOfProcess:
    """torch's random numbers of one process, next to those that are equal in all processes.

    They depend on the common state at the start of the epoch, on the number of the batch and on the process, so that a
    resumed run draws them again. `generator`: the one that a DataLoader draws from at the start of each epoch, by
    default torch's.
    """

    def __init__(self, part: Part, generator: torch.Generator | None = None):
        start = torch.Generator()
        start.set_state(torch.get_rng_state() if generator is None else generator.get_state())
        self._seed, self._part = int(torch.randint(2**62, (), generator=start)), part
        self._alike: torch.Tensor | None = None  # their state, while those of this process are in use

    @contextmanager
    def of_its_own(self, number: int) -> Iterator[None]:
        """Inside the block torch draws the numbers of this process, for the batch of this number."""
        self._alike = torch.get_rng_state()
        torch.default_generator.manual_seed(self._seed + number * self._part.processes + self._part.rank)
        try:
            yield
        finally:
            torch.set_rng_state(self._alike)
            self._alike = None

    @contextmanager
    def alike(self) -> Iterator[None]:
        """Inside the block torch draws again what it draws in all processes."""
        if self._alike is None:
            yield
            return
        own = torch.get_rng_state()
        torch.set_rng_state(self._alike)
        try:
            yield
        finally:
            self._alike = torch.get_rng_state()
            torch.set_rng_state(own)


@dataclass(frozen=True)
class SeededWorker:
    """The start of a worker of a DataLoader: seeds random numbers by process, then calls the user's function."""

    rank: int
    given: Callable[[int], Any] | None = None

    def __call__(self, worker: int) -> None:
        if self.rank:  # the first process draws what it would draw alone
            seed = torch.initial_seed() + self.rank * SEEDS
            torch.manual_seed(seed)
            random.seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002  # what datasets draw from
        if self.given is not None:
            self.given(worker)


OPTIONS = (
    *("num_workers", "collate_fn", "pin_memory", "timeout", "multiprocessing_context", "generator", "prefetch_factor"),
    *("persistent_workers", "pin_memory_device", "in_order"),
)


def own_loader(loader: DataLoader[Any], indices: OwnIndices, part: Part) -> DataLoader[Any]:
    """The same DataLoader for the samples of one process."""
    return DataLoader(
        loader.dataset,
        batch_sampler=indices,  # type: ignore[arg-type]
        worker_init_fn=SeededWorker(part.rank, loader.worker_init_fn),
        **{option: getattr(loader, option) for option in OPTIONS if hasattr(loader, option)},  # as torch's version has
    )
