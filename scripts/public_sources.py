"""Sources of public repositories, for scripts that run them: listed in TOML, fetched by git, never copied from."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

WORK = Path(__file__).resolve().parent.parent / ".keras-suite" / "public"
GITHUB = "https://github.com"


def listed(path: Path, names: list[str]) -> dict[str, Any]:
    """What to run of a list, by name: all, or those named. Raises SystemExit for a name that is not there."""
    tomllib: Any = importlib.import_module("tomllib")  # of Python 3.11 and later
    found = tomllib.loads(path.read_text())
    unknown = sorted(set(names) - set(found))
    if unknown:
        raise SystemExit(f"{path}: no {unknown[0]}.")
    return {name: found[name] for name in names or found}


def fetched(source: str, address: str = GITHUB) -> Path:
    """The folder with the Python files of "OWNER/NAME@COMMIT" or "OWNER/NAME@COMMIT:FOLDER", fetched once.

    `address`: where git finds OWNER/NAME, an address or a folder of clones.
    """
    found = re.fullmatch(r"([\w.-]+/[\w.-]+)@([0-9a-f]{40})(?::(.*))?", source)
    if found is None:
        raise SystemExit(f"{source!r} is not OWNER/NAME@COMMIT.")
    repository, commit, inside = found.groups()
    folder = WORK / f"{repository.replace('/', '+')}-{commit[:12]}"
    if not folder.is_dir():
        WORK.mkdir(parents=True, exist_ok=True)
        lean = "--shared" if Path(address).is_dir() else "--filter=blob:none"  # without what is not checked out
        with tempfile.TemporaryDirectory(dir=WORK) as part:
            clone = Path(part) / "clone"
            subprocess.run(["git", "clone", "-q", "-n", lean, f"{address}/{repository}", str(clone)], check=True)
            subprocess.run(["git", "-C", str(clone), "checkout", "-q", commit, "--", "*.py"], check=True)
            shutil.move(clone, folder)
    return folder / (inside or "")
