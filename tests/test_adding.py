"""The examples of docs/adding.md, each written into a copy of the package at the places that the page names.

With them the tests of all layers, losses, optimizers and callbacks take the new class in. Without them the tests say
which place is missing.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchkeras import callbacks, optimizers, registry

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "adding.md").read_text(), re.DOTALL)

COPIED = [
    *("torchkeras", "scripts", "docs", "pyproject.toml", "tests/conftest.py", "tests/test_adding.py"),
    *("tests/layers/table.py", "tests/layers/test_contract.py"),
    *("tests/callbacks/callback_models.py", "tests/callbacks/callback_table.py", "tests/callbacks/test_reading.py"),
    *("tests/losses/test_loss_objects.py", "tests/engine/weights/test_requires_grad.py"),
    *(f"tests/engine/{path.name}" for path in sorted((ROOT / "tests" / "engine").glob("*.py"))),
]

# The name of each example, and where it stands: the file of its code and, by file, what the other places have of it.
PLACES = {
    "layer": ("Gain", "torchkeras/layers/core.py", ["torchkeras/layers/__init__.py", "tests/layers/table.py"]),
    "loss function": ("quantile", "torchkeras/losses/regression.py", ["torchkeras/losses/__init__.py"]),
    "loss": ("Quantile", "torchkeras/losses/classes.py", ["torchkeras/losses/__init__.py"]),
    "optimizer": ("SignSGD", "torchkeras/optimizers/momentum.py", ["torchkeras/optimizers/__init__.py"]),
    "callback": (
        "LargestLoss",
        "torchkeras/callbacks/control.py",
        ["torchkeras/callbacks/__init__.py", "tests/callbacks/callback_table.py"],
    ),
}
ROWS = {
    "tests/layers/table.py": 'Row("Gain()", "2x5x4", (1,), "pass", {"ejects": "no rule"})',
    "tests/callbacks/callback_table.py": '"LargestLoss": (lambda path: LargestLoss(), {"batch"})',
}


def add_code(root: Path) -> None:
    """Write each example at the end of the file of its kind."""
    for name, file, _ in PLACES.values():
        (code,) = (block for block in BLOCKS if re.search(rf"^(class|def) {name}\b", block, re.MULTILINE))
        with (root / file).open("a") as written:
            written.write(f"\n\n{code}")


def add_places(root: Path) -> None:
    """Write a line at each of the other places."""
    for name, file, others in PLACES.values():
        module = file.removesuffix(".py").replace("/", ".")
        for other in others:
            line = f"from {module} import {name}\n__all__.append({name!r})\n"
            if other == "tests/layers/table.py":
                line = f"ROWS.append({ROWS[other]})\n"
            elif other in ROWS:
                line = f"from {module} import {name}\nTABLE |= {{{ROWS[other]}}}\n"
            with (root / other).open("a") as written:
                written.write(f"\n{line}")


def run(root: Path, *command: str) -> tuple[int, str]:
    found = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    return found.returncode, found.stdout + found.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package and of some tests, with the code of the examples."""
    for path in COPIED:
        to = tmp_path / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, to, ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
        else:
            shutil.copy(ROOT / path, to)
    add_code(tmp_path)
    return tmp_path


WORDS = "Gain or quantile or Quantile or SignSGD or LargestLoss or every or exported"


def run_tests(root: Path) -> tuple[int, str]:
    files = sorted(path for path in COPIED if "/test_" in path)
    return run(root, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-k", WORDS, *files)


def test_a_class_is_added_at_no_more_than_three_places():
    assert {kind: 1 + len(others) for kind, (_, _, others) in PLACES.items()} == {
        "layer": 3,
        "loss function": 2,
        "loss": 2,
        "optimizer": 2,
        "callback": 3,
    }


@pytest.mark.slow
def test_the_tests_take_in_what_stands_at_these_places(copied: Path):
    add_places(copied)
    for script in ("document_layers.py", "document_callbacks.py"):
        assert run(copied, f"scripts/{script}") == (0, "")
    code, said = run_tests(copied)
    assert code == 0, said
    passed = re.findall(r"^PASSED \S+?\[(.*)\]$", said, re.MULTILINE)
    for name in ("Gain", "Quantile", "SignSGD", "LargestLoss"):
        assert [each for each in passed if name in each], f"no test of {name}"
    assert "\n## Gain\n" in (copied / "docs" / "layers" / "core.md").read_text()
    assert "\n| `LargestLoss` | Keeps the largest loss" in (copied / "docs" / "callbacks.md").read_text()


@pytest.mark.slow
def test_a_place_that_is_missing_is_named(copied: Path):
    with (copied / "torchkeras" / "callbacks" / "control.py").open("a") as written:
        written.write("\n\nclass Another(LargestLoss):\n    pass\n")
    with (copied / "torchkeras" / "callbacks" / "__init__.py").open("a") as written:
        written.write('from torchkeras.callbacks.control import Another\n__all__.append("Another")\n')
    code, said = run_tests(copied)
    assert code == 1
    for name, _, (exports, *_) in PLACES.values():
        assert f"{exports} lacks {name}" in said
    assert "add a row for each of them to ROWS in tests/layers/table.py" in said
    assert "add a row for each of them to TABLE in tests/callbacks/callback_table.py" in said


# --- what is exported -------------------------------------------------------------------------------------------------


HELPERS = {
    "Model",
    "Sequential",
    "Monitored",
    "BatchSchedule",
    "ExperimentLogger",
}  # of `models`, and bases of several callbacks


def subclasses(kind: type) -> set[type]:
    """The classes of this package below one, without those of Keras 3's dialect."""
    names = {each: each.__module__ for each in kind.__subclasses__()}
    found = {each for each, name in names.items() if name.startswith("torchkeras.") and ".keras3" not in name}
    return found.union(*map(subclasses, found))


def losses_by_name() -> set[str]:
    found = [(name, registry.losses.find(name)) for name in registry.losses.names()]
    return {name for name, value in found if name == getattr(value, "__name__", None)}


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("layers", set(registry.layers.names()) & {kind.__name__ for kind in registry.layers.classes().values()}),
        ("losses", losses_by_name()),
        ("optimizers", {kind.__name__ for kind in subclasses(optimizers.Optimizer)} & set(registry.optimizers.names())),
        ("callbacks", {kind.__name__ for kind in subclasses(callbacks.Callback)}),
    ],
)
def test_everything_is_exported(place: str, names: set[str]):
    module = sys.modules[f"torchkeras.{place}"]
    lacking = names - set(vars(module)["__all__"]) - HELPERS
    assert not lacking, "; ".join(
        f"torchkeras/{place}/__init__.py lacks {name}, as an import or in __all__" for name in sorted(lacking)
    )
