"""Whole model files with Lambdas, made by a genuine Keras from code of public repositories, opened with nothing given.

    scripts/lambda_files --genuine PYTHON --genuine1 PYTHON  # of Keras 2.2.4 and 1.2.2 on TensorFlow 1: makes the files
    scripts/lambda_files                                     # opens those that are there
    scripts/lambda_files inception_resnet yolo2

`lambda_files.toml` lists the files: repositories at a commit, and a few lines that import their modules, unmodified,
and build a model at a small size. The genuine Keras saves the model, and what it computes from made-up inputs. Here
`torchkeras.models.load_model(path)` has to open the file without `custom_objects`. Outputs count as equal where they
differ by at most 1e-4 of the largest value. Sources and files are in `.keras-suite/`, and never copied into the
project. What was seen is recorded in `lambda_files.txt`, which a test refuses when the sources that it covers have
changed since.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from covered import made_for
from public_sources import GITHUB, WORK, fetched, listed

from torchkeras.errors import ForbiddenContentError
from torchkeras.models import load_model

ROOT = Path(__file__).resolve().parent.parent
MAKE = ROOT / "scripts" / "lambda_files_make.py"
LIST = ROOT / "scripts" / "lambda_files.toml"
RECORD = ROOT / "scripts" / "lambda_files.txt"
MADE = WORK / "lambda_files"
COVERED = ("torchkeras/keras2/lambdas", "torchkeras/keras2/backend", "scripts/lambda_files.toml")
NEAR = 1e-4
SAME = "with the same outputs"
EQUAL, WRONG, REFUSED, NOT_MADE = "equal", "WRONG", "refused", "not made"


def main() -> int:
    """Make and open the files; the exit code is 0 when nine of ten open with equal outputs, and no output is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--genuine", metavar="PYTHON", help="the Python of a genuine Keras 2.2.4")
    parser.add_argument("--genuine1", metavar="PYTHON", help="the Python of a genuine Keras 1.2.2")
    parser.add_argument("--sources", default=GITHUB, help="where git finds OWNER/NAME: an address or folder")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of files")
    parser.add_argument("names", nargs="*", help="files, in place of all")
    given = parser.parse_args()
    lines, results = [], []
    for name, entry in listed(given.list, given.names).items():
        python = given.genuine1 if entry.get("keras") == 1 else given.genuine
        failed = made(name, entry, python, given.sources) if python else ""
        is_there = not failed and (MADE / name / "said.json").is_file()
        result, detail = opened(MADE / name) if is_there else (NOT_MADE, failed or "no file")
        results.append(result)
        lines.append(f"{name:24} {entry['sources'][0].partition('@')[0]:48} {result:8} {detail}".rstrip())
        print(lines[-1], flush=True)
    counts = {kind: results.count(kind) for kind in (EQUAL, WRONG, REFUSED, NOT_MADE)}
    summary = f"{len(results)} files: {', '.join(f'{count} {kind}' for kind, count in counts.items())}."
    lines.append(f"{summary} {made_for(COVERED)}")
    print(lines[-1])
    if given.list == LIST and not given.names:
        RECORD.write_text("".join(f"{line}\n" for line in lines))
    return 0 if counts[EQUAL] >= 0.9 * len(results) and not counts[WRONG] else 1


def made(name: str, entry: Mapping[str, Any], python: str, address: str) -> str:
    """Let a genuine Keras make a file; why it failed, or ""."""
    folder = MADE / name
    folder.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        each.unlink()
    script = {"name": name, "code": entry["code"], "paths": [str(fetched(each, address)) for each in entry["sources"]]}
    (folder / "script.json").write_text(json.dumps(script))
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "MPLBACKEND": "Agg", "HOME": str(WORK)}
    environment |= {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    with (folder / "log").open("w") as log:
        done = subprocess.run(
            [python, str(MAKE), str(folder)], cwd=folder, env=environment, stdout=log, stderr=log, check=False
        )
    lines = [line for line in (folder / "log").read_text(errors="replace").splitlines() if line.strip()]
    return (lines or ["no output"])[-1][:200] if done.returncode else ""


def opened(folder: Path) -> tuple[str, str]:
    """Whether a file opens here with equal outputs, and what there is to say of it."""
    said, values = json.loads((folder / "said.json").read_text()), dict(np.load(folder / "values.npz"))
    x = [values[f"x{k}"] for k in range(sum(name[0] == "x" for name in values))]
    count = f"{said['functions']} functions, Keras {said['keras']}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = load_model(folder / "model.h5")
        found = model.predict(x if len(x) > 1 else x[0], batch_size=len(x[0]))
    except ForbiddenContentError as error:
        return REFUSED, str(error)[:300]
    except Exception as error:  # noqa: BLE001  (whatever a file leads to is reported)
        return REFUSED, f"{type(error).__name__}: {error}"[:300]
    far = 0.0
    for k, output in enumerate(found if isinstance(found, list) else [found]):
        expected = values[f"y{k}"]
        if expected.shape != output.shape:
            return WRONG, f"{count}; shape {output.shape}, where the genuine version has {expected.shape}"
        if not np.isfinite(expected).all():
            return WRONG, f"{count}; the genuine version gives no finite numbers, and they compare nothing"
        far = max(far, float(np.abs(output.astype(float) - expected).max() / max(np.abs(expected).max(), 1e-30)))
        far = far if np.isfinite(output).all() else float("inf")
    own = "".join(
        f"; the genuine version {way} it: {said[way]}" for way in ("loads", "rebuilds") if said.get(way, SAME) != SAME
    )
    return (EQUAL if far <= NEAR else WRONG), f"{count}; by {far:.0e}{own}"


if __name__ == "__main__":
    sys.exit(main())
