"""Keras's own tests, from its source distribution, run with this package answering `import keras`.

    scripts/keras_suite                     # Keras 2.2.4's tests: counts, and each test that passes there and not here
    scripts/keras_suite --version 1.2.2
    scripts/keras_suite --version 3.15      # Keras 3.15's, with torchkeras.keras3 as `keras`
    scripts/keras_suite -- -k batch_dot     # options for pytest after --

The sources are fetched by pip into `.keras-suite/`, checked by their SHA-256, and never copied into the project. What
passes under the genuine version, on TensorFlow, is recorded in `scripts/keras_suite_<version>.txt`; `--genuine PYTHON`
runs the suite under that Python's own Keras and writes the record again. `scripts/keras_suite_reasons.txt` has what is
different here, and why: see `Record`. The run fails on any result that these two files do not say. Those of Keras 3 are
`keras_suite_<version>.txt.gz`, under Keras on torch, and `keras_suite_reasons_<version>.txt`.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".keras-suite"
SHA256 = {
    "2.2.4": "90b610a3dbbf6d257b20a079eba3fdf2eed2158f64066a7c6f7227023fd60bc9",
    "1.2.2": "d2b18c4336eb9c4f0d03469870257efa7980a9b036c9d46dcf4d49e7f4487e2d",
    "3.15": "836460e480930acbd19bb7a17e62f9ecad40e8a9af9a651fc8d0586a96d27e20",
}
TESTS = {
    "2.2.4": (
        *("tests/keras", "tests/test_loss_masking.py", "tests/test_loss_weighting.py", "tests/test_model_saving.py"),
        *("tests/test_model_pickling.py", "tests/test_dynamic_trainability.py"),
    ),
    "1.2.2": (
        "tests/keras",
        "tests/test_loss_masking.py",
        "tests/test_loss_weighting.py",
        "tests/test_model_saving.py",
        "tests/test_dynamic_trainability.py",
    ),
    "3.15": tuple(
        f"keras/src/{folder}"
        for folder in (
            *("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models"),
            *("ops", "optimizers", "random", "regularizers", "saving", "trainers", "tree"),
        )
    ),
}
KERAS3 = {"3.15": "3.15.1"}  # the release whose wheel has the tests
# What they compare types with: JAX, which is fetched into .keras-suite/ and never used to compute.
PACKAGES = ("jax==0.7.2", "jaxlib==0.7.2", "ml_dtypes==0.6.0", "opt_einsum==3.4.0")
# Of other frameworks, and of parts that this package leaves to torch's own tools.
LEFT_OUT = re.compile(r"quantiz|gptq|awq|int4|float8|distribut|jax|flax|nnx|tensorflow|tf_data|tfrecord", re.IGNORECASE)
FRAMEWORKS = re.compile(
    r"^(?:import (tensorflow|grain)[\w.]*(?: as (\w+))?"
    r"|from (tensorflow|grain)[\w.]* import (\w+)(?: as (\w+))?)$",
    re.MULTILINE,
)
REPOSITORY = "https://github.com/keras-team/keras"  # for versions whose source distribution has no tests
TREES = {"1.2.2": "7e5b45f5aa321f3c52cbaa3f619ac33df8d6be62"}  # what git calls their contents
# In place of the suite's own conftest: the answer to `import keras`, a process that forgets after each test, and what
# NumPy, SciPy, h5py and pytest had when the tests were written.
CONFTEST = '''
import builtins
import importlib.util
import inspect
import random
import sys
import types
import warnings

import h5py
import numpy as np
import scipy
import scipy.special
import six.moves
import torch
import torchkeras.as_keras  # noqa: F401
import pytest
from keras import backend as K
from keras.utils.generic_utils import get_custom_objects

np.alltrue = np.all
inspect.getargspec = lambda function: inspect.getfullargspec(function)[:4]  # gone since Python 3.11
scipy.misc = types.SimpleNamespace(logsumexp=scipy.special.logsumexp)
# What the suite takes from pytest and h5py of its time: `pytest.warns(None)` records, a file opens for writing.
warns, opened = pytest.warns, h5py.File.__init__
pytest.warns = lambda kind=Warning, **o: warnings.catch_warnings(record=True) if kind is None else warns(kind, **o)
h5py.File.__init__ = lambda file, name, mode=None, *a, **o: opened(file, name, mode or "a", *a, **o)
h5py.File.fid = property(lambda file: file.id)
# How tests ask for TensorFlow 1.8 before they train on tensors, and where they put what answers a question.
K.get_session()._make_callable_from_options = None
asked = six.moves.input  # Python's own, found before another has its name
builtins.input = lambda prompt="": six.moves.input(prompt)

spec = importlib.util.spec_from_file_location("keras.utils.test_utils", {utils!r})
sys.modules["keras.utils.test_utils"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


@pytest.fixture(autouse=True)
def alone():
    """A test finds the process as the first one does, wherever another ended."""
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(1337)
    objects = dict(get_custom_objects())
    yield
    K.set_floatx("float32")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    get_custom_objects().clear()
    get_custom_objects().update(objects)
    K.clear_session()  # the learning phase, and the numbers in names
'''

CONFTEST_3 = """
import random
import signal
from pathlib import Path

import keras_suite_src
import ml_dtypes  # noqa: F401  (with which NumPy knows bfloat16)
import numpy as np
import pytest
import torch
import torchkeras
from torchkeras import config
from torchkeras.registry import get_custom_objects

keras_suite_src.install(Path({sources!r}), Path({tests!r}))


def too_long(*_):
    raise TimeoutError("the test takes more than a minute of the processor")


@pytest.fixture(autouse=True)
def alone():
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(1337)
    objects = dict(get_custom_objects())
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, 60)  # not by the clock: other work on the machine does not count
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    config.set_floatx("float32")
    config.set_epsilon(1e-7)
    config.set_image_data_format("channels_last")
    config.set_dtype_policy(None)
    get_custom_objects().clear()
    get_custom_objects().update(objects)
    torchkeras.clear_session()
"""
SKIP_IF = """

def skip_if_backend(given, reason):
    return pytest.mark.skipif(given == "torch", reason=reason)
"""
# In place of a framework that a test module imports: its tests that use it fail, the others run.
ABSENT = """
class Absent:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        raise ModuleNotFoundError(f"No module named {self.name!r}: the suite runs without it.")
"""


def main() -> int:
    """Run the suite; the exit code is 0 when every result is as recorded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", choices=SHA256, default="2.2.4")
    parser.add_argument("--genuine", metavar="PYTHON", help="a Python with that version of Keras and pytest")
    parser.add_argument("pytest", nargs="*", help="options for pytest, after --")
    given = parser.parse_args()
    source = fetched(given.version)
    record = ROOT / "scripts" / f"keras_suite_{given.version}.txt"
    if given.genuine and given.version in KERAS3:
        record = record.with_suffix(".txt.gz")
        found = "".join(f"{name}\n" for name in sorted(genuine_3(source, given.version, given.genuine)))
        record.write_bytes(gzip.compress(found.encode(), mtime=0))
        print(f"{record.name}: what passes under the genuine version, on torch")
        return 0
    if given.genuine:
        record.write_text("".join(f"{name}\n" for name in sorted(genuine(source, given.version, given.genuine))))
        print(f"{record.name}: what passes under the genuine version")
        return 0
    results = (alias_3 if given.version in KERAS3 else alias)(source, given.version, given.pytest)
    print(f"Keras {given.version}:")
    if given.version in KERAS3:
        show_folders(results, given.version)
    return Record.of("keras_suite", given.version).compare(results, partly=bool(given.pytest))


@dataclass(frozen=True)
class Record:
    """What passes under a genuine version, and what is different here.

    `<what>_reasons.txt`, or a version's own `<what>_reasons_<version>.txt`, has a line for each difference, "VERSION
    MARK NAME: REASON". The mark is "-" for what passes under the genuine version and not here, "+" for the opposite,
    "?" for what machine or chance decides. A name with `*` is a pattern for names of what passes under the genuine
    version; the first line that fits counts.
    """

    genuine: frozenset[str]
    marks: Mapping[str, Literal["-", "+", "?"]]
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, what: str, version: str) -> Record:
        """The record in files: of "keras_suite" or "keras_examples"."""
        folder, marks, reasons = ROOT / "scripts", {}, {}
        own = folder / f"{what}_reasons_{version}.txt"
        file = own if own.is_file() else folder / f"{what}_reasons.txt"
        names = frozenset(_lines(folder / f"{what}_{version}.txt")) - {""}
        for line in file.read_text().splitlines():
            of_version, mark, text = line.split(" ", 2)
            name, _, reason = text.partition(": ")
            if mark not in "-+?" or not reason:
                raise SystemExit(f"{file.name}: not a line VERSION MARK NAME: REASON: {line!r}")
            if of_version != version:
                continue
            for each in fnmatch.filter(names, name) if "*" in name else (name,):
                marks.setdefault(each, mark)  # of the first line that fits
                reasons.setdefault(each, reason)
        return cls(names, marks, reasons)

    def compare(self, results: Mapping[str, str], partly: bool = False) -> int:
        """Say where results are not as recorded; 0 where all are. `partly`: what was not run is no difference."""
        asked = self.genuine | self.marks.keys() | results.keys()
        passed, others = set(), []
        for name in sorted(asked & results.keys() if partly else asked):
            result, mark = results.get(name, "not run"), self.marks.get(name, "")
            if result == "passed":
                passed.add(name)
            if mark == "?":
                continue
            expected = mark == "+" or (name in self.genuine and mark != "-")
            if (result == "passed") is not expected:
                others.append(f"{result:8} {name}: {self.reasons.get(name, 'NO REASON IS GIVEN')}")
        print(*others, sep="\n", end="\n" if others else "")
        alike = self.genuine & passed
        print(f"{len(self.genuine)} pass under the genuine version, {len(alike)} of these here, with them", end=" ")
        print(f"{len(passed - alike)} that do not there. {len(others)} results are not as recorded.")
        print(f"{len(passed)} passed, {len(others)} failed")
        return 1 if others else 0


def _lines(path: Path) -> list[str]:
    """The lines of a text file, or of the compressed one beside it."""
    text = path.read_bytes() if path.is_file() else gzip.decompress(path.with_suffix(".txt.gz").read_bytes())
    return text.decode().split("\n")


def fetched(version: str) -> Path:
    """The folder of the sources, fetched and checked at the first time."""
    folder = WORK / f"Keras-{version}"
    if folder.is_dir():
        return folder
    release = KERAS3.get(version, version)
    archive = WORK / (f"keras-{release}-py3-none-any.whl" if version in KERAS3 else f"Keras-{version}.tar.gz")
    if not archive.is_file():
        form = "--only-binary" if version in KERAS3 else "--no-binary"
        options = ("--quiet", "--no-deps", form, ":all:", "--dest", str(WORK))
        subprocess.run([sys.executable, "-m", "pip", "download", *options, f"keras=={release}"], check=True)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256[version]:
        raise SystemExit(f"{archive}: not the file that was recorded: its SHA-256 is {found}.")
    if version in KERAS3:
        with zipfile.ZipFile(archive) as files:
            files.extractall(folder)
        return folder
    with tarfile.open(archive) as members:
        members.extractall(WORK, filter="data")
    if not (folder / "tests").is_dir():
        _add_tests(folder, version)
    return folder


def _add_tests(folder: Path, version: str) -> None:
    """The tests as the public repository has them under the version's tag, where the source distribution has none."""
    with tempfile.TemporaryDirectory(dir=WORK) as clone:
        command = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1", "--branch", version]
        subprocess.run([*command, REPOSITORY, clone], check=True)
        found = subprocess.run(
            ["git", "rev-parse", "HEAD:tests"], cwd=clone, capture_output=True, text=True, check=True
        )
        if found.stdout.strip() != TREES[version]:
            raise SystemExit(f"{REPOSITORY}: {version} has not the tests that were recorded: {found.stdout.strip()}.")
        shutil.copytree(Path(clone) / "tests", folder / "tests")


def alias(source: Path, version: str, options: list[str]) -> dict[str, str]:
    """The result of each test with this package as Keras."""
    folder = WORK / f"alias-{version}"
    folder.mkdir(exist_ok=True)
    tests = folder / "tests"
    if not tests.is_dir():
        subprocess.run(["cp", "-r", str(source / "tests"), str(folder)], check=True)
    (tests / "conftest.py").write_text(CONFTEST.format(utils=str(source / "keras" / "utils" / "test_utils.py")))
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-n", "2", *options]
    # The suite asks PYTHONWARNINGS whether warnings are shown; `results` turns them off.
    environment = {"PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
    return results(folder, [*command, *TESTS[version]], {**environment, "PYTHONWARNINGS": "ignore"})


def genuine(source: Path, version: str, python: str) -> set[str]:
    """The tests that pass under the Keras of another Python, on TensorFlow."""
    folder = WORK / f"genuine-{version}"
    folder.mkdir(exist_ok=True)
    if not (folder / "tests").is_dir():
        subprocess.run(["cp", "-r", str(source / "tests"), str(folder)], check=True)
    environment = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    found = results(folder, [python, "-m", "pytest", "-q", *TESTS[version]], environment)
    return {name for name, result in found.items() if result == "passed"}


class AsModels(ast.NodeTransformer):
    """Classes that mix a layer with the trainer inside Keras, `class A(Trainer, Dense)`, as models of public API.

    `class A(Model)` computes by a call of that layer, or by its own `call` where it mixes `Layer`. Both sides run it.
    """

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        bases = [ast.unparse(each) for each in node.bases]
        if bases[:1] != ["Trainer"] or len(bases) != 2:
            return node
        node.bases = [ast.parse("models.Model", mode="eval").body]
        text = ast.unparse(node).replace("Trainer.__init__(self)", "pass")
        if bases[1] == "layers.Layer":
            return ast.parse(text.replace("layers.Layer.__init__(self", "super().__init__(").replace("(, ", "("))
        made = f"super().__init__(); self.inner = {bases[1]}("
        text = text.replace(f"{bases[1]}.__init__(self, ", made)
        return ast.parse(f"{text}\n    def call(self, x):\n        return self.inner(x)\n")


def tests_of(source: Path, folder: Path, names: str) -> None:
    """Copy files of Keras 3 by a pattern of their names.

    The tests ask for no other framework as they are imported, nor for classes inside Keras as bases: see `AsModels`.
    """

    def absent(found: re.Match[str]) -> str:
        known, name, other, part, as_name = found.groups()
        return f"{as_name or part or name or known} = __import__('absent').Absent({known or other!r})"

    for path in (source / "keras").rglob(names):
        copy = folder / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.name.endswith("_test.py"):
            text = path.read_text()
            if "(Trainer, " in text:
                text = ast.unparse(AsModels().visit(ast.parse(text)))
            copy.write_text(FRAMEWORKS.sub(absent, text))
        elif path.is_file():
            shutil.copyfile(path, copy)
    (folder / "absent.py").write_text(ABSENT)


def packages() -> str:
    """The folder of the packages that tests of Keras 3 import, fetched at the first time."""
    folder = WORK / "packages"
    if not folder.is_dir():
        options = ("--quiet", "--no-deps", "--target", str(folder))
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *PACKAGES], check=True)
    return str(folder)


def alias_3(source: Path, version: str, options: list[str]) -> dict[str, str]:
    """The result of each test of Keras 3 with `torchkeras.keras3` as Keras."""
    folder = WORK / f"alias-{version}"
    tests_of(source, folder, "*_test.py")
    (folder / "conftest.py").write_text(CONFTEST_3.format(sources=str(source), tests=str(folder)) + SKIP_IF)
    paths = (str(folder), str(ROOT), str(ROOT / "scripts"), os.environ.get("PYTHONPATH", ""), packages())
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-n", "2", "--import-mode=importlib"]
    command += ["-c", os.devnull, "-p", "no:randomly", *options, *TESTS[version]]
    found = results(folder, command, {"PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": ""})
    return {name: result for name, result in found.items() if not LEFT_OUT.search(name)}


def genuine_3(source: Path, version: str, python: str) -> set[str]:
    """The tests of Keras 3 that pass under the Keras of another Python, on torch."""
    folder = WORK / f"genuine-{version}"
    tests_of(source, folder, "*")
    (folder / "conftest.py").write_text("import pytest\n" + SKIP_IF)
    paths = (str(folder), os.environ.get("PYTHONPATH", ""), packages())
    environment = {"KERAS_BACKEND": "torch", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(paths)}
    command = [python, "-m", "pytest", "-q", "--tb=line", "-n", "2", "-c", os.devnull, *TESTS[version]]
    found = results(folder, command, environment)
    return {name for name, result in found.items() if result == "passed" and not LEFT_OUT.search(name)}


def show_folders(results: Mapping[str, str], version: str) -> None:
    """Print how many tests pass in each folder, under the genuine version and of these here."""
    genuine = Record.of("keras_suite", version).genuine
    for folder in TESTS[version]:
        prefix = folder.replace("/", ".") + "."
        names = [name for name in genuine if name.startswith(prefix)]
        passed = sum(results.get(name) == "passed" for name in names)
        print(f"{folder.rpartition('/')[2]:14} {len(names):5} {passed:5}")


def results(folder: Path, command: list[str], environment: dict[str, str]) -> dict[str, str]:
    """What pytest says of each test, by its name."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    options = ["-p", "no:cacheprovider", "-W", "ignore", f"--junitxml={report}", f"--rootdir={folder}"]
    subprocess.run([*command, *options], cwd=folder, env={**os.environ, **environment}, check=False)
    return read(report)


def read(report: Path) -> dict[str, str]:
    """The results in a JUnit file: "passed", "failed" or "skipped" by "module::test"."""
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        tags = {child.tag for child in case}
        result = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        found[f"{case.get('classname')}::{case.get('name')}"] = result
    return found


if __name__ == "__main__":
    sys.exit(main())
