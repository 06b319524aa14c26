"""Packages that only scripts need, imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

from torchkeras.base.extras import missing

PACKAGES = {  # the first part of a module's name: what pip calls it
    "PIL": "pillow",
    "keras_applications": "keras-applications",
    "keras_preprocessing": "keras-preprocessing",
    "scipy": "scipy",
}


def extra(module: str) -> Any:
    """A module of a package of the extra `scripts`. ImportError names the extra when the package is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        raise ImportError(missing(package, "scripts")) from error
