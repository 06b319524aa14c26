"""What scripts take from `keras.activations` beside the activations."""

from __future__ import annotations

import warnings
from typing import Any

from torchkeras import activations
from torchkeras.engine.layer.layer import Layer


def get(identifier: Any) -> Any:
    """`activations.get`; a layer is returned as it is, with a warning, though nobody would train its weights."""
    if not isinstance(identifier, Layer):
        return activations.get(identifier)
    warnings.warn(
        f"activations.get: {type(identifier).__name__} is a layer: call it as the next layer of the model.",
        stacklevel=2,
    )
    return identifier
