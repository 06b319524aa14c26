"""How a function of the backend meets what it is called on: symbolic tensors, torch's, arrays and numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.arrays import as_tensor
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.engine.weights import expressions
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2.backend import assignments
from torchkeras.tensor_functions import torch_functions

P = ParamSpec("P")


def node(function: Callable[P, Any]) -> Callable[P, Any]:
    """Make a function one node of the graph on symbolic tensors; on others it computes at once."""
    return _published(function, pointwise=False)


def pointwise(function: Callable[P, Any]) -> Callable[P, Any]:
    """As `node`, of a function that takes each number by itself: the mask of its input goes on."""
    return _published(function, pointwise=True)


def named_node(name: str) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """As `node`, under the name of the public function that uses it."""

    def named(function: Callable[P, Any]) -> Callable[P, Any]:
        function.__name__ = name
        return node(function)

    return named


def _published(function: Callable[P, Any], pointwise: bool) -> Callable[P, Any]:
    torch_functions.add_own(function, pointwise)
    names = list(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        if is_symbolic((*args, *kwargs.values())):
            named = zip(names, args, strict=False)
            given = tuple(_plain(value) if name == "axis" else value for name, value in named)
            options = {name: _plain(value) if name == "axis" else value for name, value in kwargs.items()}
            return KerasTensor.apply_function(function, given, options)
        found = function(*args, **kwargs)
        found = tuple(_unshared(each, args) for each in found) if isinstance(found, tuple) else _unshared(found, args)
        return found if assignments.waits() else expressions.recorded(call, args, kwargs, found)

    return call


def _plain(axis: Any) -> Any:
    """Axes as whole numbers: a node has those, and would take an array of them as a tensor."""
    return axis.tolist() if isinstance(axis, (np.ndarray, np.integer)) else axis


def _unshared(found: Any, args: tuple[Any, ...]) -> Any:
    """A result that `a /= b` may change, as it makes a new tensor in Keras: neither a view of an argument, nor the
    argument itself, nor what a gradient needs.
    """
    if not isinstance(found, Tensor) or found.layout is not torch.strided or found.is_meta:
        return found
    if is_compiling() or found._is_view() or any(found is each for each in args):
        return found.clone()
    return found.clone() if hasattr(found.grad_fn, "_saved_result") else found


def is_symbolic(value: Any) -> bool:
    """Whether a symbolic tensor, or the size of one, is a value or in a list of them."""
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    return isinstance(value, (KerasTensor, SymbolicSize))


def floating() -> torch.dtype:
    """The type `floatx`."""
    return dtype_of(config.floatx())


def as_type(dtype: Any) -> torch.dtype:
    """A type by its name, or as torch or NumPy has it; `floatx` for None. Raises TypeError for an unknown name."""
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype or floating()
    try:
        return dtype_of(dtype if isinstance(dtype, str) else np.dtype(dtype).name)
    except ValueError as error:
        raise TypeError(str(error)) from error


def tensor(value: Any, like: Tensor | None = None) -> Tensor:
    """A tensor as it is, else a new one: of the type and place of `like`; without it Python's floating-point numbers
    are of type `floatx`, its whole ones of int32, and arrays of their own type.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, KerasTensor):
        raise TypeError(f"{value!r} is symbolic and the other tensors are not; a function takes all of one kind.")
    if isinstance(value, (list, tuple)) and any(isinstance(part, Tensor) for part in value):
        return torch.stack([tensor(part, like) for part in value])
    if isinstance(value, (np.generic, np.ndarray)):
        value = as_tensor(np.array(value))
    if like is not None:
        return torch.as_tensor(value, dtype=like.dtype, device=like.device)
    if isinstance(value, Tensor):
        return value.to(config.device())
    found = torch.as_tensor(value)
    return found.to(config.device(), _python_type(found.dtype))


def _python_type(dtype: torch.dtype) -> torch.dtype:
    """The type of a tensor of Python's numbers, which torch would give this one."""
    if dtype.is_floating_point:
        return floating()
    return torch.int32 if dtype is torch.int64 else dtype


def pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Two operands as tensors; a number or array has the type of the other one."""
    if isinstance(x, Tensor) or not isinstance(y, Tensor):
        x = tensor(x)
        return x, tensor(y, x)
    return tensor(x, y), y


def whole(value: Any) -> int:
    """A whole number, which may stand in a tensor. A size that an exporter leaves open stays so."""
    return value if isinstance(value, torch.SymInt) else int(value)  # type: ignore[return-value]


def sizes(shape: Any) -> tuple[int, ...]:
    """A shape as whole numbers, from a list, a tuple, an array or a tensor."""
    if isinstance(shape, (Tensor, np.ndarray)):
        return tuple(shape.tolist())
    return tuple(map(whole, shape)) if isinstance(shape, Sequence) else (whole(shape),)
