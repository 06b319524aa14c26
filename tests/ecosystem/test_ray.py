"""Ray Train's workers train one model."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def last_loss(workers: int) -> str:
    command = [sys.executable, "examples/ray_train.py", str(workers)]
    given = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=given, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    # Ray may repeat what a worker prints.
    (found,) = set(re.findall(rf"{workers} processes, last loss (\S+)", done.stdout + done.stderr))
    return found


def test_two_workers_train_as_one():
    assert last_loss(2) == last_loss(1)
