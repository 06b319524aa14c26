"""All workloads, all contenders, in one run: writes its table into `docs/speed_notes.md`, and draws it.

    python benchmarks/suite.py [--only mlp] [--rounds 7] [--processes 3] [--write] [--peer keras3=/path/to/python]

On each workload of `workloads.py` the contenders start from the same weights and take turns, an epoch each. A ratio is
the median of the rounds' ratios to the tuned loop. All are warmed up first, until they have compiled; that time is
reported separately. The rounds come from several processes, one after the other, since the place of a process's memory
changes a ratio by a few hundredths. `jit_compile="auto"` measures at once here; in a training it waits until that pays.
Peers run with the first process, in their own environments (see `peers.py`); those without `--peer` are left out. The
loading of a file is measured in new processes.
"""

import argparse
import statistics
import tempfile
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import by_hand
import loading
import suite_drawn
import torch
import workloads
from peers import PEERS, LateError, Peer, named_python
from step import SAME, Contender, check, median_ratio, take_turns, timed
from workloads import WORKLOADS

import torchkeras
import torchkeras.keras3
import torchkeras.layers
import torchkeras.models
from torchkeras.engine.speed import choose

DOCUMENT = suite_drawn.PAGE
BEGIN, END = suite_drawn.BEGIN, "<!-- end -->\n"
TUNED = "tuned"
OURS: dict[str, dict[str, Any]] = {
    "torchkeras": {"jit_compile": False},
    "torchkeras auto": {"jit_compile": "auto"},
    "Keras 3 code": {"jit_compile": False, "keras": torchkeras.keras3},  # as `torchkeras run --as keras3` runs it
}
if torch.cuda.is_available():
    OURS["cuda_graph"] = {"jit_compile": True, "cuda_graph": True}
    OURS["cuda_graph, bfloat16"] = {**OURS["cuda_graph"], "policy": "mixed_bfloat16"}
STEPS = {"mlp": 200, "cnn": 8, "resnet20": 3, "lstm": 60, "masked_lstm": 60, "transformer": 60, "embeddings": 200}
STEPS |= {"evaluate": 600, "predict": 600}
WARM_UP_STEPS = 34  # "auto" decides at every 16th step whether to measure
LOOPS = {
    TUNED: by_hand.Loop,
    "idiomatic": by_hand.Idiomatic,
    "tuned, torch.compile": by_hand.Compiled,
    "tuned, max-autotune": by_hand.Autotuned,
}
ORDER = [*LOOPS, *OURS, *PEERS]  # the order of the columns
PATIENCE = 120.0  # seconds that a peer may take for an epoch, with compiling
ALIKE = 0.25  # how far losses may differ, since the order of samples and dropout differ


def contenders(name: str, steps: int, pythons: dict[str, str]) -> tuple[list[Contender], list[Peer]]:
    """All contenders, the tuned loop first; on CUDA, ours also with `cuda_graph=True`, and with that in bfloat16."""
    workload, device = WORKLOADS[name], "cuda" if torch.cuda.is_available() else "cpu"
    x, y = workloads.samples(workload, steps)
    resident, target = [torch.from_numpy(array).to(device) for array in x], torch.from_numpy(y).to(device)
    found, weights = [], {}
    for kind, setting in OURS.items():
        torch.manual_seed(0)
        torchkeras.clear_session()
        options = dict(setting)
        policy, keras = options.pop("policy", "float32"), options.pop("keras", torchkeras)
        if policy != "float32" and workload.mode != "fit":
            continue
        torchkeras.mixed_precision.set_global_policy(policy)
        model = workloads.compiled(workload.network(keras), **options)
        torchkeras.mixed_precision.set_global_policy("float32")
        weights = weights or workloads.weights_of(model)
        workloads.set_weights(model, weights)
        epoch = lambda model=model: workloads.keras_epoch(model, workload, resident, target)  # noqa: E731
        found.append(
            Contender(
                kind,
                timed(epoch),
                is_ready=lambda model=model: not getattr(model._training.ready().train_pass, "tries", False),
            )
        )
    made = [Contender(kind, timed(loop(name, workload, x, y, weights, device).epoch)) for kind, loop in LOOPS.items()]
    peers = [Peer(kind, python, name, steps, weights, PATIENCE) for kind, python in pythons.items()]
    return [*made, *found, *(Contender(peer.kind, peer.epoch) for peer in peers)], peers


@dataclass
class Measured:
    """A contender's rounds: ratios to the tuned loop and milliseconds per step; seconds of compiling; or a remark."""

    ratios: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    compiling: float = 0.0
    remark: str = ""


def measure(name: str, rounds: int, pythons: dict[str, str]) -> dict[str, Measured]:
    """Warm up and time all contenders, by name; for one that cannot run, a remark.

    Asserts that the losses of the first epoch are alike.
    """
    choose.SECONDS = choose.SECONDS_A_LAYER = 0.0  # "auto" measures at once
    each, peers = contenders(name, STEPS[name], pythons)
    found = {}
    relative = ALIKE if WORKLOADS[name].mode == "fit" else SAME
    try:
        for contender in list(each):
            try:
                while len(contender.seconds) * STEPS[name] < WARM_UP_STEPS or not contender.is_ready():
                    contender.take_turn()
            except RuntimeError as error:  # a peer that cannot run the workload
                print(f"{name}: without {contender.name}: {error}", flush=True)
                found[contender.name] = Measured(remark=str(error) if isinstance(error, LateError) else "fails")
                each.remove(contender)
        begun = [replace(contender, losses=contender.losses[:1]) for contender in each]
        check(name, begun, each[0].losses[0], relative, 0.0)
        for contender in each:
            contender.warm_up, contender.seconds = contender.seconds, []
        for number in range(rounds):
            take_turns(each, number)
    finally:
        for peer in peers:
            peer.close()
    for one in each:
        found[one.name] = Measured(
            [a / b for a, b in zip(one.seconds, each[0].seconds, strict=True)],
            [seconds * 1e3 / STEPS[name] for seconds in one.seconds],
            seconds_of_compiling(one.warm_up, one.seconds),
        )
    return found


def seconds_of_compiling(warm_up: list[float], rounds: list[float]) -> float:
    """Seconds by which the rounds of the warm-up took longer than later ones; 0 where they were as fast or faster."""
    return max(0.0, sum(warm_up) - len(warm_up) * statistics.median(rounds))


def measured_anew(processes: int, name: str, rounds: int, pythons: dict[str, str]) -> dict[str, Measured]:
    """The rounds of several new processes, one after the other; peers run with the first, which also compiles first."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        first, *others = [pool.apply(measure, (name, rounds, {} if k else pythons)) for k in range(processes)]
    for other in others:
        for contender, measured in other.items():
            first[contender].ratios += measured.ratios
            first[contender].milliseconds += measured.milliseconds
    return first


def cells(found: dict[str, Measured]) -> tuple[dict[str, str], dict[str, str]]:
    """Each contender's ratio to the tuned loop (for that one milliseconds per step), and its seconds of compiling."""
    ratios = {}
    for name in sorted(found, key=ORDER.index):
        one = found[name]
        ratio = one.remark or statistics.median(one.ratios)
        ratios[name] = ratio if isinstance(ratio, str) else f"{ratio:.2f}" if ratio >= 2 else f"{ratio:.3f}"
    ratios[TUNED] = f"{statistics.median(found[TUNED].milliseconds):.3g} ms"
    compiling = {
        name: f"{found[name].compiling:.0f}"
        for name in ("tuned, torch.compile", "tuned, max-autotune", "torchkeras auto", "cuda_graph", "keras3_jit")
        if name in found and not found[name].remark
    }
    return ratios, compiling


def loads(rounds: int) -> dict[str, str]:
    """Reading the arrays of a file of VGG16's shapes, and `load_model`, each in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        size = loading.write_files(Path(folder), 64, "model.h5")
        contenders = ("h5py", "load_model")
        found = [[loading.measure("h5", name, Path(folder), size)[0] for name in contenders] for _ in range(rounds)]
    read, load = map(list, zip(*found, strict=True))
    return {"h5py": f"{statistics.median(read):.2f} s", "torchkeras": f"{median_ratio(load, read):.2f}"}


def table(rows: dict[str, dict[str, str]]) -> str:
    """A Markdown table: a row for each name, a column for each key of any row."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(row.get(column, "") for column in columns) + " |" for name, row in rows.items()
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=7, help="a process's timed rounds")
    options.add_argument("--processes", type=int, default=3, help="processes one after the other")
    options.add_argument("--only", choices=WORKLOADS, action="append", help="a workload; may be given again")
    options.add_argument("--write", action="store_true", help=f"write the table into {DOCUMENT.name}")
    options.add_argument(
        "--peer", type=named_python(PEERS), action="append", default=[], help="kind=python; may come again"
    )
    chosen = options.parse_args()
    pythons = dict(chosen.peer)
    ratios, compiling = {}, {}
    for name in chosen.only or WORKLOADS:
        ratios[name], compiling[name] = cells(measured_anew(chosen.processes, name, chosen.rounds, pythons))
        print(name, ratios[name], "seconds of compiling:", compiling[name], flush=True)
    loaded = {} if chosen.only else {"load_model, 553 MB": loads(chosen.rounds)}
    left_out = ", ".join(kind for kind in PEERS if kind not in pythons) or "none"
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} threads"
    machine = f"torch {torch.__version__}, {device}"
    text = (
        f"{machine}, {chosen.processes} times {chosen.rounds} rounds; left out: {left_out}.\n\n"
        f"{table(ratios)}\nSeconds of compiling, before the first of these rounds:\n\n{table(compiling)}"
    )
    if loaded:
        text += f"\nLoading, ratio to reading the same arrays:\n\n{table(loaded)}"
    print(text, flush=True)
    if chosen.write:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        DOCUMENT.write_text(before + BEGIN + text + END + rest.partition(END)[2])
        suite_drawn.PICTURE.write_text(suite_drawn.drawn(suite_drawn.table(DOCUMENT.read_text())))


if __name__ == "__main__":
    main()
