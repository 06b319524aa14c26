"""What a source of batches is, and how those that make their batches one by one work."""

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
from torchkeras.data.part import SMALL, Part, checksum
from torchkeras.data.raw_batch import copied, tensors_in
from torchkeras.data.sources.ordered import in_threads

Prepare = Callable[..., Batch]  # (x, y, sample_weight, whole=None), as `Intake.batch`
Batches = Generator[Batch, None, None]


@dataclass(frozen=True, slots=True)
class OwnSamples:
    """An item that holds the samples of this process alone, of a batch of `whole`; `known`: the batch's checksum."""

    item: Any
    whole: int
    known: int = 0


class Source:
    """Batches, an epoch at a time.

    samples: the number of samples an epoch; steps: the number of batches an epoch; batch_size: that of all batches but
    the last; each None where it is not known. once: the data can be read only once. ended: it has been, so that there
    is no next epoch. stays: a batch's memory is not written to when the next is made. kind: what messages call the
    data. part: the rows of every batch that this process has, where several share them; samples, steps and batch_size
    are then those of all processes. divided: the user had divided the data between the processes, so that the order of
    the whole is not known here. keeps: random numbers are noted, since a run may have to go on from the middle.
    """

    kind = "data"
    part: Part | None = None
    divided = False
    _checksum = 0
    samples: int | None = None
    batch_size: int | None = None
    once = False
    stays = False
    ended = False
    keeps = False
    first: int | None = None  # a checksum of the first item of the pass under way; only where it `keeps`

    @property
    def steps(self) -> int | None:
        """The number of batches an epoch, None where it is not known."""
        return None

    def batches(self, order: str, skip: int = 0) -> Batches:
        """One epoch, in one of the orders of `data`; a source with an order of its own keeps to that.

        The first `skip` batches are passed over, as cheaply as the source allows. Random orders are drawn by the call
        itself, not by the first `next`, so that `torch.get_rng_state()` before it decides them.
        """
        raise NotImplementedError

    def checksum(self) -> int:
        """A number that all processes share where they had the same batches and orders so far; 0 without a part.

        Where it differs, processes shuffled in different orders, or made different batches where each makes them in
        whole: a generator, a Sequence, an IterableDataset. It is for a comparison every now and then.
        """
        return self._checksum

    def _note_order(self, device: torch.device | None = None) -> None:
        """An order is about to be drawn from the random numbers of a device, None: of the CPU."""
        if self.part is not None:
            on_cuda = device is not None and device.type == "cuda"
            state = torch.cuda.get_rng_state(device) if on_cuda else torch.get_rng_state()  # type: ignore[arg-type]
            self._checksum = checksum([state[:SMALL]], self._checksum)

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def give_raw(self, prepare: Callable[[Any], Batch]) -> None:
        """From now on make batches of items as they are, where they are made one by one; arrays have no such form."""

    def close(self) -> None:
        """End the epoch under way, and its threads and processes. The next `batches` begins a new one."""

    def split(self, fraction: float) -> tuple[Source, Source]:
        """The first samples and the last `fraction` of them. Raises ValueError where the data cannot be divided."""
        raise ValueError(
            f"validation_split {fraction!r} takes the last samples of arrays; {self.kind} cannot be divided. Give the "
            "data to validate on as validation_data."
        )

    def state_dict(self) -> dict[str, Any]:
        """What must be known to go on in the middle of an epoch, besides the state of the random numbers when the epoch
        began and the number of batches since, which is `skip`. Numbers and tensors only.

        Raises ValueError for what cannot go on in another process as it would have here.
        """
        return {}

    def keep(self) -> None:
        """From now on note the random numbers that a run needs to go on from the middle of an epoch."""
        self.keeps = True

    def generators(self) -> dict[str, Any]:
        """The random generators of the user's own that make the data, by their places."""
        return {}

    def drawn(self) -> dict[str, Any]:
        """The state of the random numbers that one thread draws ahead, by the parts of `random_state.state`.

        It is the state after the last batch given, which is restored to go on, in place of the present one.
        """
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take what `state_dict` gave, before `batches`."""

    def contents(self) -> dict[str, Any]:
        """What tells whether this is the same data, as `contents.plain` has it; nothing is drawn or used up."""
        return {"kind": self.kind, "samples": self.samples, "batch_size": self.batch_size}

    def catch_up(self, order: str) -> None:
        """Go to the place of the state taken now, and not when `batches` is called: random numbers are restored on the
        way, which no other thread may draw meanwhile.
        """


class Streamed(Source):
    """Items made one by one: each is split into (x, y, sample_weight), prepared on the host and sent to the device.

    `prepare` checks them and makes a Batch. `lists_are_inputs`: a list is several inputs, not (x, y), as in Keras's
    `predict_generator`.
    """

    lists_are_inputs = False
    _prepare_raw: Callable[[Any], Batch] | None = None

    def __init__(self, prepare: Prepare, device: torch.device, part: Part | None = None):
        self._prepare, self._device, self.part = prepare, device, part
        self._pass: ref[Batches] | None = None  # weak: an epoch that nobody takes batches of any more ends at once
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
        """The rows of this process: all of an item that has no others, or those of a batch that each process makes."""
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
        if not 1 <= len(item) <= 3:
            raise ValueError(
                f"A batch of {self.kind} must be x, (x,), (x, y) or (x, y, sample_weight); found a "
                f"{type(item).__name__} of {len(item)}."
            )
        x, y, weight = (*item, None, None)[:3]
        return x, y, weight

    def _passed(self, items: Iterator[Any], number: int) -> Iterator[Any]:
        """The items after the first `number`. These are made again, and must begin as they did before a stop.

        Raises ValueError where they do not.
        """
        if number and self.first is not None:
            found = _sum(next(items, None))
            if found != self.first:
                raise ValueError(
                    f"BackupAndRestore: {self.kind} begins with another batch than in the run before the stop: its "
                    "data is other, or it draws random numbers of its own that begin elsewhere. Give it the same "
                    'data and seeds, or go on with what there is by BackupAndRestore(..., accept=("data",)).'
                )
            number -= 1
        return passed_over(items, number)

    def _in_threads(self, make: Callable[[Any], Any], arguments: Iterable[Any], workers: int, ahead: int) -> Any:
        """`in_threads`; what one thread draws while it makes an item is noted, where the state will be asked for.

        Items are copied, since one array may be filled again for each of them, and several wait.
        """

        def kept(argument: Any) -> Any:
            return copied(make(argument))

        if not self.keeps or workers > 1:
            return in_threads(kept, arguments, workers, ahead)
        return self._noted(in_threads(_noting(kept, self.generators()), arguments, workers, ahead))

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
    """`make`, which gives with each item the state of the random numbers after it, of the parts that it draws from."""
    parts: set[str] = set()

    def made(argument: Any) -> tuple[Any, dict[str, Any]]:
        before = random_state.state_of_thread(own)
        item = make(argument)
        after = random_state.state_of_thread(own)
        parts.update(random_state.changed(before, after))
        return item, {part: after[part] for part in parts}

    return made


def _sum(item: Any) -> int | None:
    """A checksum of an item; of one that has a part of a batch there is none, since it changes with the processes."""
    if isinstance(item, OwnSamples):
        return None
    return zlib.crc32(repr(plain(item, deep=True)).encode())


def close(iterator: Any) -> None:
    """End an iterator now, with its threads and processes, where it has any."""
    if hasattr(iterator, "close"):
        iterator.close()
    elif hasattr(iterator, "_shutdown_workers") and not iterator._persistent_workers:
        # torch's DataLoader ends its processes when its iterator is collected. A traceback can hold on to that, and
        # then it took 5 seconds, in which torch waited for queues that had been collected before.
        iterator._shutdown_workers()


def passed_over(iterator: Iterator[Any], number: int) -> Iterator[Any]:
    """The iterator after its first `number` items, which are taken now."""
    for _ in range(number):
        next(iterator, None)
    return iterator
