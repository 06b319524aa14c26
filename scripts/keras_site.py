"""The scripts of Keras 3's own site, under genuine Keras on torch, and with this package as `keras`.

    scripts/keras_site                            # all, here
    scripts/keras_site functional_api cct         # those with these words in their names
    scripts/keras_site --genuine PYTHON           # also under a Python with Keras 3.15, torch and TensorFlow
    scripts/keras_site --check                    # whether the record is of these sources; runs nothing

`keras_site.toml` lists the scripts: a repository, a commit, and for each script its SHA-256. They are fetched by git
(`public_sources.py`), and never copied into the project. Each runs in a process and a folder of its own, statement by
statement, under `keras_site_small.py`, which makes data and epochs small; here under `torchkeras run --as keras3`, with
`--as tensorflow2` for those that import `tensorflow`. A script of keras-core imports `keras` in place of `keras_core`.
A script is clean where no statement fails. What was seen is recorded in `keras_site.txt`; a script that is not clean
here has a reason in `keras_site.toml`. A test refuses the record when the sources that it covers have changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from covered import digest, made_for
from public_sources import GITHUB, fetched, listed

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".keras-suite" / "site"
SMALL = ROOT / "scripts" / "keras_site_small.py"
LIST = ROOT / "scripts" / "keras_site.toml"
RECORD = ROOT / "scripts" / "keras_site.txt"
COVERED = (
    *("torchkeras/keras3", "torchkeras/tensorflow2", "torchkeras/utils"),
    *("scripts/keras_site.toml", "scripts/keras_site_small.py"),
)
CLEAN, UNSEEN = "clean", "not run"
TENSORFLOW = re.compile(r"^\s*(?:import|from) tensorflow\b|tensorflow_datasets", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script of the list: its name, its file, what is replaced in its text, and why it is not clean here."""

    name: str
    path: Path
    sha256: str
    replaced: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""

    def text(self) -> str:
        """The text that runs. Raises SystemExit for a file that is not the one of the list."""
        found = self.path.read_bytes()
        if hashlib.sha256(found).hexdigest() != self.sha256:
            raise SystemExit(f"{self.path}: SHA-256 is not {self.sha256}.")
        text = found.decode()
        for pattern, runs in self.replaced.items():
            text = re.sub(pattern, runs, text)
        return text


@dataclass(frozen=True)
class Seen:
    """What was seen of a script: under genuine Keras, and here."""

    genuine: str = UNSEEN
    here: str = UNSEEN

    def line(self, script: Script) -> str:
        """A line of the record."""
        reason = "" if self.here == CLEAN else script.reason or "no reason"
        return "\t".join([script.name, f"genuine: {self.genuine}", f"here: {self.here}", reason]).rstrip()

    @staticmethod
    def read(line: str) -> tuple[str, Seen]:
        """The name and what was seen, of a line of the record."""
        name, genuine, here, *_ = line.split("\t")
        return name, Seen(genuine.removeprefix("genuine: "), here.removeprefix("here: "))


def main() -> int:
    """Run the scripts; the exit code is 0 when each that is not clean has a reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--genuine", metavar="PYTHON", help="the Python of a genuine Keras; without it, what was seen")
    parser.add_argument("--only-genuine", action="store_true", help="run nothing here")
    parser.add_argument("--check", action="store_true", help="whether the record is of these sources")
    parser.add_argument("--sources", default=GITHUB, help="where git finds OWNER/NAME, or a folder of OWNER+NAME")
    parser.add_argument("--packages", nargs="*", default=[], help="folders of packages that the scripts import")
    parser.add_argument("--seconds", type=int, default=900, help="the time limit of a script")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at the same time")
    parser.add_argument("names", nargs="*", help="words of names of scripts, in place of all")
    given = parser.parse_args()
    if given.check:
        return check()
    scripts = list(of_the_list(given.sources))
    asked = [each for each in scripts if not given.names or any(word in each.name for word in given.names)]
    with ThreadPoolExecutor(given.jobs) as pool:
        for script, found in zip(asked, pool.map(partial(result, given), asked), strict=True):
            print(*found.items(), script.name, flush=True)
            write(scripts, script, found)
    return write(scripts)


def of_the_list(sources: str) -> Iterator[Script]:
    """The scripts of the list."""
    for repository, entry in listed(LIST, []).items():
        place, _, commit = entry["source"].partition("@")
        folder = Path(sources, place.replace("/", "+"))
        folder = folder if folder.is_dir() else fetched(f"{place}@{commit}", sources)
        for name, options in entry["scripts"].items():
            replaced = {**entry["replaced"], **options.get("replaced", {})}
            path = folder / f"{name}.py"
            yield Script(f"{repository}/{name}", path, options["sha256"], replaced, options.get("reason", ""))


def recorded() -> dict[str, Seen]:
    """What the record says, by script."""
    if not RECORD.is_file():
        return {}
    return dict(Seen.read(line) for line in RECORD.read_text().splitlines() if "\t" in line)


def write(scripts: list[Script], one: Script | None = None, found: Mapping[str, str] | None = None) -> int:
    """Write the record, with what was found of one script; 1 where a script is not clean and has no reason."""
    seen = recorded()
    if one is not None:
        seen[one.name] = replace(seen.get(one.name, Seen()), **(found or {}))
    every = [(script, seen.get(script.name, Seen())) for script in scripts]
    here = [found for _, found in every if found.here == CLEAN]
    genuine = [found for _, found in every if found.genuine == CLEAN]
    both = [found for found in here if found.genuine == CLEAN]
    summary = (
        f"{len(every)} scripts: {len(here)} are clean here. {len(genuine)} are clean under genuine Keras on torch, "
        f"{len(both)} of them here. {made_for(COVERED)}"
    )
    RECORD.write_text("".join(f"{found.line(script)}\n" for script, found in every) + f"{summary}\n")
    if one is None:
        print(summary)
    return int(any(found.here != CLEAN and not script.reason for script, found in every))


def check() -> int:
    """1 for a record that is not of these sources."""
    is_of_these = f"for sources {digest(COVERED)}." in RECORD.read_text()
    print("The record is of these sources." if is_of_these else "The record is older: run scripts/keras_site again.")
    return int(not is_of_these)


def result(given: argparse.Namespace, script: Script) -> dict[str, str]:
    """Run a script under the genuine version, if asked, and here."""
    text, found = script.text(), {}
    environment = {**os.environ, "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["KERAS_BACKEND"] = "torch"
    if given.genuine:
        beside = [sysconfig.get_path("purelib"), *given.packages]  # what a script imports beside Keras
        without = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
        found["genuine"] = ended([given.genuine], script, text, beside, without, given.seconds, "genuine")
    if not given.only_genuine:
        answers = ["--as", "keras3", *(["--as", "tensorflow2"] if TENSORFLOW.search(text) else [])]
        command = [sys.executable, "-m", "torchkeras", "run", *answers]
        environment["PYTHONPATH"] = str(ROOT)
        found["here"] = ended(command, script, text, given.packages, environment, given.seconds, "here")
    return found


def ended(
    python: list[str],
    script: Script,
    text: str,
    packages: list[str],
    environment: dict[str, str],
    seconds: int,
    which: str,
) -> str:
    """How a script ended: clean, or how many statements failed and the first of them."""
    folder = WORK / which / script.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "script.py").write_text(text)
    environment = {**environment, "HOME": str(folder), "KERAS_HOME": str(folder)}
    command = [*python, str(SMALL), "script.py", "report.json", *packages]
    with (folder / "log").open("w") as log:
        try:
            options: Any = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "check": False}
            subprocess.run(command, cwd=folder, env=environment, timeout=seconds, **options)
        except subprocess.TimeoutExpired:
            return f"not done after {seconds} s"
    if not (folder / "report.json").is_file():
        lines = (folder / "log").read_text(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "no output")[:160]
    failed = json.loads((folder / "report.json").read_text())
    return f"{len(failed)} fail, line {failed[0][0]}: {failed[0][1]}"[:160] if failed else CLEAN


if __name__ == "__main__":
    sys.exit(main())
