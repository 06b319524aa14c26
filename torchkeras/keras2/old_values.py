"""Tensors as the code of scripts takes them: in a layer's `call`, in a Lambda, in a loss.

There they are `Value`s: torch's tensors, with what scripts ask of TensorFlow's. What is computed from one is one, and
what the code returns is a plain tensor again. So nothing of torch itself is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from torchkeras.base.nested import tensors_in
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.keras2.tf.shapes import TensorShape, merged

IN_PLACE = ("add", "sub", "mul", "truediv", "pow")
OPERATORS = tuple(f"__{side}{name}__" for name in (*IN_PLACE, "mod") for side in ("", "r"))
OPERATORS = (*OPERATORS, *(f"__{name}__" for name in ("lt", "le", "gt", "ge")))


class Value(Tensor):
    """A tensor that goes with arrays of NumPy, takes slices that go back, and is never changed by `+=`."""

    def get_shape(self) -> TensorShape:
        """The shape as TensorFlow 1 gave it."""
        return TensorShape(self.shape)

    def set_shape(self, shape: Any) -> None:
        """Nothing but a look: the sizes are known. Raises ValueError where they are others."""
        merged(tuple(self.shape), shape)

    @property
    def _keras_shape(self) -> Shape:
        """The shape; a script may have set another."""
        return vars(self).get("_keras_shape_set") or tuple(self.shape)

    @_keras_shape.setter
    def _keras_shape(self, shape: Any) -> None:
        vars(self)["_keras_shape_set"] = tuple(shape)

    def __getitem__(self, key: Any) -> Any:
        if not steps_back(key):
            return super().__getitem__(key)
        plain, key = without_steps_back(self, key)
        return plain[key]


class ScriptWeight(nn.Parameter):
    """A weight or variable of a script: true, as TensorFlow 1's are; `if self.bias:` asks whether there is one."""

    def __bool__(self) -> bool:
        return True


def _with_arrays(name: str) -> Callable[[Value, Any], Any]:
    """An operator that takes an array of NumPy beside a tensor, as one of the tensor's type."""
    function = getattr(Tensor, name)

    @wraps(function)
    def operate(value: Value, other: Any) -> Any:
        if isinstance(other, (np.ndarray, np.generic)):
            other = torch.as_tensor(other, device=value.device).to(value.dtype)
        return function(value, other)

    return operate


for _name in OPERATORS:
    setattr(Value, _name, _with_arrays(_name))
for _name in IN_PLACE:  # a new tensor, as in Keras
    setattr(Value, f"__i{_name}__", getattr(Value, f"__{_name}__"))


def without_steps_back(x: Tensor, key: Any) -> tuple[Tensor, Any]:
    """A tensor, and a key that gives the same of it without a slice that goes back, which torch does not know."""
    keys, axis, found = list(key) if isinstance(key, tuple) else [key], 0, []
    taken = sum(_axes_of(each) for each in keys)
    for each in keys:
        if isinstance(each, slice) and isinstance(each.step, int) and each.step < 0:
            places = range(*each.indices(x.shape[axis]))
            x = x.index_select(axis, torch.tensor([*places], dtype=torch.int64, device=x.device))
            each = slice(None)
        axis += x.dim() - taken if each is Ellipsis else _axes_of(each)
        found.append(each)
    return x, tuple(found)


def _axes_of(key: Any) -> int:
    """How many axes of a tensor a part of a key is for."""
    if isinstance(key, (Tensor, np.ndarray)) and key.dtype in (torch.bool, np.bool_):
        return key.ndim
    return 0 if key is None or key is Ellipsis else 1


def steps_back(key: Any) -> bool:
    """Whether a key has a slice that goes back."""
    if isinstance(key, slice):
        return isinstance(key.step, int) and key.step < 0
    return isinstance(key, tuple) and any(map(steps_back, key))


_inside = [0]  # how many functions of scripts are running, one inside another


def _as_value(tensor: Tensor) -> Tensor:
    return tensor if isinstance(tensor, (Value, nn.Parameter)) else tensor.as_subclass(Value)


def _as_tensor(value: Value) -> Tensor:
    return value.as_subclass(Tensor)


def taking_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a script's whose tensors are `Value`s, and whose results are plain tensors."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if is_compiling() or tensors_in((args, kwargs)):
            return function(*args, **kwargs)
        args, kwargs = tree_map_only(Tensor, _as_value, (args, kwargs))
        _inside[0] += 1
        try:
            found = function(*args, **kwargs)
        finally:
            _inside[0] -= 1
        return found if _inside[0] else tree_map_only(Value, _as_tensor, found)

    return run


def giving_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the backend whose results are `Value`s where a script's function calls it."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return tree_map_only(Tensor, _as_value, found) if _inside[0] else found

    return run
