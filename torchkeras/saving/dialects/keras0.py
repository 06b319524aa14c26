"""What Keras 0 wrote: architectures in the form of Keras 1, and weights in layers that only have numbers.

A file of weights has `nb_layers`, and for each layer a group `layer_0`, `layer_1` and so on, with `nb_params` arrays
`param_0`, `param_1` and so on. All layers count, those without weights too; a Merge has the arrays of its branches, one
layer after another. Nothing in the file names a layer or the backend. Asked of genuine Keras 0.3.3:

- BatchNormalization's fourth array is a standard deviation, and epsilon is added to it: `(x - mean) / (std + epsilon)`.
  So it was up to Keras 1.0.5 (1.0.6 on Theano as well); what later versions call `running_std` is a variance.
- Convolutional kernels, LSTM's twelve arrays and GRU's nine lie as in Keras 1.
- Highway's arrays are kernel, bias, carry kernel, carry bias.
- Dropout of an Embedding scaled its outputs outside training as well: refused.
- A Graph's weights follow its nodes, which the file does not name: refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import h5py

from torchkeras.engine.layer import Layer
from torchkeras.engine.network import Network
from torchkeras.legacy.arguments import LAYERS
from torchkeras.saving.errors import ArchitectureError, UnknownFormatError, WeightMismatchError
from torchkeras.saving.files.hdf5 import attribute, dataset_in, group_in, members
from torchkeras.saving.files.places import filename

Arrays = list[tuple[str, h5py.Dataset]]

# How many arrays stood for a layer's weights, where it was another number, and what Keras 1 then called them.
GATES: Mapping[str, str] = {"LSTM": "icfo", "GRU": "zrh"}
NAMES: Mapping[str, tuple[str, ...]] = {
    **{kind: tuple(f"{part}_{gate}" for gate in gates for part in "WUb") for kind, gates in GATES.items()},
    "BatchNormalization": ("gamma", "beta", "running_mean", "running_std"),
    "Highway": ("W", "b", "W_carry", "b_carry"),
}
# The order in which Keras 1 had those that it had in another one.
ORDER: Mapping[str, tuple[int, ...]] = {"Highway": (0, 2, 1, 3)}

# What a config says beside the options of a layer.
BESIDE_LAYER = ("name", "cache_enabled", "custom_name")
# What stood in the config of a layer, and was not meant.
WITHOUT: Mapping[str, tuple[str, ...]] = {"Embedding": ("input_shape",), "Merge": ("trainable",)}


def has_old_layout(group: h5py.Group) -> bool:
    """Whether a group holds weights as Keras 0 wrote them."""
    return attribute(group, "nb_layers") is not None or (
        attribute(group, "layer_names") is None and "graph" in members(group)
    )


def old_layout(group: h5py.Group) -> list[tuple[str, list[h5py.Dataset]]]:
    """The layers in order, each with its arrays. Raises UnknownFormatError for a Graph, ModelFileError for a gap."""
    if attribute(group, "nb_layers") is None:
        raise UnknownFormatError(
            f"{filename(group)}: the weights of a Graph of Keras 0, in an order that the file does not tell, are "
            "not read."
        )
    names = [f"layer_{index}" for index in range(_count(group, "nb_layers"))]
    found = [(name, group_in(group, name)) for name in names]
    return [
        (name, [dataset_in(layer, f"param_{index}") for index in range(_count(layer, "nb_params"))])
        for name, layer in found
    ]


def _count(group: h5py.Group, counted: str) -> int:
    value = attribute(group, counted)
    if not isinstance(value, int) or not 0 <= value <= len(group):
        raise WeightMismatchError(
            f"{filename(group)}: {counted!r} of {group.name} must be a number up to the {len(group)} members "
            f"that it has; found {value!r}."
        )
    return value


def old_pairs(group: h5py.Group, model: Network) -> list[tuple[Layer, Arrays]]:
    """Each innermost layer of a model that has weights, with the arrays of it, under names that Keras 1 gave them.

    Raises WeightMismatchError when their numbers are not those of the model's layers.
    """
    arrays = [array for _, found in old_layout(group) for array in found]
    pairs: list[tuple[Layer, Arrays]] = []
    for layer in _innermost(model):
        kind = next((cls.__name__ for cls in type(layer).__mro__ if cls.__name__ in NAMES), "")
        count = len(layer._own_variables())
        names = NAMES[kind] if kind else tuple(f"param_{index}" for index in range(count))
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


def _innermost(model: Network) -> Iterator[Layer]:
    """The layers that own weights, in the order of Keras 0."""
    for layer in model._layers_of_keras1:
        if isinstance(layer, Network):
            yield from _innermost(layer)
        else:
            yield from (found for found in layer.modules() if isinstance(found, Layer) and found._own_variables())


def variance(std: Any, epsilon: float) -> Any:
    """The variance under which `sqrt(variance + epsilon)` is `std + epsilon`, what Keras 0 divided by."""
    return (std + epsilon) ** 2 - epsilon


# --- architectures ---------------------------------------------------------------------------------------------------


def is_config(config: Any) -> bool:
    """Whether a config has the form of Keras 0, in which a layer's `name` is its class."""
    return isinstance(config, Mapping) and "class_name" not in config and isinstance(config.get("name"), str)


def keras1_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A model's config of Keras 0 in the form of Keras 1. Raises ArchitectureError for what is not read."""
    return _layer(config, Counter())


def _layer(config: Any, used: Counter[str]) -> dict[str, Any]:
    if not is_config(config):
        raise ArchitectureError(
            f"A layer of Keras 0 is written as a dictionary with its 'name'; found {config!r:.200}."
        )
    kind = config["name"]
    if kind == "Graph":
        raise ArchitectureError("A Graph of Keras 0 is not read. Build it by code, as a Model.")
    if kind == "Sequential":
        if not isinstance(config.get("layers"), list):
            raise ArchitectureError("Sequential: a list of 'layers' is missing.")
        return {"class_name": kind, "config": [_layer(entry, used) for entry in config["layers"]]}
    name = _name(config, used)
    options = {key: value for key, value in config.items() if key not in (*BESIDE_LAYER, *WITHOUT.get(kind, ()))}
    if isinstance(options.get("layers"), list):
        options["layers"] = [_layer(entry, used) for entry in options["layers"]]
    if isinstance(options.get("layer"), Mapping):
        options["layer"] = _layer(options["layer"], used)
    if "input_shape" in options:
        shape = options.pop("input_shape")
        options.setdefault("batch_input_shape", [None, *shape] if isinstance(shape, (list, tuple)) else shape)
    if kind == "Reshape" and "dims" in options:
        options["target_shape"] = options.pop("dims")
    _refuse(kind, name, options)
    return {"class_name": kind, "config": {**options, "name": name}}


def _name(config: Mapping[str, Any], used: Counter[str]) -> str:
    """The name that the layer was given, with a number where others have it: most have their class's."""
    name = str(config.get("custom_name") or LAYERS.get(config["name"], config["name"]).lower())
    used[name] += 1
    return name if used[name] == 1 else f"{name}_{used[name]}"


def _refuse(kind: str, name: str, options: Mapping[str, Any]) -> None:
    """Raise ArchitectureError for what Keras 0 computed in another way than any later version."""
    where = f"{kind} {name!r} of Keras 0"
    if kind == "Embedding" and options.get("dropout"):
        raise ArchitectureError(
            f"{where}: with dropout it scaled its outputs outside training as well; found {options['dropout']!r}."
        )
    if kind == "BatchNormalization" and options.get("mode") == 1:
        raise ArchitectureError(f"{where}: mode=1 divided by another number than today's does.")
    if kind == "Merge" and options.get("mode") not in ("ave", "concat", "mul", "sum"):
        raise ArchitectureError(
            f"{where}: mode must be 'ave', 'concat', 'mul' or 'sum'; found {options.get('mode')!r}."
        )
