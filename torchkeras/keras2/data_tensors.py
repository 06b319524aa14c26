"""Data that are variables: `Input(tensor=K.variable(images))`, which a model is then not given, and `fit(variable)`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import Any

from torch import Tensor, nn

from torchkeras import models
from torchkeras.base.arrays import to_numpy
from torchkeras.engine.graph import input as inputs
from torchkeras.engine.graph.trace import is_connected
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.keras2.backend.wrapped import values_of, wrap


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
    layers = [tensor.keras_history.layer for tensor in model.inputs] if is_connected(model) else []
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


STEPS = {"fit": "steps_per_epoch", "evaluate": "steps", "predict": "steps"}
DATA = ("x", "y", "sample_weight")


def by_steps(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `fit`, `evaluate` or `predict` with which each step takes variables whole, as in Keras 2.

    Raises ValueError where the number of steps is not given, and for a `validation_split`.
    """
    steps = STEPS[method]
    found = dict(given)
    validation = found.get("validation_data")
    if isinstance(validation, (tuple, list)) and any(map(_has_variables, validation)):
        found["validation_data"] = repeat(validation)
    if not (_has_variables(found.get("x")) or _has_variables(found.get("y"))):
        return found
    if found.get(steps) is None:
        raise ValueError(
            f"{method}: with variables as data you should specify the `{steps}`: each step takes them whole."
        )
    if found.get("validation_split"):
        raise ValueError(f"{method}: with variables as data you cannot use `validation_split`.")
    batch = tuple(found.pop(name) for name in DATA if found.get(name) is not None)
    found.pop("batch_size", None)
    return {**{name: each for name, each in found.items() if name not in DATA}, "x": repeat(batch)}


def _has_variables(data: Any) -> bool:
    each = data.values() if isinstance(data, Mapping) else as_list(data)
    return any(isinstance(one, nn.Parameter) for one in each)
