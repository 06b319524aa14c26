"""`scripts/matrix`: what its rows install, and the table that it writes."""

import re
from pathlib import Path
from types import SimpleNamespace
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
    assert matrix.pins("3.13-oldest") == ["torch==2.10"]
    assert matrix.pins("3.13-newest") == []


def test_the_first_python_is_the_oldest_that_the_project_claims(matrix):
    assert f'requires-python = ">={matrix.PYTHONS[0]}"' in (ROOT / "pyproject.toml").read_text()


def test_the_pythons_that_the_project_claims_are_the_first_of_the_rows(matrix):
    claimed = matrix.claimed()
    assert claimed == list(matrix.PYTHONS[: len(claimed)]) != []


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
    matrix.write([matrix.Result("3.10-oldest", said="not run: no Python 3.10 here")])
    before, lines, after = page.read_text().split("\n\n")
    assert (before, after) == ("# Versions", "After.\n")
    assert lines.startswith(matrix.HEAD)
    found = {line.split(" | ")[0]: line for line in lines.removeprefix(matrix.HEAD).split("\n")}
    assert list(found) == [f"| {row}" for row in matrix.ROWS]
    assert found["| 3.11-newest"] == "| 3.11-newest | 3.11.7 | 2.14.1 | 2.4.6 | 3.16.0 | all | 7 passed |"
    assert found["| 3.10-oldest"].endswith("| not run: no Python 3.10 here |")
    assert found["| 3.13-newest"].endswith("| not run |")


def table(matrix) -> dict[str, list[str]]:
    """The rows of the page: Python, torch, NumPy, h5py, tests, result."""
    lines = {row: [cell.strip() for cell in line.strip("|").split("|")] for row, line in matrix.known().items()}
    assert {row: cells[0] for row, cells in lines.items()} == {row: row for row in matrix.ROWS}
    return {row: cells[1:] for row, cells in lines.items()}


def test_every_row_of_a_python_that_the_project_claims_has_passed_and_no_other_has_failed(matrix):
    results = [matrix.Result(row, said=cells[-1]) for row, cells in table(matrix).items()]
    assert [result for result in results if not matrix.holds(result)] == []


def test_a_row_that_was_run_has_its_python_and_the_oldest_has_the_versions_that_the_project_claims(matrix):
    for row, (python, *versions, _, said) in table(matrix).items():
        if said.startswith("not run"):
            continue
        assert python.startswith(f"{row.partition('-')[0]}."), row
        pinned = dict(pin.split("==") for pin in matrix.pins(row))
        for name, version in zip(matrix.NAMES, versions, strict=True):
            if name in pinned:
                assert f"{version.partition('+')[0]}.".startswith(f"{pinned[name]}."), row


def test_a_row_without_its_python_says_so(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(matrix, "interpreter", lambda python: None)
    assert matrix.run("3.14-newest", None, tmp_path).said == "not run: no Python 3.14 here"


@pytest.mark.parametrize(("row", "said", "holds"), [
    ("3.10-oldest", "5 passed", True),
    ("3.10-oldest", "1 skipped, 4 passed", True),
    ("3.10-oldest", "1 failed, 4 passed", False),
    ("3.10-oldest", "1 broken", False),
    ("3.10-oldest", "the wheel alone fails", False),
    ("3.10-oldest", "not run: pip finds no such versions", False),
    ("3.99-newest", "not run: no Python 3.99 here", True),
    ("3.99-newest", "1 failed, 4 passed", False),
])  # fmt: skip
def test_a_row_holds_if_its_tests_pass_or_its_python_is_not_claimed(matrix, row, said, holds):
    assert matrix.holds(matrix.Result(row, said=said)) is holds


@pytest.mark.parametrize("keep", [False, True])
def test_a_folder_is_deleted_if_it_is_not_to_be_kept(matrix, keep, tmp_path, capsys):
    with matrix.folder_of("3.10-oldest", SimpleNamespace(folder=tmp_path, keep=keep)) as folder:
        (folder / "environment").mkdir()
    assert folder.parent == tmp_path
    assert folder.exists() is keep
    assert capsys.readouterr().out == (f"3.10-oldest is in {folder}\n" if keep else "")


def marks_of_versions() -> set[tuple[str, str]]:
    """The versions of torch that tests need, and why."""
    texts = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    return {found for text in texts for found in re.findall(r'pytest\.mark\.torch\(\s*"([\d.]+)",\s*"([^"]+)"', text)}


def test_the_page_says_what_needs_a_newer_torch_than_the_oldest(matrix):
    page = (ROOT / "docs" / "versions.md").read_text()
    _, _, table = page.partition("| torch | needed for |\n|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    needs = sorted(marks_of_versions(), key=lambda each: ([-int(part) for part in each[0].split(".")], each[1]))
    assert rows == [f"| {version} | {why} |" for version, why in needs] != []
