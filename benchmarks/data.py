"""An epoch of training by where its data lies: `fit` against a loop by hand over the same data.

    OMP_NUM_THREADS=1 python benchmarks/data.py [--rounds 5] [--only memmap] [--megabytes 512]

- arrays: NumPy arrays in memory. By hand: batches by `index_select`, and a DataLoader of a TensorDataset.
- DataLoader: the same one with two workers on both sides.
- images: JPEG files in folders by `image_dataset_from_directory`. By hand: a Dataset that decodes them alike. Both
  in the process itself, then both with two workers.
- memmap, HDF5: rows of a file that the page cache has lost, in whole batches in a random order. By hand: a DataLoader
  whose two workers each read a whole batch. `reading` reads the same bytes in the same order, without training: the
  speed of the disk. `in memory` is `fit` of the same rows in memory: the slower of the two is what is left where
  reading goes on behind the steps. To stand for an array larger than memory, the file is dropped from the cache before
  each turn, and an assertion holds that the disk was read.

Contenders begin with the same weights and take turns, an epoch each; an assertion holds that their losses agree. A
ratio is the median of the rounds' ratios of `fit` to the contender: of the clock, and of the time of the processors,
which says more on a machine that others use. One thread of torch leaves the others to the workers.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
import workloads
from by_hand import Loop, copy_weights, made
from PIL import Image
from step import WARM_UP_ROUNDS, Contender, median_ratio, take_turns, timed
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

import torchkeras
import torchkeras.layers
import torchkeras.models
import torchkeras.utils

OURS, IN_MEMORY, READING = "fit", "in memory", "reading"
WIDTH, ROWS = 4096, 128  # of the file: the numbers of a row, and the rows of a batch, which has 2 MB
IMAGES, FILE_SIZE, SIZE = 512, 128, 64
ALIKE = 0.01  # relative difference of losses: Adam's epsilon is at another place, and one DataLoader has its own order
Epoch = Callable[[], float]


def by_hand(network: nn.Module, batches: Callable[[], Iterable[Any]]) -> Epoch:
    """The training loop of `by_hand.py` over batches of any kind."""
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-7, fused=True)

    def epoch() -> float:
        network.train()
        loss_sum, correct, seen = torch.zeros(()), torch.zeros((), dtype=torch.int64), 0
        for x, y in batches():
            logits = network(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            loss_sum += loss.detach() * len(y)
            correct += (logits.detach().argmax(1) == y).sum()
            seen += len(y)
        float(correct / seen)
        return float(loss_sum / seen)

    return epoch


def fits(model: Any, *data: Any, **options: Any) -> Epoch:
    """An epoch of `fit`."""
    return lambda: float(model.fit(*data, epochs=1, verbose=0, **options).history["loss"][0])


def in_one_order(epoch: Epoch) -> Epoch:
    """The epoch with random numbers that depend on how often it ran: contenders draw the same in a round."""
    turns = count()

    def run() -> float:
        torch.manual_seed(next(turns))
        return epoch()

    return run


# --- arrays and a DataLoader with workers ----------------------------------------------------------------------------


def arrays(folder: Path, megabytes: int) -> dict[str, Turns]:
    workload = workloads.WORKLOADS["mlp"]
    (x,), y = workloads.samples(workload, workload.steps)
    model = workloads.compiled(workload.network(torchkeras))
    weights = workloads.weights_of(model)
    data = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    loader = DataLoader(data, workload.batch_size, shuffle=True)
    return turns(
        fits(model, x, y, batch_size=workload.batch_size),
        {
            "index_select": Loop("mlp", workload, [x], y, weights, "cpu").epoch,
            "DataLoader": by_hand(made("mlp", weights), lambda: loader),
        },
    )


def loader_with_workers(folder: Path, megabytes: int) -> dict[str, Turns]:
    workload = workloads.WORKLOADS["mlp"]
    (x,), y = workloads.samples(workload, workload.steps)
    model = workloads.compiled(workload.network(torchkeras))
    network = made("mlp", workloads.weights_of(model))
    data = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    loader = DataLoader(data, workload.batch_size, shuffle=True, num_workers=2)
    return turns(fits(model, loader), {"by hand": by_hand(network, lambda: loader)})


# --- a folder of images ----------------------------------------------------------------------------------------------


class ImageFolder(Dataset[tuple[Tensor, int]]):
    """Images in folders, of which each is a class; float32 from 0 to 255, in torch's order of axes."""

    def __init__(self, folder: Path):
        self.files = sorted(folder.glob("*/*.jpg"))
        classes = sorted({file.parent.name for file in self.files})
        self.labels = [classes.index(file.parent.name) for file in self.files]

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        with Image.open(self.files[index]) as image:
            pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1).float()
        resized = F.interpolate(pixels[None], (SIZE, SIZE), mode="bilinear", align_corners=False)
        return resized[0], self.labels[index]


class OfImages(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, stride=2)
        self.logits = nn.Linear(16, 10)

    def forward(self, images: Tensor) -> Tensor:
        return self.logits(F.relu(self.first(images / 255)).mean((2, 3)))


def model_of_images() -> Any:
    layers = torchkeras.layers
    images = layers.Input((SIZE, SIZE, 3))
    hidden = layers.Conv2D(16, 3, strides=2, activation="relu", name="first")(layers.Rescaling(1 / 255)(images))
    logits = layers.Dense(10, activation="softmax", name="logits")(layers.GlobalAveragePooling2D()(hidden))
    return workloads.compiled(torchkeras.models.Model(images, logits))


def write_images(folder: Path) -> None:
    """Files of smooth noise, brighter from class to class."""
    random = np.random.default_rng(0)
    for number in range(IMAGES):
        kind = number % 10
        (folder / str(kind)).mkdir(parents=True, exist_ok=True)
        coarse = random.integers(10 * kind, 10 * kind + 150, (16, 16, 3)).astype("uint8")
        Image.fromarray(coarse).resize((FILE_SIZE, FILE_SIZE)).save(folder / str(kind) / f"{number}.jpg")


def images(workers: int) -> Callable[[Path, int], dict[str, Turns]]:
    """`image_dataset_from_directory`; its Dataset goes into another DataLoader for worker processes."""

    def contenders(folder: Path, megabytes: int) -> dict[str, Turns]:
        write_images(folder)
        options: dict[str, Any] = {"num_workers": workers, "shuffle": True}
        found = torchkeras.utils.image_dataset_from_directory(
            folder, image_size=(SIZE, SIZE), shuffle=False, verbose=False
        )
        by = ImageFolder(folder)
        assert [str(file) for file in by.files] == found.file_paths
        for (x, label), (own, own_label) in zip(found.dataset, by, strict=True):
            assert label == own_label
            torch.testing.assert_close(x, own.permute(1, 2, 0))
        model, network = model_of_images(), OfImages()
        copy_weights(workloads.weights_of(model), network)
        loader = DataLoader(by, 32, **options)
        return turns(
            fits(model, DataLoader(found.dataset, 32, **options)), {"by hand": by_hand(network, lambda: loader)}
        )

    return contenders


# --- rows of a file --------------------------------------------------------------------------------------------------


class BatchesOfFile(Dataset[tuple[Tensor, Tensor]]):
    """Whole batches by their numbers. Each process opens the file itself."""

    def __init__(self, opened: Callable[[], Any], y: np.ndarray):
        self.opened, self.y, self.x = opened, torch.from_numpy(y), None

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        if self.x is None:
            self.x = self.opened()
        rows = slice(number * ROWS, (number + 1) * ROWS)
        return torch.from_numpy(np.array(self.x[rows])), self.y[rows]


def read(path: Path, batches: int) -> Epoch:
    """Reads the bytes of the batches, in the order of the training, into one buffer. There is no loss."""
    buffer = bytearray(4 * WIDTH * ROWS)

    def epoch() -> float:
        with path.open("rb", buffering=0) as file:
            for number in torch.randperm(batches).tolist():
                file.seek(number * len(buffer))
                file.readinto(buffer)
        return float("nan")

    return epoch


def in_file(write: Callable[[Path, int], Path], opened: Callable[[Path], Any]) -> Callable[..., dict[str, Turns]]:
    """A file of rows, written by `write`, as an array that is not in memory, by `opened`."""

    def contenders(folder: Path, megabytes: int) -> dict[str, Turns]:
        batches = megabytes * 2**20 // (4 * WIDTH * ROWS)
        path = write(folder, batches)
        y = np.random.default_rng(1).integers(0, 10, batches * ROWS)
        layers = torchkeras.layers
        logits = layers.Dense(10, activation="softmax", input_shape=(WIDTH,), name="logits")
        model = workloads.compiled(torchkeras.models.Sequential([logits]))
        in_memory = workloads.compiled(torchkeras.models.clone_model(model))
        in_memory.set_weights(model.get_weights())
        network = nn.Sequential(OrderedDict(logits=nn.Linear(WIDTH, 10)))
        copy_weights(workloads.weights_of(model), network)

        def by_workers() -> Iterator[Any]:
            order = torch.randperm(batches).tolist()
            data = BatchesOfFile(lambda: opened(path), y)
            return iter(DataLoader(data, batch_size=None, sampler=order, num_workers=2))

        def fit() -> float:
            return fits(model, opened(path), y, batch_size=ROWS, shuffle="batch")()

        others = {"by hand": by_hand(network, by_workers), READING: read(path, batches)}
        whole = np.array(opened(path))
        by_memory = fits(in_memory, whole, y, batch_size=ROWS, shuffle="batch")
        return turns(fit, others, path) | {IN_MEMORY: Turns(IN_MEMORY, timed(in_one_order(by_memory)))}

    return contenders


def rows_in(batches: int) -> Iterator[np.ndarray]:
    random = np.random.default_rng(0)
    return (random.standard_normal((ROWS, WIDTH), dtype="float32") for _ in range(batches))


def write_npy(folder: Path, batches: int) -> Path:
    path = folder / "x.npy"
    array = np.lib.format.open_memmap(path, "w+", "float32", (batches * ROWS, WIDTH))
    for number, rows in enumerate(rows_in(batches)):
        array[number * ROWS : (number + 1) * ROWS] = rows
    array.flush()
    return path


def write_hdf5(folder: Path, batches: int) -> Path:
    path = folder / "x.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (batches * ROWS, WIDTH), "float32")
        for number, rows in enumerate(rows_in(batches)):
            data[number * ROWS : (number + 1) * ROWS] = rows
    return path


def cold(path: Path, epoch: Callable[[], tuple[float, float]]) -> Callable[[], tuple[float, float]]:
    """The epoch after the page cache has lost the file. Asserts that the disk was read, here or by a worker."""

    def run() -> tuple[float, float]:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = bytes_from_disk()
        found = epoch()
        assert bytes_from_disk() - before > 0.95 * path.stat().st_size, f"{path} came from the page cache."
        return found

    return run


def bytes_from_disk() -> int:
    """By this process and by children that have ended."""
    return 512 * sum(resource.getrusage(who).ru_inblock for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


# --- measuring -------------------------------------------------------------------------------------------------------


@dataclass
class Turns(Contender):
    """A contender, with the seconds of all processors, also of its children's, in each turn."""

    used: list[float] = field(default_factory=list)

    def take_turn(self) -> None:
        before = processor_seconds()
        super().take_turn()
        self.used.append(processor_seconds() - before)


def processor_seconds() -> float:
    return sum(os.times()[:4])


def turns(ours: Epoch, others: dict[str, Epoch], path: Path | None = None) -> dict[str, Turns]:
    """`fit` and the other contenders by name; `path`: the file that each of them reads from the disk."""
    found = {}
    for name, epoch in {OURS: ours, **others}.items():
        run = timed(in_one_order(epoch))
        found[name] = Turns(name, run if path is None else cold(path, run))
    return found


KINDS: dict[str, Callable[[Path, int], dict[str, Turns]]] = {
    "arrays": arrays,
    "DataLoader": loader_with_workers,
    "images": images(0),
    "images, 2 workers": images(2),
    "memmap": in_file(write_npy, lambda path: np.load(path, mmap_mode="r")),
    "HDF5": in_file(write_hdf5, lambda path: h5py.File(path, "r")["x"]),
}


def measure(kind: str, rounds: int, megabytes: int) -> dict[str, Turns]:
    """The timed rounds of all contenders on one kind of data. Asserts that their losses agree."""
    torchkeras.clear_session()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        found = KINDS[kind](Path(folder), megabytes)
        for number in range(WARM_UP_ROUNDS + rounds):
            take_turns(list(found.values()), number)
    for each in found.values():
        losses = list(zip(each.losses, found[OURS].losses, strict=True))
        agree = all(abs(loss - ours) <= ALIKE * ours for loss, ours in losses)
        assert each.name == READING or agree, f"{kind}: {each.name} and {OURS} have the losses {losses}."
        del each.seconds[:WARM_UP_ROUNDS], each.used[:WARM_UP_ROUNDS]
    return found


def compared(rounds: int = 5, megabytes: int = 512, only: Iterable[str] = KINDS) -> dict[str, list[float]]:
    """The ratios of `fit` to each contender by the clock, by kind and contender, a number a round."""
    ratios = {}
    for kind in only:
        found = measure(kind, rounds, megabytes)
        ours = found[OURS]
        for name, other in found.items():
            ratios[f"{kind}, {name}"] = [a / b for a, b in zip(ours.seconds, other.seconds, strict=True)]
            clock, used = statistics.median(other.seconds), statistics.median(other.used)
            print(
                f"{kind:<18} {name:<13} {clock:7.3f} s {median_ratio(ours.seconds, other.seconds):7.3f} "
                f"{used:9.3f} s {median_ratio(ours.used, other.used):7.3f}",
                flush=True,
            )
        del ratios[f"{kind}, {OURS}"]
    return ratios


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=5, help=f"timed rounds, after {WARM_UP_ROUNDS} that are not")
    options.add_argument("--megabytes", type=int, default=512, help="of the files of rows")
    options.add_argument("--only", choices=KINDS, action="append", help="a kind of data; may be given again")
    given = options.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    print("seconds of an epoch and the ratio of fit to it, by the clock and of the processors")
    compared(given.rounds, given.megabytes, given.only or KINDS)


if __name__ == "__main__":
    main()
