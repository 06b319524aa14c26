"""What scripts take from `keras.layers` beside the layers, which it lets them write in the manner of Keras 1 and 2."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.graph import input as inputs
from torchkeras.keras2 import old_layers

old_layers.extend()


def Input(*args: Any, sparse: bool = False, **kwargs: Any) -> Any:  # noqa: N802  (Keras's name)
    """`torchkeras.Input`. A sparse one is dense: `fit` and the like make sparse matrices dense."""
    return inputs.Input(*args, **kwargs)
