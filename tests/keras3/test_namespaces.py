"""`keras.ops.image`, `linalg`, `nn` and `numpy`."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from torchkeras.keras3 import ops

SIZES = {"image": 16, "linalg": 16, "nn": 55, "numpy": 220}  # of genuine Keras 3.15


@pytest.mark.parametrize("name", SIZES)
def test_namespaces_have_keras_3s_functions(name: str):
    module: ModuleType = importlib.import_module(f"torchkeras.keras3.ops.{name}")
    assert getattr(ops, name) is module
    assert len(set(module.__all__)) == SIZES[name]
    if name != "image":
        assert all(getattr(module, each) is getattr(ops, each) for each in module.__all__)
