"""What needs public repositories is not run by CI: its report must be of the sources as they are."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


def test_the_report_of_public_models_is_of_these_sources(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    script: Any = importlib.import_module("public_models")
    made = re.search(r"Made on \d{4}-\d\d-\d\d, for sources (\w+)\.$", script.RECORD.read_text(), re.MULTILINE)
    assert made, "scripts/public_models writes the report again"
    assert made[1] == script.digest(script.COVERED), "scripts/public_models writes the report again"
