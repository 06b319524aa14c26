"""Parts of the package that are imported when they are first used, such as what several processes need.

The package's root declares them. The core asks for one by what it does, and names no module of it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

_MODULES: dict[str, str] = {}


def declare(modules: Mapping[str, str]) -> None:
    """Say which module serves a purpose: `declare({"eject": "torchkeras.export.plain.eject"})`."""
    _MODULES.update(modules)


@cache
def annex(purpose: str) -> Any:
    """The module that was declared for a purpose, imported."""
    return importlib.import_module(_MODULES[purpose])
