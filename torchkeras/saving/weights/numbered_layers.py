"""Weights in the layout of Keras 0: layers have numbers only, and the backend is not stored.

A file of weights has `nb_layers`, and for each layer a group `layer_0`, `layer_1` and so on, with `nb_params` arrays
`param_0`, `param_1` and so on. Layers without weights are numbered, too. A Merge has the arrays of its branches, one
layer after another. Nothing in the file names a layer or the backend. Found with genuine Keras 0.3.3:

- BatchNormalization's fourth array is a standard deviation, and epsilon is added to it: `(x - mean) / (std + epsilon)`.
  This holds up to Keras 1.0.5 (on Theano up to 1.0.6). What later versions call `running_std` is a variance.
- Convolutional kernels, LSTM's twelve arrays and GRU's nine are stored as in Keras 1.
- Highway's arrays are kernel, bias, carry kernel, carry bias.
- A Graph's weights follow its nodes, which the file does not name: refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import h5py

from torchkeras.engine.graph.network import Network, layers_in
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import KERAS1
from torchkeras.errors import ModelFileError, UnknownFormatError, WeightMismatchError
from torchkeras.legacy.weights import Recipe, Step
from torchkeras.saving.containers.hdf5 import attribute, dataset_in, group_in, has_attribute
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.containers.parts import Dataset
from torchkeras.saving.weights import matching
from torchkeras.saving.weights.matching import Match, Named
from torchkeras.saving.weights.origin import Origin

Arrays = list[tuple[str, Dataset]]

# How many arrays a layer had, if the number differs, and what Keras 1 called them later.
GATES: Mapping[str, str] = {"LSTM": "icfo", "GRU": "zrh"}
NAMES: Mapping[str, tuple[str, ...]] = {
    **{kind: tuple(f"{part}_{gate}" for gate in gates for part in "WUb") for kind, gates in GATES.items()},
    "BatchNormalization": ("gamma", "beta", "running_mean", "running_std"),
    "Highway": ("W", "b", "W_carry", "b_carry"),
}
# The order of the arrays in Keras 1, if it differs.
ORDER: Mapping[str, tuple[int, ...]] = {"Highway": (0, 2, 1, 3)}


def match(group: h5py.Group, model: Network, origin: Origin, backend_is_told: bool) -> list[Match]:
    """Every weight of the model with its arrays. Raises WeightMismatchError.

    Raises ModelFileError for convolutions if the caller gave no backend, since Theano flipped their kernels.
    """
    file = filename(group)
    matches: list[Match] = []
    for layer, arrays in old_pairs(group, model):
        where = f"{file}: layer {layer.name!r} ({type(layer).__name__})"
        named = [Named(name, array) for name, array in arrays]
        matches += map(_with_variance, matching.match(own_variables(layer), named, origin, where))
    turned = [found for found in matches if Origin(1, True).steps(found.variable)]
    if turned and not backend_is_told:
        raise ModelFileError(
            f"{file}: weights of Keras 0, which do not say on which backend {turned[0].variable.full_name!r} was made. "
            "Say original_backend='theano' or 'tensorflow'."
        )
    return matches


def _with_variance(found: Match) -> Match:
    """The same, with a step that turns Keras 0's standard deviation into a variance."""
    if found.variable.name != "moving_variance":
        return found
    epsilon: Any = found.variable.layer.epsilon  # every layer with this weight has it
    step = Step("standard deviation made a variance", partial(variance, epsilon=epsilon))
    return Match(found.variable, found.sources, Recipe(found.recipe.sources, after=(step,)))


def old_layout(group: h5py.Group) -> list[tuple[str, list[Dataset]]]:
    """The layers in order, with their arrays.

    Raises UnknownFormatError for a Graph, ModelFileError for a missing number.
    """
    if not has_attribute(group, "nb_layers"):
        raise UnknownFormatError(
            f"{filename(group)}: the weights of a Graph of Keras 0, in an order that the file does not have, are "
            "not read."
        )
    names = [f"layer_{index}" for index in range(_checked_count(group, "nb_layers"))]
    found = [(name, group_in(group, name)) for name in names]
    return [
        (name, [dataset_in(layer, f"param_{index}") for index in range(_checked_count(layer, "nb_params"))])
        for name, layer in found
    ]


def _checked_count(group: h5py.Group, counted: str) -> int:
    value = attribute(group, counted)
    if not isinstance(value, int) or not 0 <= value <= len(group):
        raise WeightMismatchError(
            f"{filename(group)}: {counted!r} of {group.name} must be a number up to the {len(group)} members "
            f"that it has; found {value!r}."
        )
    return value


def old_pairs(group: h5py.Group, model: Network) -> list[tuple[Layer, Arrays]]:
    """Each innermost layer of a model that has weights, with its arrays under Keras 1's names.

    Raises WeightMismatchError if the file has another number of arrays than the model's layers.
    """
    arrays = [array for _, found in old_layout(group) for array in found]
    pairs: list[tuple[Layer, Arrays]] = []
    for layer in _innermost(model):
        kind, names = _names_of(layer)
        taken, arrays = arrays[: len(names)], arrays[len(names) :]
        if len(taken) < len(names):
            break
        named = [(f"{layer.name}_{name}", array) for name, array in zip(names, taken, strict=True)]
        pairs.append((layer, [named[index] for index in ORDER.get(kind, range(len(named)))]))
    else:
        if not arrays:
            return pairs
    stored = sum(len(found) for _, found in old_layout(group))
    raise WeightMismatchError(
        f"{filename(group)}: the file has {stored} arrays; the model's layers with weights are "
        f"{', '.join(layer.name for layer in _innermost(model))}, for which Keras 0 wrote another number."
    )


def _names_of(layer: Layer) -> tuple[str, tuple[str, ...]]:
    """The class in `NAMES` that a layer is of, "" without, and Keras 1's names of its arrays."""
    for cls in type(layer).__mro__:
        if cls.__name__ in NAMES:
            return cls.__name__, NAMES[cls.__name__]
    return "", tuple(f"param_{index}" for index in range(len(own_variables(layer))))


def _innermost(model: Network) -> Iterator[Layer]:
    """The layers that own weights, in the order of Keras 0."""
    for layer in layers_in(model, KERAS1):
        if isinstance(layer, Network):
            yield from _innermost(layer)
        else:
            yield from (found for found in layer.modules() if isinstance(found, Layer) and own_variables(found))


def variance(std: Any, epsilon: float) -> Any:
    """The variance for which `sqrt(variance + epsilon)` is `std + epsilon`, by which Keras 0 divided."""
    return (std + epsilon) ** 2 - epsilon
