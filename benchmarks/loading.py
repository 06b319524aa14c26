"""The time and memory of loading a large HDF5 file, compared with reading its bytes.

    python benchmarks/loading.py [--width 64] [--rounds 5]

Writes a model of VGG16's shapes (553 MB of weights with 64 filters in its first layer) in Keras 2.2.4's layout. Then
two things take turns, each in a new process: reading every dataset with h5py into existing arrays, and `load_model`.
Prints the medians, their ratio, and the rise of peak memory as a multiple of the weights. The file is in the page
cache, so both read memory, not a disk. A small model is loaded before the clock starts, since torch imports some
modules when it first computes a shape. Linux only, because of how memory is measured.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import h5py
import numpy as np

import torchkeras
from torchkeras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from torchkeras.models import Sequential, load_model

BLOCKS = ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3))  # filters as a multiple of the first block's, and convolutions


def vgg16(width: int) -> Sequential:
    """VGG16 with its three dense layers."""
    model = Sequential(name="vgg16")
    for index, (times, convolutions) in enumerate(BLOCKS):
        for k in range(convolutions):
            first = {"input_shape": (224, 224, 3)} if index == k == 0 else {}
            model.add(Conv2D(times * width, 3, padding="same", activation="relu", **first))
        model.add(MaxPooling2D())
    model.add(Flatten())
    for units in (64 * width, 64 * width, 1000):
        model.add(Dense(units, activation="relu"))
    return model


def read_bytes(path: str) -> float:
    """Seconds to read all datasets into existing arrays."""
    with h5py.File(path, "r") as file:
        datasets: list[h5py.Dataset] = []
        file.visititems(lambda _, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
        arrays = [np.empty(dataset.shape, dataset.dtype) for dataset in datasets]
        start = time.perf_counter()
        for dataset, array in zip(datasets, arrays, strict=True):
            dataset.read_direct(array)
        return time.perf_counter() - start


def load(path: str) -> float:
    """Seconds to load the model."""
    start = time.perf_counter()
    load_model(path)
    return time.perf_counter() - start


def measured(results: Connection, contender: str, path: str) -> None:
    """Send the seconds, and the bytes by which peak memory rose."""
    measure = {"read": read_bytes, "load": load}[contender]
    with tempfile.TemporaryDirectory() as folder:
        small = f"{folder}/small.h5"
        vgg16(1).save(small)
        measure(small)
    torchkeras.clear_session()
    before = memory("VmRSS")
    seconds = measure(path)
    results.send((seconds, memory("VmHWM") - before))


def memory(kind: str) -> int:
    """Bytes in use now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


def run(contender: str, path: Path) -> tuple[float, int]:
    """One measurement in a new process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=measured, args=(there, contender, str(path)))
    process.start()
    result = here.recv()
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--width", type=int, default=64, help="filters of the first layer")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vgg16.h5"
        torchkeras.clear_session()
        model = vgg16(arguments.width)
        size = 4 * model.count_params()
        model.save(path)
        del model
        found = {name: [] for name in ("read", "load")}
        for _ in range(arguments.rounds):
            for name, results in found.items():
                results.append(run(name, path))
    read, loaded = (statistics.median(seconds for seconds, _ in found[name]) for name in ("read", "load"))
    peak = statistics.median(memory for _, memory in found["load"])
    print(f"weights {size / 1e6:.0f} MB; read {read:.3f} s, load {loaded:.3f} s, ratio {loaded / read:.2f}")
    print(f"peak of memory while loading: {peak / size:.2f} times the weights")


if __name__ == "__main__":
    main()
