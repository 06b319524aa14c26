"""Pickles that NumPy 2 wrote, read with NumPy 1 too."""

import io
import pickle
from typing import Any

import numpy as np


class _Unpickler(pickle.Unpickler):
    """Calls `numpy._core`, which NumPy 2 writes, `numpy.core` as NumPy 1 does."""

    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(module if np.__version__ >= "2" else module.replace("._core", ".core"), name)


def loaded(data: bytes) -> Any:
    """As `pickle.loads`."""
    return _Unpickler(io.BytesIO(data)).load()
