"""What editors say of a user's files: each mistake at its line, and of right uses, under strict rules, nothing."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USER = Path(__file__).parent / "user"
MYPY = """[mypy]
strict = True
follow_imports = silent
[mypy-unannotated]
disallow_untyped_defs = False
disallow_untyped_calls = False
disallow_incomplete_defs = False
"""

Found = dict[tuple[str, int], str]  # by file and line what is wrong there


@pytest.fixture(scope="module")
def _stubs() -> None:
    """Those of the sources as they are now."""
    subprocess.run([sys.executable, str(ROOT / "scripts" / "write_stubs.py")], check=True)


def by_pyright(folder: Path) -> Found:
    (folder / "pyrightconfig.json").write_text('{"include": ["."]}')
    # On the path torchkeras is seen as it is seen when it is installed: what it exports is what it says it exports.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    problems = json.loads(answer.stdout)["generalDiagnostics"]
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1): each["message"] for each in problems}


def by_mypy(folder: Path) -> Found:
    (folder / "mypy.ini").write_text(MYPY)
    command = [sys.executable, "-m", "mypy", "--python-executable", sys.executable, "."]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    lines = re.findall(r"^(.*?):(\d+): error: (.*)$", answer.stdout, re.MULTILINE)
    return {(Path(file).name, int(line)): text for file, line, text in lines}


@pytest.mark.types
@pytest.mark.usefixtures("_stubs")
@pytest.mark.parametrize("check", [by_pyright, by_mypy])
def test_a_checker_finds_every_mistake_and_nothing_else(check: Callable[[Path], Found], tmp_path: Path):
    checker = check.__name__.removeprefix("by_")
    assert importlib.util.find_spec(checker), f"{checker} is not installed here; scripts/setup installs it."
    for file in USER.glob("*.py"):
        shutil.copy(file, tmp_path)
    found = check(tmp_path)
    lines = (USER / "mistakes.py").read_text().splitlines()
    wrong = {("mistakes.py", number) for number, line in enumerate(lines, 1) if line.endswith("  # wrong")}
    assert {place: text for place, text in found.items() if place not in wrong} == {}
    assert [f"{file}:{line}" for file, line in sorted(wrong - set(found))] == []
    assert len(wrong) > 30
