"""The HDF5 layout of weights that Keras 1, 2 and 3 share: a group for each layer, with Keras's order of axes.

`layer_names` lists the layers. `weight_names` of each group lists its weights: first those that train, then the others.
This order also holds across all layers of an inner model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import h5py
import numpy as np

from torchkeras.engine.graph.network import Network, layers_in
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import Variable, own_variables
from torchkeras.engine.weights.weight_lists import NOW, Order, sublayers, weights_in
from torchkeras.errors import ModelFileError, WeightMismatchError
from torchkeras.saving.containers.hdf5 import dataset_in, group_in, members, read_names, write_array, write_names
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.containers.parts import Dataset
from torchkeras.saving.graph_config import KERAS_VERSION
from torchkeras.saving.weights.matching import ADVICE, Match, Named, match, warn_of_skipped
from torchkeras.saving.weights.origin import SORTED, Origin

# Keras 3 and tf.keras list a model's own weights in this group, next to the layers. Functional models have none.
BESIDE_LAYERS = "top_level_model_weights"
BY_NAME = " With by_name=True, layers are paired by their names, and others are left as they are."


def write_origin(group: h5py.Group) -> None:
    """Write which Keras wrote the group."""
    # As bytes: Keras 2 decodes what it reads.
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = KERAS_VERSION.encode("utf-8")


def write_weights(group: h5py.Group, model: Network, order: Order = NOW) -> None:
    """Write the weights of a model's layers, and those that belong to no layer."""
    weighted = [(layer, weights_in(layer, order)) for layer in model.layers]
    if beside := _beside_layers(model, weighted):
        write_arrays(group.require_group(BESIDE_LAYERS), [(v.full_name, v.shared_numpy()) for v in beside])
    write_names(group, "layer_names", [layer.name for layer, _ in weighted])
    write_origin(group)
    group.attrs[SORTED] = True
    for layer, variables in weighted:
        write_arrays(group.require_group(layer.name), [(v.full_name, v.shared_numpy()) for v in variables])


def _beside_layers(model: Network, weighted: Collection[tuple[Layer, list[Variable]]]) -> list[Variable]:
    """The weights of no layer of the graph: a model's own, and those of modules that it keeps outside the graph.

    `weighted`: the layers with their weights.
    """
    if isinstance(model, Network) and not own_variables(model):
        layers = {layer for layer, _ in weighted}
        if not any(layer.weights for layer in sublayers(model) if layer not in layers):
            return []
    of_layers = {variable.identity for _, variables in weighted for variable in variables}
    return [variable for variable in model.weights if variable.identity not in of_layers]


def write_arrays(group: h5py.Group, arrays: list[tuple[str, np.ndarray]]) -> None:
    """Write arrays and, in `weight_names`, their order."""
    names = _distinct([name for name, _ in arrays])
    write_names(group, "weight_names", names)
    for name, (_, array) in zip(names, arrays, strict=True):
        write_array(group, name, array)


def _distinct(names: list[str]) -> list[str]:
    """The names, made distinct as TensorFlow does: two inner models may each have a `dense_1`."""
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


def read_arrays(group: h5py.Group) -> list[Named]:
    """The arrays of a group in the order of its `weight_names`. Raises ModelFileError for a missing array."""
    names = read_names(group, "weight_names")
    _refuse_twice(group, "weight_names", names)
    return [Named(name, dataset_in(group, name)) for name in names]


def stored_layers(group: h5py.Group) -> dict[str, list[Named]]:
    """The arrays of each layer, by its name, in the order of the file.

    Raises ModelFileError for a name that is listed twice or has no group, and for an array that no list names.
    """
    file, names = filename(group), read_names(group, "layer_names")
    _refuse_twice(group, "layer_names", names)
    beside = [BESIDE_LAYERS] if BESIDE_LAYERS in group and BESIDE_LAYERS not in names else []
    found = {name: read_arrays(group_in(group, name)) for name in (*names, *beside)}
    listed = {source.path for arrays in found.values() for source in arrays}
    unlisted = [path for path in paths(group) if path not in listed]
    if unlisted:
        raise WeightMismatchError(f"{file}: the array {unlisted[0]} is in no list of 'weight_names'.")
    return found


def _refuse_twice(group: h5py.Group, attribute: str, names: list[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WeightMismatchError(f"{filename(group)}: {attribute!r} of {group.name} has {twice!r} twice.")


def paths(group: h5py.Group) -> list[str]:
    """The paths of all arrays inside a group."""
    found: list[str] = []
    pending = [group]
    while pending:
        for item in members(pending.pop()).values():
            if isinstance(item, Dataset):
                found.append(str(item.name))
            else:
                pending.append(item)
    return found


def match_in_order(
    group: h5py.Group,
    model: Network,
    origin: Origin,
    order: Order,
    skip_mismatch: bool = False,
    reshape: bool = False,
    named: bool = False,
) -> list[Match]:
    """Every weight of the model with its arrays, with layers matched in order. Raises WeightMismatchError.

    `order`: that of the weights in the file. `skip_mismatch` leaves out layers with other shapes. `named`: whether the
    layers have the names that they have in the file; then these say which is which, since Keras 3 has orders of
    arguments and of nested dicts that depend on how a layer was called and on its backend.
    """
    stored = {name: arrays for name, arrays in stored_layers(group).items() if arrays}
    beside = stored.pop(BESIDE_LAYERS, [])
    layers = layers_in(model, order.layers) if order.layers else model.layers
    weighted = [(layer, variables) for layer in layers if (variables := weights_in(layer, order))]
    names = [layer.name for layer, _ in weighted]
    file = filename(group)
    if len(stored) != len(weighted):
        raise WeightMismatchError(
            f"{file}: cannot load the weights of {len(stored)} layers into a model with {len(weighted)} layers that "
            f"have weights: the file has {', '.join(stored)}; the model "
            f"{', '.join(names)}. {ADVICE}{BY_NAME * skip_mismatch}"
        )
    where = f"{file}: {BESIDE_LAYERS}, the weights of {type(model).__name__} {model.name!r} beside its layers"
    matched: list[Match] = []
    if named and set(names) == set(stored):
        stored = {name: stored[name] for name in names}
    for (layer, variables), arrays in zip(weighted, stored.values(), strict=True):
        matched += _of_layer(layer, variables, arrays, origin, file, skip_mismatch, reshape)
    return [*matched, *match(_beside_layers(model, weighted), beside, origin, where, reshape)]


def match_by_name(
    group: h5py.Group, model: Network, origin: Origin, skip_mismatch: bool = False, reshape: bool = False
) -> list[Match]:
    """The weights of the layers whose names the file has; `skip_mismatch` leaves out layers with other shapes.

    Raises WeightMismatchError, also if the model has no layer with a name of the file.
    """
    stored, file = stored_layers(group), filename(group)
    found: list[Match] = []
    named = [layer for layer in model.layers if layer.weights and layer.name in stored]
    if not named and (model.weights or any(stored.values())):
        raise WeightMismatchError(
            f"{file}: by_name finds no layer: the file has {', '.join(stored) or 'none'}; the model has "
            f"{', '.join(layer.name for layer in model.layers if layer.weights) or 'none'} with weights."
        )
    for layer in named:
        variables = weights_in(layer, origin.order)
        found += _of_layer(layer, variables, stored[layer.name], origin, file, skip_mismatch, reshape)
    return found


def _of_layer(
    layer: Layer,
    variables: list[Variable],
    arrays: list[Named],
    origin: Origin,
    file: str,
    skip_mismatch: bool,
    reshape: bool,
) -> list[Match]:
    """The weights of a layer with their arrays; with `skip_mismatch` none, and a warning, if they do not fit."""
    try:
        return match(variables, arrays, origin, _layer_in_file(layer, file), reshape)
    except WeightMismatchError as error:
        if not skip_mismatch:
            raise
        warn_of_skipped(layer.name, error)
        return []


def _layer_in_file(layer: Layer, file: str) -> str:
    return f"{file}: layer {layer.name!r} ({type(layer).__name__})"


def untaken(group: h5py.Group, matches: Iterable[Match]) -> list[str]:
    """The paths of the arrays that no weight took."""
    taken = {source.path for found in matches for source in found.sources}
    return [source.path for arrays in stored_layers(group).values() for source in arrays if source.path not in taken]


def follow_origin(file: str, model: Network, matches: list[Match], origin: Origin, by_name: bool) -> None:
    """Make layers compute as the Keras and backend did that wrote their weights, if that differs.

    Raises ModelFileError if layers are paired by name and one that keeps its weights would have to change.
    """
    layers = [found for found in model.modules() if isinstance(found, Layer)]
    if origin.generation == 1 and not origin.moved:  # converted weights fit the model as it is
        for found in layers:
            _follow_keras1(found, file, by_name)
    if origin.theano:
        taking = {found.variable.layer for found in matches}
        for found in layers:
            if found in taking or not found.weights:
                found._follow_theano()


def _follow_keras1(layer: Layer, file: str, by_name: bool) -> None:
    follow = getattr(layer, "_follow_keras1", None)
    if follow is None or getattr(layer, "data_format", None) != "channels_first":
        return
    if by_name:
        raise ModelFileError(
            f"{file}: written by Keras 1, whose Flatten kept channels first; {layer.name!r} puts them last, as Keras 2 "
            "does. Make it Flatten(data_format='channels_last') to load by name."
        )
    follow()
