"""torch's Dataset, IterableDataset and DataLoader, and other iterables of batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, default_collate

from torchkeras.data import random_state
from torchkeras.data.batch import Batch, batch_numbers, check_batch_size
from torchkeras.data.contents import plain
from torchkeras.data.part import Part
from torchkeras.data.raw_batch import mapped, samples_in
from torchkeras.data.sources.own_samples import OwnIndices, SeededWorker, own_loader
from torchkeras.data.sources.sequences import Workers
from torchkeras.data.sources.source import Prepare
from torchkeras.data.sources.streamed import OwnSamples, Streamed, passed_over


class LoaderSource(Streamed):
    """A DataLoader, or another iterable of batches, used as it is: its batches in its order.

    Where several processes share the batches, a DataLoader of a Dataset loads only the samples of this process. One
    with a DistributedSampler does so by itself: its batches are parts of larger ones, and it gets the number of each
    epoch. From anything else each process makes whole batches, and takes its rows of them; this includes a custom
    `collate_fn`, which may read all samples of a batch, for example to pad them to the longest.
    """

    kind = "a DataLoader"

    def __init__(
        self,
        loader: Iterable[Any],
        prepare: Prepare,
        device: torch.device,
        kind: str = "a DataLoader",
        part: Part | None = None,
    ):
        super().__init__(prepare, device, part)
        self.kind, self._given, self._loader = kind, loader, loader
        self.batch_size = getattr(loader, "batch_size", None)
        self.stays = _stacks(loader)
        self._began: torch.Tensor | None = None
        self._indices: OwnIndices | None = None  # the samples of this process, where others are not even loaded
        self._sampler: DistributedSampler[Any] | None = None
        if part is not None and isinstance(loader, DataLoader):
            self._divide(loader, part)

    def _divide(self, loader: DataLoader[Any], part: Part) -> None:
        self._sampler = _distributed_sampler(loader, part)
        if self._sampler is not None:
            self.divided = True
            self.batch_size = None if self.batch_size is None else self.batch_size * part.processes
        elif _has_indices(loader) and loader.batch_sampler is not None and loader.collate_fn is default_collate:
            self._indices = OwnIndices(loader.batch_sampler, part, loader.generator)
            self._loader = own_loader(loader, self._indices, part)

    @property
    def steps(self) -> int | None:
        try:
            return len(self._loader) if isinstance(self._loader, Sized) else None
        except (TypeError, NotImplementedError):  # a DataLoader has a length only where its dataset has one
            return None

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        if self._generator is not None:
            self._began = self._generator.get_state()
        own = self._indices
        if own is not None:
            own.begin()
        # Workers draw random numbers while they load: to resume exactly, they load all batches again.
        skipped = skip if _is_plain(self._loader) else 0
        items = _after(self._loader, skipped) if skipped else iter(self._loader)
        if own is not None:
            items = own.items(items, skipped)
        return self._passed(items, skip - skipped)

    @property
    def _generator(self) -> torch.Generator | None:
        return getattr(self._loader, "generator", None)

    def _own_batch(self, item: Any, part: Part) -> Batch:
        if self._sampler is None:
            return super()._own_batch(item, part)
        return super()._own_batch(OwnSamples(item, part.processes * samples_in(mapped(item, _unchanged, None))), part)

    def contents(self) -> dict[str, Any]:
        found = {**super().contents(), "batches": self.steps}
        loader = self._given
        if not isinstance(loader, DataLoader):
            return {**found, "data": plain(loader, deep=True)}
        sampler = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        data = {name: plain(getattr(loader, name), deep=True) for name in DESCRIBED}
        return {**found, **data, "sampler": _sampler(sampler), "workers": loader.num_workers}

    def on_epoch_end(self) -> None:
        self._began = None
        if self._sampler is not None:
            self._sampler.set_epoch(self._sampler.epoch + 1)

    def state_dict(self) -> dict[str, Any]:
        """The state of the DataLoader's own generator when the epoch began, and the epoch of a DistributedSampler."""
        if getattr(self._loader, "persistent_workers", False):
            raise ValueError(
                "A DataLoader with persistent_workers=True cannot continue in another process as in this one: its "
                "workers keep random numbers from epoch to epoch. Leave persistent_workers out."
            )
        state: dict[str, Any] = {} if self._sampler is None else {"epoch": self._sampler.epoch}
        if self._generator is None:
            return state
        return {**state, "generator": self._generator.get_state() if self._began is None else self._began}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if self._sampler is not None and "epoch" in state:  # a run of one process has none
            self._sampler.set_epoch(state["epoch"])
        if self._generator is not None:
            self._generator.set_state(state["generator"])

    def generators(self) -> dict[str, Any]:
        return random_state.found_in(loader=self._given)


DESCRIBED = ("dataset", "drop_last", "collate_fn", "worker_init_fn", "generator")  # of a DataLoader


def _sampler(sampler: Any) -> Any:
    """A description of the sampler of a DataLoader, without the data."""
    if isinstance(sampler, DistributedSampler):  # one of several processes, of which there may be others now
        return [type(sampler).__name__, sampler.shuffle, sampler.seed, sampler.drop_last]
    options = {
        name: item for name, item in vars(sampler).items() if name not in ("data_source", "sampler", "generator")
    }
    inner = getattr(sampler, "sampler", None)
    return [type(sampler).__name__, plain(options, deep=True), None if inner is None else _sampler(inner)]


def _distributed_sampler(loader: DataLoader[Any], part: Part) -> DistributedSampler[Any] | None:
    """The DistributedSampler of a DataLoader, if it has one. Raises ValueError if it is that of another process."""
    samplers = loader.sampler, getattr(loader.batch_sampler, "sampler", None)
    found = next((sampler for sampler in samplers if isinstance(sampler, DistributedSampler)), None)
    if found is not None and (found.rank, found.num_replicas) != (part.rank, part.processes):
        raise ValueError(
            f"The DistributedSampler of the DataLoader is of process {found.rank} of {found.num_replicas}; this one is "
            f"{part.rank} of {part.processes}. Leave its rank and num_replicas out."
        )
    return found


def _is_plain(loader: Any) -> bool:
    """Whether batches can be skipped by their indices: the loader draws no random numbers while it loads them."""
    return _has_indices(loader) and loader.num_workers == 0


def _stacks(loader: Any) -> bool:
    """Whether each batch is in memory of its own, into which torch has stacked the samples."""
    stacks = type(loader) is DataLoader and loader.batch_size is not None
    return stacks and loader.collate_fn is default_collate


def _has_indices(loader: Any) -> bool:
    """Whether the indices of the sampler determine what a loader loads."""
    return type(loader) is DataLoader and not isinstance(loader.dataset, IterableDataset)


def _unchanged(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


class _SkippableSampler:
    """A sampler whose iterator can be advanced from outside."""

    def __init__(self, sampler: Iterable[Any]):
        self.sampler = sampler
        self.iterator: Iterator[Any] = iter(())

    def __iter__(self) -> Iterator[Any]:
        self.iterator = iter(self.sampler)
        return self.iterator


def _after(loader: Any, skip: int) -> Iterator[Any]:
    """The batches of `loader` after the first `skip`, which are not loaded. Draws what the loader would draw."""
    indices: dict[str, Any]
    if loader.batch_sampler is not None:
        sampler = _SkippableSampler(loader.batch_sampler)
        indices = {"batch_sampler": sampler}
    else:
        sampler = _SkippableSampler(loader.sampler)
        indices = {"batch_size": None, "sampler": sampler}
    items = iter(
        DataLoader(
            loader.dataset,
            **indices,
            collate_fn=loader.collate_fn,
            pin_memory=loader.pin_memory,
            generator=loader.generator,
        )
    )
    passed_over(sampler.iterator, skip)
    return items


class DatasetSource(Streamed):
    """The samples of a torch Dataset with a length, collated to batches by torch's DataLoader."""

    kind = "a torch Dataset"
    stays = True
    samples: int
    batch_size: int

    def __init__(
        self,
        dataset: Dataset[Any],
        batch_size: int,
        prepare: Prepare,
        device: torch.device,
        workers: Workers | None = None,
        part: Part | None = None,
    ):
        super().__init__(prepare, device, part)
        check_batch_size(batch_size)
        self._dataset, self.batch_size, self.samples = dataset, int(batch_size), len(dataset)  # type: ignore[arg-type]
        self._workers = workers or Workers(0)

    @property
    def steps(self) -> int:
        return -(-self.samples // self.batch_size)

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        options = self._workers.loader_options()
        if not options:
            return self._loaded(self._indices(order, skip))
        # Workers draw random numbers while they load: to resume exactly, they load all batches again.
        return self._passed(self._loaded(self._indices(order, 0), **options), skip)

    def _loaded(self, indices: Any, **options: Any) -> Iterator[Any]:
        """The samples with these indices, or those of them that this process has, loaded by torch's DataLoader."""
        if self.part is None:
            return iter(DataLoader(self._dataset, batch_sampler=indices, **options))
        own: Any = OwnIndices(indices, self.part)
        seeded = SeededWorker(self.part.rank)
        return own.items(iter(DataLoader(self._dataset, batch_sampler=own, worker_init_fn=seeded, **options)))

    def contents(self) -> dict[str, Any]:
        dataset = plain(self._dataset, deep=True)
        return {**super().contents(), "dataset": dataset, "workers": self._workers.num_workers}

    def generators(self) -> dict[str, Any]:
        return random_state.found_in(dataset=self._dataset)

    def _indices(self, order: str, skip: int) -> Iterable[list[int]]:
        samples, size = self.samples, self.batch_size
        if order != "sequential":
            self._note_order()
        if order == "shuffled":
            return _Lists(torch.randperm(samples, device="cpu").split(size)[skip:])
        numbers = batch_numbers(samples, size, order)[skip:]
        return _Lists([range(i * size, min((i + 1) * size, samples)) for i in numbers])


class _Lists:
    """Ranges and tensors of indices as the lists that a DataLoader needs, each made when it is used."""

    def __init__(self, indices: Any):
        self._indices = indices

    def __iter__(self) -> Iterator[list[int]]:
        return (i.tolist() if isinstance(i, torch.Tensor) else list(i) for i in self._indices)
