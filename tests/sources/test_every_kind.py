"""Every kind of data gives the same batches: inputs with their targets and weights."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
import pandas as pd
import pytest
import torch
from batches_of import IN_ORDER, W, X, Y, opened, rows
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from torchkeras.utils import HDF5Matrix, Sequence


class Numbered(Sequence):
    """Batches of 4 of the ten samples."""

    def __init__(self, parts: tuple[Any, ...] = (X, Y, W)):
        self.parts = parts
        self.epochs = 0

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return tuple(part[index * 4 : index * 4 + 4] for part in self.parts)

    def on_epoch_end(self) -> None:
        self.epochs += 1


class Duck:
    """What only looks like a Sequence."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return Numbered()[index]


class Samples(Dataset[Any]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        return X[index], Y[index], W[index]


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return (Samples()[index] for index in range(10))


class Rounds:
    """An iterable of batches that is none of torch's."""

    def __iter__(self) -> Any:
        return (Numbered()[index] for index in range(3))


def endless() -> Any:
    while True:
        yield from Rounds()


def memmap(folder: Path) -> np.memmap:
    np.save(folder / "x.npy", X)
    return cast(np.memmap, np.load(folder / "x.npy", mmap_mode="r"))


def hdf5(folder: Path) -> Path:
    if not (folder / "data.h5").exists():
        with h5py.File(folder / "data.h5", "w") as file:
            file["x"], file["y"], file["w"] = X, Y, W
    return folder / "data.h5"


def datasets(folder: Path) -> list[h5py.Dataset]:
    file = h5py.File(hdf5(folder), "r")
    return [cast(h5py.Dataset, file[name]) for name in "xyw"]


BY_FOUR = {"batch_size": 4}
# What is passed, and the options it needs for batches of 4.
KINDS: dict[str, Callable[[Path], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "arrays": lambda _: ((X, Y, W), BY_FOUR),
    "lists": lambda _: (([X], [Y], [W]), BY_FOUR),
    "python lists": lambda _: (([X.tolist()], [Y.tolist()], W.tolist()), BY_FOUR),
    "dicts": lambda _: (({"a": X}, {"b": Y}, {"b": W}), BY_FOUR),
    "tensors": lambda _: (tuple(torch.from_numpy(part) for part in (X, Y, W)), BY_FOUR),
    "pandas": lambda _: ((pd.DataFrame(X), pd.DataFrame(Y), pd.Series(W)), BY_FOUR),
    "memmap": lambda folder: ((memmap(folder), Y, W), BY_FOUR),
    "HDF5": lambda folder: (tuple(datasets(folder)), BY_FOUR),
    "HDF5 beside arrays": lambda folder: ((datasets(folder)[0], [Y], pd.Series(W)), BY_FOUR),
    "HDF5Matrix": lambda folder: (tuple(HDF5Matrix(hdf5(folder), name) for name in "xyw"), BY_FOUR),
    "TensorDataset": lambda _: ((TensorDataset(*(torch.from_numpy(part) for part in (X, Y, W))),), BY_FOUR),
    "Dataset": lambda _: ((Samples(),), BY_FOUR),
    "Dataset by processes": lambda _: ((Samples(),), {**BY_FOUR, "workers": 2, "use_multiprocessing": True}),
    "IterableDataset": lambda _: ((Stream(),), BY_FOUR),
    "DataLoader": lambda _: ((DataLoader(Samples(), 4),), {}),
    "iterable": lambda _: ((Rounds(),), {}),
    "Sequence": lambda _: ((Numbered(),), {}),
    "Sequence without threads": lambda _: ((Numbered(),), {"workers": 0}),
    "Sequence by threads": lambda _: ((Numbered(),), {"workers": 3}),
    "Sequence by processes": lambda _: ((Numbered(),), {"workers": 2, "use_multiprocessing": True}),
    "duck-typed Sequence": lambda _: ((Duck(),), {}),
    "generator": lambda _: ((endless(),), {"steps": 3}),
    "generator without a thread": lambda _: ((endless(),), {"steps": 3, "workers": 0}),
    "iterator": lambda _: ((itertools.cycle(Rounds()),), {"steps": 3}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_batches_in_order_for_two_epochs(kind, tmp_path):
    data, options = KINDS[kind](tmp_path)
    source = opened(*data, **options)
    for _ in range(2):
        batches = list(source.batches("sequential"))
        assert rows(batches) == IN_ORDER
        for batch in batches:
            assert batch.size == len(batch.inputs[0])
            torch.testing.assert_close(batch.targets, [batch.inputs[0][:, :1] * 2])
            torch.testing.assert_close(batch.weights, [batch.inputs[0][:, 0] + 1])
        source.on_epoch_end()
    source.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_source_says_of_its_size(kind, tmp_path):
    data, options = KINDS[kind](tmp_path)
    source = opened(*data, **options)
    assert source.steps == (None if kind in ("IterableDataset", "iterable") else 3)
    assert source.samples in (10, None)
    assert source.batch_size in (4, None)
    if "batch_size" in options:
        assert (source.samples, source.batch_size) == (None if kind == "IterableDataset" else 10, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_passed_over_is_left_out(kind, tmp_path):
    data, options = KINDS[kind](tmp_path)
    source = opened(*data, **options)
    assert rows(source.batches("sequential", skip=2)) == IN_ORDER[2:]
    source.close()


OWN_ORDER = ("IterableDataset", "DataLoader", "iterable", "generator", "generator without a thread", "iterator")
BY_BATCH = tuple(kind for kind in KINDS if "Sequence" in kind)
ON_DISK = tuple(kind for kind in KINDS if "HDF5" in kind)


@pytest.mark.parametrize("order", ["shuffled", "batch"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OWN_ORDER])
def test_random_orders(kind, order, tmp_path):
    data, options = KINDS[kind](tmp_path)
    source = opened(*data, **options)
    if kind in ON_DISK and order == "shuffled":
        with pytest.raises(TypeError, match="cannot be shuffled sample by sample"):
            source.batches(order)
        return
    torch.manual_seed(3)
    state = torch.get_rng_state()
    one, two = rows(source.batches(order)), rows(source.batches(order))
    torch.set_rng_state(state)
    assert rows(source.batches(order)) == one
    assert one != two or order == "batch" or kind in BY_BATCH  # three batches have few orders
    assert sorted(itertools.chain.from_iterable(one)) == list(range(10))
    if order == "batch" or kind in BY_BATCH:
        assert sorted(one) == IN_ORDER
    if order == "batch" and kind not in BY_BATCH:
        assert one[-1] == IN_ORDER[-1]  # the smaller one stays last
    for skip in (1, 3):
        torch.set_rng_state(state)
        assert rows(source.batches(order, skip=skip)) == one[skip:]


@pytest.mark.parametrize("loader", [
    lambda: DataLoader(Samples(), 4, shuffle=True),
    lambda: DataLoader(Samples(), 4, shuffle=True, num_workers=1),
    lambda: DataLoader(Samples(), 4, shuffle=True, drop_last=True, generator=torch.Generator()),
    lambda: DataLoader(Samples(), batch_size=None, sampler=[[3, 1], [5], [8, 2, 9]]),  # type: ignore[arg-type]
])  # fmt: skip
def test_a_loader_that_shuffles_goes_on_where_it_was(loader):
    torch.manual_seed(5)
    first = opened(loader())
    list(first.batches("shuffled"))
    first.on_epoch_end()
    state, kept = torch.get_rng_state(), first.state_dict()
    batches = first.batches("shuffled")
    begun = [next(batches)]
    assert rows(begun + list(batches)) == rows(first_again := [*begun, *behind(loader(), state, kept)])
    assert len(first_again) == len(loader())


def behind(loader, state, kept):
    again = opened(loader)
    torch.set_rng_state(state)
    again.load_state_dict(kept)
    return list(again.batches("shuffled", skip=1))


def test_a_loader_is_not_made_to_load_what_is_passed_over():
    loaded = []

    class Watched(Samples):
        def __getitem__(self, index):
            loaded.append(index)
            return super().__getitem__(index)

    list(opened(DataLoader(Watched(), 4)).batches("sequential", skip=2))
    assert loaded == [8, 9]
    list(opened(Watched(), batch_size=4).batches("sequential", skip=1))
    assert loaded == [8, 9, 4, 5, 6, 7, 8, 9]


def test_the_state_of_a_loaders_generator_is_that_of_the_epochs_beginning():
    generator = torch.Generator().manual_seed(1)
    source = opened(DataLoader(Samples(), 4, shuffle=True, generator=generator))
    before = generator.get_state()
    torch.testing.assert_close(source.state_dict()["generator"], before)
    list(source.batches("shuffled"))
    torch.testing.assert_close(source.state_dict()["generator"], before)
    source.on_epoch_end()
    torch.testing.assert_close(source.state_dict()["generator"], generator.get_state())
    assert not torch.equal(before, generator.get_state())
    assert opened(DataLoader(Samples(), 4)).state_dict() == {}


def test_several_inputs_and_outputs(tmp_path):
    x, y, w = datasets(tmp_path)
    data = ({"a": x, "b": W}, [y, Y], [None, w])
    for batch in opened(*data, batch_size=4).batches("batch"):
        torch.testing.assert_close(batch.inputs[1], batch.inputs[0][:, 0] + 1)
        torch.testing.assert_close(batch.targets[0], batch.targets[1])
        assert len(batch.weights) == 1  # `each` keeps a None, the stand-in for a trainer here leaves it out


def test_a_group_of_an_hdf5_file_is_a_dict_of_its_datasets(tmp_path):
    with h5py.File(hdf5(tmp_path), "r") as file:
        batch = next(opened(file, batch_size=4).batches("sequential"))
        assert [tuple(value.shape) for value in batch.inputs] == [(4,), (4, 3), (4, 1)]


@pytest.mark.parametrize("kind", ["arrays", "memmap", "HDF5", "HDF5Matrix"])
def test_split(kind, tmp_path):
    data, options = KINDS[kind](tmp_path)
    training, validation = opened(*data, **options).split(0.3)
    assert rows(training.batches("sequential")) == [[0, 1, 2, 3], [4, 5, 6]]
    assert rows(validation.batches("sequential")) == [[7, 8, 9]]
    assert (training.steps, training.samples, validation.steps, validation.samples) == (2, 7, 1, 3)
    first, last = validation.split(0.4)
    assert (rows(first.batches("sequential")), rows(last.batches("sequential"))) == ([[7]], [[8, 9]])
    if kind == "memmap":
        assert sorted(itertools.chain.from_iterable(rows(validation.batches("shuffled")))) == [7, 8, 9]


def test_lists_from_loaders_are_x_and_y_and_for_predict_from_generators_several_inputs():
    def pairs():
        while True:
            yield [X[:2], Y[:2]]

    for method, inputs in (("fit", 1), ("evaluate", 1), ("predict", 2)):
        source = opened(pairs(), steps=1, method=method)
        assert len(next(source.batches("sequential")).inputs) == inputs
        source.close()
    assert len(next(opened(DataLoader(Samples(), 4), method="predict").batches("sequential")).inputs) == 1


@pytest.mark.parametrize(("item", "inputs", "targets"), [
    (X, 1, 0), ((X,), 1, 0), ((X, Y), 1, 1), ((X, Y, W), 1, 1), ({"a": X, "b": Y}, 2, 0), (([X, X], [Y, Y]), 2, 2),
])  # fmt: skip
def test_how_an_item_is_split(item, inputs, targets):
    source = opened(iter([item]), steps=1)
    (batch,) = source.batches("sequential")
    assert (len(batch.inputs), len(batch.targets)) == (inputs, targets)
    source.close()


def test_the_workers_of_a_keras_3_dataset_are_its_own(monkeypatch):
    used = []
    monkeypatch.setattr(
        "torchkeras.data.sources.streamed.in_threads",
        lambda call, numbers, workers, waiting: used.append((workers, waiting)) or map(call, numbers),
    )

    class PyDataset(Numbered):
        workers, use_multiprocessing, max_queue_size = 3, False, 7

    for options in ({}, {"workers": 2}, {"max_queue_size": 5}):
        list(opened(PyDataset(), **options).batches("sequential"))
    assert used == [(3, 7), (2, 10), (1, 5)]


def test_the_end_of_an_epoch_is_told_to_a_sequence():
    sequence = Numbered()
    source = opened(sequence)
    list(source.batches("sequential"))
    assert sequence.epochs == 0
    source.on_epoch_end()
    assert sequence.epochs == 1
