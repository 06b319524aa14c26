"""Models as scripts of Keras 2 use them, under the alias: the cases of two files, in a process of their own."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("old_models.py")
HELPERS = ("main", "small", "two_layers", "two_outputs")
NAMES = [
    node.name
    for path in (CASES, CASES.with_name("old_data.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef) and not node.args.args and node.name not in HELPERS
]


@pytest.fixture(scope="module")
def results() -> dict[str, str]:
    done = subprocess.run([sys.executable, str(CASES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", NAMES)
def test_old_model(name: str, results: dict[str, str]):
    assert results[name] == ""


def test_every_case_is_run(results: dict[str, str]):
    assert sorted(results) == sorted(NAMES)
