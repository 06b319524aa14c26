"""`scripts/matrix`: what its rows install, and the table that it writes."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def matrix(script) -> Any:
    return script("scripts/matrix.py")


def test_the_oldest_versions_are_those_that_the_project_claims(matrix):
    floors = matrix.floors()
    assert list(floors) == ["torch", "numpy", "h5py", "tqdm"]
    assert matrix.pins("3.10-oldest") == [f"{name}=={version}" for name, version in floors.items()]
    assert matrix.pins("3.13-oldest") == [f"torch=={floors['torch']}"]
    assert matrix.pins("3.13-newest") == []


def test_the_first_python_is_the_oldest_that_the_project_claims(matrix):
    assert f'requires-python = ">={matrix.PYTHONS[0]}"' in (ROOT / "pyproject.toml").read_text()


def test_the_tests_that_are_named_are_there(matrix):
    assert [path for path in (*matrix.QUICK, *matrix.OF_THE_CHECKOUT) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(("counts", "said"), [
    ((5, 0, 0, 0), "5 passed"),
    ((9, 2, 1, 1), "2 failed, 1 broken, 1 skipped, 5 passed"),
])  # fmt: skip
def test_the_counts_of_a_report(matrix, counts, said, tmp_path):
    suite = "<testsuite tests='{}' failures='{}' errors='{}' skipped='{}'/>".format(*counts)
    (tmp_path / "report.xml").write_text(f"<testsuites>{suite}</testsuites>")
    assert matrix.counted(tmp_path / "report.xml") == said


def test_a_row_takes_its_place_in_the_table_and_the_others_stay(matrix, tmp_path, monkeypatch):
    page = tmp_path / "versions.md"
    page.write_text("# Versions\n\n| row |\n\nAfter.\n")
    monkeypatch.setattr(matrix, "PAGE", page)
    matrix.write([matrix.Result("3.11-newest", ("3.11.7", "2.14.1", "2.4.6", "3.16.0"), "all", "7 passed")])
    matrix.write([matrix.Result("3.10-oldest", said="not run: no such Python")])
    before, lines, after = page.read_text().split("\n\n")
    assert (before, after) == ("# Versions", "After.\n")
    assert lines.startswith(matrix.HEAD)
    found = {line.split(" | ")[0]: line for line in lines.removeprefix(matrix.HEAD).split("\n")}
    assert list(found) == [f"| {row}" for row in matrix.ROWS]
    assert found["| 3.11-newest"] == "| 3.11-newest | 3.11.7 | 2.14.1 | 2.4.6 | 3.16.0 | all | 7 passed |"
    assert found["| 3.10-oldest"].endswith("| not run: no such Python |")
    assert found["| 3.13-newest"].endswith("| not run |")


def test_the_page_has_every_row_and_no_failure(matrix):
    assert list(matrix.known()) == matrix.ROWS
    assert [line for line in matrix.known().values() if re.search(r"\d (failed|broken)|fails", line)] == []


def test_a_row_without_its_python_says_so(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(matrix, "interpreter", lambda python: None)
    assert matrix.run("3.14-newest", None, tmp_path).said == "not run: no such Python"
