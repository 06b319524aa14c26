"""The report of `scripts/every_keras` is that of the sources as they are, and of all versions that it lists."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def every_keras(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    return importlib.import_module("every_keras")


def test_the_report_was_made_for_these_sources(every_keras: Any):
    report = every_keras.REPORT.read_text()
    asked = f"sources {every_keras.covered()}, asked {every_keras.listed()}."
    assert asked in report, "scripts/every_keras --check writes it again, from the files in .every-keras"


def test_no_file_is_silently_wrong(every_keras: Any):
    report = every_keras.REPORT.read_text()
    assert re.search(r"^\d+ right, \d+ refused, 0 WRONG\.$", report, re.MULTILINE)


def test_every_version_has_a_row(every_keras: Any):
    rows = every_keras.REPORT.read_text().split("\n\n")[1].splitlines()
    assert [row.split()[0] for row in rows] == ["version", *(version.name for version in every_keras.VERSIONS)]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "-"),
        ({"dense": "", "lstm": ""}, "2 of 2"),
        ({"dense": "", "lstm": "ValueError: no"}, "1 of 2"),
        ({"dense": "WRONG: by 1", "lstm": "ValueError: no"}, "0 of 2, 1 WRONG"),
    ],
)
def test_a_cell_counts_what_is_right_and_what_is_wrong(every_keras: Any, found: Any, said: str):
    assert every_keras.cell(found) == said


def test_each_version_is_listed_once(every_keras: Any):
    names = [version.name for version in every_keras.VERSIONS]
    assert len(set(names)) == len(names)


def test_the_report_says_why_a_version_could_not_be_made(
    every_keras: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    failing = [sys.executable, "-c", "raise SystemExit('there is no such package')"]
    monkeypatch.setattr(every_keras, "FILES", tmp_path)
    monkeypatch.setattr(every_keras, "_make", lambda version, log: every_keras._run(failing, log))
    every_keras.make(every_keras.VERSIONS[0])
    report = every_keras.written([every_keras.check(every_keras.VERSIONS[0])])
    assert "  there is no such package\n    keras-0.3.3\n" in report


def test_a_check_without_the_files_leaves_the_report_alone(
    every_keras: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(every_keras, "FILES", tmp_path)
    monkeypatch.setattr(sys, "argv", ["every_keras", "--check"])
    before = every_keras.REPORT.read_text()
    with pytest.raises(SystemExit, match=r"no files of keras-0\.3\.3, .*; the report stays as it is\.$"):
        every_keras.main()
    assert every_keras.REPORT.read_text() == before


def test_the_report_is_of_all_files(every_keras: Any):
    right = re.search(r"^(\d+) right", every_keras.REPORT.read_text(), re.MULTILINE)
    assert right is not None
    assert int(right.group(1)) > 3000
