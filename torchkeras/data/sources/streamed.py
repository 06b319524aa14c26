"""Sources that make their batches one by one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import ref

import torch

from torchkeras.data import random_state
from torchkeras.data.batch import Batch, check_order
from torchkeras.data.contents import plain
from torchkeras.data.device_transfer import to_device
from torchkeras.data.part import Part, checksum
from torchkeras.data.raw_batch import copied, tensors_in
from torchkeras.data.sources.ordered import in_threads
from torchkeras.data.sources.source import Batches, Prepare, Source


@dataclass(frozen=True, slots=True)
class OwnSamples:
    """An item with only the samples of this process, of a batch of `whole`; `known`: the checksum of the batch."""

    item: Any
    whole: int
    known: int = 0


class Streamed(Source):
    """Items made one by one: each is split into (x, y, sample_weight), prepared on the host and sent to the device.

    `prepare` checks them and makes a Batch. `lists_are_inputs`: a list is several inputs, not (x, y), as in Keras's
    `predict_generator`.
    """

    lists_are_inputs = False
    _prepare_raw: Callable[[Any], Batch] | None = None

    def __init__(self, prepare: Prepare, device: torch.device, part: Part | None = None):
        self._prepare, self._device, self.part = prepare, device, part
        self._pass: ref[Batches] | None = None  # weak: an epoch that nobody iterates over any more ends at once
        self._drawn: dict[str, Any] = {}

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        """The items of one epoch after the first `skip`. Draws the order when called."""
        raise NotImplementedError

    def batches(self, order: str, skip: int = 0) -> Batches:
        """As `Source.batches`. Raises ValueError when a whole epoch has no batch, or an item has no x, y and weight."""
        check_order(order)
        self.close()
        self._drawn = {}
        self.first = self.first if skip else None
        batches = to_device(self._prepared(self._items(order, skip), came=skip > 0), self._device)
        self._pass = ref(batches)
        return batches

    def _prepared(self, items: Iterator[Any], came: bool) -> Batches:
        try:
            for item in items:
                if self.keeps and not came:
                    self.first = _sum(item)
                came = True
                yield self._made(item)
            if not came:
                raise ValueError(f"No batches came from {self.kind}.")
        finally:
            close(items)

    def _made(self, item: Any) -> Batch:
        if self.part is None:
            return self._batch(item)
        return self._own_batch(item, self.part)

    def _batch(self, item: Any, *whole: int) -> Batch:
        if self._prepare_raw is None:
            return self._prepare(*self._parts(item), *whole)
        return self._prepare_raw(item)

    def _own_batch(self, item: Any, part: Part) -> Batch:
        """The rows of this process: all rows of an `OwnSamples`, or some of a batch that each process makes."""
        if isinstance(item, OwnSamples):
            if item.known:
                self._checksum = zlib.crc32(item.known.to_bytes(4, "little"), self._checksum)
            return part.counted(self._batch(item.item, item.whole), item.whole)
        batch = self._batch(item)
        own = part.of(batch)
        tensors = [*batch.inputs, *batch.targets] if batch.raw is None else tensors_in(batch.raw)
        self._checksum = checksum(tensors, self._checksum)
        return own

    def give_raw(self, prepare: Callable[[Any], Batch]) -> None:
        self._prepare_raw = prepare

    def _parts(self, item: Any) -> tuple[Any, Any, Any]:
        if not isinstance(item, tuple) and (self.lists_are_inputs or not isinstance(item, list)):
            return item, None, None
        if item and all(isinstance(part, str) for part in item):  # samples: no part of a batch is a string alone
            return item, None, None
        if not 1 <= len(item) <= 3:
            raise ValueError(
                f"A batch of {self.kind} must be x, (x,), (x, y) or (x, y, sample_weight); found a "
                f"{type(item).__name__} of {len(item)}."
            )
        x, y, weight = (*item, None, None)[:3]
        return x, y, weight

    def _passed(self, items: Iterator[Any], number: int) -> Iterator[Any]:
        """The items after the first `number`. These are made again, and must begin as they did before a stop.

        Raises ValueError where they differ.
        """
        if number and self.first is not None:
            found = _sum(next(items, None))
            if found != self.first:
                raise ValueError(
                    f"BackupAndRestore: {self.kind} begins with another batch than in the run before the stop: its "
                    "data has changed, or it draws other random numbers. Give it the same data and seeds, or continue "
                    'with the new batches by BackupAndRestore(..., accept=("data",)).'
                )
            number -= 1
        return passed_over(items, number)

    def _in_threads(self, make: Callable[[Any], Any], arguments: Iterable[Any], workers: int, ahead: int) -> Any:
        """`in_threads`; where the state may be stored, it stores what a single thread draws while it makes an item.

        Items are copied, since one array may be filled again for each of them while several wait.
        """

        def make_copy(argument: Any) -> Any:
            return copied(make(argument))

        if not self.keeps or workers > 1:
            return in_threads(make_copy, arguments, workers, ahead)
        return self._noted(in_threads(_noting(make_copy, self.generators()), arguments, workers, ahead))

    def _noted(self, pairs: Generator[Any, None, None]) -> Iterator[Any]:
        try:
            for item, self._drawn in pairs:
                yield item
        finally:
            pairs.close()
            self._drawn = {}

    def drawn(self) -> dict[str, Any]:
        return self._drawn

    def close(self) -> None:
        batches = None if self._pass is None else self._pass()
        if batches is not None:
            batches.close()


def _noting(make: Callable[[Any], Any], own: dict[str, Any]) -> Callable[[Any], tuple[Any, dict[str, Any]]]:
    """`make`, which returns with each item the random state after it, for the generators that it draws from."""
    parts: set[str] = set()

    def made(argument: Any) -> tuple[Any, dict[str, Any]]:
        before = random_state.state_of_thread(own)
        item = make(argument)
        after = random_state.state_of_thread(own)
        parts.update(random_state.changed(before, after))
        return item, {part: after[part] for part in parts}

    return made


def _sum(item: Any) -> int | None:
    """A checksum of an item; None for a part of a batch, which changes with the number of processes."""
    if isinstance(item, OwnSamples):
        return None
    return zlib.crc32(repr(plain(item, deep=True)).encode())


def close(iterator: Any) -> None:
    """End an iterator now, with its threads and processes."""
    if hasattr(iterator, "close"):
        iterator.close()
    elif hasattr(iterator, "_shutdown_workers") and not iterator._persistent_workers:
        # torch's DataLoader ends its processes when its iterator is collected. A traceback can hold on to that, and
        # then it takes 5 seconds, while torch waits for queues that were collected before.
        iterator._shutdown_workers()


def passed_over(iterator: Iterator[Any], number: int) -> Iterator[Any]:
    """The iterator after its first `number` items, which are consumed now."""
    for _ in range(number):
        next(iterator, None)
    return iterator
