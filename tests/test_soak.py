"""`scripts/soak.py`: for ten minutes many threads at the same models, and then a thousand requests at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "soak.py"


def report(*options: str) -> dict:
    """What the script found; AssertionError where something was wrong."""
    done = subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout[done.stdout.index("{\n") :])


@pytest.mark.slow
def test_ten_minutes_of_eight_threads():
    found = report("--minutes", "10")
    assert found["wrong"] == 0
    assert found["errors"] == {}
    assert sum(found["done"].values()) > 1000
    assert len(found["done"]) == 8
    assert found["trained"] > 1000
