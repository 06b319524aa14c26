"""The record of the scripts of Keras's site: `scripts/keras_site` makes it, and a reason says why one is not clean."""

import importlib
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("keras_site")


@pytest.fixture
def reasons(site: Any) -> dict[str, str]:
    """The reason of each script of the list, by name."""
    listed = importlib.import_module("public_sources").listed(site.LIST, [])
    return {
        f"{repository}/{name}": options.get("reason", "")
        for repository, entry in listed.items()
        for name, options in entry["scripts"].items()
    }


def test_the_record_has_each_script_of_the_list(site: Any, reasons: dict[str, str]):
    assert list(site.recorded()) == list(reasons)


def test_a_script_has_a_reason_where_it_is_not_clean(site: Any, reasons: dict[str, str]):
    clean = {name: seen.here == site.CLEAN for name, seen in site.recorded().items()}
    assert {name: not reason for name, reason in reasons.items()} == clean


def test_nearly_all_that_genuine_keras_runs_runs_here(site: Any):
    seen = site.recorded().values()
    genuine = [each for each in seen if each.genuine == site.CLEAN]
    assert sum(each.here == site.CLEAN for each in genuine) >= 0.9 * len(genuine)
    assert sum(each.here == site.CLEAN for each in seen) >= 65
