"""What scripts for Keras 1 and 2 ask of tensors, symbolic ones and others: `extend()` adds it."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from torchkeras.engine.layer.symbolic import KerasTensor, Shape
from torchkeras.keras2.tf.shapes import TensorShape, merged


def get_shape(self: Any) -> TensorShape:
    """The shape of a tensor as TensorFlow 1 gave it."""
    return TensorShape(self.shape)


def set_shape(self: Any, shape: Any) -> None:
    """Say what sizes a symbolic tensor has that are not known. Raises ValueError where they contradict known ones."""
    found = merged(tuple(self.shape), shape)
    if isinstance(self, KerasTensor):
        object.__setattr__(self, "shape", found)


def keras_shape(self: Any) -> Shape:
    """The shape of a tensor in the code of a layer; a script may have set another."""
    return vars(self).get("_keras_shape_set") or tuple(self.shape)


def set_keras_shape(self: Any, shape: Any) -> None:
    """Keep the shape that a script sets."""
    vars(self)["_keras_shape_set"] = tuple(shape)


def extend() -> None:
    """Let a symbolic tensor equal itself alone, as in Keras 2: `tensor in tensors`, `tensors.index(tensor)`.

    A variable counts as true, whatever its values: `if self.bias:` asks whether there is one.
    """
    KerasTensor.__eq__, KerasTensor.__ne__ = object.__eq__, object.__ne__  # type: ignore[method-assign]
    nn.Parameter.__bool__ = lambda self: True  # type: ignore[method-assign]
    for kind in (Tensor, KerasTensor):
        kind.get_shape, kind.set_shape = get_shape, set_shape  # type: ignore[method-assign, union-attr]
    Tensor._keras_shape = property(keras_shape, set_keras_shape)  # type: ignore[attr-defined]
    KerasTensor._keras_shape = property(lambda self: self.shape, set_shape)  # type: ignore[assignment]
