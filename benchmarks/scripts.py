"""Seconds an epoch of Keras's own example scripts, unmodified: torchkeras against other Keras's.

    python benchmarks/scripts.py FOLDER --peer keras=PYTHON [--peer tf_keras=PYTHON] [--peer keras3=PYTHON] [--rounds 3]

FOLDER has the examples of Keras 2.2.4 (`scripts/keras_suite` fetches them). Peers are Pythons with genuine Keras 2.2.4
(`keras`), tf_keras, or Keras 3 on torch. Each runs the script in a process of its own on the same made-up data, by
`timed_script.py`; the contenders take turns. An epoch is its batches with the validation and callbacks of the script;
the first of each process does not count. Of a contender that does not run a script, the last line of its error stands.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from peers import named_python

HERE = Path(__file__).parent
SCRIPTS = ("mnist_cnn", "imdb_lstm", "cifar10_resnet")
OURS = "torchkeras"
ENVIRONMENT = {
    OURS: {"PYTHONPATH": str(HERE.parent)},
    "keras": {"KERAS_BACKEND": "tensorflow"},
    "tf_keras": {},
    "keras3": {"KERAS_BACKEND": "torch"},
}
PEERS = [kind for kind in ENVIRONMENT if kind != OURS]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the examples of Keras 2.2.4")
    parser.add_argument(
        "--peer", type=named_python(PEERS), action="append", default=[], metavar="KIND=PYTHON", help=", ".join(PEERS)
    )
    parser.add_argument("--only", choices=SCRIPTS, action="append", help="a script, in place of all three")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each contender")
    given = parser.parse_args()
    pythons = {OURS: sys.executable, **dict(given.peer)}
    for script in given.only or SCRIPTS:
        path = given.folder / f"{script}.py"
        rounds = run_in_turns(path, pythons, given.rounds)
        print(script)
        for kind in pythons:
            found = [each[kind] for each in rounds]
            failed = next((each for each in found if isinstance(each, str)), None)
            print(f"    {kind:12}", failed or line(found, [each[OURS] for each in rounds]), flush=True)


def run_in_turns(script: Path, pythons: dict[str, str], rounds: int) -> list[dict[str, Any]]:
    """What `run` gives for each contender, in each round."""
    return [{kind: run(kind, python, script) for kind, python in pythons.items()} for _ in range(rounds)]


def run(kind: str, python: str, script: Path) -> list[tuple[float, float]] | str:
    """Seconds and loss of each epoch, or the last line of the error."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", **ENVIRONMENT[kind]}
    with tempfile.TemporaryDirectory() as work:
        result = Path(work) / "result.json"
        command = [python, str(HERE / "timed_script.py"), kind, str(script.resolve()), str(result)]
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        if result.is_file():
            return json.loads(result.read_text())
    return f"does not run: {(done.stderr.strip() or 'no output').splitlines()[-1]}"


def median_ratio(found: list, to: list) -> float | None:
    """The median of the rounds' ratios, by the epochs after the first; None if either does not run."""
    if any(isinstance(each, str) for each in (*found, *to)):
        return None
    medians = [[statistics.median(seconds for seconds, _ in each[1:]) for each in side] for side in (found, to)]
    return statistics.median(a / b for a, b in zip(*medians, strict=True))


def line(found: list, ours: list) -> str:
    """Median seconds of the epochs after the first, the median of the rounds' ratios to ours, and the last loss."""
    taken = statistics.median(seconds for each in found for seconds, _ in each[1:])
    ratio = median_ratio(found, ours)
    text = "" if ratio is None else f"{ratio:.2f} of torchkeras"
    return f"{taken:8.2f} s an epoch  {text}  loss {found[-1][-1][1]:.3f}"


if __name__ == "__main__":
    main()
