"""`benchmarks/shares.py`: what docs/performance.md says of profiles can be made again."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def shares(script: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    found = script("benchmarks/shares.py")
    monkeypatch.setattr(found, "WIDTH", 2)
    monkeypatch.setattr(found, "MEGABYTES", 8)
    monkeypatch.setattr(found, "LAYERS", 200)
    monkeypatch.setattr(found.data, "cold", lambda path, run: run)  # a temporary folder may have no disk
    return found


def test_each_share_is_part_of_a_run(shares: Any):
    for name, case in shares.CASES.items():
        found = shares.shares(case, runs=2)
        assert list(found) == list(case.places)
        assert all(0 <= share < 1 for share in found.values()), (name, found)
        assert sum(found.values()) <= 1.05, (name, found)


def test_a_function_that_is_not_called_is_an_error(shares: Any):
    case = shares.Case(lambda folder: lambda: None, {"waits": "time:strftime"})
    with pytest.raises(AttributeError):
        shares.shares(case)
    case = shares.Case(lambda folder: lambda: None, {"makes": "inspect:unwrap"})
    with pytest.raises(LookupError, match="inspect:unwrap was not called"):
        shares.shares(case)
