"""Several processes share every batch: their parts, joined, are the batches of one process, in its order."""

import itertools
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from batches_of import W, X, Y, opened, rows
from test_every_kind import KINDS, Samples
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler, RandomSampler, WeightedRandomSampler

from torchkeras.data.batch import Batch
from torchkeras.data.part import Part, checksum
from torchkeras.data.sources import Source
from torchkeras.data.sources.limited import Limited

ORDERS = ("sequential", "batch", "shuffled")


def of_each(processes: int, read: Callable[[Part | None], Any]) -> list[Any]:
    """What one process reads, then what each of several reads, all from the same random numbers."""
    found = []
    for part in (None, *(Part(rank, processes) for rank in range(processes))):
        torch.manual_seed(3)
        found.append(read(part))
    return found


def joined(parts: list[list[Batch]]) -> list[Batch]:
    """The batches whose parts these are, made again; stand-ins left out."""
    whole = []
    for batches in zip(*parts, strict=True):
        assert {batch.whole for batch in batches} == {sum(batch.size for batch in batches)}
        assert all(len(batch.inputs[0]) == max(batch.size, 1) for batch in batches)

        def cat(kind: str, batches: Any = batches) -> list[Any]:
            values = zip(*(getattr(batch, kind) for batch in batches), strict=True)
            counted = [[v[: b.size] for v, b in zip(value, batches, strict=True) if v is not None] for value in values]
            return [torch.cat(value) if value else None for value in counted]

        whole.append(Batch(cat("inputs"), cat("targets"), cat("weights"), batches[0].whole))
    return whole


def assert_same(one: list[Batch], several: list[Batch]) -> None:
    assert [batch.size for batch in one] == [batch.size for batch in several]
    for expected, found in zip(one, several, strict=True):
        assert_equal = torch.testing.assert_close
        assert_equal(found.inputs, expected.inputs, rtol=0, atol=0)
        assert_equal(found.targets, expected.targets, rtol=0, atol=0)
        assert_equal(found.weights, expected.weights, rtol=0, atol=0)


def epochs(source: Source, order: str, skip: int = 0) -> list[Batch]:
    """Two epochs, of the first one what is behind `skip` batches."""
    batches = list(source.batches(order, skip))
    source.on_epoch_end()
    batches += source.batches(order)
    source.on_epoch_end()
    source.close()
    return batches


# 3 processes: batches of 4 are uneven, and the last one, of 2, leaves one process without a sample.
@pytest.mark.parametrize(("processes", "order"), [(3, "sequential"), (2, "batch"), (3, "shuffled")])
@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_joined_are_the_batches_of_one_process(kind, order, processes, tmp_path):
    if order == "shuffled" and kind.startswith("HDF5"):
        order = "sequential"  # which is all that HDF5 has beside "batch"

    def read(part: Part | None) -> Any:
        data, options = KINDS[kind](tmp_path)
        source = opened(*data, **options, part=part)
        return epochs(source, order), source.checksum(), (source.samples, source.batch_size, source.steps)

    one, *several = of_each(processes, read)
    assert_same(one[0], joined([batches for batches, *_ in several]))
    assert len({number for _, number, _ in several}) == 1
    assert one[1] == 0
    assert all(size == one[2] for *_, size in several)


@pytest.mark.parametrize("skip", [1, 2])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["arrays", "memmap", "Dataset", "Dataset by processes", "DataLoader", "Sequence"])
def test_parts_behind_the_first_batches(kind, order, skip, tmp_path):
    def read(part: Part | None) -> list[Batch]:
        data, options = KINDS[kind](tmp_path)
        return epochs(opened(*data, **options, part=part), order, skip)

    one, *several = of_each(2, read)
    assert len(one) == 6 - skip
    assert_same(one, joined(several))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["arrays", "memmap", "Dataset", "DataLoader", "Sequence", "generator"])
def test_parts_of_epochs_of_so_many_steps(kind, order, tmp_path):
    def read(part: Part | None) -> list[Batch]:
        data, options = KINDS[kind](tmp_path)
        source = opened(*data, **{**options, "steps": 4}, part=part)
        assert isinstance(source, Limited)
        assert (source.part, source.steps) == (part, 4)
        found = epochs(source, order)
        assert (source.checksum() == 0) is (part is None or (order == "sequential" and kind == "memmap"))
        return found

    one, *several = of_each(3, read)
    assert len(one) == 8
    assert_same(one, joined(several))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["arrays", "memmap"])
def test_parts_of_what_is_split(kind, order, tmp_path):
    def read(part: Part | None) -> list[Batch]:
        data, options = KINDS[kind](tmp_path)
        first, last = opened(*data, **options, part=part).split(0.3)
        last.batch_size = 2
        return [*epochs(first, order), *epochs(last, "sequential")]

    one, *several = of_each(3, read)
    assert_same(one, joined(several))


@pytest.mark.parametrize("processes", [2, 3, 4])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_batches_of_few_samples(size, processes):
    one, *several = of_each(
        processes, lambda part: list(opened(X, Y, W, batch_size=size, part=part).batches("shuffled"))
    )
    assert_same(one, joined(several))
    assert sum(batch.size for batches in several for batch in batches) == 10
    if size < processes:
        assert any(batch.size == 0 for batches in several for batch in batches)


def padded(samples: list[Any]) -> Any:
    """A batch as wide as its largest sample says."""
    width = int(max(sample[0].max() for sample in samples))
    x, y, weight = (torch.from_numpy(np.stack(values)) for values in zip(*samples, strict=True))
    return torch.nn.functional.pad(x, (0, width)), y, weight


SAMPLERS: dict[str, Callable[[], dict[str, Any]]] = {
    "shuffle": lambda: {"batch_size": 3, "shuffle": True},
    "a generator": lambda: {"batch_size": 3, "shuffle": True, "generator": torch.Generator().manual_seed(4)},
    "drop_last": lambda: {"batch_size": 3, "drop_last": True},
    "weighted": lambda: {"batch_size": 3, "sampler": WeightedRandomSampler(W.tolist(), 8)},
    "a batch sampler": lambda: {"batch_sampler": BatchSampler(RandomSampler(range(10)), 4, False)},
    "lists": lambda: {"batch_sampler": [[1, 5, 2], [3], [9, 9]]},
    "workers": lambda: {"batch_size": 3, "shuffle": True, "num_workers": 2},
    "workers that stay": lambda: {"batch_size": 3, "shuffle": True, "num_workers": 1, "persistent_workers": True},
    "a collate_fn": lambda: {"batch_size": 4, "shuffle": True, "collate_fn": padded},
    "no batches of its own": lambda: {"batch_size": None, "sampler": [[0, 1, 2], [3, 4]]},
}


@pytest.mark.parametrize("skip", [0, 1])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_loaders(sampler, skip):
    def read(part: Part | None) -> Any:
        source = opened(DataLoader(Samples(), **SAMPLERS[sampler]()), part=part)
        return epochs(source, "sequential", skip), source.steps, source.checksum()

    one, *several = of_each(2, read)
    assert_same(one[0], joined([batches for batches, *_ in several]))
    assert {steps for _, steps, _ in (one, *several)} == {one[1]}
    assert several[0][2] == several[1][2] != 0


class Watched(Samples):
    """Says which samples were asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __getitem__(self, index: int) -> Any:
        self.asked.append(index)
        return super().__getitem__(index)


@pytest.mark.parametrize("opened_as", ["Dataset", "DataLoader"])
def test_a_process_loads_its_own_samples_alone(opened_as):
    asked = []
    for rank in range(3):
        data = Watched()
        of = data if opened_as == "Dataset" else DataLoader(data, 4)
        list(opened(of, part=Part(rank, 3), **({"batch_size": 4} if of is data else {})).batches("sequential"))
        asked.append(data.asked)
    # Of batches of 4, 4 and 2 samples; the first process has none of the last one's, and its first stands in.
    assert asked == [[0, 4, 8], [1, 5, 8], [2, 3, 6, 7, 9]]


class Slow:
    """An array on disk, as far as anybody can tell, that says which rows were read."""

    shape, dtype = (10, 3), np.dtype("float32")

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    def __len__(self) -> int:
        return 10

    def __getitem__(self, rows: Any) -> np.ndarray:
        self.read.append(np.arange(10)[rows].tolist())
        return X[rows]


def test_a_process_reads_its_own_rows_alone():
    data = Slow()
    source = opened(data, batch_size=4, part=Part(1, 2))
    list(source.batches("sequential"))
    assert data.read == [[2, 3], [2, 3], [6, 7], [9]]  # first those by which the data is checked before any training


class Noisy(Dataset[Any]):
    """Samples with noise: how many random numbers it draws depends on the sample."""

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        return X[index], torch.rand(1 + index)[:1]


NOISY: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "Dataset": lambda: (Noisy(), {"batch_size": 4}),
    "DataLoader": lambda: (DataLoader(Noisy(), 4, shuffle=True), {}),
    "a generator": lambda: (DataLoader(Noisy(), 4, shuffle=True, generator=torch.Generator().manual_seed(4)), {}),
    "workers": lambda: (DataLoader(Noisy(), 4, shuffle=True, num_workers=2), {}),
    "Dataset by processes": lambda: (Noisy(), {"batch_size": 4, "workers": 2, "use_multiprocessing": True}),
}


@pytest.mark.parametrize("kind", NOISY)
def test_random_numbers_of_samples_leave_the_order_as_it_is(kind):
    def read(part: Part | None) -> Any:
        data, options = NOISY[kind]()
        source = opened(data, part=part, **options)
        batches = epochs(source, "shuffled")
        return batches, source.checksum(), torch.rand(1).item()

    _, *several = of_each(2, read)
    order = rows(joined([batches for batches, *_ in several]))
    for epoch in (order[:3], order[3:]):
        assert sorted(itertools.chain.from_iterable(epoch)) == list(range(10))
    assert len({number for _, number, _ in several}) == 1
    assert len({drawn for *_, drawn in several}) == 1
    noise = [batch.targets[0][: batch.size] for batches, *_ in several for batch in batches]
    assert len(torch.cat(noise).unique()) == 20  # of two processes and epochs: nothing is drawn twice


def test_random_numbers_of_samples_go_on_after_a_stop():
    def read(skip: int) -> list[Batch]:
        torch.manual_seed(1)
        return list(opened(DataLoader(Noisy(), 2, shuffle=True), part=Part(1, 2)).batches("sequential", skip))

    whole, rest = read(0), read(2)
    assert_same(whole[2:], rest)


# --- a DataLoader that is divided already ----------------------------------------------------------------------------


def divided(rank: int, **options: Any) -> DataLoader[Any]:
    sampler = DistributedSampler(Samples(), 2, rank, **{"shuffle": False, **options})
    return DataLoader(Samples(), 2, sampler=sampler)


def test_a_distributed_sampler_has_divided_the_samples():
    source = opened(divided(1), part=Part(1, 2))
    assert (source.batch_size, source.steps, source.divided) == (4, 3, True)
    batches = list(source.batches("sequential"))
    assert rows(batches) == [[1, 3], [5, 7], [9]]
    assert [(batch.size, batch.whole) for batch in batches] == [(2, 4), (2, 4), (1, 2)]


def test_a_distributed_sampler_gets_the_number_of_the_epoch():
    loader = divided(0, shuffle=True)
    source = opened(loader, part=Part(0, 2))
    first = rows(source.batches("sequential"))
    source.on_epoch_end()
    state = source.state_dict()
    second = rows(source.batches("sequential"))
    assert first != second
    again = opened(divided(0, shuffle=True), part=Part(0, 2))
    again.load_state_dict(state)
    assert rows(again.batches("sequential")) == second


def test_a_distributed_sampler_of_another_process():
    message = (
        "The DistributedSampler of the DataLoader is of process 1 of 2; this one is 0 of 2. Leave its rank and "
        "num_replicas out."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        opened(divided(1), part=Part(0, 2))


# --- batches that each process makes in whole ------------------------------------------------------------------------


def different(rank: int) -> Any:
    """A generator that shuffles by random numbers that nobody seeded alike."""
    order = random.Random(rank)
    while True:
        index = order.sample(range(10), 4)
        yield X[index], Y[index]


def test_different_batches_have_different_checksums():
    numbers = []
    for rank in range(2):
        source = opened(different(rank), steps=3, part=Part(rank, 2))
        list(source.batches("sequential"))
        numbers.append(source.checksum())
    assert numbers[0] != numbers[1]


@pytest.mark.parametrize("kind", ["arrays", "memmap", "Dataset", "DataLoader"])
def test_different_orders_have_different_checksums(kind, tmp_path):
    numbers = []
    for rank in range(2):
        data, options = KINDS[kind](tmp_path)
        data = (DataLoader(Samples(), 4, shuffle=True),) if kind == "DataLoader" else data
        source = opened(*data, **options, part=Part(rank, 2))
        torch.manual_seed(rank)
        list(source.batches("shuffled"))
        numbers.append(source.checksum())
    assert numbers[0] != numbers[1]


def test_a_checksum_looks_at_shapes_and_values():
    wide = torch.arange(4000.0).reshape(10, 400)
    other = wide.clone()
    other[9, 5] += 1
    tensors = [torch.ones(3), torch.ones(3, 1), torch.ones(3, dtype=torch.bool), torch.tensor(1.0), wide, other]
    tensors += [torch.zeros(0, 3), torch.ones(3, dtype=torch.bfloat16), wide.T, wide.to(torch.complex64)]
    assert len({checksum([tensor]) for tensor in tensors}) == len(tensors)
    assert checksum([tensors[0]], checksum([tensors[1]])) == checksum([tensors[1], tensors[0]])


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Dataset", "a generator"])
def test_a_state_of_one_process_is_one_of_several(kind):
    def source(part: Part | None) -> Source:
        data, options = NOISY[kind]()
        return opened(data, part=part, **options)

    one, several = source(None), source(Part(1, 2))
    assert one.generators().keys() == several.generators().keys()
    epochs(one, "shuffled")
    several.load_state_dict(one.state_dict())
    torch.manual_seed(5)
    expected = rows(one.batches("shuffled"))
    torch.manual_seed(5)
    found = rows(several.batches("shuffled"))
    assert found == [row[len(row) // 2 :] for row in expected]
