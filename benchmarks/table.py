"""All that this package is measured by, in one table: writes it into `docs/performance.md`, and draws it.

    python benchmarks/table.py [--only import] [--rounds 5] [--write]
        [--examples FOLDER --peer keras=PYTHON --peer tf_keras=PYTHON --peer keras3=PYTHON]

Each line is measured by another script of this folder, which has the contender's code. All contenders of a line take
turns in one run, and a ratio is the median of the rounds' ratios; smaller is faster, except for `serve`. `--write`
leaves lines in the page that were not measured now. ONNX Runtime takes part where it is installed, Keras's own scripts
where `--examples` has them (see `scripts.py`).
"""

import argparse
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import data
import latency
import loading
import memory
import scaling
import serving
import startup
import suite
import table_drawn
import torch
from peers import named_python
from table_drawn import BEGIN, END, HEAD, PAGE, PICTURE, Row
from workloads import WORKLOADS

import scripts

COMPILED = ("tuned, torch.compile", "tuned, max-autotune")
LARGE = (".h5", ".keras", ".safetensors", ".pt")
MAPPED = (".safetensors", ".pt")  # formats that `load_model` can leave in the file
LATENCY = ("mlp", "cnn", "lstm")


@dataclass
class Given:
    """The options that a line may need."""

    rounds: int
    examples: Path | None
    peers: dict[str, str]


Measure = Callable[[Given], dict[str, float]]


@dataclass(frozen=True)
class Line:
    """A line: what is measured, against what, the aim (at most, or at least), what gives the number of each case."""

    what: str
    against: str
    aim: float
    measure: Measure
    at_least: bool = False


@cache
def step(name: str, rounds: int) -> dict[str, suite.Measured]:
    return suite.measured_anew(2, name, rounds, {})


def eager(given: Given) -> dict[str, float]:
    return {name: statistics.median(step(name, given.rounds)["torchkeras"].ratios) for name in WORKLOADS}


def resnet(given: Given) -> dict[str, float]:
    return {"resnet20": statistics.median(step("resnet20", given.rounds)["torchkeras"].ratios)}


def auto(given: Given) -> dict[str, float]:
    """Against the faster of both ways to compile."""
    found = {}
    for name in WORKLOADS:
        each = step(name, given.rounds)
        best = min(
            (each[kind] for kind in COMPILED if each[kind].ratios), key=lambda one: statistics.median(one.ratios)
        )
        pairs = zip(each["torchkeras auto"].ratios, best.ratios, strict=True)
        found[name] = statistics.median(ours / theirs for ours, theirs in pairs)
    return found


@cache
def large_files(rounds: int) -> dict[str, dict[str, loading.Compared]]:
    with tempfile.TemporaryDirectory() as folder:
        size = loading.write_files(Path(folder), 64)
        return {group: loading.compared(group, rounds, Path(folder), size) for group in loading.GROUPS}


def load_model(given: Given) -> dict[str, float]:
    forms = (*LARGE, *(f"{suffix}, mmap=True" for suffix in MAPPED))
    return {form: large_files(given.rounds)[form[1:]]["load_model"].ratio for form in forms}


def load_weights(given: Given) -> dict[str, float]:
    groups = {".h5": "h5", ".weights.h5": "weights", ".safetensors": "safetensors", ".pt": "pt"}
    return {suffix: large_files(given.rounds)[group]["load_weights"].ratio for suffix, group in groups.items()}


def load_memory(given: Given) -> dict[str, float]:
    return {suffix: large_files(given.rounds)[suffix[1:]]["load_model"].memory for suffix in LARGE}


def save(given: Given) -> dict[str, float]:
    return {suffix: large_files(given.rounds)[f"save {suffix[1:]}"]["save"].ratio for suffix in LARGE}


@cache
def started(group: str, rounds: int) -> dict[str, startup.Measured]:
    return startup.compared(group, rounds)


def small_file(given: Given) -> dict[str, float]:
    return {
        f"{suffix}, {state}": started(f"small file, {state}", given.rounds)[suffix].ratio
        for state in ("cold", "warm")
        for suffix in startup.FORMATS
    }


def imports(given: Given) -> dict[str, float]:
    found = started("imports", given.rounds)
    return {name: found[name].ratio for name in list(found)[1:]}


def memory_of_imports(given: Given) -> dict[str, float]:
    found = started("imports", given.rounds)
    return {name: found[name].megabytes for name in list(found)[1:]}


def first_step(given: Given) -> dict[str, float]:
    return {"mlp": started("first step", given.rounds)["compile and fit"].ratio}


def step_memory(given: Given) -> dict[str, float]:
    peaks = {name: memory.compared(name) for name in ("cnn", "transformer", "resnet20")}
    return {name: ours / by_hand for name, (by_hand, ours) in peaks.items()}


@contextmanager
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@cache
@one_thread()
def calls(name: str, batch: int, rounds: int) -> dict[str, float]:
    return latency.microseconds(name, 200 * rounds if batch == 1 else 40 * rounds, batch, compiled=True)


def one_sample(given: Given) -> dict[str, float]:
    found = {name: calls(name, 1, given.rounds) for name in LATENCY}
    return {name: each["model(x)"] / each["by hand"] for name, each in found.items()}


def predict(given: Given) -> dict[str, float]:
    found = {name: calls(name, 1, given.rounds) for name in LATENCY}
    return {name: each["predict"] / each["by hand"] for name, each in found.items()}


def frozen(given: Given) -> dict[str, float]:
    """The model frozen for the input, which is compiled for it, as torch.compile does when it is first called."""
    found = {}
    for name in LATENCY:
        for batch in (1, 64):
            each = calls(name, batch, given.rounds)
            best = min(each[kind] for kind in ("compiled", "onnxruntime") if kind in each)
            found[f"{name}, {batch}"] = each["frozen for x"] / best
    return found


@cache
def layers() -> scaling.Rows:
    with tempfile.TemporaryDirectory() as folder:
        scaling.by_layers([100], Path(folder))  # what is imported once
        return scaling.by_layers([2_000, 20_000], Path(folder))


def many_layers(given: Given) -> dict[str, float]:
    del given  # a size is measured once
    wanted = ("Sequential.add", "functional API", "predict", "save .h5", "load .h5", "save .keras", "load .keras")
    return {name: layers()[name][1][1] / layers()[name][0][1] for name in wanted}


def build_seconds(given: Given) -> dict[str, float]:
    del given
    return {name: layers()[name][1][1] for name in ("Sequential.add", "functional API")}


def serve(given: Given) -> dict[str, float]:
    return {case: statistics.median(ratios) for case, ratios in serving.compared(4 * given.rounds).items()}


@one_thread()  # the others are for the workers
def epochs_of_data(given: Given) -> dict[str, float]:
    found = data.compared(given.rounds)
    return {case: statistics.median(ratios) for case, ratios in found.items() if not case.endswith(data.IN_MEMORY)}


def own_scripts(peer: str) -> Measure:
    """Keras's own examples, unmodified, against another Keras."""

    def measure(given: Given) -> dict[str, float]:
        if given.examples is None or peer not in given.peers:
            return {}
        pythons = {scripts.OURS: sys.executable, peer: given.peers[peer]}
        found = {}
        for script in scripts.SCRIPTS:
            rounds = scripts.run_in_turns(given.examples / f"{script}.py", pythons, max(1, given.rounds // 2))
            ours, theirs = ([each[kind] for each in rounds] for kind in (scripts.OURS, peer))
            ratio = scripts.median_ratio(ours, theirs)
            if ratio is not None:
                found[script] = ratio
        return found

    return measure


LINES: dict[str, Line] = {
    "eager": Line("eager step", "the tuned loop by hand", 1.0, eager),
    "resnet": Line("eager step", "the tuned loop by hand", 0.85, resnet),
    "auto": Line(
        'step with `jit_compile="auto"`', "the same loop under torch.compile, default or max-autotune", 0.95, auto
    ),
    "load_model": Line("`load_model`, 553 MB", "reading the same bytes", 1.1, load_model),
    "load_weights": Line("`load_weights`, 553 MB", "reading the same bytes", 0.9, load_weights),
    "save": Line("`save`, 553 MB", "writing the same bytes", 1.1, save),
    "small": Line("`load_model`, 25 layers", "the same modules and `load_state_dict`", 1.5, small_file),
    "load_memory": Line("peak memory of `load_model`", "the bytes of the weights", 1.1, load_memory),
    "step_memory": Line("peak memory of a step", "the loop by hand", 1.0, step_memory),
    "one": Line("`model(x)`, one sample", "the module by hand", 0.95, one_sample),
    "predict": Line("`predict`, one sample", "the module by hand", 1.1, predict),
    "serve": Line("`serve`, requests a second of 8 threads", "batching by hand", 0.95, serve, at_least=True),
    "frozen": Line("frozen model, 1 sample and 64", "the faster of torch.compile and ONNX Runtime", 1.1, frozen),
    "layers": Line("20,000 layers", "2,000 layers", 10.5, many_layers),
    "build": Line("20,000 layers, seconds", "", 10.0, build_seconds),
    "import": Line("import", "`import torch, h5py`", 1.05, imports),
    "import_memory": Line("import, MB more", "`import torch, h5py`", 10.0, memory_of_imports),
    "first": Line("first `compile` and `fit`", "the first step by hand", 1.5, first_step),
    "data": Line("an epoch of data", "the same data by hand", 1.0, epochs_of_data),
    "keras": Line("Keras's own scripts", "Keras 2.2.4, TensorFlow 1.14", 0.6, own_scripts("keras")),
    "tf_keras": Line("Keras's own scripts", "tf_keras", 0.8, own_scripts("tf_keras")),
    "keras3": Line("Keras's own scripts", "Keras 3 on torch", 0.5, own_scripts("keras3")),
}


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--only", choices=LINES, action="append", help="a line; may be given again")
    options.add_argument("--rounds", type=int, default=5, help="rounds of each contender")
    options.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    options.add_argument("--examples", type=Path, help="the examples of Keras 2.2.4")
    options.add_argument("--peer", type=named_python(scripts.PEERS), action="append", default=[], metavar="KIND=PYTHON")
    chosen = options.parse_args()
    given = Given(chosen.rounds, chosen.examples, dict(chosen.peer))
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.processor() or platform.machine()}")
    print(HEAD, end="")
    for name in chosen.only or LINES:
        line = LINES[name]
        rows = [
            Row(line.what, case, line.against, line.aim, value, line.at_least)
            for case, value in line.measure(given).items()
        ]
        if not rows:
            print(f"left out: {name}, which needs --examples FOLDER and --peer {name}=PYTHON", flush=True)
        for row in rows:
            print(row.written(), flush=True)
        if chosen.write and rows:
            write(rows)


def write(rows: list[Row]) -> None:
    """Put the rows of a line into the page in place of those that it has, and draw all again."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    text, _, after = rest.partition(END)
    known = table_drawn.rows(text)
    ours = {(row.what, row.against, row.aim) for row in rows}
    order = [(line.what, line.against, line.aim) for line in LINES.values()]
    kept = [*(row for row in known if (row.what, row.against, row.aim) not in ours), *rows]
    kept.sort(key=lambda row: order.index((row.what, row.against, row.aim)))
    PAGE.write_text(before + BEGIN + HEAD + "".join(f"{row.written()}\n" for row in kept) + END + after)
    PICTURE.write_text(table_drawn.drawn(table_drawn.rows(PAGE.read_text())))  # of the numbers as rounded there


if __name__ == "__main__":
    main()
