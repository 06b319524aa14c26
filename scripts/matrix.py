"""Test the wheel in dist/ in an environment for each Python and torch that it claims; write docs/versions.md.

A row is a Python and "oldest" or "newest". The newest has the newest torch, NumPy and h5py that pip finds. The oldest
has an older torch: the first Python has all the oldest versions of pyproject.toml, each later one a later torch. In
each row the wheel is installed alone, imported, and trains a model; then come the packages for tests. The demo and the
tests run in a copy of the checkout that lacks the package. An environment is deleted after its row, since torch with
CUDA takes gigabytes. The command fails where tests fail, and where a row was not run though pyproject.toml names its
Python.

    scripts/matrix                         all rows, all tests
    scripts/matrix 3.11-oldest 3.13-newest --quick --write
    scripts/matrix 3.10-oldest --keep      to look into what fails
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "versions.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
OLDER = {"3.11": "2.6", "3.12": "2.8", "3.13": "2.10", "3.14": "2.12"}  # the torch of the row "oldest"
ROWS = [f"{python}-{which}" for python in PYTHONS for which in ("oldest", "newest")]
MARKS = "not slow and not cuda and not onnx and not types"
# About the checkout, not the package: lint, stubs, pages and records that are made from the sources, and their lines
# that are traced.
OF_THE_CHECKOUT = (
    *("tests/typing", "tests/test_packaging.py", "tests/test_docs.py", "tests/test_traced.py"),
    *("tests/test_reports.py", "tests/saving/test_every_keras.py"),
)
# What other versions break first: layers on torch's modules, files on h5py, graphs by torch.compile and torch.export,
# the loop.
QUICK = (
    *("tests/layers/test_contract.py", "tests/layers/test_torch_module.py", "tests/saving/test_hdf5.py"),
    *(
        "tests/saving/test_saved_is_loaded.py",
        "tests/engine/graph/test_network.py",
        "tests/engine/speed/test_changes_in_python.py",
    ),
    *("tests/export/test_export.py", "tests/base/test_interrupts.py", "tests/base/test_torch_versions.py"),
    *("tests/test_article.py", "tests/test_golden.py"),
)
ALONE = """
import numpy as np
from torchkeras import layers, models
model = models.Sequential([layers.Dense(3, activation="softmax", input_shape=(4,))])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
model.fit(np.zeros((8, 4)), np.zeros(8), epochs=2, verbose=0)
model.save("alone.h5")
assert np.array_equal(models.load_model("alone.h5").predict(np.ones((2, 4))), model.predict(np.ones((2, 4))))
"""
VERSIONS = (
    "import h5py, numpy, platform, torch\n"
    "print(platform.python_version(), torch.__version__, numpy.__version__, h5py.__version__)"
)
PASSED = re.compile(r"(\d+ skipped, )?\d+ passed")
NAMES = ("torch", "numpy", "h5py")
HEAD = "| row | Python | torch | NumPy | h5py | tests | result |\n|---|---|---|---|---|---|---|\n"


@dataclass(frozen=True)
class Result:
    """A row of the table."""

    row: str
    versions: tuple[str, str, str, str] = ("", "", "", "")
    tests: str = ""
    said: str = "not run"

    def line(self) -> str:
        return "| " + " | ".join([self.row, *self.versions, self.tests, self.said]) + " |"


def interpreter(python: str) -> str | None:
    """A Python of this version: on the path, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for found in (shutil.which(f"python{python}"), *map(str, pyenv.glob(f"{python}.*/bin/python"))):
        code = "import sys; print(*sys.version_info[:2], sep='.')"
        if found and subprocess.run([found, "-c", code], capture_output=True, text=True).stdout.strip() == python:
            return found
    return None


def floors() -> dict[str, str]:
    """The oldest versions that pyproject.toml claims."""
    (text,) = re.findall(r"^dependencies = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S)
    return dict(re.findall(r'"(\w+)>=([\d.]+)"', text))


def claimed() -> list[str]:
    """The Pythons that pyproject.toml names."""
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text())


def pins(row: str) -> list[str]:
    """What pip is asked for beside the wheel."""
    python, _, which = row.partition("-")
    if which == "newest":
        return []
    names = floors() if python == PYTHONS[0] else {"torch": OLDER[python]}
    return [f"{name}=={version}" for name, version in names.items()]


def copy_of_tests(folder: Path) -> None:
    """The checkout without the package, which would be imported instead of the wheel."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if not name.startswith("torchkeras/") and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def counted(report: Path) -> str:
    """The counts of a report of pytest, failures first."""
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    total, failed, broken, skipped = (int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped"))
    counts = {"failed": failed, "broken": broken, "skipped": skipped, "passed": total - failed - broken - skipped}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def run(row: str, given: argparse.Namespace, folder: Path) -> Result:
    """A row: its environment, what is installed, and how the tests end."""
    version = row.partition("-")[0]
    base = interpreter(version)
    if base is None:
        return Result(row, said=f"not run: no Python {version} here")
    python = str(folder / "environment" / "bin" / "python")
    subprocess.run([base, "-m", "venv", str(folder / "environment")], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", *os.environ.get("TORCHKERAS_PIP_ARGS", "").split()]
    (wheel,) = (ROOT / "dist").glob("*.whl")
    tests = folder / "checkout"
    copy_of_tests(tests)
    if subprocess.run([*pip, str(wheel), *pins(row)]).returncode:
        return Result(row, said="not run: pip finds no such versions")
    found = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True).stdout.split()
    versions = (found[0], found[1], found[2], found[3])
    if subprocess.run([python, "-c", ALONE], cwd=folder).returncode:
        return Result(row, versions, said="the wheel alone fails")
    # The versions of the first call stay; pip does not take a build's name, such as "+cu130".
    kept = [f"{name}=={version.partition('+')[0]}" for name, version in zip(NAMES, versions[1:], strict=True)]
    if subprocess.run([*pip, f"{wheel}[test]", *kept, *pins(row)]).returncode:
        return Result(row, versions, said="not run: pip finds no packages for tests beside these")
    if subprocess.run([python, "scripts/demo.py"], cwd=tests).returncode:
        return Result(row, versions, said="the demo fails")
    paths = given.tests or (QUICK if given.quick else ["tests"])
    command = [python, "-m", "pytest", "-q", "-n", given.workers, "--dist", "loadgroup", "-m", MARKS, *paths]
    command += ["--junitxml", str(folder / "report.xml"), *(f"--ignore={path}" for path in OF_THE_CHECKOUT)]
    subprocess.run(command, cwd=tests)
    said = "the quick ones" if given.quick else "all" if not given.tests else "`" + " ".join(given.tests) + "`"
    return Result(row, versions, said, counted(folder / "report.xml"))


def known() -> dict[str, str]:
    """The rows that the page has, by their names."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if re.match(r"\| 3\.\d+-", line)}


def write(results: list[Result]) -> None:
    """Put the rows into the page's table; those that were not run now stay."""
    lines = known() | {result.row: result.line() for result in results}
    table = HEAD + "".join(f"{lines.get(row, Result(row).line())}\n" for row in ROWS)
    text = re.sub(r"^\| row \|.*?(?=^$|\Z)", lambda _: table, PAGE.read_text(), flags=re.M | re.S)
    PAGE.write_text(text)


def holds(result: Result) -> bool:
    """Whether the row is as pyproject.toml says: its tests pass, or its Python is not claimed and it was not run."""
    if result.said.startswith("not run"):
        return result.row.partition("-")[0] not in claimed()
    return PASSED.fullmatch(result.said) is not None


@contextmanager
def folder_of(row: str, given: argparse.Namespace) -> Iterator[Path]:
    """A new folder, which is deleted if it is not to be kept."""
    folder = tempfile.mkdtemp(dir=given.folder, prefix=f"matrix-{row}-")
    try:
        yield Path(folder)
    finally:
        if given.keep:
            print(f"{row} is in {folder}")
        else:
            shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("rows", nargs="*", metavar="row", help="such as 3.11-oldest; default: all")
    parser.add_argument("--list", action="store_true", help="name the rows and what pip is asked for")
    parser.add_argument("--quick", action="store_true", help="only the tests that other versions break first")
    parser.add_argument("--tests", nargs="+", help="only these files or folders of tests")
    parser.add_argument("--workers", default="auto", help="how many processes run tests (pytest -n)")
    parser.add_argument("--folder", help="where environments are made, one at a time; default: a temporary folder")
    parser.add_argument("--write", action="store_true", help="put the results into docs/versions.md")
    parser.add_argument("--keep", action="store_true", help="leave the environments and the tests where they are")
    given = parser.parse_args()
    if wrong := set(given.rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(wrong))}; the rows are {', '.join(ROWS)}")
    if given.list:
        print("\n".join(f"{row}: {' '.join(['the wheel', *pins(row)])}" for row in ROWS))
        return
    os.environ.pop("PYTHONPATH", None)  # the checkout may be there
    results = []
    for row in given.rows or ROWS:
        with folder_of(row, given) as folder:
            results.append(run(row, given, folder))
        print(results[-1].line(), flush=True)
        if given.write:
            write(results)
    print(HEAD + "\n".join(result.line() for result in results))
    sys.exit(not all(map(holds, results)))


if __name__ == "__main__":
    main()
