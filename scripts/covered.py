"""The hash of the sources that a report is about, by which a test refuses a report that is older than these."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(names: Iterable[str]) -> str:
    """Of files and of the Python files in folders, by their names and contents."""
    found = hashlib.sha256()
    for name in names:
        place = ROOT / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def made_for(names: Iterable[str]) -> str:
    """What a report says of itself: when it was made, and for which sources."""
    return f"Made on {datetime.date.today()}, for sources {digest(names)}."
