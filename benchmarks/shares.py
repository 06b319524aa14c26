"""Where the time of a line of the table goes: shares of functions of the package, and of operations of torch.

    OMP_NUM_THREADS=1 python benchmarks/shares.py                              # all cases
    OMP_NUM_THREADS=1 python benchmarks/shares.py "load small .h5" "predict"

The share of a function, with what it calls, is of the time that the calling thread spends on a processor, so that other
work on the machine does not count. cProfile makes calls of Python dearer than they are: compare shares, not times. For
data, which a step waits for, it is of the clock. The share of an operation is of the time of all operations by
torch.profiler; that of the garbage collector is of the clock, without a profiler.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import importlib
import inspect
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import data
import latency
import loading
import scaling
import startup
import torch
from torch.profiler import ProfilerActivity, profile

from torchkeras.models import load_model

WIDTH, MEGABYTES, LAYERS = 32, 128, 20_000  # of a large file's first layer, of rows on a disk, of a network
COLLECTOR = "garbage collector"
Run = Callable[[], Any]


class Case(NamedTuple):
    """What is run, and the places whose shares are told, by what they do.

    A place is "module:function", an operation such as "aten::copy_", or `COLLECTOR`. `prepare`: what runs, from an
    empty folder. `clock`: whether the shares of functions are of the clock.
    """

    prepare: Callable[[Path], Run]
    places: Mapping[str, str]
    runs: int = 20
    clock: bool = False


# --- cases -----------------------------------------------------------------------------------------------------------

MAKES = {"makes the layers and calls them on symbols": "torchkeras.saving.load:_built"}
TRANSLATES = {"translates the config": "torchkeras.saving.load:_modern"}
ALLOCATES = {"gives the weights memory": "torchkeras.saving.load:give_memory"}
FILLS = {"reads the numbers into place": "torchkeras.saving.weights.matching:put"}
LOOKS = {"looks at the structure of the file": "torchkeras.saving.containers.hdf5_rules:check_file"}
PAIRS = {"pairs the weights with the file's": "torchkeras.saving.load:_settled"}
SUMS = {"compares checksums": "torchkeras.saving.containers.parts:checksums"}
FOLLOWS = {"follows the pickle": "torchkeras.saving.containers.pickled:Machine.run"}
BY_TORCH = {"torch.load": "torchkeras.saving.weights.state:_loaded"}
OF_KERAS = {**MAKES, **TRANSLATES, **ALLOCATES, **FILLS, **LOOKS, **PAIRS}
LOADS = {
    ".h5": OF_KERAS,
    ".keras": {**OF_KERAS, **SUMS},
    ".safetensors": {**MAKES, **TRANSLATES, **ALLOCATES, **FILLS},
    ".pt": {**MAKES, **TRANSLATES, **ALLOCATES, **FILLS, **SUMS, **FOLLOWS, **BY_TORCH},
}
CHECKS = {"looks for what a file cannot hold": "torchkeras.saving.save:_has_a_form"}
WRITES = {
    ".h5": {"turns and writes the arrays": "torchkeras.saving.containers.hdf5:write_array"},
    ".keras": {
        "turns and writes the arrays": "torchkeras.saving.containers.hdf5:write_array",
        "makes the checksum": "torchkeras.saving.containers.parts:checksums",
    },
    ".safetensors": {"safetensors": "safetensors.torch:save_file"},
    ".pt": {"torch.save": "torch:save"},
}


def small(suffix: str) -> Callable[[Path], Run]:
    """`load_model` of the file of 25 layers."""

    def prepare(folder: Path) -> Run:
        startup.small_network().save(folder / f"model{suffix}")
        return lambda: load_model(folder / f"model{suffix}")

    return prepare


def large(suffix: str) -> Callable[[Path], Run]:
    """`load_model` of VGG16."""

    def prepare(folder: Path) -> Run:
        loading.write_files(folder, WIDTH, f"model{suffix}")
        return lambda: load_model(folder / f"model{suffix}")

    return prepare


def saving(suffix: str) -> Callable[[Path], Run]:
    """`save` of VGG16."""

    def prepare(folder: Path) -> Run:
        model = loading.vgg16(WIDTH)
        return lambda: model.save(folder / f"model{suffix}")

    return prepare


def predicts(folder: Path) -> Run:
    model, _, sample = latency.contenders("mlp", 1)
    return lambda: model.predict(sample)


def calls(folder: Path) -> Run:
    model, _, sample = latency.contenders("cnn", 1)
    model.eval()
    x = torch.from_numpy(sample)
    return torch.no_grad()(lambda: model(x))


def epoch_of(kind: str) -> Callable[[Path], Run]:
    return lambda folder: data.KINDS[kind](folder, MEGABYTES)[data.OURS].take_turn


STEPS = {"steps": "torchkeras.engine.step.step:train_step"}
OF_LOADER = {"waits for the DataLoader": "torch.utils.data.dataloader:_BaseDataLoaderIter.__next__"}
OF_FILE = {"waits for the thread that reads": "torchkeras.data.sources.ordered:in_threads"}
PREPARES = {"checks batches": "torchkeras.data.sources.streamed:Streamed._made"}
PREDICTS = {
    "finds the function of the model": "torchkeras.engine.graph.codegen:GeneratedFunctions.direct_now",
    "calls the model": "torchkeras.engine.graph.codegen:GeneratedFunctions.run",
    "sets modes": "torchkeras.engine.fit.turns:computing",
    "looks whether one call is enough": "torchkeras.engine.fit.methods:takes_at_once",
    "makes a tensor": "torchkeras.base.arrays:as_tensor",
    "makes an array": "torchkeras.base.arrays:to_numpy",
}
CASES: dict[str, Case] = {
    **{f"load small {suffix}": Case(small(suffix), places) for suffix, places in LOADS.items()},
    **{f"load large {suffix}": Case(large(suffix), places, 3, clock=True) for suffix, places in LOADS.items()},
    **{f"save large {suffix}": Case(saving(suffix), {**CHECKS, **places}, 3) for suffix, places in WRITES.items()},
    "predict": Case(predicts, PREDICTS, 1000),
    "model(x) of the CNN": Case(calls, {"copies a kernel": "aten::copy_"}, 200),
    "20,000 layers": Case(lambda folder: lambda: scaling.added(LAYERS), {"looks for garbage": COLLECTOR}, 1),
    "DataLoader": Case(epoch_of("DataLoader"), {**OF_LOADER, **PREPARES, **STEPS}, 3, clock=True),
    "images": Case(epoch_of("images"), {**OF_LOADER, **PREPARES, **STEPS}, 3, clock=True),
    "memmap": Case(epoch_of("memmap"), {**OF_FILE, **PREPARES, **STEPS}, 3, clock=True),
    "HDF5": Case(epoch_of("HDF5"), {**OF_FILE, **PREPARES, **STEPS}, 3, clock=True),
}


# --- measuring -------------------------------------------------------------------------------------------------------


def shares(case: Case, runs: int | None = None) -> dict[str, float]:
    """The share of each place. Raises LookupError for a function that was not called, or is no longer there."""
    runs = runs or case.runs
    with tempfile.TemporaryDirectory() as folder:
        run = case.prepare(Path(folder))
        run()
        found = {}
        functions = {what: place for what, place in case.places.items() if ":" in place and "::" not in place}
        if functions:
            stats, total = _by_functions(run, runs, time.perf_counter if case.clock else time.thread_time)
            found |= {what: _share(stats, place) / total for what, place in functions.items()}
        if any("::" in place for place in case.places.values()):
            with profile(activities=[ProfilerActivity.CPU]) as seen:
                for _ in range(runs):
                    run()
            own = {event.key: event.self_cpu_time_total for event in seen.key_averages() if "::" in event.key}
            found |= {what: own[place] / sum(own.values()) for what, place in case.places.items() if "::" in place}
        if COLLECTOR in case.places.values():
            what = next(what for what, place in case.places.items() if place == COLLECTOR)
            found[what] = _share_of_collector(run, runs)
    return {what: found[what] for what in case.places}


def _by_functions(run: Run, runs: int, timer: Callable[[], float]) -> tuple[dict[Any, Any], float]:
    """What cProfile counts by functions, and the time of all runs."""
    profiler = cProfile.Profile(timer)
    profiler.enable()
    for _ in range(runs):
        run()
    profiler.disable()
    stats: Any = pstats.Stats(profiler)
    return stats.stats, stats.total_tt


def _share(stats: Mapping[Any, Any], place: str) -> float:
    module, _, names = place.partition(":")
    function: Any = importlib.import_module(module)
    for name in names.split("."):
        function = inspect.getattr_static(function, name)
    code = inspect.unwrap(function).__code__
    key = (code.co_filename, code.co_firstlineno, code.co_name)
    if key not in stats:
        raise LookupError(f"{place} was not called.")
    return stats[key][3]


def _share_of_collector(run: Run, runs: int) -> float:
    with _collector_timed() as collected:
        started = time.perf_counter()
        for _ in range(runs):
            run()
        return sum(collected) / (time.perf_counter() - started)


@contextmanager
def _collector_timed() -> Iterator[list[float]]:
    """The seconds of each run of Python's garbage collector."""
    found: list[float] = []
    began = 0.0

    def at(phase: str, _: Any) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        else:
            found.append(time.perf_counter() - began)

    gc.callbacks.append(at)
    try:
        yield found
    finally:
        gc.callbacks.remove(at)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("cases", nargs="*", choices=[*CASES, []], default=[], help="all if none is given")
    given = options.parse_args()
    torch.set_num_threads(1)
    for name in given.cases or CASES:
        print(name)
        found = shares(CASES[name])
        for what, share in sorted(found.items(), key=lambda item: -item[1]):
            print(f"  {100 * share:3.0f} % {what}", flush=True)


if __name__ == "__main__":
    main()
