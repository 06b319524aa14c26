"""`clone_model`: the same architecture with new layers."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.layer.symbolic import KerasTensor, as_list, unpacked
from torchkeras.models.model import Model
from torchkeras.models.sequential import Sequential
from torchkeras.saving.graph_config import connect


def clone_model(model: Model, input_tensors: Any = None) -> Model:
    """The same architecture with new layers and fresh weights.

    Arguments:
        model (model): the model; it stays as it is.
        input_tensors (symbolic tensors or None, default None): the inputs of the new model; None makes new ones.

    Returns:
        The new model, not compiled.

    Errors:
        TypeError: `model` is no model, or `input_tensors` holds something else.
        ValueError: the number of inputs is another.

    Example:
        >>> model = Sequential([Dense(2, input_shape=(4,))])
        >>> clone_model(model).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model/
    """
    if not isinstance(model, Model):
        raise TypeError(f"clone_model: model must be a model of torchkeras; found {type(model).__name__}.")
    if input_tensors is None:
        return type(model).from_config(model.get_config())
    given = as_list(input_tensors)
    strange = [each for each in given if not isinstance(each, KerasTensor)]
    if strange:
        raise TypeError(f"clone_model: input_tensors must be symbolic tensors, as Input gives; found {strange[0]!r}.")
    if len(given) != len(model.inputs):
        raise ValueError(f"clone_model: {model.name!r} has {len(model.inputs)} inputs; found {len(given)}.")
    if isinstance(model, Sequential):
        clone = Sequential(name=model.name)
        clone.add(given[0]._keras_history.layer)
        for layer in model.layers:
            clone.add(type(layer).from_config({**layer.get_config(), "batch_input_shape": None}))
        return clone
    inputs, outputs = connect(model.get_config(), given=dict(zip(model.input_names, given, strict=True)))
    return Model(unpacked(inputs), unpacked(outputs), name=model.name)
