"""Lets functions of the backend take Keras 1's arguments, in scripts that call this package `keras`."""

from __future__ import annotations

from torchkeras.keras2 import backend
from torchkeras.keras2.backend.old_arguments import SIGNATURES, taking_old_names


def extend() -> None:
    """Let the functions of `keras.backend` take Keras 1's arguments."""
    for name in SIGNATURES:
        setattr(backend, name, taking_old_names(name, getattr(backend, name)))
