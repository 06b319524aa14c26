"""The time and memory of loading and saving large files, compared with reading and writing the same arrays.

    python benchmarks/loading.py [--width 64] [--rounds 5] [--only h5 keras ...]
    python benchmarks/loading.py --making [--rounds 40]

Writes a model of VGG16's shapes in every format: 553 MB of weights with 64 filters in its first layer, 5 GB with 192.
Then contenders take turns, each in a new process:

- h5: h5py reads every dataset into new arrays; `load_model` and `load_weights` of the `.h5` file.
- weights: `load_weights` of the `.weights.h5` file, against the same.
- keras: `load_model` of the `.keras` archive, against the same.
- safetensors: its own `load_model` into a model of plain torch modules; `load_model` and `load_weights` here.
- pt: `torch.load` and `load_state_dict`; `load_model` and `load_weights` here.
- safetensors, mmap=True and pt, mmap=True: `load_file` of safetensors and `torch.load(mmap=True)`, whose tensors become
  the parameters of plain torch modules; `load_model(mmap=True)` here. Both add up all weights, so that they are read.
- save h5, save keras: h5py writes the arrays in Keras's order; `save` of the model as `.h5` and as `.keras`.
- save safetensors, save pt: `safetensors.torch.save_file`, `torch.save` of the tensors; `save` of the model.

What is saved is on the disk when the clock stops, on both sides.

With `--making`: how long `load_model` takes for the same layers with hardly any weights, which is what it takes to
make the layers and to pair the weights. Prints the least milliseconds of a processor, and the calls of functions.

Prints medians, the ratio to the first of each group, by the clock and by the time of all processors, and the rise of
peak memory as a multiple of the weights. Files are in the page cache, so all read memory, not a disk. Before the clock
starts a small model is loaded, since torch imports some modules when it first computes a shape, and as much memory as
is needed is taken and given back, since a virtual machine may first have to ask for it. Linux only, because of how
memory is measured.
"""

import argparse
import cProfile
import importlib
import mmap
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import torch

import torchkeras
from torchkeras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from torchkeras.models import Sequential, load_model

BLOCKS = ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3))  # filters as a multiple of the first block's, and convolutions
WHOLE = ("model.h5", "model.keras", "model.safetensors")
FILES = ("model.h5", "model.weights.h5", "model.keras", "model.safetensors", "model.pt")


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


# --- contenders: each prepares what it needs from a folder of files, and returns what is measured ---------------------


def h5py_reads(folder: Path) -> Callable[[], Any]:
    """All datasets of the file into new arrays."""

    def run() -> list[np.ndarray]:
        with h5py.File(folder / "model.h5", "r") as file:
            datasets: list[h5py.Dataset] = []
            file.visititems(lambda _, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
            arrays = [np.empty(dataset.shape, dataset.dtype) for dataset in datasets]
            for dataset, array in zip(datasets, arrays, strict=True):
                dataset.read_direct(array)
        return arrays

    return run


def loads(name: str) -> Callable[[Path], Callable[[], Any]]:
    """`load_model` of a file."""
    return lambda folder: lambda: load_model(folder / name)


def loads_weights(name: str) -> Callable[[Path], Callable[[], Any]]:
    """`load_weights` of a file, into a model whose weights have values."""

    def prepared(folder: Path) -> Callable[[], Any]:
        model = load_model(folder / "model.h5")
        return lambda: model.load_weights(folder / name)

    return prepared


def safetensors_loads(folder: Path) -> Callable[[], Any]:
    """The package's own loader, into a model whose weights have values."""
    package, model = importlib.import_module("safetensors.torch"), load_model(folder / "model.h5")
    return lambda: package.load_model(model, folder / "model.safetensors")


def torch_loads(folder: Path) -> Callable[[], Any]:
    """`torch.load`, into a model whose weights have values."""
    model = load_model(folder / "model.h5")
    return lambda: model.load_state_dict(torch.load(folder / "model.pt", mmap=True, weights_only=True))


def added_up(model: torch.nn.Module) -> Any:
    """The model, after each of its numbers was looked at."""
    with torch.no_grad():
        assert all(parameter.sum().isfinite() for parameter in model.parameters())
    return model


def safetensors_maps(folder: Path) -> Callable[[], Any]:
    """The file's own tensors as the parameters of a model."""
    package, model = importlib.import_module("safetensors.torch"), load_model(folder / "model.h5")

    def run() -> torch.nn.Module:
        model.load_state_dict(package.load_file(folder / "model.safetensors"), assign=True)
        return added_up(model)

    return run


def torch_maps(folder: Path) -> Callable[[], Any]:
    """The same of `torch.load`."""
    model = load_model(folder / "model.h5")

    def run() -> torch.nn.Module:
        model.load_state_dict(torch.load(folder / "model.pt", mmap=True, weights_only=True), assign=True)
        return added_up(model)

    return run


def maps(name: str) -> Callable[[Path], Callable[[], Any]]:
    """`load_model` whose weights stay in the file."""
    return lambda folder: lambda: added_up(load_model(folder / name, mmap=True))


def h5py_writes(folder: Path) -> Callable[[], Any]:
    """All datasets of the file, from arrays in Keras's order."""
    arrays = h5py_reads(folder)()

    def run() -> None:
        with h5py.File(folder / "written", "w") as file:
            for index, array in enumerate(arrays):
                file.create_dataset(str(index), data=array)
        to_disk(folder / "written")

    return run


def safetensors_writes(folder: Path) -> Callable[[], Any]:
    """The tensors of a model, by the package itself."""
    package, tensors = importlib.import_module("safetensors.torch"), tensors_of_file(folder)
    return lambda: (package.save_file(tensors, folder / "written"), to_disk(folder / "written"))


def torch_writes(folder: Path) -> Callable[[], Any]:
    """The tensors of a model, by `torch.save`."""
    tensors = tensors_of_file(folder)
    return lambda: (torch.save(tensors, folder / "written"), to_disk(folder / "written"))


def tensors_of_file(folder: Path) -> dict[str, torch.Tensor]:
    """As a module by hand has them: contiguous."""
    return {name: value.contiguous() for name, value in load_model(folder / "model.h5").state_dict().items()}


def to_disk(path: Path) -> None:
    with path.open("rb") as written:
        os.fsync(written.fileno())


def saves(suffix: str) -> Callable[[Path], Callable[[], Any]]:
    """`save` of the model."""

    def prepared(folder: Path) -> Callable[[], Any]:
        model = load_model(folder / "model.h5")
        return lambda: model.save(folder / f"written{suffix}")

    return prepared


GROUPS: dict[str, dict[str, Callable[[Path], Callable[[], Any]]]] = {
    "h5": {"h5py": h5py_reads, "load_model": loads("model.h5"), "load_weights": loads_weights("model.h5")},
    "weights": {"h5py": h5py_reads, "load_weights": loads_weights("model.weights.h5")},
    "keras": {"h5py": h5py_reads, "load_model": loads("model.keras")},
    "safetensors": {
        "safetensors": safetensors_loads,
        "load_model": loads("model.safetensors"),
        "load_weights": loads_weights("model.safetensors"),
    },
    "pt": {"torch": torch_loads, "load_model": loads("model.pt"), "load_weights": loads_weights("model.pt")},
    "safetensors, mmap=True": {"safetensors": safetensors_maps, "load_model": maps("model.safetensors")},
    "pt, mmap=True": {"torch": torch_maps, "load_model": maps("model.pt")},
    "save h5": {"h5py": h5py_writes, "save": saves(".h5")},
    "save keras": {"h5py": h5py_writes, "save": saves(".keras")},
    "save safetensors": {"safetensors": safetensors_writes, "save": saves(".safetensors")},
    "save pt": {"torch": torch_writes, "save": saves(".pt")},
}


# --- measuring -------------------------------------------------------------------------------------------------------


def measured(results: Connection, group: str, contender: str, folder: Path, size: int) -> None:
    """Send the seconds by the clock, the seconds of all processors, and the bytes by which peak memory rose."""
    with tempfile.TemporaryDirectory() as small:
        vgg16(1).save(f"{small}/small.h5")
        load_model(f"{small}/small.h5")
    torchkeras.clear_session()
    run = GROUPS[group][contender](folder)
    touch(size)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before, used, start = memory("VmRSS"), time.process_time(), time.perf_counter()
    held = run()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    results.send((seconds, used, memory("VmHWM") - before))
    del held


def touch(size: int) -> None:
    """Write to as much memory, in large pages and in small ones, and give it back."""
    for advice in (mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE):
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
            taken.madvise(advice)
            for place in range(0, size, mmap.PAGESIZE):
                taken[place] = 1


def memory(kind: str) -> int:
    """Bytes in use now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


def measure(group: str, contender: str, folder: Path, size: int) -> tuple[float, float, int]:
    """One measurement in a new process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=measured, args=(there, group, contender, folder, size))
    process.start()
    there.close()
    result = here.recv()
    process.join()
    return result


def write_files(folder: Path, width: int, *names: str) -> int:
    """Write the model in every format, or in files of these names; the bytes of its weights."""
    torchkeras.clear_session()
    model = vgg16(width)
    for name in names or FILES:
        (model.save_weights if ".weights." in name else model.save)(folder / name)
    return 4 * model.count_params()


class Compared(NamedTuple):
    """Medians of a contender: seconds by the clock and of all processors, their ratios to the first; memory."""

    seconds: float
    ratio: float
    used: float
    used_ratio: float
    memory: float


def compared(group: str, rounds: int, folder: Path, size: int) -> dict[str, Compared]:
    """Each contender of a group, the first with ratios of 1; memory in multiples of the weights' bytes."""
    found = [{name: measure(group, name, folder, size) for name in GROUPS[group]} for _ in range(rounds)]
    first = next(iter(GROUPS[group]))

    def medians(name: str) -> Compared:
        seconds, used, peak = (
            statistics.median(column) for column in zip(*(each[name] for each in found), strict=True)
        )
        ratios = [statistics.median(each[name][k] / each[first][k] for each in found) for k in (0, 1)]
        return Compared(seconds, ratios[0], used, ratios[1], peak / size)

    return {name: medians(name) for name in GROUPS[group]}


def making(rounds: int) -> None:
    """Print what `load_model` takes for one filter in the first layer, in this process, the first round left out."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), 1, *WHOLE)
        for file in WHOLE:
            seconds = []
            for _ in range(rounds + 1):
                torchkeras.clear_session()
                start = time.process_time()
                load_model(f"{name}/{file}")
                seconds.append(time.process_time() - start)
            profile = cProfile.Profile()
            profile.runcall(load_model, f"{name}/{file}")
            calls = sum(entry.callcount for entry in profile.getstats())
            print(f"| {file} | {1000 * min(seconds[1:]):.1f} ms | {calls:,} calls |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--width", type=int, default=64, help="filters of the first layer")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--making", action="store_true", help="time what is no reading, with hardly any weights")
    arguments = parser.parse_args()
    if arguments.making:
        making(arguments.rounds)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_files(folder, arguments.width)
        print(f"weights {size / 1e6:.0f} MB, {os.cpu_count()} processors, {torch.get_num_threads()} threads of torch")
        print("| | | seconds | ratio | of processors | ratio | memory |\n|---|---|---|---|---|---|---|")
        for group in arguments.only:
            for name, found in compared(group, arguments.rounds, folder, size).items():
                cells = f"{found.seconds:.3f} | {found.ratio:.2f} | {found.used:.3f} | {found.used_ratio:.2f}"
                print(f"| {group} | {name} | {cells} | {found.memory:.2f} |", flush=True)


if __name__ == "__main__":
    main()
