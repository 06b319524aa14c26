"""Kill small trainings at random moments with SIGKILL, restart them until they end, and compare the ends.

    python scripts/kill_runs.py [--count 200] [--kills 1000] [--seed 0] [--jobs 2] [--run NAME ...]

Run number k of a seed is always the same training of `small_runs.py`, with the same `save_freq` and the same moments in
seconds. What the run is doing at these moments depends on the machine. A child writes checkpoints, is killed (while it
builds, trains, writes or resumes), and is started again. After every fourth kill, on average, the newest checkpoint is
damaged: cut, or some bytes changed. In the end all weights, statistics, the optimizer's state, the history and the rows
of a CSV log are compared, bit by bit, with those of an undisturbed run without checkpoints.

Children are forked from a process that has imported everything and trained a small model once, so a start costs no
imports. Each run still makes everything of its own. It runs on the CPU with one thread: with several, sums of floats
have no fixed order unless torch.use_deterministic_algorithms(True) is called.

With `--kills` it goes on until there were so many.

Prints JSON: `runs`, `kills`, `in_writing` (kills that left an incomplete file), `torn` (checkpoints damaged), `lost`
(starts that found a whole checkpoint and did not go on from the newest whole one), `unequal` (ends that differ),
`failed` (children that ended with an error), `seconds`, and `kills_of` each training. Exits with 1 when there is any
lost, unequal or failed.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, MutableMapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from small_runs import RUNS, ending  # in the folder of this script

from torchkeras.callbacks import BackupAndRestore

MOST_STARTS = 60  # of one run; after that it may run to its end


class Told(BackupAndRestore):
    """Records the checkpoint from which it resumes."""

    def __init__(self, folder: Path, save_freq: Any, told: Path):
        super().__init__(folder, save_freq, delete_checkpoint=False)
        self.told, self.gone_on = told, ""

    def resume(self, run: Any) -> None:
        super().resume(run)
        self.told.write_text(f"from {self.gone_on}")

    def _go_on(self, path: Path, saved: dict[str, Any]) -> None:
        super()._go_on(path, saved)
        self.gone_on = path.name


# --- children --------------------------------------------------------------------------------------------------------


def forked(work: Callable[[], None], errors: Path) -> int:
    """Start a child that does the work; its errors and warnings go to `errors`. Returns its process number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with errors.open("a") as file:
            os.dup2(file.fileno(), 2)
            warnings.filterwarnings("ignore", ".* is torn or damaged, and passed over", RuntimeWarning)
            work()
            status = 0
    except BaseException:  # noqa: BLE001  # the child ends here, whatever happened
        errors.write_text(errors.read_text() + traceback.format_exc())
    finally:
        os._exit(status)


def train(name: str, folder: Path, save_freq: Any) -> None:
    torch.set_num_threads(1)
    own = [] if save_freq is None else [Told(folder / "backup", save_freq, folder / "told")]
    model = RUNS[name](own, folder)
    part = folder / "end.part"
    part.write_text(json.dumps(ending(model, folder), default=str, sort_keys=True))
    part.replace(folder / "end")


def killed(child: int, after: float) -> bool:
    """Kill the child after some seconds. False if it had ended by then; raises RuntimeError if it ended by an error."""
    until = time.monotonic() + after
    while (left := until - time.monotonic()) > 0:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(min(left, 0.005))
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


# --- one run ---------------------------------------------------------------------------------------------------------


def undisturbed(name: str) -> tuple[str, float]:
    """The end of a run, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        start = time.monotonic()
        child = forked(partial(train, name, folder, None), folder / "errors")
        os.waitpid(child, 0)
        seconds = time.monotonic() - start
        if not (folder / "end").exists():
            raise RuntimeError(f"{name}: {(folder / 'errors').read_text()}")
        return (folder / "end").read_text(), seconds


def newest_whole(folder: Path) -> str:
    """The name of the newest checkpoint whose bytes fit the hash in its name; "" if there is none."""
    for path in sorted(folder.glob("*.checkpoint"), reverse=True):
        if hashlib.sha256(path.read_bytes()).hexdigest()[:24] == path.stem.split("-")[-1]:
            return path.name
    return ""


def damaged(folder: Path, draw: random.Random) -> bool:
    """Cut the newest checkpoint, or change some of its bytes; False if there is none."""
    paths = sorted(folder.glob("*.checkpoint"))
    if not paths:
        return False
    content = bytearray(paths[-1].read_bytes())
    if draw.random() < 0.5:
        del content[draw.randrange(len(content)) :]
    else:
        for _ in range(3):
            content[draw.randrange(len(content))] ^= draw.randrange(1, 256)
    paths[-1].write_bytes(content)
    return True


def one_run(seed: int, names: Sequence[str], ends: MutableMapping[str, tuple[str, float]], number: int) -> Counter[str]:
    """One run of a seed, and its result."""
    draw = random.Random(f"{seed} {number}")
    name = names[number % len(names)]
    save_freq = draw.choice((1, 1, 2, 3, "epoch"))
    if name not in ends:
        ends[name] = undisturbed(name)
    wanted, seconds = ends[name]
    found: Counter[str] = Counter(runs=1)
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        backup, told, errors = folder / "backup", folder / "told", folder / "errors"
        for start in range(MOST_STARTS + 1):
            newest = newest_whole(backup)
            told.unlink(missing_ok=True)
            # Checkpoints are flushed to the disk, so a run takes longer than one without.
            after = draw.uniform(0.0, 2.0 * seconds) if start < MOST_STARTS else 600.0
            was_killed = killed(forked(partial(train, name, folder, save_freq), errors), after)
            if told.exists() and told.read_text() not in ("", f"from {newest}"):
                found["lost"] += 1
            if not was_killed:
                break
            found["kills"] += 1
            found[f"kills of {name}"] += 1
            found["in_writing"] += any(backup.glob(".*.part"))
            if draw.random() < 0.25:
                found["torn"] += damaged(backup, draw)
        if not (folder / "end").exists():
            found["failed"] += 1
            print(f"run {number}, {name}: {errors.read_text()}", file=sys.stderr)
        elif (folder / "end").read_text() != wanted:
            found["unequal"] += 1
            one, other = json.loads(wanted), json.loads((folder / "end").read_text())
            places = [place for place in one if one[place] != other.get(place)]
            print(f"run {number}, {name}, save_freq {save_freq}: {', '.join(places)} are others", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill small trainings, restart them, and compare their ends.")
    parser.add_argument("--count", type=int, default=200, help="how many runs")
    parser.add_argument("--kills", type=int, help="how many kills, in place of a number of runs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--run", choices=list(RUNS), nargs="+", default=list(RUNS), help="these trainings alone")
    chosen = parser.parse_args()
    found: Counter[str] = Counter(runs=0, kills=0, in_writing=0, torn=0, lost=0, unequal=0, failed=0)
    torch.set_num_threads(1)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        RUNS["unfreezing"]([], Path(folder))  # torch imports some modules when they are first needed
    # Not multiprocessing's Pool, whose processes may start none, as a DataLoader does.
    forking = ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("fork"))
    with multiprocessing.Manager() as manager, forking as pool:
        work = partial(one_run, chosen.seed, chosen.run, manager.dict())
        # A round at a time: with `--kills` there is no end of runs.
        rounds = itertools.count(0, chosen.jobs) if chosen.kills else range(0, chosen.count, chosen.jobs)
        for first in rounds:
            last = first + chosen.jobs if chosen.kills else min(first + chosen.jobs, chosen.count)
            for result in pool.map(work, range(first, last)):
                found.update(result)
            if chosen.kills and found["kills"] >= chosen.kills:
                break
    of = {name.removeprefix("kills of "): found.pop(name) for name in list(found) if name.startswith("kills of ")}
    print(json.dumps({**found, "seconds": round(time.monotonic() - start), "kills_of": of}))
    return int(bool(found["lost"] or found["unequal"] or found["failed"]))


if __name__ == "__main__":
    sys.exit(main())
