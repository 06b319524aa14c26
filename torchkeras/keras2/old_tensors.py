"""How scripts for Keras 1 and 2 compare symbolic tensors: `extend()` lets `KerasTensor` compare so."""

from __future__ import annotations

from torchkeras.engine.layer.symbolic import KerasTensor


def extend() -> None:
    """Let a symbolic tensor equal itself alone, as in Keras 2: `tensor in tensors`, `tensors.index(tensor)`."""
    KerasTensor.__eq__, KerasTensor.__ne__ = object.__eq__, object.__ne__  # type: ignore[method-assign]
