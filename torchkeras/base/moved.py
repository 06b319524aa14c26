"""Modules that pickles of earlier versions name, and where they are today."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "torchkeras.activations.keras2": "torchkeras.activations",
    "torchkeras.base.dtype_policy": "torchkeras.base.dtypes",
    "torchkeras.callbacks.averages": "torchkeras.callbacks.logs",
    "torchkeras.callbacks.logging": "torchkeras.callbacks.logs",
    "torchkeras.dtype_policy": "torchkeras.base.dtypes",
    "torchkeras.engine.fit.compile_options": "torchkeras.engine.fit.training",
    "torchkeras.engine.graph.operators": "torchkeras.engine.functions.operators",
    "torchkeras.engine.layer.axis_order": "torchkeras.engine.symbolic.axis_order",
    "torchkeras.engine.layer.input_spec": "torchkeras.engine.shapes.input_spec",
    "torchkeras.engine.layer.nested": "torchkeras.base.nested",
    "torchkeras.engine.layer.symbolic": "torchkeras.engine.symbolic.tensor",
    "torchkeras.engine.layer.tracked": "torchkeras.engine.adapters.tracked",
    "torchkeras.engine.layer.weight": "torchkeras.engine.weights.weight",
    "torchkeras.engine.weights.freezing": "torchkeras.engine.weights.weight_lists",
    "torchkeras.initializers.initializer": "torchkeras.initializers.distributions",
    "torchkeras.initializers.scaling": "torchkeras.initializers.distributions",
    "torchkeras.keras_axes": "torchkeras.base.keras_axes",
    "torchkeras.lambdas": "torchkeras.keras2.lambdas",
    "torchkeras.optimizers.shards": "torchkeras.distribution.optimizer_shards",
}

# Folders whose modules have the same names in another place.
MOVED_FOLDERS = {
    "torchkeras.backend.": "torchkeras.keras2.backend.",
    "torchkeras.lambdas.": "torchkeras.keras2.lambdas.",
}


class _Finder(MetaPathFinder, Loader):
    """Imports a module by its old name."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        today = _today(fullname)
        return ModuleSpec(fullname, self) if today and importlib.util.find_spec(today) else None

    def exec_module(self, module: ModuleType) -> None:
        found = sys.modules[module.__name__] = importlib.import_module(str(_today(module.__name__)))
        if hasattr(found, "__path__"):
            find_moved_first()


def _today(name: str) -> str | None:
    """Where a module is that had this name; None for any other name."""
    for before, now in MOVED_FOLDERS.items():
        if name.startswith(before):
            return now + name.removeprefix(before)
    return MOVED.get(name)


_FINDER = _Finder()


def find_moved_modules() -> None:
    """Let imports of the old names find the modules; Python asks for these after all others."""
    sys.meta_path.append(_FINDER)


def find_moved_first() -> None:
    """Ask for the old names first, in a process where a package has two names.

    Python's own finders would find a file in its folder again, under the second name: `torchkeras.backend` is another
    name of `torchkeras.keras2.backend`.
    """
    sys.meta_path.remove(_FINDER)
    sys.meta_path.insert(0, _FINDER)
