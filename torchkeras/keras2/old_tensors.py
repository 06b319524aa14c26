"""What scripts for Keras 1 and 2 ask of symbolic tensors: `extend()` adds it. `old_values` has it for tensors."""

from __future__ import annotations

from typing import Any

from torchkeras.base import extensions
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2 import backend as K
from torchkeras.keras2.old_values import steps_back
from torchkeras.keras2.tf.shapes import TensorShape, merged

_part = KerasTensor.__getitem__


def get_shape(tensor: Any) -> TensorShape:
    """The shape of a tensor as TensorFlow 1 gave it."""
    return TensorShape(tensor.shape)


def set_shape(tensor: Any, shape: Any) -> None:
    """Say what sizes are not known. Raises ValueError where they contradict known ones."""
    object.__setattr__(tensor, "shape", merged(tuple(tensor.shape), shape))


def part(tensor: Any, key: Any) -> Any:
    """A part of a symbolic tensor; a slice that goes back over a whole axis turns the axis around."""
    if not steps_back(key):
        return _part(tensor, key)
    keys, axes, axis = list(key) if isinstance(key, tuple) else [key], [], 0
    taken = sum(each is not None and each is not Ellipsis for each in keys)
    for place, each in enumerate(keys):
        if each == slice(None, None, -1):
            axes.append(axis)
            keys[place] = slice(None)
        axis += len(tensor.shape) - taken if each is Ellipsis else each is not None
    return _part(K.reverse(tensor, axes), tuple(keys)) if axes else _part(tensor, key)


def extend() -> None:
    """Let a symbolic tensor equal itself alone, as in Keras 2: `tensor in tensors`, `tensors.index(tensor)`."""
    extensions.extend(KerasTensor, __eq__=object.__eq__, __ne__=object.__ne__)
    extensions.withdraw(KerasTensor, "__len__")  # scripts ask `hasattr(tensor, "__len__")` for a list
    extensions.extend(KerasTensor, __getitem__=part, get_shape=get_shape, set_shape=set_shape)
    extensions.extend(KerasTensor, _keras_shape=property(lambda self: self.shape, set_shape))
