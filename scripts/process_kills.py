"""Kill workers of torchrun's agent at random moments, let it start them again, and compare the ends.

    python scripts/process_kills.py [--kills 50] [--each 10] [--seed 0] [--processes 2 3 4]

Each run is a small training of 2 to 4 processes on the CPU under the agent that torchrun runs, with as many restarts as
it needs. One worker after another is killed with SIGKILL: at a random moment within a second after a new checkpoint;
one time in four while the processes start and join, one time in four while they write the next checkpoint. The agent
then ends the others and starts all again; they go on from the newest whole checkpoint. Every process's end (weights,
statistics, optimizer, history) and the rows of the CSV log are compared, bit by bit, with those of an undisturbed run
of as many processes without checkpoints.

Workers are forked from a server that has imported everything, so a start costs no imports.

Prints JSON: `runs`, `kills`, `in_writing` (kills that left an incomplete folder), `gone_on` (starts from a checkpoint),
`lost` (starts that did not go on from the newest whole one), `unequal` (processes whose end differs), `failed` (runs
that came to no end), `seconds`, and `seconds_to_go_on` (the mean time from a kill to the first step after it). Exits
with 1 when there is any of the three faults.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from torchkeras import Sequential, clear_session, layers
from torchkeras.callbacks import BackupAndRestore, Callback, CSVLogger, ReduceLROnPlateau
from torchkeras.metrics import SparseCategoricalAccuracy
from torchkeras.world.processes import is_main, rank

EPOCHS, SAMPLES, SIZE = 25, 70, 8
PRELOADED = ["torch", "torchkeras", "torchkeras.distribution.training", "torchkeras.distribution.backups"]


# --- a worker --------------------------------------------------------------------------------------------------------


def newest_whole(folder: Path) -> str:
    """The name of the newest checkpoint whose files fit the digest in its name; "" if there is none."""
    for path in sorted(folder.glob("*.checkpoint"), reverse=True):
        lines = sorted(f"{each.name} {hashlib.sha256(each.read_bytes()).hexdigest()}\n" for each in path.iterdir())
        if hashlib.sha256("".join(lines).encode()).hexdigest()[:24] == path.stem.split("-")[-1]:
            return path.name
    return ""


class Told(BackupAndRestore):
    """Records the newest whole checkpoint at the start, and the one from which the run goes on."""

    def __init__(self, folder: Path):
        super().__init__(folder / "backup", save_freq=2, delete_checkpoint=False)
        self.told, self.gone_on = folder / "told", ""

    def resume(self, run: Any) -> None:
        newest = newest_whole(self.folder) if is_main() else ""
        super().resume(run)
        if is_main():
            with self.told.open("a") as file:
                file.write(json.dumps([newest, self.gone_on]) + "\n")

    def _go_on(self, path: Path, saved: dict[str, Any]) -> None:
        super()._go_on(path, saved)
        self.gone_on = path.name


class Begun(Callback):
    """Says that this process trains, with the first batch."""

    def __init__(self, path: Path):
        self.path = path

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if not self.path.exists():
            self.path.write_text(str(time.time()))


def train(folder: Path, saves: bool) -> None:
    """What a worker does. It writes its number, then that it trains, and its end."""
    torch.set_num_threads(1)
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    place = f"{attempt}-{os.environ['RANK']}"
    _appear(folder / f"started {place}", str(os.getpid()))
    clear_session()
    draw = np.random.RandomState(0)
    x, y = draw.randn(SAMPLES, 6).astype("float32"), draw.randint(0, 3, SAMPLES)
    torch.manual_seed(1)
    model = Sequential(
        [
            layers.Dense(16, activation="relu", input_shape=(6,)),
            layers.BatchNormalization(),
            layers.Dropout(0.3),
            layers.Dense(16, activation="tanh", kernel_regularizer="l2"),
            layers.Dense(3, activation="softmax"),
        ]
    )
    metrics: list[Any] = ["accuracy", SparseCategoricalAccuracy(name="kept")]
    model.compile("adam", "sparse_categorical_crossentropy", metrics=metrics)
    log = folder / "log.csv"
    callbacks = [ReduceLROnPlateau(patience=2), CSVLogger(log), Begun(folder / f"trains {place}")]
    if saves:
        callbacks.append(Told(folder))
    history = model.fit(x, y, batch_size=SIZE, epochs=EPOCHS, validation_split=0.1, verbose=0, callbacks=callbacks)
    state = json.dumps(_plain(model.optimizer.state_dict()), sort_keys=True)
    end = {
        "weights": [hashlib.sha256(weight.tobytes()).hexdigest() for weight in model.get_weights()],
        "optimizer": hashlib.sha256(state.encode()).hexdigest(),
        "history": {name: [float(each).hex() for each in values] for name, values in history.history.items()},
        "log": log.read_text(),
    }
    _appear(folder / f"end {rank()}", json.dumps(end, sort_keys=True))


def _appear(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, torch.Tensor) else str(value)


# --- a run -----------------------------------------------------------------------------------------------------------


def launch(folder: Path, processes: int, saves: bool, restarts: int) -> None:
    """Run the training under torchrun's agent. Raises what the agent raises when restarts are used up."""
    logs = folder / "logs"
    logs.mkdir()
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=processes, max_restarts=restarts, start_method="forkserver",
        rdzv_backend="c10d", rdzv_endpoint="localhost:0", run_id=folder.name, monitor_interval=0.1,
        logs_specs=DefaultLogsSpecs(log_dir=str(logs), redirects=Std.ALL),
    )  # fmt: skip
    elastic_launch(config, train)(folder, saves)


class Killer(threading.Thread):
    """Kills a worker in one attempt after another, `count` in all."""

    def __init__(self, folder: Path, processes: int, count: int, draw: random.Random):
        super().__init__(daemon=True)
        self.folder, self.processes, self.count, self.draw = folder, processes, count, draw
        self.found: Counter[str] = Counter()
        self.waits: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        killed = None
        for attempt in range(self.count):
            kind = self.draw.choice(("starting", "training", "training", "writing"))
            victim = self.draw.randrange(self.processes)
            started = self._seen(f"started {attempt}-{victim}")
            if started is None:
                return
            if kind != "starting":
                trains = self._seen(f"trains {attempt}-{victim}")
                if killed is not None and trains is not None:
                    self.waits.append(float(trains) - killed)
                if not self._until(partial(self._has_saved, self._newest())):
                    return
            if self.over.wait(self.draw.uniform(0.0, 1.0)) or (kind == "writing" and not self._until(self._writes)):
                return
            killed = time.time()
            try:
                os.kill(int(started), signal.SIGKILL)
            except ProcessLookupError:  # it has come to its end
                return
            self.found["kills"] += 1
            self.found["in_writing"] += self._writes()

    def _writes(self) -> bool:
        return any(self.folder.glob("backup/.0*.part"))

    def _newest(self) -> str:
        return max((path.name for path in self.folder.glob("backup/0*.checkpoint")), default="")

    def _has_saved(self, before: str) -> bool:
        return self._newest() > before

    def _until(self, holds: Callable[[], bool]) -> bool:
        """Wait until something holds; False when the run is over before."""
        while not holds():
            if self.over.wait(0.001):
                return False
        return True

    def _seen(self, name: str) -> str | None:
        """The content of a file once it is there; None when the run is over."""
        path = self.folder / name
        return path.read_text() if self._until(path.exists) else None


def ends(folder: Path, processes: int) -> list[str]:
    """What each process wrote at its end; "" for one that came to none."""
    paths = [folder / f"end {number}" for number in range(processes)]
    return [path.read_text() if path.exists() else "" for path in paths]


def one_run(processes: int, kills: int, wanted: list[str], draw: random.Random) -> tuple[Counter[str], list[float]]:
    """A run with so many kills: its faults, and the seconds from each kill to the next step."""
    folder = Path(tempfile.mkdtemp())
    killer = Killer(folder, processes, kills, draw)
    killer.start()
    found: Counter[str] = Counter(runs=1)
    try:
        launch(folder, processes, True, kills + 2)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is counted and shown
        print(f"{folder}: {error}", file=sys.stderr)
    killer.over.set()
    killer.join()
    told = [json.loads(line) for line in (folder / "told").read_text().splitlines()]
    found.update(killer.found)
    found["gone_on"] += sum(bool(gone_on) for _, gone_on in told)
    found["lost"] += sum(newest != gone_on for newest, gone_on in told)
    reached = ends(folder, processes)
    found["failed"] += "" in reached
    found["unequal"] += sum(one != other for one, other in zip(reached, wanted, strict=True) if one)
    if not found["lost"] and not found["failed"] and not found["unequal"]:
        shutil.rmtree(folder)
    return found, killer.waits


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill workers of torchrun's agent, and compare the ends.")
    parser.add_argument("--kills", type=int, default=50, help="how many in all")
    parser.add_argument("--each", type=int, default=10, help="how many in a run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 3, 4], help="by turns")
    chosen = parser.parse_args()
    torch.multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    found: Counter[str] = Counter(runs=0, kills=0, in_writing=0, gone_on=0, lost=0, unequal=0, failed=0)
    undisturbed: dict[int, list[str]] = {}
    waits: list[float] = []
    begun = time.monotonic()
    while found["kills"] < chosen.kills and not found["failed"]:
        processes = chosen.processes[found["runs"] % len(chosen.processes)]
        if processes not in undisturbed:
            with tempfile.TemporaryDirectory() as folder:
                launch(Path(folder), processes, False, 0)
                undisturbed[processes] = ends(Path(folder), processes)
        draw = random.Random(f"{chosen.seed} {found['runs']}")
        kills = min(chosen.each, chosen.kills - found["kills"])
        result, seconds = one_run(processes, kills, undisturbed[processes], draw)
        found.update(result)
        waits += seconds
        print(json.dumps({"processes": processes, **result}), file=sys.stderr, flush=True)
    mean = round(sum(waits) / max(len(waits), 1), 2)
    print(json.dumps({**found, "seconds": round(time.monotonic() - begun), "seconds_to_go_on": mean}))
    return int(bool(found["lost"] or found["unequal"] or found["failed"]))


if __name__ == "__main__":
    sys.exit(main())
