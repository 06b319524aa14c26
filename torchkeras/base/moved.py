"""Modules that pickles of earlier versions name, and where they are today."""

from __future__ import annotations

import importlib
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
    "torchkeras.optimizers.shards": "torchkeras.distribution.optimizer_shards",
}


class _Finder(MetaPathFinder, Loader):
    """Imports a module of `MOVED` by its old name; Python asks it after all others."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(MOVED[module.__name__])


def find_moved_modules() -> None:
    """Let imports of the old names find the modules."""
    sys.meta_path.append(_Finder())
