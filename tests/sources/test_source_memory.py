"""Data on disk is read batch by batch: an epoch over ten times the memory that is allowed."""

import tracemalloc
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from batches_of import opened

from torchkeras.utils import HDF5Matrix

ALLOWED = 2 * 2**20  # bytes
ROWS, WIDTH = 5120, 1024  # of float32: 20 MiB


def memmap(folder: Path) -> Any:
    array = np.memmap(folder / "x", np.float32, "w+", shape=(ROWS, WIDTH))
    array[:, 0] = np.arange(ROWS)
    array.flush()
    return np.memmap(folder / "x", np.float32, "r", shape=(ROWS, WIDTH))


def matrix(folder: Path) -> Any:
    with h5py.File(folder / "x.h5", "w") as file:
        data = file.create_dataset("x", (ROWS, WIDTH), "f4", chunks=(64, WIDTH))
        data[:, 0] = np.arange(ROWS)
    return HDF5Matrix(folder / "x.h5", "x", normalizer=lambda rows: rows * 2)


CASES = [(memmap, "sequential", 1), (memmap, "shuffled", 1), (memmap, "batch", 1), (matrix, "sequential", 2)]


@pytest.mark.parametrize(("make", "order", "factor"), [*CASES, (matrix, "batch", 2)])
def test_memory_is_flat_over_an_epoch(make, order, factor, tmp_path):
    x = make(tmp_path)
    assert x.size * 4 == 10 * ALLOWED
    tracemalloc.start()
    source = opened(x, batch_size=64)
    total, seen = 0.0, 0
    for batch in source.batches(order):
        total += batch.inputs[0].sum().item()
        seen += batch.size
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seen == ROWS
    assert total == factor * ROWS * (ROWS - 1) / 2
    assert most < ALLOWED
