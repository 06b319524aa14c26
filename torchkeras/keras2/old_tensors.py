"""What scripts for Keras 1 and 2 ask of tensors, symbolic ones and others: `extend()` adds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras.backend import assignments
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


def without_steps_back(x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """A tensor, and a key that gives the same of it without a slice that goes back, which torch does not know."""
    keys, axis, found = list(key) if isinstance(key, tuple) else [key], 0, []
    taken = sum(_axes_of(each) for each in keys)
    for each in keys:
        if isinstance(each, slice) and isinstance(each.step, int) and each.step < 0:
            places = torch.arange(x.shape[axis], device=x.device)
            start, stop, step = each.indices(x.shape[axis])
            kept = [*range(start, stop, step)]
            x = x.index_select(axis, places.new_tensor(kept))
            each = slice(None)
        axis += x.dim() - taken if each is Ellipsis else _axes_of(each)
        found.append(each)
    return x, tuple(found)


def _axes_of(key: Any) -> int:
    """How many axes of a tensor a part of a key is for."""
    if isinstance(key, (Tensor, np.ndarray)) and key.dtype in (torch.bool, np.bool_):
        return key.ndim
    return 0 if key is None or key is Ellipsis else 1


def _steps_back(key: Any) -> bool:
    if isinstance(key, slice):
        return isinstance(key.step, int) and key.step < 0
    return isinstance(key, tuple) and any(map(_steps_back, key))


_part = Tensor.__getitem__


@wraps(_part)
def part(self: Tensor, key: Any) -> Tensor:
    """A part of a tensor, also by slices that go back."""
    return _part(*without_steps_back(self, key)) if _steps_back(key) else _part(self, key)


def with_arrays(name: str) -> Callable[[Tensor, Any], Any]:
    """An operator of tensors that takes an array of NumPy beside a tensor, as one of the tensor's type."""
    function = getattr(Tensor, name)

    @wraps(function)
    def operate(self: Tensor, other: Any) -> Any:
        if isinstance(other, (np.ndarray, np.generic)):
            other = torch.as_tensor(other, device=self.device).to(self.dtype)
        return function(self, other)

    return operate


def in_place(name: str) -> Callable[[Tensor, Any], Any]:
    """An operator such as `+=`: in the `call` of a script's layer it makes a new tensor, as in Keras."""
    function, plain = getattr(Tensor, f"__i{name}__"), getattr(Tensor, f"__{name}__")

    @wraps(function)
    def operate(self: Tensor, other: Any) -> Any:
        return plain(self, other) if assignments.waits() else function(self, other)

    return operate


OPERATORS = tuple(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "pow", "mod") for side in ("", "r"))
OPERATORS = (*OPERATORS, *(f"__{name}__" for name in ("lt", "le", "gt", "ge")))


def extend() -> None:
    """Let a symbolic tensor equal itself alone, as in Keras 2: `tensor in tensors`, `tensors.index(tensor)`.

    A variable counts as true, whatever its values: `if self.bias:` asks whether there is one. Tensors go with arrays of
    NumPy, and take slices that go back.
    """
    KerasTensor.__eq__, KerasTensor.__ne__ = object.__eq__, object.__ne__  # type: ignore[method-assign]
    if "__len__" in vars(KerasTensor):
        del KerasTensor.__len__  # scripts ask `hasattr(tensor, "__len__")` for a list
    nn.Parameter.__bool__ = lambda self: True  # type: ignore[method-assign]
    Tensor.__getitem__ = part  # type: ignore[method-assign]
    for name in OPERATORS:
        setattr(Tensor, name, with_arrays(name))
    for name in ("add", "sub", "mul", "truediv", "pow"):
        setattr(Tensor, f"__i{name}__", in_place(name))
    for kind in (Tensor, KerasTensor):
        kind.get_shape, kind.set_shape = get_shape, set_shape  # type: ignore[method-assign, union-attr]
    Tensor._keras_shape = property(keras_shape, set_keras_shape)  # type: ignore[attr-defined]
    KerasTensor._keras_shape = property(lambda self: self.shape, set_shape)  # type: ignore[assignment]
