"""What needs public repositories is not run by CI: its report must be of the sources as they are."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.mark.parametrize("name", ["public_models", "lambda_files", "tf_scripts", "keras_site"])
def test_a_report_is_of_these_sources(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    script: Any = importlib.import_module(name)
    made = re.search(r"Made on \d{4}-\d\d-\d\d, for sources (\w+)\.$", script.RECORD.read_text(), re.MULTILINE)
    assert made, f"scripts/{name} writes the report again"
    assert made[1] == importlib.import_module("covered").digest(script.COVERED), (
        f"scripts/{name} writes the report again"
    )


def test_what_readers_read_does_not_make_a_report_old(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    code_of = importlib.import_module("covered").code_of
    plain = "def f(x):\n    return x + '# 1'\n"
    read = [
        '"""A module."""',
        "",
        "# About f.",
        "def f(x):  # with a comment",
        '    """The deed.',
        "",
        '    More."""',
        "    return x + '# 1'",
    ]
    assert code_of("\n".join(read)) == code_of(plain) == plain.rstrip()
    assert code_of(plain.replace("1", "2")) != code_of(plain)
