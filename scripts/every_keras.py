"""Files by every Keras there ever was: each minor version writes eleven models, and this package opens them.

    scripts/every_keras                       # makes the files that are missing, checks all, writes the report
    scripts/every_keras --check               # checks the files that are there, and writes the report
    scripts/every_keras keras-2.0.5 tf.keras-2.14       # these alone, without a report
    scripts/every_keras --list

A version is installed into an environment of its own, or next to a TensorFlow or torch that several share, in
`.every-keras/` of this project; `every_keras_models.py` runs there. Its files stay in `.every-keras/files`, with the
outputs that the genuine version had, and those after three more steps of training. The environments may be deleted:
`--discard` does it as soon as their files are made. All of them take some 25 GB, and `scripts/every_keras` an hour.

Each form of a file counts as right if the model has its outputs, and goes on training to the recorded ones where the
form holds how it was compiled. The report, `scripts/every_keras.txt`, says for which sources it was made:
`tests/saving/test_every_keras.py` refuses it after they have changed. `--check` writes it again.
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
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from itertools import product
from pathlib import Path
from typing import IO, Any

import numpy as np
from covered import digest

import torchkeras
from torchkeras.errors import ModelFileError
from torchkeras.layers import Layer
from torchkeras.models import load_model, model_from_json, model_from_yaml

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".every-keras"
ENVIRONMENTS, LIBRARIES, FILES = WORK / "env", WORK / "lib", WORK / "files"
MAKE = ROOT / "scripts" / "every_keras_models.py"
REPORT = ROOT / "scripts" / "every_keras.txt"
# What the report is about: a change of these needs another.
COVERED = ("scripts/every_keras.py", "scripts/every_keras_models.py", "torchkeras/saving", "torchkeras/legacy")

MODELS = (
    *("dense", "conv_bn", "lstm", "bidirectional", "nested", "shared", "dicts", "own"),
    *("adam", "rmsprop", "momentum"),
)
RELATIVE, ABSOLUTE = 1e-3, 1e-4


# --- the versions ----------------------------------------------------------------------------------------------------

NUMPY_1 = "h5py==2.10.0 numpy==1.16.6 pyyaml==5.4.1 six"
OLD = f"{NUMPY_1} protobuf==3.20.3"
TENSORBOARD = "werkzeug==1.0.1 markdown==2.6.11"  # what pip of Python 3.6 finds for it is too new
# TensorFlow: the Python, and what is installed.
TENSORFLOWS: Mapping[str, tuple[str, str]] = {
    "1.3": ("3.6", f"tensorflow==1.3.0 scipy==1.4.1 {NUMPY_1} protobuf==3.19.6 wheel==0.36.2 {TENSORBOARD}"),
    "1.13": ("3.7", f"tensorflow==1.13.2 scipy {OLD}"),
    "1.14": ("3.7", f"tensorflow==1.14.0 theano==1.0.5 scipy {OLD}"),
    "1.15": ("3.7", f"tensorflow-cpu==1.15.0 {OLD}"),
    "2.0": ("3.7", f"tensorflow==2.0.4 scipy==1.4.1 {OLD}"),
    "2.1": ("3.7", f"tensorflow-cpu==2.1.4 scipy==1.4.1 {OLD}"),
    **{
        minor: ("3.7", f"tensorflow-cpu=={minor}.{patch} h5py==2.10.0 protobuf==3.20.3 pyyaml==5.4.1")
        for minor, patch in {"2.2": 3, "2.3": 4, "2.4": 4}.items()
    },
    "2.5": ("3.7", "tensorflow-cpu==2.5.3 protobuf==3.20.3 pyyaml==5.4.1"),
    "2.6": ("3.7", "tensorflow-cpu==2.6.5 keras==2.6.0 protobuf<3.20 pyyaml==5.4.1"),
    "2.7": ("3.7", "tensorflow-cpu==2.7.4 protobuf<3.20"),
    "2.8": ("3.7", "tensorflow-cpu==2.8.4 protobuf<3.20"),
    **{minor: ("3.7", f"tensorflow-cpu=={minor}.{patch}") for minor, patch in {"2.9": 3, "2.10": 1, "2.11": 0}.items()},
    **{
        minor: ("3.11", f"tensorflow-cpu=={minor}.{patch}")
        for minor, patch in {"2.12": 1, "2.13": 1, "2.14": 1, "2.15": 1}.items()
    },
    **{
        minor: ("3.11", f"tensorflow-cpu=={minor}.{patch}")
        for minor, patch in {"2.16": 2, "2.17": 1, "2.18": 1, "2.19": 1, "2.20": 0, "2.21": 0}.items()
    },
}
# What Keras imports, and pip would install with a TensorFlow or torch of its own.
NEEDS = {
    "keras-2": "keras-applications==1.0.8 keras-preprocessing==1.1.0",
    "keras-3": "absl-py rich namex optree dm-tree wrapt attrs ml-dtypes packaging markdown-it-py mdurl pygments",
}
TF_KERAS = {"2.16": 0, "2.17": 0, "2.18": 0, "2.19": 0, "2.20": 1, "2.21": 0}
PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
MINORS_OF_KERAS3 = "0.5 1.1 2.1 3.3 4.1 5.0 6.0 7.0 8.0 9.2 10.0 11.3 12.4 13.2 14.1 15.1"


@dataclass(frozen=True)
class Version:
    """A version of Keras.

    `module`: by which it is imported. `tensorflow`: that of its environment; "" for the torch of this one. `library`:
    what is installed next to it; "" if the environment has it.
    """

    name: str
    module: str
    tensorflow: str
    library: str = ""
    backend: str = "tensorflow"

    @property
    def folder(self) -> Path:
        return FILES / self.name

    @property
    def failure(self) -> Path:
        """The file that says why there are no others."""
        return FILES / f"{self.name}.failed"


# Versions that need these older ones of what they import.
PINNED = {
    "2.2.0": "keras-applications==1.0.2 keras-preprocessing==1.0.1",
    **dict.fromkeys(("2.2.1", "2.2.2"), "keras-applications==1.0.4 keras-preprocessing==1.0.2"),
}


def _keras(numbers: str, tensorflow: str, backend: str = "tensorflow") -> list[Version]:
    return [
        Version(f"keras-{n}", "keras", tensorflow, f"keras=={n} {PINNED.get(n, '')}".strip(), backend)
        for n in numbers.split()
    ]


VERSIONS: Sequence[Version] = (
    *_keras("0.3.3", "1.14", "theano"),
    *_keras("1.0.8 1.1.2", "1.14", "theano"),
    *_keras("1.2.2", "1.13"),
    *_keras("2.0.0 2.0.1 2.0.2 2.0.3 2.0.4 2.0.5 2.0.6", "1.14"),
    *_keras("2.0.7", "1.3"),  # it sets an attribute of variables that later TensorFlows refuse to set
    *_keras("2.0.8 2.0.9", "1.14"),
    *_keras("2.1.0 2.1.1 2.1.2 2.1.3 2.1.4 2.1.5 2.1.6 2.2.0 2.2.1 2.2.2 2.2.3 2.2.4 2.2.5", "1.14"),
    *_keras("2.3.1", "2.0"),
    *(Version(f"tf.keras-{n}", "tensorflow.keras", n) for n in TENSORFLOWS if n not in ("1.3", *TF_KERAS)),
    *(Version(f"tf_keras-{n}", "tf_keras", n, f"tf_keras=={n}.{patch}") for n, patch in TF_KERAS.items()),
    *(
        Version(f"keras-3.{n.partition('.')[0]}", "keras", "", f"keras==3.{n}", "torch")
        for n in MINORS_OF_KERAS3.split()
    ),
)


# --- making ----------------------------------------------------------------------------------------------------------


def python_of(version: Version, log: IO[str]) -> str:
    """The interpreter of a version's environment, which is made if it is missing."""
    if not version.tensorflow:
        return sys.executable
    minor, packages = TENSORFLOWS[version.tensorflow]
    place = ENVIRONMENTS / f"tf-{version.tensorflow}"
    python = place / "bin" / "python"
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        _run([_interpreter(minor), "-m", "venv", str(place)], log)
        _run([str(python), *PIP_INSTALL, "--no-compile", *packages.split()], log)
        (place / "done").touch()
    return str(python)


def _interpreter(minor: str) -> str:
    """A Python: one of pyenv's first, whose `python3.7` on the path may refuse to run."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
    found = str(installed[-1]) if installed else shutil.which(f"python{minor}")
    if not found:
        raise FileNotFoundError(f"Python {minor} is not installed here.")
    return found


def library(name: str, packages: str, python: str, log: IO[str]) -> str:
    """A folder with packages, without what they need."""
    place = LIBRARIES / name
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        _run([python, *PIP_INSTALL, "--no-deps", "--target", str(place), *packages.split()], log)
        (place / "done").touch()
    return str(place)


def make(version: Version) -> None:
    """Make a version's files. Why it cannot be is written instead of them, for the report."""
    version.folder.mkdir(parents=True, exist_ok=True)
    version.failure.unlink(missing_ok=True)
    path = FILES / f"{version.name}.log"
    try:
        with path.open("w") as log:
            _make(version, log)
    except FileNotFoundError as error:
        version.failure.write_text(str(error))
    except subprocess.CalledProcessError:
        last = ([line for line in path.read_text().splitlines() if line.strip()] or ["it ended without a word"])[-1]
        version.failure.write_text(last[:300])


def _make(version: Version, log: IO[str]) -> None:
    python = python_of(version, log)
    paths = []
    if version.library:
        needs = "keras-2" if version.tensorflow else "keras-3"
        paths = [library(version.name, version.library, python, log), library(needs, NEEDS[needs], python, log)]
    environment = {
        **os.environ,
        "EVERY_KERAS": version.module,
        "KERAS_BACKEND": version.backend,
        "PYTHONPATH": os.pathsep.join(paths),
        "KERAS_HOME": str(WORK / ".keras"),
        "HOME": str(WORK),  # where Keras keeps its settings
        "THEANO_FLAGS": "cxx=,optimizer_excluding=AbstractConvCheck",  # no compiler, no BLAS
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    _run([python, str(MAKE), str(version.folder)], log, environment)


def _run(command: Sequence[str], log: IO[str], environment: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, env=environment, stdout=log, stderr=log, check=True)


# --- checking --------------------------------------------------------------------------------------------------------


class Scale(Layer):
    """The own layer of `every_keras_models.py`."""

    def __init__(self, factor: float = 2.0, **options: Any):
        super().__init__(**options)
        self.factor = factor

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        return self.factor * self.scale * inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "factor": self.factor}


CUSTOM = {"Scale": Scale}


def _from_text(read: Callable[..., Any]) -> Callable[[Path], Any]:
    def load(path: Path) -> Any:
        model = read(path.read_text(), custom_objects=CUSTOM)
        weights = next(
            path.with_name(name)
            for name in ("weights.h5", "model.weights.h5", "model.h5")
            if path.with_name(name).exists()
        )
        return _with_loaded(model, weights)

    return load


def _with_weights(path: Path) -> Any:
    text = path.with_name("model.json")
    model = model_from_json(text.read_text(), custom_objects=CUSTOM)
    return _with_loaded(model, path)


def _with_loaded(model: Any, path: Path) -> Any:
    options = {"original_backend": "theano"} if path.parts[-3] in WITHOUT_BACKEND else {}
    model.load_weights(path, **options)
    return model


def _whole(path: Path) -> Any:
    return load_model(path, custom_objects=CUSTOM)


@dataclass(frozen=True)
class Form:
    """A form of files: its title, how it is loaded, and whether it holds how the model was compiled."""

    title: str
    load: Callable[[Path], Any]
    compiled: bool = False


FORMS: Mapping[str, Form] = {
    "model.h5": Form(".h5", _whole, compiled=True),
    "weights.h5": Form("weights in .h5", _with_weights),
    "model.json": Form("JSON", _from_text(model_from_json)),
    "model.yaml": Form("YAML", _from_text(model_from_yaml)),
    "model.keras": Form(".keras", _whole, compiled=True),
    "model.weights.h5": Form(".weights.h5", _with_weights),
}

RIGHT = ""
# Its files of weights do not say the backend, which the caller has to.
WITHOUT_BACKEND = ("keras-0.3.3",)
# Keras 2.3 on TensorFlow 2 increases the count of steps while Adam reads it. From run to run, other steps read a count
# that is one ahead.
COUNTS_MEANWHILE = ("keras-2.3.1",)


@dataclass
class Checked:
    """What was found of a version: for each form and model, "" if it is right, else why not.

    `unmade`: why it could not make some models. `unsaved`: why it could not write some of them in a form. `absent`: why
    there are no files at all.
    """

    version: str
    found: dict[str, dict[str, str]] = field(default_factory=dict)
    unmade: dict[str, str] = field(default_factory=dict)
    unsaved: dict[str, dict[str, str]] = field(default_factory=dict)
    absent: str = ""


def check(version: Version) -> Checked:
    """Open all files of a version that are there. What was found is kept next to them, for the same sources."""
    checked, about_all, known = Checked(version.name), version.folder / "made.json", version.folder / "checked.json"
    if not about_all.exists():
        checked.absent = version.failure.read_text() if version.failure.exists() else "not made yet"
        return checked
    key = [covered(), hashlib.sha256(about_all.read_bytes()).hexdigest()]
    if known.exists() and (kept := json.loads(known.read_text()))["key"] == key:
        return Checked(version.name, kept["found"], kept["unmade"], kept["unsaved"])
    made = json.loads(about_all.read_text())
    warnings.simplefilter("ignore")
    for name in MODELS:
        about = made["models"].get(name, {"unmade": "not asked for"})
        if "unmade" in about:
            checked.unmade[name] = about["unmade"]
            continue
        for file, form in FORMS.items():
            path = version.folder / name / file
            if file in about["unsaved"]:
                said = re.sub(r"\S*/(?=[^/\s]*$)", "", about["unsaved"][file])
                checked.unsaved.setdefault(form.title, {})[name] = said
            if path.exists():
                checked.found.setdefault(form.title, {})[name] = _checked(form, path)
    about_it = {"found": checked.found, "unmade": checked.unmade, "unsaved": checked.unsaved}
    known.write_text(json.dumps({"key": key, **about_it}))
    return checked


def _checked(form: Form, path: Path) -> str:
    torchkeras.clear_session()
    with np.load(path.with_name("io.npz")) as stored:
        record = dict(stored)
    try:
        model = form.load(path)
        x, t = _of(record, "x_"), _of(record, "t_")
        differs = _difference(model.predict(x, verbose=0), record, "y_")
        if differs:
            return f"WRONG: outputs {differs}"
        if form.compiled:
            ahead = (0, 1) if path.parts[-3] in COUNTS_MEANWHILE else (0,)
            ways = list(product(ahead, repeat=len(record["losses"])))
            found = [_gone_on(form.load(path), x, t, record, way) for way in ways]
            return RIGHT if RIGHT in found else found[-1]
    except (ModelFileError, ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
        return f"{type(error).__name__}: {_short(error, path)}"
    return RIGHT


def _gone_on(model: Any, x: Any, t: Any, record: Mapping[str, Any], ahead: Sequence[int]) -> str:
    """What differs after further steps, each of which reads a count of steps that is so much `ahead`."""
    losses = []
    for count in ahead:
        model.optimizer.iterations += count
        losses.append(float(np.ravel(model.train_on_batch(x, t))[0]))
        model.optimizer.iterations -= count
    if not np.allclose(losses, record["losses"], RELATIVE, ABSOLUTE):
        return f"WRONG: losses of further steps {losses}, not {record['losses'].tolist()}"
    differs = _difference(model.predict(x, verbose=0), record, "after_")
    return f"WRONG: after three more steps, outputs {differs}" if differs else RIGHT


def _of(record: Mapping[str, Any], prefix: str) -> Any:
    """An array, a list of them, or a dict: as they were given to the genuine version."""
    found = {key.removeprefix(prefix): array for key, array in record.items() if key.startswith(prefix)}
    if "0" not in found:
        return found
    arrays = [found[str(number)] for number in range(len(found))]
    return arrays if len(arrays) > 1 else arrays[0]


def _difference(outputs: Any, record: Mapping[str, Any], prefix: str) -> str:
    wanted = _of(record, prefix)
    if type(outputs) is not type(wanted):
        raise TypeError(f"the outputs are a {type(outputs).__name__}, not a {type(wanted).__name__}")
    pairs = [(outputs, wanted)]
    if isinstance(wanted, dict):
        pairs = [(outputs[key], array) for key, array in wanted.items()]
    elif isinstance(wanted, list):
        pairs = list(zip(outputs, wanted, strict=True))
    if all(a.shape == b.shape and np.allclose(a, b, RELATIVE, ABSOLUTE) for a, b in pairs):
        return ""
    return f"differ by {max(float(np.abs(a - b).max()) if a.shape == b.shape else np.inf for a, b in pairs):.1e}"


def _short(error: Exception, path: Path) -> str:
    return " ".join(str(error).replace(f"{path.parent}{os.sep}", "").split())[:240]


# --- the report ------------------------------------------------------------------------------------------------------


def covered() -> str:
    """The hash of the sources that the report is about."""
    return digest(COVERED)


def listed() -> str:
    """The hash of what is asked: versions, models and forms."""
    asked = [[version.name for version in VERSIONS], list(MODELS), list(FORMS)]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


def cell(found: Mapping[str, str] | None) -> str:
    """`11 of 11`, and how many are wrong; `-` for a form that the version does not have."""
    if found is None:
        return "-"
    counts = Counter("WRONG" if said.startswith("WRONG") else "refused" if said else RIGHT for said in found.values())
    return f"{counts[RIGHT]} of {len(found)}" + (f", {counts['WRONG']} WRONG" if counts["WRONG"] else "")


def written(results: Sequence[Checked]) -> str:
    """The report."""
    titles = [form.title for form in FORMS.values()]
    rows = [["version", *titles], *([found.version, *(cell(found.found.get(t)) for t in titles)] for found in results)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    reasons: dict[str, list[str]] = {}
    for version, title, name, said in _not_right(results):
        reasons.setdefault(re.sub(r"\d+\.\d+e?[-+]?\d*|_\d+\b", "..", said), []).append(f"{version} {title} {name}")
    absent: dict[str, list[str]] = {}
    unmade: dict[str, list[str]] = {}
    unsaved: dict[str, list[str]] = {}
    for found in results:
        if found.absent:
            absent.setdefault(found.absent, []).append(found.version)
        for name, why in found.unmade.items():
            unmade.setdefault(why, []).append(f"{found.version} {name}")
        for title, models in found.unsaved.items():
            for name, why in models.items():
                unsaved.setdefault(f"{title}: {why}", []).append(f"{found.version} {name}")
    counts = Counter(
        "WRONG" if said.startswith("WRONG") else "refused" if said else "right" for *_, said in _all(results)
    )
    return "\n".join(
        [
            "Files by every Keras, opened by this package: how many of the models are right, for each form of files.",
            f"Made by scripts/every_keras on {date.today().isoformat()}; sources {covered()}, asked {listed()}.",
            f"{counts['right']} right, {counts['refused']} refused, {counts['WRONG']} WRONG.",
            "",
            *lines,
            "",
            "Versions without files, by the last line that their installation or they wrote:",
            *(_grouped(absent) or ["  none"]),
            "",
            "Not right, by what was said:",
            *(_grouped(reasons) or ["  nothing"]),
            "",
            "Models that a version cannot make:",
            *(_grouped(unmade) or ["  none"]),
            "",
            "Forms in which a version does not write a model:",
            *(_grouped(unsaved) or ["  none"]),
            "",
        ]
    )


def _all(results: Sequence[Checked]) -> Iterator[tuple[str, str, str, str]]:
    for found in results:
        for title, models in found.found.items():
            for name, said in models.items():
                yield found.version, title, name, said


def _not_right(results: Sequence[Checked]) -> Iterator[tuple[str, str, str, str]]:
    return (each for each in _all(results) if each[-1] != RIGHT)


def _grouped(reasons: Mapping[str, list[str]]) -> list[str]:
    lines = []
    for said, places in sorted(reasons.items(), key=lambda item: (not item[0].startswith("WRONG"), -len(item[1]))):
        more = f", and {len(places) - 6} more" if len(places) > 6 else ""
        lines += [f"  {said}", f"    {'; '.join(places[:6])}{more}"]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("versions", nargs="*", help="such as keras-2.0.5; all without")
    parser.add_argument("--check", action="store_true", help="make nothing")
    parser.add_argument("--discard", action="store_true", help="delete each environment after its files are made")
    parser.add_argument("--list", action="store_true", help="print the versions")
    parser.add_argument("--jobs", type=int, default=2, help="processes that check")
    given = parser.parse_args()
    if given.list:
        print("\n".join(version.name for version in VERSIONS))
        return
    unknown = set(given.versions) - {version.name for version in VERSIONS}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such versions; --list prints them.")
    wanted = [version for version in VERSIONS if not given.versions or version.name in given.versions]
    for number, version in enumerate(wanted):
        if not given.check and not (version.folder / "made.json").exists():
            print(f"making {version.name}", flush=True)
            make(version)
            if version.failure.exists():
                print(f"  not made: {version.failure.read_text()}", flush=True)
        later = {other.tensorflow for other in wanted[number + 1 :]}
        if given.discard and version.tensorflow not in later:
            shutil.rmtree(ENVIRONMENTS / f"tf-{version.tensorflow}", ignore_errors=True)
    known = [version for version in wanted if (version.folder / "made.json").exists() or version.failure.exists()]
    unmade = [version.name for version in wanted if version not in known]
    if given.check and not given.versions and unmade:
        sys.exit(f"{WORK}: no files of {', '.join(unmade)}. Make them without --check; the report stays as it is.")
    with ProcessPoolExecutor(given.jobs) as pool:
        results = list(pool.map(check, wanted))
    text = written(results)
    print(text)
    if not given.versions:
        REPORT.write_text(text)
    if any(said.startswith("WRONG") for *_, said in _all(results)):
        sys.exit("Some are wrong.")


if __name__ == "__main__":
    main()
