"""The stubs offer what the packages offer, with the arguments that they take, and are part of the wheel."""

import ast
import inspect
import re
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from torchkeras import layers, losses, metrics, optimizers

ROOT = Path(__file__).parents[2]
PACKAGES = (layers, losses, metrics, optimizers)
every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)


@pytest.fixture(scope="module")
def writer(script) -> Any:
    return script("scripts/write_stubs.py")


def offered(text: str) -> set[str]:
    """The names that a type checker lets others import: what is defined or assigned, or imported `X as X`."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return {name for name in found if not name.startswith("_")}


@every_package
def test_a_stub_offers_what_its_package_offers(package: ModuleType, writer: Any):
    source = Path(package.__path__[0], "__init__.py").read_text()
    assert offered(source) - offered(writer.stub(package)) == set()


@every_package
def test_a_class_has_the_arguments_that_it_takes(package: ModuleType, writer: Any):
    constructors = {
        cls.name: function.args
        for cls in ast.parse(writer.stub(package)).body
        if isinstance(cls, ast.ClassDef)
        for function in cls.body
        if isinstance(function, ast.FunctionDef) and function.name == "__init__"
    }
    assert len(constructors) > 10
    for name, arguments in constructors.items():
        taken = [each for each in inspect.signature(getattr(package, name)).parameters if each != "layer_options"]
        written = [*arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
        assert [each.arg for each in written][1 : len(taken) + 1] == taken


def test_the_wheel_has_the_stubs_and_the_checkout_commits_none(writer: Any):
    (patterns,) = re.findall(r"^torchkeras = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert ast.literal_eval(patterns) == ["py.typed", "**/*.pyi"]
    assert writer.PACKAGES == PACKAGES
    committed = subprocess.run(["git", "ls-files", "*.pyi"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert committed.stdout == ""
