"""Arrays in files are read ahead of the step, in blocks, by a thread."""

import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pytest
import torch
from batches_of import opened
from torch.utils.data import DataLoader, TensorDataset, default_collate

from torchkeras.data.sources import slices
from torchkeras.utils import HDF5Matrix

ROWS, SIZE = 40, 4
X = np.arange(3 * ROWS, dtype=np.float32).reshape(ROWS, 3)
SMALL, LARGE = 3 * 4 * SIZE * 5, 1  # bytes of a block: five batches, or less than one


def dataset(folder: Path) -> Any:
    with h5py.File(folder / "x.h5", "w") as file:
        file["x"] = X
    return h5py.File(folder / "x.h5", "r")["x"]


def memmap(folder: Path) -> Any:
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


class Reads:
    """What is read of a dataset, and by which thread."""

    def __init__(self) -> None:
        self.places: list[Any] = []
        self.threads: set[str] = set()

    def __enter__(self) -> "Reads":
        read = h5py.Dataset.__getitem__

        def reading(data: Any, place: Any, **options: Any) -> Any:
            self.places.append(place)
            self.threads.add(threading.current_thread().name.partition("_")[0])
            return read(data, place, **options)

        self.patch = patch.object(h5py.Dataset, "__getitem__", reading)
        self.patch.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.patch.stop()


def rows(source: Any, order: str, skip: int = 0) -> list[int]:
    return [int(row) // 3 for batch in source.batches(order, skip) for row in batch.inputs[0][:, 0]]


@pytest.mark.parametrize("block", [SMALL, LARGE])
def test_batches_in_order_are_read_in_blocks_by_a_thread(block, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "BLOCK", block)
    source = opened(dataset(tmp_path), batch_size=SIZE)
    with Reads() as reads:
        assert rows(source, "sequential", skip=1) == list(range(SIZE, ROWS))
    step = SIZE * (5 if block == SMALL else 1)
    assert reads.places == [slice(at, min(at + step, ROWS)) for at in range(SIZE, ROWS, step)]
    assert reads.threads == {"torchkeras-data"}


@pytest.mark.parametrize("block", [SMALL, LARGE])
@pytest.mark.parametrize("make", [dataset, memmap])
def test_shuffled_batches_are_whole_and_each_comes_once(make, block, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "BLOCK", block)
    found = rows(opened(make(tmp_path), batch_size=SIZE), "batch")
    assert sorted(found) == list(range(ROWS)) != found
    assert all(np.diff(found[at : at + SIZE]).tolist() == [1] * (SIZE - 1) for at in range(0, ROWS, SIZE))


def test_code_of_the_user_runs_in_the_thread_of_the_step(tmp_path):
    dataset(tmp_path)
    threads = set()

    def normalizer(values: Any) -> Any:
        threads.add(threading.current_thread())
        return values

    assert rows(opened(HDF5Matrix(tmp_path / "x.h5", "x", normalizer=normalizer), batch_size=SIZE), "sequential")
    assert threads == {threading.current_thread()}


def test_an_epoch_that_is_left_ends_its_thread(tmp_path):
    source = opened(dataset(tmp_path), batch_size=SIZE)
    next(source.batches("sequential"))
    source.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("torchkeras-data")]


def test_a_writable_memmap_is_read_before_it_changes(tmp_path):
    np.save(tmp_path / "x.npy", X)
    x: Any = np.load(tmp_path / "x.npy", mmap_mode="r+")
    batch = next(opened(x[SIZE:], batch_size=SIZE).batches("sequential"))
    x[:] = 0
    assert batch.inputs[0].tolist() == X[SIZE : 2 * SIZE].tolist()


def test_copies_and_views_of_a_memmap(tmp_path):
    x = memmap(tmp_path)
    for array, expected in (
        (x.astype("float32", copy=True), X),
        (x[:, ::-1], X[:, ::-1]),
        (x[::-2], X[::-2]),
        (x[5:, 1:], X[5:, 1:]),
        (x[:, :, None][:, :, :0], X[:, :, None][:, :, :0]),
    ):
        found = [batch.inputs[0] for batch in opened(array, batch_size=SIZE).batches("sequential")]
        np.testing.assert_array_equal(torch.cat(found).numpy(), expected)


def test_batches_that_torch_stacks_stay():
    data = TensorDataset(torch.from_numpy(X))
    assert opened(DataLoader(data, SIZE)).stays
    assert not opened(DataLoader(data, SIZE, collate_fn=lambda items: default_collate(items))).stays
    assert not opened(DataLoader(data, batch_size=None)).stays
