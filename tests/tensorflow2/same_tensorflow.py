"""Results of code that runs under genuine TensorFlow 2.15 and here."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.keras3.same_results import plain

GOLDEN = Path(__file__).parent.parent / "golden/tensorflow2"
FILES = ["functions", "nn", "shapes", "training"]


def write(name: str, results: Mapping[str, Any]) -> None:
    """Store the results of a file's cases; the same results make the same bytes."""
    text = json.dumps(plain(results), sort_keys=True)
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def read(name: str) -> dict[str, Any]:
    """The stored results of a file's cases."""
    return json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))
