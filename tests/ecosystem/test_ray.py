"""Ray Train's workers train one model."""

import re

import pytest
from shared import run_as_a_user

pytestmark = pytest.mark.slow


def last_loss(workers: int) -> str:
    printed = run_as_a_user("examples/ray_train.py", str(workers), RAY_USAGE_STATS_ENABLED="0")
    (found,) = set(re.findall(rf"{workers} processes, last loss (\S+)", printed))  # Ray may repeat what a worker prints
    return found


def test_two_workers_train_as_one():
    assert last_loss(2) == last_loss(1)
