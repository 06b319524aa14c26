"""What holds in every test of callbacks."""

from types import SimpleNamespace

import pytest

from tests import tracker_stand_ins


@pytest.fixture(autouse=True)
def trackers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stand-ins of the packages wandb, mlflow and aim."""
    return tracker_stand_ins.install(monkeypatch)
