"""Inputs that stand for another tensor: `Input(tensor=...)` of old scripts.

A model begins at such an Input. What `K.function` and `K.gradients` compute goes on through it: to the values of the
tensor, or to the part of the graph that makes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from torchkeras.base.dtypes import dtype_name
from torchkeras.engine.graph.input import Input
from torchkeras.engine.symbolic import tensor as symbolic
from torchkeras.engine.symbolic.tensor import KerasTensor, Node
from torchkeras.layers import Activation

_ORIGIN, _STAND_IN = "origin", "stand_in"  # attributes of the layers of such an Input, and of what it stands for


def wrap(tensor: Any, name: str | None = None) -> KerasTensor:
    """An Input that stands for a tensor with values, or for a symbolic one."""
    made = Input(batch_shape=tuple(tensor.shape), name=name, dtype=dtype_name(tensor.dtype))
    origin = tensor
    if isinstance(tensor, KerasTensor):
        origin = replace(symbolic.node_of(Activation("linear")(tensor)), outputs=made)
        vars(tensor.keras_history.layer)[_STAND_IN] = made
    vars(made.keras_history.layer)[_ORIGIN] = origin
    return made


def values_of(tensor: KerasTensor) -> Tensor | None:
    """The values that an Input stands for."""
    found = vars(tensor.keras_history.layer).get(_ORIGIN)
    return found if isinstance(found, Tensor) else None


def node_of(tensor: KerasTensor) -> Node:
    """The call that made a symbolic tensor; of an Input that stands for another, one that passes that on."""
    found = vars(tensor.keras_history.layer).get(_ORIGIN)
    return found if isinstance(found, Node) else symbolic.node_of(tensor)


def stand_in(tensor: KerasTensor) -> KerasTensor | None:
    """The Input that stands for a symbolic tensor, if there is one."""
    return vars(tensor.keras_history.layer).get(_STAND_IN)
