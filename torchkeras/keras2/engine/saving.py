"""`keras.engine.saving`: models and weights in open HDF5 files and groups, and arrays of Keras 1 converted by hand."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import torch
from torch import nn

from torchkeras import models
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import Variable
from torchkeras.engine.weights.weight_lists import distinct, sublayers
from torchkeras.legacy import weights as old_weights
from torchkeras.models import model_from_json, model_from_yaml
from torchkeras.saving.containers.hdf5 import read_names, write_names
from torchkeras.saving.graph_config import model_from_config
from torchkeras.saving.weights import layer_groups
from torchkeras.saving.weights.matching import take
from torchkeras.saving.weights.origin import Origin

__all__ = [
    "load_attributes_from_hdf5_group",
    "load_model",
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "pickle_model",
    "preprocess_weights_for_loading",
    "save_attributes_to_hdf5_group",
    "save_model",
    "save_weights_to_hdf5_group",
    "unpickle_model",
]

load_attributes_from_hdf5_group = read_names


def save_attributes_to_hdf5_group(group: h5py.Group, name: str, data: Sequence[str | bytes]) -> None:
    """Write a list of names as an attribute, in several parts where it is long."""
    write_names(group, name, [each.decode("utf-8") if isinstance(each, bytes) else each for each in data])


# --- models ----------------------------------------------------------------------------------------------------------


def save_model(
    model: Any, filepath: str | os.PathLike[str] | h5py.Group, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write the whole model, as `model.save`; also into an open HDF5 file, or a group of one."""
    if not isinstance(filepath, h5py.Group):
        models.save_model(model, filepath, overwrite, include_optimizer)
        return
    with _scratch() as path:
        models.save_model(model, path, True, include_optimizer)
        with h5py.File(path, "r") as file:
            _copy(file, filepath)


def load_model(
    filepath: str | os.PathLike[str] | h5py.Group,
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    **options: Any,
) -> Any:
    """A model from a file, as `torchkeras.load_model`; also from an open HDF5 file, or a group of one."""
    if not isinstance(filepath, h5py.Group):
        return models.load_model(filepath, custom_objects, compile, **options)
    with _scratch() as path:
        with h5py.File(path, "w") as file:
            _copy(filepath, file)
        return models.load_model(path, custom_objects, compile, **options)


@contextmanager
def _scratch() -> Iterator[Path]:
    """The path of a file that is gone after the block."""
    with TemporaryDirectory() as folder:
        yield Path(folder) / "model.h5"


def _copy(source: h5py.Group, target: h5py.Group) -> None:
    """Copy what a group holds, in place of what has the same names in the other."""
    for name in source:
        if name in target:
            del target[name]
        source.copy(source[name], target, name)
    for name, value in source.attrs.items():
        target.attrs[name] = value


def pickle_model(model: Any) -> bytes:
    """The whole model as bytes."""
    return pickle.dumps(model)


def unpickle_model(state: bytes) -> Any:
    """The model of such bytes, which run what they name: only for those of your own."""
    return pickle.loads(state)  # noqa: S301  (as Keras's function does; no file is read by it)


# --- weights ---------------------------------------------------------------------------------------------------------


class _Layers(nn.ModuleList):
    """A list of layers where the functions for files take a model."""

    name = "layers"

    @property
    def layers(self) -> list[Any]:
        return [layer for layer in self if isinstance(layer, Layer)]

    def _layers_in(self, order: str) -> list[Any]:
        return self.layers

    @property
    def weights(self) -> list[Variable]:
        return distinct(*(layer.weights for layer in self.layers))


def save_weights_to_hdf5_group(f: h5py.Group, layers: Sequence[Any]) -> None:
    """Write the weights of layers into an open HDF5 file or a group."""
    held: Any = _Layers(layers)
    layer_groups.write_weights(f, held)


def load_weights_from_hdf5_group(f: h5py.Group, layers: Sequence[Any], reshape: bool = False) -> None:
    """Set the weights of layers from an open HDF5 file or a group, in the order of the layers."""
    held: Any = _Layers(layers)
    origin = Origin.of(f)
    _take(f, held, layer_groups.match_in_order(f, held, origin, origin.order, reshape=reshape), origin, by_name=False)


def load_weights_from_hdf5_group_by_name(
    f: h5py.Group, layers: Sequence[Any], skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Set the weights of those layers whose names an open HDF5 file or a group has."""
    held: Any = _Layers(layers)
    origin = Origin.of(f)
    _take(f, held, layer_groups.match_by_name(f, held, origin, skip_mismatch, reshape), origin, by_name=True)


def _take(group: h5py.Group, layers: Any, matches: list[Any], origin: Origin, by_name: bool) -> None:
    layer_groups.follow_origin(str(group.name), layers, matches, origin, by_name)
    take(matches)


def preprocess_weights_for_loading(
    layer: Any,
    weights: Sequence[Any],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
    reshape: bool = False,
) -> list[np.ndarray]:
    """Arrays of another Keras as those of the layer or model now: what `set_weights` takes.

    Arguments:
        layer (layer or model): one that is built.
        weights (list of arrays): those of Keras 1 or 2, in the order of its files.
        original_keras_version (text or None): "1" or "1.2.2" for arrays of Keras 1.
        original_backend (text or None): "theano", whose kernels are flipped.
        reshape (bool): whether an array with as many values takes the shape of the weight.
    """
    left, generation = list(weights), 1 if str(original_keras_version or "2").startswith("1") else 2
    origin = Origin(generation, original_backend == "theano")
    found = [array for part in _parts(layer) for array in _of_layer(part, left, origin, reshape)]
    return [*found, *left]


def _parts(layer: Any) -> list[Any]:
    """The layers inside that have weights of their own, in order; of a wrapper that of each direction."""
    inside = layer.layers if isinstance(layer, Network) else sublayers(layer)
    return [part for each in inside for part in _parts(each)] if inside else [layer]


def _of_layer(layer: Any, left: list[Any], origin: Origin, reshape: bool) -> list[np.ndarray]:
    """Today's arrays of one layer; its old ones are taken from the front of `left`."""
    variables = layer.weights
    count = _stored_count(layer, len(variables), len(left), origin)
    taken, left[:] = left[:count], left[count:]
    tensors = [torch.as_tensor(np.asarray(array)) for array in taken]
    result = []
    for variable, tensor in zip(variables, _by_recipes(layer, variables, tensors, origin), strict=True):
        for step in origin.steps(variable):
            tensor = step.run(tensor)
        fits = tuple(tensor.shape) == variable.shape or not reshape
        result.append((tensor if fits else tensor.reshape(variable.shape)).numpy())
    return result


def _by_recipes(layer: Any, variables: list[Any], tensors: list[torch.Tensor], origin: Origin) -> list[torch.Tensor]:
    """What today's weights of a layer are made of its old ones.

    Where the channels stand is as the layer says, unless the shapes say otherwise.
    """
    rule = old_weights.recipes_of_keras1 if origin.generation == 1 else old_weights.recipes
    names, shapes = ("",) * len(tensors), tuple(tuple(each.shape) for each in tensors)
    made: list[torch.Tensor] = []
    for first in (old_weights.channels_first(layer), not old_weights.channels_first(layer)):
        recipes = rule(layer, variables, old_weights.Stored(names, shapes, first))
        made = [recipe.make([tensors[k] for k in recipe.sources]) for recipe in recipes]
        if [tuple(each.shape) for each in made] == [variable.shape for variable in variables]:
            break
    return made


def _stored_count(layer: Any, count: int, left: int, origin: Origin) -> int:
    """How many arrays a layer had: of Keras 1 a recurrent one had three for each gate."""
    gates = next((gates for name, gates in GATES.items() if any(c.__name__ == name for c in type(layer).__mro__)), 1)
    of_keras1 = origin.generation == 1 and count == 3 and left >= 3 * gates
    return 3 * gates if of_keras1 else min(count, left)


GATES = {"LSTM": 4, "GRU": 3, "ConvLSTM2D": 4}
