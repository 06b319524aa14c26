"""The HDF5 layout of Keras 2: a group a layer, its weights in Keras's order of axes.

`layer_names` lists the layers, and each group's `weight_names` its weights: those that train first, then the others,
also across the layers of a model inside. A whole model adds `model_config`, `training_config`, `optimizer_weights`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

from torchkeras.engine.layer import Layer
from torchkeras.engine.network import Network
from torchkeras.engine.symbol import dtype_of
from torchkeras.engine.weight import Variable, allocate
from torchkeras.saving.architecture import KERAS_VERSION
from torchkeras.saving.errors import ModelFileError, WeightMismatchError
from torchkeras.saving.hdf5 import dataset_in, group_in, read_names, text, write_names
from torchkeras.saving.origin import Origin


def write_weights(group: h5py.Group, layers: list[Layer]) -> None:
    """Write the weights of a model's layers."""
    write_names(group, "layer_names", [layer.name for layer in layers])
    _write_origin(group)
    for layer in layers:
        _write_arrays(group.require_group(layer.name), [(v.full_name, v.numpy()) for v in layer.weights])


def _write_origin(group: h5py.Group) -> None:
    # As bytes: Keras 2 decodes what it reads.
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = KERAS_VERSION.encode("utf-8")


def _write_arrays(group: h5py.Group, arrays: list[tuple[str, np.ndarray]]) -> None:
    names = _distinct([name for name, _ in arrays])
    write_names(group, "weight_names", names)
    for name, (_, array) in zip(names, arrays, strict=True):
        group.create_dataset(name, data=array)


def _distinct(names: list[str]) -> list[str]:
    """The names, made distinct as TensorFlow does: two models inside may each have a `dense_1`."""
    taken: set[str] = set()
    result = []
    for name in names:
        scope, _, last = name.rpartition("/")
        unique, count = name, 0
        while unique in taken:
            count += 1
            unique = f"{scope}_{count}/{last}"
        taken.add(unique)
        result.append(unique)
    return result


def read_weights(group: h5py.Group, model: Network, by_name: bool = False, skip_mismatch: bool = False) -> None:
    """Set the weights of a model's layers from a file, all of them or, after an error, none.

    Layers are paired in order, or `by_name`; then what either side lacks is left alone, and with `skip_mismatch` so
    are layers whose weights differ in number or shape. Raises WeightMismatchError, ModelFileError.
    """
    origin = Origin.of(group)
    layers = model.layers if origin.generation > 1 else model.layers_of_keras1
    pairs: list[tuple[Variable, Any]] = []
    for layer, stored in _by_name(group, layers) if by_name else _in_order(group, layers):
        try:
            pairs += _pair(layer, stored, origin)
        except WeightMismatchError:
            if not skip_mismatch:
                raise
    if origin.generation == 1:
        _follow_keras1(group, model, by_name)
    if origin.theano:
        taking = {variable.layer for variable, _ in pairs}
        for found in model.modules():
            if isinstance(found, Layer) and (found in taking or not found.weights):
                found.follow_theano()
    for variable, array in pairs:
        variable.assign(origin.values(variable, array[()]))


def _follow_keras1(group: h5py.Group, model: Network, by_name: bool) -> None:
    """Let layers that Keras 1 computed in another order follow it: what comes after them was trained so.

    Raises ModelFileError when layers are paired by name: those that keep their weights may need today's order.
    """
    for found in model.modules():
        follow = getattr(found, "follow_keras1", None)
        if follow is None or getattr(found, "data_format", None) != "channels_first":
            continue
        if by_name:
            raise ModelFileError(
                f"{group.file.filename}: written by Keras 1, whose Flatten kept channels first; {found.name!r} puts "
                "them last, as Keras 2 does. Make it Flatten(data_format='channels_last') to load by name."
            )
        follow()


def _in_order(group: h5py.Group, layers: list[Layer]) -> list[tuple[Layer, h5py.Group]]:
    stored = {name: group_in(group, name) for name in read_names(group, "layer_names")}
    stored = {name: found for name, found in stored.items() if read_names(found, "weight_names")}
    weighted = [layer for layer in layers if layer.weights]
    if len(stored) != len(weighted):
        raise WeightMismatchError(
            f"{group.file.filename}: the file has {len(stored)} layers with weights "
            f"({', '.join(stored)}); "
            f"the model has {len(weighted)} ({', '.join(layer.name for layer in weighted)})."
        )
    return list(zip(weighted, stored.values(), strict=True))


def _by_name(group: h5py.Group, layers: list[Layer]) -> list[tuple[Layer, h5py.Group]]:
    names = set(read_names(group, "layer_names"))
    return [(layer, group_in(group, layer.name)) for layer in layers if layer.weights and layer.name in names]


def _pair(layer: Layer, stored: h5py.Group, origin: Origin) -> list[tuple[Variable, Any]]:
    """Each weight of a layer with its array: by their names when those are the same, else in their order."""
    variables = layer.weights
    arrays = [(name, dataset_in(stored, name)) for name in read_names(stored, "weight_names")]
    where = f"{stored.file.filename}: layer {layer.name!r} ({type(layer).__name__})"
    for name, array in arrays:
        if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
            raise WeightMismatchError(f"{where}: {name} in the file holds {array.dtype}, not numbers.")
    arrays = origin.arrays(variables, arrays)
    names = [name for name, _ in arrays]
    if len(names) != len(variables):
        raise WeightMismatchError(
            f"{where} has {len(variables)} weights ({', '.join(v.full_name for v in variables)}); "
            f"the file has {len(names)} ({', '.join(names)})."
        )
    expected = [v.full_name for v in variables]
    if len(set(names)) == len(names) and set(names) == set(expected):
        arrays = [(name, dict(arrays)[name]) for name in expected]
    for variable, (name, array) in zip(variables, arrays, strict=True):
        if tuple(array.shape) != variable.shape:
            raise WeightMismatchError(
                f"{where}: weight {variable.full_name!r} has shape {variable.shape}; "
                f"{name} in the file has shape {tuple(array.shape)}."
            )
    return [(variable, array) for variable, (_, array) in zip(variables, arrays, strict=True)]


def give_memory(model: Layer) -> None:
    """Allocate what was built on `meta`, innermost layers first, without drawing initial values."""
    for module in reversed(list(model.modules())):
        if isinstance(module, Layer):
            allocate(module, module._own_variables(), dtype_of(module.dtype))


def write_model(file: h5py.File, model: Network, config: Mapping[str, Any], training: Mapping[str, Any] | None) -> None:
    """Write architecture and weights; with `training` also how the model was compiled."""
    _write_origin(file)
    file.attrs["model_config"] = json.dumps(config).encode("utf-8")
    write_weights(file.create_group("model_weights"), model.layers)
    if training is not None:
        file.attrs["training_config"] = json.dumps(training).encode("utf-8")


def write_optimizer(file: h5py.File, arrays: list[np.ndarray]) -> None:
    """Write an optimizer's state, in Keras's order."""
    if arrays:
        named = [(f"training/weight_{index}:0", array) for index, array in enumerate(arrays)]
        _write_arrays(file.create_group("optimizer_weights"), named)


def read_optimizer(file: h5py.File) -> list[np.ndarray]:
    """An optimizer's state; empty when the file has none."""
    if "optimizer_weights" not in file:
        return []
    group = group_in(file, "optimizer_weights")
    return [dataset_in(group, name)[()] for name in read_names(group, "weight_names")]


def read_config(file: h5py.File, attribute: str) -> Any:
    """A JSON attribute; None when there is none. Raises ModelFileError when it is not JSON."""
    if attribute not in file.attrs:
        return None
    try:
        return json.loads(text(file.attrs[attribute]))
    except ValueError as error:
        raise ModelFileError(f"{file.filename}: attribute {attribute!r} is not JSON ({error}).") from error
