"""Inputs that are tensors with values: `Input(tensor=K.variable(images))`, which a model is then not given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from torchkeras import models
from torchkeras.arrays import to_numpy
from torchkeras.backend.wrapped import values_of, wrap
from torchkeras.engine.graph import input as inputs
from torchkeras.engine.layer.symbolic import as_list, unpacked


def Input(*args: Any, sparse: bool = False, tensor: Any = None, **kwargs: Any) -> Any:  # noqa: N802  (Keras's name)
    """`torchkeras.Input`; with a `tensor` it has its shape and type, and stands for it.

    `fit` and the like take the values of one that has them by themselves. `K.function` and `K.gradients` go on through
    one that is symbolic.

    A sparse one is dense: `fit` and the like make sparse matrices dense.
    """
    return inputs.Input(*args, **kwargs) if tensor is None else wrap(tensor, kwargs.get("name"))


def clone_model(model: Any, input_tensors: Any = None) -> Any:
    """`torchkeras.clone_model`; `input_tensors` may have values."""
    if input_tensors is None:
        return models.clone_model(model)
    given = [Input(tensor=each) if isinstance(each, Tensor) else each for each in as_list(input_tensors)]
    return models.clone_model(model, unpacked(given))


def with_values(model: Any, x: Any) -> Any:
    """The inputs by name where some of them have values; else what was given. Raises ValueError for another number."""
    layers = [tensor._keras_history.layer for tensor in model.inputs] if model._is_connected else []
    values = {layer.name: values_of(layer.input) for layer in layers}
    known = {name: to_numpy(each) for name, each in values.items() if each is not None}
    if not known:
        return x
    if isinstance(x, Mapping):
        return {**known, **x}
    open_names = [layer.name for layer in layers if layer.name not in known]
    found = as_list(x)
    if len(found) != len(open_names):
        raise ValueError(f"{model.name}: {len(open_names)} inputs have no values of their own; found {len(found)}.")
    return {**known, **dict(zip(open_names, found, strict=True))}
