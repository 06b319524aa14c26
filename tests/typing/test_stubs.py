"""The stubs are what the declarations give, offer what the packages offer, and are part of the package."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "torchkeras"
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def offered(path: Path) -> set[str]:
    """The names that a type checker lets others import: what is defined or assigned, or imported `X as X`."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def test_stubs_are_made_of_the_declarations():
    command = [sys.executable, str(ROOT / "scripts" / "write_stubs.py"), "--check"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("stub", STUBS, ids=lambda path: path.parent.name)
def test_a_stub_offers_what_its_package_offers(stub):
    assert offered(stub.with_suffix(".py")) - offered(stub) == set()


def test_the_package_has_the_stubs_and_says_that_it_is_typed():
    (patterns,) = re.findall(r"^torchkeras = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    taken = {path for pattern in ast.literal_eval(patterns) for path in PACKAGE.glob(pattern)}
    assert {PACKAGE / "py.typed", *STUBS} - taken == set()
    assert [path.parent.name for path in STUBS] == ["layers", "losses", "metrics", "optimizers"]
