"""Models that scripts of public repositories build: under a genuine Keras, and with this package as `keras`.

    scripts/public_models --genuine PYTHON              # a Python with Keras 2.2.4 and TensorFlow 1.14
    scripts/public_models --genuine PYTHON capsnet yolo3

`public_models.toml` lists the scripts: a repository, a commit, and a few lines that import its modules, unmodified, and
build models at small sizes. The genuine Keras draws the weights and saves them in its own files; here `load_weights`
reads those. Then outputs, functions and losses of some steps of training are compared. They count as equal where they
differ by at most 1e-4 of the largest value. The sources are fetched by git (`public_sources.py`), and never copied into
the project. What was seen is recorded in `public_models.txt`,
which a test refuses when the sources that it covers have changed since.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from covered import made_for
from public_sources import GITHUB, fetched, listed

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".public-models"
RUN = ROOT / "scripts" / "public_models_run.py"
LIST = ROOT / "scripts" / "public_models.toml"
RECORD = ROOT / "scripts" / "public_models.txt"
NEAR = 1e-4
COVERED = ("torchkeras/keras2", "scripts/public_models.toml")


@dataclass(frozen=True)
class Seen:
    """What was seen of a script: why it failed, or how far its numbers are from those of the genuine version."""

    failed: str = ""
    weights: int = 0
    compared: int = 0
    difference: float = 0.0
    where: str = ""

    def __str__(self) -> str:
        if self.failed:
            return f"FAILS   {self.failed}"
        said = "equal  " if self.equal else "DIFFERS"
        return (
            f"{said} {self.weights:>9,} weights, {self.compared:>2} results, by {self.difference:.0e} in {self.where}"
        )

    @property
    def equal(self) -> bool:
        """Whether all numbers are those of the genuine version."""
        return not self.failed and self.difference <= NEAR


def main() -> int:
    """Build and compare; the exit code is 0 when all are equal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--genuine", metavar="PYTHON", help="the Python of a genuine Keras; without it, what it wrote")
    parser.add_argument("--sources", default=GITHUB, help="where git finds OWNER/NAME: an address or folder")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of scripts")
    parser.add_argument("--seconds", type=int, default=300, help="the time limit of a script")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at the same time")
    parser.add_argument("names", nargs="*", help="scripts, in place of all")
    given = parser.parse_args()
    asked = listed(given.list, given.names)
    checked_out = {name: [fetched(each, given.sources) for each in entry["sources"]] for name, entry in asked.items()}
    lines = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for name, seen in zip(asked, pool.map(partial(compared, given, asked, checked_out), asked), strict=True):
            repository = asked[name]["sources"][0].partition("@")[0]
            lines.append((f"{name:24} {repository:48} {seen}", seen.equal))
            print(lines[-1][0], flush=True)
    equal = sum(each for _, each in lines)
    repositories = {entry["sources"][0].partition("@")[0] for entry in asked.values()}
    summary = f"{len(asked)} scripts of {len(repositories)} repositories; {equal} are equal. {made_for(COVERED)}"
    print(summary)
    if given.list == LIST and not given.names:
        RECORD.write_text("".join(f"{line.rstrip()}\n" for line, _ in lines) + f"{summary}\n")
    return 0 if equal == len(asked) else 1


def compared(given: argparse.Namespace, listed: dict[str, Any], sources: dict[str, list[Path]], name: str) -> Seen:
    """Run a script under the genuine version, if asked, and under this package, and compare."""
    folder = WORK / "made" / name
    folder.mkdir(parents=True, exist_ok=True)
    paths, absent = [str(each) for each in sources[name]], listed[name].get("absent", [])
    script = {"name": name, "code": listed[name]["code"], "paths": paths, "absent": absent}
    (folder / "script.json").write_text(json.dumps(script))
    environment = {**os.environ, "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "", "HOME": str(WORK)}
    environment |= {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    (folder / "alias.npz").unlink(missing_ok=True)
    if given.genuine:
        (folder / "genuine.npz").unlink(missing_ok=True)
        failed = ended([given.genuine, str(RUN), str(folder)], environment, given.seconds, folder / "genuine.log")
        if failed:
            return Seen(f"the genuine version: {failed}")
    environment |= {"PYTHONPATH": str(ROOT)}
    failed = ended([sys.executable, str(RUN), str(folder), "--alias"], environment, given.seconds, folder / "alias.log")
    return Seen(failed) if failed else difference(folder)


def ended(command: list[str], environment: dict[str, str], seconds: int, log: Path) -> str:
    """Why a process failed, in a line; "" for one that did not."""
    with log.open("w") as file:
        try:
            done = subprocess.run(
                command, cwd=log.parent, env=environment, timeout=seconds, stdout=file, stderr=file, check=False
            )
        except subprocess.TimeoutExpired:
            return f"not done after {seconds} s"
    if done.returncode == 0 and not log.with_suffix(".npz").is_file():
        return "it ended without results"
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return "" if done.returncode == 0 else (lines or ["no output"])[-1][:200]


def difference(folder: Path) -> Seen:
    """How far the results are from those of the genuine version, as a part of the largest number of each."""
    genuine, ours = (dict(np.load(folder / f"{name}.npz")) for name in ("genuine", "alias"))
    weights = int(genuine.pop("weights"))
    if genuine.keys() != ours.keys():
        return Seen(f"not in both: {', '.join(sorted(genuine.keys() ^ ours.keys()))}")
    worst = (0.0, "all")
    for name, expected in genuine.items():
        if expected.shape != ours[name].shape:
            return Seen(f"{name}: shape {ours[name].shape}, where the genuine version has {expected.shape}")
        if expected.size:
            far = np.abs(ours[name].astype(float) - expected).max() / max(np.abs(expected).max(), 1e-30)
            worst = max(worst, (float(far) if np.isfinite(far) else float("inf"), name))
    return Seen(weights=weights, compared=len(genuine), difference=worst[0], where=worst[1])


if __name__ == "__main__":
    sys.exit(main())
