"""Architectures of Keras 1 and of Keras 0, in today's form.

Keras 0 has the form of Keras 1, except that `name` of a layer is its class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from torchkeras import config as session, registry
from torchkeras.base import bytecode
from torchkeras.engine.building.building import on_meta
from torchkeras.engine.graph.network import layers_in
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight_lists import KERAS1
from torchkeras.errors import ArchitectureError
from torchkeras.layers.pooling import Pooling
from torchkeras.legacy.names import LAYERS
from torchkeras.saving.dialects.changes import with_variance
from torchkeras.saving.dialects.dialect import Dialect, Known
from torchkeras.saving.dialects.keras1_layers import Config, StoredShapes, Translation
from torchkeras.saving.graph_config import model_from_config
from torchkeras.saving.model_file import GROUPS
from torchkeras.saving.weights.layer_groups import stored_layers
from torchkeras.saving.weights.origin import backend_by_names

# --- Keras 0 ----------------------------------------------------------------------------------------------------------


# Entries of a config that are not options of the layer.
BESIDE_LAYER = ("name", "cache_enabled", "custom_name")
# Entries of a layer's config that had no meaning.
WITHOUT: Mapping[str, tuple[str, ...]] = {"Embedding": ("input_shape",), "Merge": ("trainable",)}


def is_of_keras0(config: Any) -> bool:
    """Whether a config has the form of Keras 0, where `name` of a layer is its class."""
    return isinstance(config, Mapping) and "class_name" not in config and isinstance(config.get("name"), str)


def keras1_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A model's config of Keras 0 in the form of Keras 1. Raises ArchitectureError for what is not supported."""
    return _layer(config, Counter())


def _layer(config: Any, used: Counter[str]) -> dict[str, Any]:
    if not is_of_keras0(config):
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
    options = _options(kind, config, used)
    _refuse(kind, name, options)
    return {"class_name": kind, "config": {**options, "name": name}}


def _options(kind: str, config: Mapping[str, Any], used: Counter[str]) -> dict[str, Any]:
    """A layer's options by the names of Keras 1."""
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
    return options


def _name(config: Mapping[str, Any], used: Counter[str]) -> str:
    """The name of a layer, often that of its class, with a number if another layer has it."""
    name = str(config.get("custom_name") or LAYERS.get(config["name"], config["name"]).lower())
    used[name] += 1
    return name if used[name] == 1 else f"{name}_{used[name]}"


def _refuse(kind: str, name: str, options: Mapping[str, Any]) -> None:
    """Raise ArchitectureError for what Keras 0 computed differently from all later versions."""
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


# --- Keras 1 ----------------------------------------------------------------------------------------------------------


# Options that only Keras 1 has.
OPTIONS = frozenset(("nb_filter", "border_mode", "dim_ordering", "inner_activation", "W_regularizer"))

# Options that a layer's config leaves out and nothing else shows, and the value that is taken.
LEFT_OUT: Mapping[str, tuple[str, str]] = {
    "ConvLSTM2D": ("subsample", "(1, 1)"),
    "Merge": ("output_mask", "None"),
    "SpatialDropout2D": ("dim_ordering", "'tf'"),
    "SpatialDropout3D": ("dim_ordering", "'tf'"),
}


def modern_config(
    config: Mapping[str, Any],
    stored: StoredShapes,
    backend: str | None = None,
    data_format: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
) -> Config:
    """The `{"class_name", "config"}` of a model of Keras 1 in today's form.

    `stored`: the names and shapes of the arrays of each layer, in the file's order; empty for an architecture alone.
    `backend` ("theano", "tensorflow") and `data_format` ("channels_first", "channels_last"): of the session that wrote
    it, None if unknown. Classes in `custom_objects` are left as they are.

    Raises ArchitectureError for what is not understood or is missing, ForbiddenContentError for a function stored as
    bytecode, unless `custom_objects` has it.
    """
    if is_of_keras0(config):
        config = keras1_config(config)
    custom = {**registry.get_custom_objects(), **(custom_objects or {})}
    config = bytecode.read(config, custom)
    session_format = data_format or _agreed_format(config)
    translated = Translation(stored, custom, session_format)
    result = translated.layer(config)
    if translated.in_doubt:
        found = _readings(config, stored, custom)
        result = found[0] if len(found) == 1 else _as_set(config, stored, custom, translated.in_doubt)
    # Not said in an architecture alone; it matters in training only.
    result = with_variance(result, "population+epsilon" if backend == "theano" else "population")
    if backend is None and stored and not any(stored.values()):
        _check_backend(result, custom)
    return result


def _agreed_format(config: Any) -> str | None:
    """The data format of all layers that have one; None if they have none or disagree."""
    found = {ordering for ordering in _values(config, "dim_ordering") if ordering in session.DIM_ORDERINGS}
    return session.DIM_ORDERINGS[found.pop()] if len(found) == 1 else None


def _values(value: Any, key: str) -> Iterator[Any]:
    """All values under a key, at any depth."""
    if isinstance(value, Mapping):
        if isinstance(value.get(key), str):
            yield value[key]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _values(item, key)


def _readings(config: Mapping[str, Any], stored: StoredShapes, custom: Mapping[str, Any]) -> list[Config]:
    """The configs, one for each data format, that can be built and in which each layer takes its stored values."""
    sizes = [sum(prod(shape) for _, shape in arrays) for arrays in stored.values() if arrays]
    found = []
    for data_format in session.DATA_FORMATS:
        reading = Translation(stored, custom, data_format).layer(config)
        model = _built(reading, custom)
        if model is None:
            continue
        taken = [sum(prod(v.shape) for v in layer.weights) for layer in layers_in(model, KERAS1) if layer.weights]
        if not stored or taken == sizes:
            found.append(reading)
    return found


def _built(config: Config, custom: Mapping[str, Any]) -> Any:
    """The model without memory, or None if it cannot be built."""
    try:
        with on_meta():
            return model_from_config(config, custom)
    except (ValueError, TypeError):
        return None


def _as_set(config: Mapping[str, Any], stored: StoredShapes, custom: Mapping[str, Any], layer: str) -> Config:
    """The config in the data format that the user has set, as in Keras 1. Raises ArchitectureError if none is set."""
    chosen = session.chosen_image_data_format()
    if chosen is None:
        raise ArchitectureError(
            f"{layer}: Keras 1 does not write its dim_ordering, and nothing else in the file shows it. Give "
            "original_data_format='channels_last' or 'channels_first', or set image_data_format."
        )
    return Translation(stored, custom, chosen).layer(config)


def _check_backend(config: Config, custom: Mapping[str, Any]) -> None:
    """Raise ArchitectureError for a pooling layer that Theano computes differently, since the backend is unknown."""
    model = _built(config, custom)
    for layer in model.modules() if isinstance(model, Layer) else ():
        if isinstance(layer, Pooling) and layer._differs_on_theano:
            raise ArchitectureError(
                f"{type(layer).__name__} {layer.name!r}: 'same' padding differs between Theano and TensorFlow, "
                "and a file of Keras 1 without weights does not say its backend. Give "
                "original_backend='tensorflow' or 'theano'."
            )


def doubts(config: Any, data_format: str | None = None) -> list[str]:
    """What a config leaves open and is taken as in Keras 1, as sentences for a warning."""
    found = []
    agreed = data_format or _agreed_format(config)
    for kind, options in _layers(config):
        left_out, taken = LEFT_OUT.get(kind, ("", ""))
        function = options.get("mode_type", "raw") != "raw"
        known = left_out in options or (left_out == "dim_ordering" and agreed) or (kind == "Merge" and not function)
        if left_out and not known:
            found.append(f"{kind} {options.get('name')!r}: its {left_out} is not written; it is taken as {taken}.")
    return found


def _layers(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The class names and options of all layers in a config, at any depth."""
    if isinstance(value, Mapping):
        if isinstance(value.get("class_name"), str) and isinstance(value.get("config"), Mapping):
            yield value["class_name"], value["config"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _layers(item)


def _of_known(config: Any, known: Known) -> Config:
    stored, backend = {}, known.backend
    if known.source is not None and known.source.layout == GROUPS:
        groups = known.source.weights
        stored = {name: [(array.name, array.shape) for array in found] for name, found in stored_layers(groups).items()}
        backend = backend_by_names(groups) or backend
    return modern_config(config, stored, backend, known.data_format, known.custom_objects)


DIALECT = Dialect(
    "keras1",
    version=lambda major, minor, tf: major in (0, 1),
    marks=lambda found: not OPTIONS.isdisjoint(found),
    modern_config=_of_known,
    doubts=lambda config, known: doubts(config, known.data_format),
)
