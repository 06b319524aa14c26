"""`benchmarks/table.py`: the table in docs/performance.md has each of its lines, and says which aims are missed."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def table(script: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    return script("benchmarks/table.py")


def test_the_page_has_a_row_of_each_line_and_no_other(table: Any):
    found = table.table_drawn.rows(table.PAGE.read_text())
    lines = {(line.what, line.against, line.aim, line.at_least) for line in table.LINES.values()}
    assert {(row.what, row.against, row.aim, row.at_least) for row in found} == lines


@pytest.mark.parametrize(
    ("found", "at_least", "written"),
    [
        *((1.1, False, "| ≤ 1.1 | 1.100 |"), (1.1004, False, "| ≤ 1.1 | 1.100 |")),
        *((1.102, False, "| ≤ 1.1 | **1.102** |"), (12.346, False, "| ≤ 1.1 | **12.35** |")),
        *((1.1, True, "| ≥ 1.1 | 1.100 |"), (0.9, True, "| ≥ 1.1 | **0.900** |")),
        (-14.5, False, "| ≤ 1.1 | -14.50 |"),
    ],
)
def test_a_row_is_read_as_it_is_written(table: Any, found: float, at_least: bool, written: str):
    row = table.Row("step", "mlp", "a loop", 1.1, found, at_least)
    assert row.written() == f"| step | mlp | a loop {written}"
    assert table.table_drawn.rows(row.written()) == [
        table.Row("step", "mlp", "a loop", 1.1, float(written.strip("| *").rpartition(" ")[2].strip("*")), at_least)
    ]


def test_rows_are_put_in_place_of_those_of_their_line(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}{table.HEAD}{table.END}after\n")
    monkeypatch.setattr(table, "PAGE", page)
    monkeypatch.setattr(table, "PICTURE", tmp_path / "picture.svg")
    rows = {
        name: table.Row(line.what, "mlp", line.against, line.aim, line.aim, line.at_least)
        for name, line in table.LINES.items()
    }
    for name in ("first", "eager", "serve"):
        table.write([rows[name]])
    table.write([table.Row("eager step", "cnn", rows["eager"].against, rows["eager"].aim, 0.5)])
    text = page.read_text()
    assert text.startswith(f"before\n{table.BEGIN}{table.HEAD}| eager step | cnn |")
    assert [row.what for row in table.table_drawn.rows(text)] == ["eager step", rows["serve"].what, rows["first"].what]
    assert text.endswith(f"{table.END}after\n")
    assert (tmp_path / "picture.svg").read_text().count("<circle") == 3
