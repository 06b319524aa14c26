"""Scripts of tf.keras of public repositories, under genuine TensorFlow, and with this package as `tensorflow`.

    scripts/tf_scripts                                   # all, here
    scripts/tf_scripts mnist gan                         # those with these words in their names
    scripts/tf_scripts --genuine PYTHON --sources FOLDER  # also under a Python with TensorFlow 2.15
    scripts/tf_scripts --check                           # whether the record is of these sources; runs nothing

`tf_scripts.toml` lists the scripts: a repository, a commit, and for each script its SHA-256. They are fetched by git
(`public_sources.py`), and never copied into the project. Each runs in a process and a folder of its own, statement by
statement, under `tf_scripts_small.py`, which makes data and epochs small; here under `torchkeras run --as tensorflow2`.
A script is clean where no statement fails. Where it calls `fit`, the losses from the same weights are compared: that
of the first batch, and of two steps where no layer draws numbers. They are equal where they differ by at most 1e-3.
What was seen is recorded in `tf_scripts.txt`, which a test refuses when the sources that it covers have changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from covered import digest, made_for
from public_sources import GITHUB, fetched, listed

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".keras-suite" / "tf_scripts"
SMALL = ROOT / "scripts" / "tf_scripts_small.py"
LIST = ROOT / "scripts" / "tf_scripts.toml"
RECORD = ROOT / "scripts" / "tf_scripts.txt"
COVERED = ("torchkeras/tensorflow2", "scripts/tf_scripts.toml", "scripts/tf_scripts_small.py")
CLEAN, UNSEEN = "clean", "not run"
NEAR = 1e-3
RUN = (sys.executable, "-m", "torchkeras", "run", "--as", "tensorflow2")


@dataclass(frozen=True)
class Script:
    """A script of the list: its name, its file, its repository's folder, and why it is not clean here."""

    name: str
    path: Path
    folder: Path
    sha256: str
    reason: str = ""

    def check(self) -> None:
        """Raise SystemExit for a file that is not the one of the list."""
        if hashlib.sha256(self.path.read_bytes()).hexdigest() != self.sha256:
            raise SystemExit(f"{self.path}: SHA-256 is not {self.sha256}.")


@dataclass(frozen=True)
class Seen:
    """What was seen of a script: under genuine TensorFlow, here, and of the losses."""

    genuine: str = UNSEEN
    here: str = UNSEEN
    losses: str = ""

    def line(self, script: Script) -> str:
        """A line of the record."""
        is_as_genuine = self.here == CLEAN and not self.losses.startswith("DIFFER")
        reason = "" if is_as_genuine else script.reason
        parts = [script.name, f"genuine: {self.genuine}", f"here: {self.here}", self.losses, reason]
        return "\t".join(parts).rstrip()

    @staticmethod
    def read(line: str) -> tuple[str, Seen]:
        """The name and what was seen, of a line of the record."""
        name, genuine, here, losses, *_ = [*line.split("\t"), ""]
        return name, Seen(genuine.removeprefix("genuine: "), here.removeprefix("here: "), losses)


def main() -> int:
    """Run the scripts; the exit code is 0 when each that is clean under genuine TensorFlow is clean here."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--genuine", metavar="PYTHON", help="the Python of TensorFlow 2.15; without it, what was seen")
    parser.add_argument("--only-genuine", action="store_true", help="run nothing here")
    parser.add_argument("--check", action="store_true", help="whether the record is of these sources")
    parser.add_argument("--sources", default=GITHUB, help="where git finds OWNER/NAME, or a folder of OWNER+NAME")
    parser.add_argument("--seconds", type=int, default=120, help="the time limit of a script")
    parser.add_argument("names", nargs="*", help="words of names of scripts, in place of all")
    given = parser.parse_args()
    if given.check:
        return check()
    scripts = list(of_the_list(given.sources))
    for script in scripts:
        script.check()
    asked = [each for each in scripts if not given.names or any(word in each.name for word in given.names)]
    environment = {**os.environ, "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if given.genuine:
        without = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        run([given.genuine], asked, without, given.seconds, "genuine")
    if not given.only_genuine:
        run([*RUN], asked, {**environment, "PYTHONPATH": str(ROOT)}, given.seconds, "here")
    return write(scripts, asked)


def of_the_list(sources: str) -> Iterator[Script]:
    """The scripts of the list."""
    for repository, entry in listed(LIST, []).items():
        folder = Path(sources, repository.replace("/", "+"))
        folder = folder if folder.is_dir() else fetched(f"{repository}@{entry['commit']}", sources)
        for name, options in entry["scripts"].items():
            yield Script(f"{repository}/{name}", folder / name, folder, options["sha256"], options.get("reason", ""))


def recorded() -> dict[str, Seen]:
    """What the record says, by script."""
    if not RECORD.is_file():
        return {}
    return dict(Seen.read(line) for line in RECORD.read_text().splitlines() if "\t" in line)


def write(scripts: list[Script], asked: list[Script]) -> int:
    """Write the record, with what the reports of some scripts say; 1 where a script is clean with TensorFlow alone."""
    seen = recorded()
    for script in asked:
        found = {which: ended(script, which) for which in ("genuine", "here")}
        known = {which: text for which, text in found.items() if text != UNSEEN}
        seen[script.name] = replace(seen.get(script.name, Seen()), **known, losses=losses(script))
    every = [(script, seen.get(script.name, Seen())) for script in scripts]
    genuine = [found for _, found in every if found.genuine == CLEAN]
    both = [found for found in genuine if found.here == CLEAN]
    numbers = [found for _, found in every if found.losses]
    equal = [found for found in numbers if found.losses.startswith("equal")]
    repositories = {script.folder for script in scripts}
    summary = (
        f"{len(every)} scripts of {len(repositories)} repositories: {len(genuine)} are clean under genuine TensorFlow, "
        f"{len(both)} of them here. The losses of {len(numbers)} can be compared, those of {len(equal)} are equal. "
        f"{made_for(COVERED)}"
    )
    RECORD.write_text("".join(f"{found.line(script)}\n" for script, found in every) + f"{summary}\n")
    print(summary)
    return int(len(both) < len(genuine))


def check() -> int:
    """1 for a record that is not of these sources."""
    is_of_these = f"for sources {digest(COVERED)}." in RECORD.read_text()
    print("The record is of these sources." if is_of_these else "The record is older: run scripts/tf_scripts again.")
    return int(not is_of_these)


def run(python: list[str], asked: list[Script], environment: dict[str, str], seconds: int, which: str) -> None:
    """Run scripts, each in a folder of its own, which has its report then."""
    jobs = []
    for script in asked:
        folder = WORK / which / script.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        beside = dict.fromkeys([str(script.path.parent), str(script.folder)])
        jobs.append([str(folder), str(script.path), str(WORK / "weights" / script.name), *beside])
    place = WORK / f"{which}.json"
    place.write_text(json.dumps(jobs))
    subprocess.run(
        [*python, str(SMALL), str(place), str(seconds)], env=environment, stdin=subprocess.DEVNULL, check=True
    )


def ended(script: Script, which: str) -> str:
    """How a script ended: clean, or how many statements failed and the first of them."""
    folder = WORK / which / script.name
    if not folder.is_dir():
        return UNSEEN
    if not (folder / "report.json").is_file():
        return "not done in time"
    failed = json.loads((folder / "report.json").read_text())["failed"]
    return f"{len(failed)} fail, line {failed[0][0]}: {failed[0][1]}"[:160] if failed else CLEAN


def losses(script: Script) -> str:
    """Whether the losses of both runs are equal; "" where there are none in both."""
    reports = [WORK / which / script.name / "report.json" for which in ("genuine", "here")]
    if not all(each.is_file() for each in reports):
        return ""
    genuine, here = (json.loads(each.read_text())["fits"] for each in reports)
    pairs = [pair for one, other in zip(genuine, here, strict=False) for pair in zip(one, other, strict=True)]
    numbers = [(one, other) for one, other in pairs if one is not None and other is not None and math.isfinite(one)]
    if not numbers:
        return ""
    far = max(abs(one - other) / max(1.0, abs(one)) for one, other in numbers)
    return f"{'equal' if far <= NEAR else 'DIFFER'}: {len(numbers)} losses, by {far:.0e}"


if __name__ == "__main__":
    sys.exit(main())
