"""Keras's own example scripts, unmodified, run with this package answering `import keras`, on small made-up data.

    scripts/keras_examples                  # Keras 2.2.4's examples: which pass, and the last line of each error
    scripts/keras_examples mnist_cnn lstm_seq2seq
    scripts/keras_examples --version 1.2.2 --sources KERAS  # a clone of Keras's repository at the tag 1.2.2

The sources of 2.2.4 are fetched as `scripts/keras_suite.py` does. Each script runs in a process and a folder of its
own, under `keras_examples_small.py`, which makes data and epochs small and draws nothing. What passes under the genuine
version, on TensorFlow, is recorded in `scripts/keras_examples_<version>.txt`; `--genuine PYTHON` runs the scripts under
that Python's own Keras and writes the record again. `scripts/keras_examples_reasons.txt` has what is different here,
and why. The run fails on any result that these two files do not say.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from keras_suite import ROOT, SHA256, Record, fetched

SMALL = ROOT / "scripts" / "keras_examples_small.py"
FIRST = {"lstm_seq2seq_restore": ("lstm_seq2seq",)}  # scripts that read what others wrote
PASSES = "passes"


def main() -> int:
    """Run the examples; the exit code is 0 when every result is as recorded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", choices=SHA256, default="2.2.4")
    parser.add_argument("--sources", type=Path, help="a folder with Keras's examples, in place of what is fetched")
    parser.add_argument("--genuine", metavar="PYTHON", help="a Python with that version of Keras")
    parser.add_argument("--seconds", type=int, default=600, help="the time limit of a script")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at the same time")
    parser.add_argument("--log", type=Path, help="a folder for what each script prints")
    parser.add_argument("names", nargs="*", help="examples, in place of all")
    given = parser.parse_args()
    folder = (given.sources or fetched(given.version)) / "examples"
    names = sorted(each.stem for each in folder.glob("*.py"))
    if not names:
        raise SystemExit(f"{folder}: no examples; the source distribution of {given.version} may lack them: --sources.")
    unknown = sorted(set(given.names) - set(names))
    if unknown:
        raise SystemExit(f"{folder}: no {unknown[0]}.py.")
    run = partial(result, folder, given.genuine, given.seconds, given.log)
    with ThreadPoolExecutor(given.jobs) as pool:
        asked = given.names or names
        found = {}
        for name, said in zip(asked, pool.map(run, asked), strict=True):
            found[name] = said
            print(f"{name:34} {said}", flush=True)
    return recorded(found, given)


def recorded(found: dict[str, str], given: argparse.Namespace) -> int:
    """Write or compare the record of what passes under the genuine version."""
    passed = {name for name, said in found.items() if said == PASSES}
    record = ROOT / "scripts" / f"keras_examples_{given.version}.txt"
    if given.genuine:
        if not given.names:
            record.write_text("".join(f"{name}\n" for name in sorted(passed)))
        print(f"Keras {given.version}: {len(passed)} of {len(found)} examples pass under the genuine version.")
        return 0
    print(f"Keras {given.version}:")
    results = {name: "passed" if said == PASSES else "failed" for name, said in found.items()}
    return Record.of("keras_examples", given.version).compare(results, partly=bool(given.names))


def result(folder: Path, genuine: str | None, seconds: int, log: Path | None, name: str) -> str:
    """ "passes", or the last line of what an example said."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": ""}
    if genuine:
        environment |= {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    else:
        environment |= {"PYTHONPATH": str(ROOT)}
    options = [] if genuine else ["--alias"]
    said = PASSES
    with tempfile.TemporaryDirectory() as work:
        environment["HOME"] = environment["KERAS_HOME"] = work
        for each in (*FIRST.get(name, ()), name):
            command = [genuine or sys.executable, str(SMALL), *options, str(folder / f"{each}.py")]
            said = ended(command, Path(work), environment, seconds, log and log / f"{each}.txt")
            if said != PASSES:
                break
    return said


def ended(command: list[str], work: Path, environment: dict[str, str], seconds: int, log: Path | None) -> str:
    """How a process ended."""
    try:
        done = subprocess.run(
            command,
            cwd=work,
            env=environment,
            timeout=seconds,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {seconds} s"
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(done.stdout)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return PASSES if done.returncode == 0 else (lines or ["no output"])[-1][:200]


if __name__ == "__main__":
    sys.exit(main())
