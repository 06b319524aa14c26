"""Questions about tensors: what kind they are, their type, their shape."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.base.dtypes import dtype_name
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2.backend.nodes import as_type, tensor
from torchkeras.keras2.backend.sizes import Shape

PLACEHOLDER = "placeholder"  # an attribute of the layers of placeholders


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, symbolic or not."""
    return isinstance(x, (Tensor, KerasTensor))


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` is a symbolic tensor of a graph of layers, which a model can begin or end with.

    A placeholder, what functions compute from placeholders alone, and a tensor with values are none.

    Raises ValueError for what is no tensor at all.

    >>> is_keras_tensor(Input((2,))), is_keras_tensor(variable(1.0)), is_keras_tensor(placeholder((2,)))
    (True, False, False)
    """
    if not is_tensor(x):
        raise ValueError(f"is_keras_tensor takes a tensor; found {type(x).__name__}.")
    if not isinstance(x, KerasTensor):
        return False
    inputs, layers = trace.before(x)
    called = any(not isinstance(layer, Operation) for layer in layers)
    return called or any(PLACEHOLDER not in vars(each.keras_history.layer) for each in inputs)


def is_placeholder(x: Any) -> bool:
    """Whether a symbolic tensor gets its values from outside: a placeholder or an Input."""
    return isinstance(x, KerasTensor) and isinstance(x.keras_history.layer, InputLayer)


def is_variable(x: Any) -> bool:
    """Whether `x` is a variable or a weight."""
    return isinstance(x, (nn.Parameter, Variable))


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is sparse."""
    return isinstance(tensor, Tensor) and tensor.layout is not torch.strided


def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one; others as they are.

    >>> to_dense(torch.eye(2).to_sparse())
    tensor([[1., 0.],
            [0., 1.]])
    """
    return tensor.to_dense() if is_sparse(tensor) else tensor


def dtype(x: Any) -> str:
    """The name of a tensor's type.

    >>> dtype(torch.zeros(2))
    'float32'
    """
    return dtype_name(as_type(x.dtype))


def shape(x: Any) -> Shape:
    """The sizes of the axes, as whole numbers that count as int32; of a symbolic tensor, sizes that later calls know.

    >>> shape(torch.zeros(2, 3))
    Shape(2, 3)
    >>> inputs = Input((4, 5))
    >>> reshape(inputs, (shape(inputs)[0], 20)).shape
    (None, 20)
    """
    found = x.size() if isinstance(x, KerasTensor) else tensor(x).shape
    return Shape(found)


def int_shape(x: Any) -> tuple[int | None, ...]:
    """The sizes of the axes, None for an unknown one.

    >>> int_shape(Input((2, 3)))
    (None, 2, 3)
    """
    return tuple(x.shape)


def get_variable_shape(x: Any) -> tuple[int | None, ...]:
    """The shape of a variable, as `int_shape`."""
    return int_shape(x)


def ndim(x: Any) -> int:
    """The number of axes.

    >>> ndim(Input((2, 3)))
    3
    """
    return len(x.shape)


def count_params(x: Any) -> int:
    """The number of values of a variable.

    >>> count_params(zeros((2, 3)))
    6
    """
    return prod(x.shape)
