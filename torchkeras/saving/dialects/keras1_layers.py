"""Layers of Keras 1's configs as today's: classes, options, regularizers, and what the shapes of weights show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchkeras import registry
from torchkeras.engine.options import options_of
from torchkeras.errors import ArchitectureError
from torchkeras.legacy.arguments import layer_arguments
from torchkeras.legacy.names import LAYERS
from torchkeras.saving.dialects.keras1_axes import with_todays_axes
from torchkeras.saving.dialects.masking import settle, stop

StoredShapes = Mapping[str, Sequence[tuple[str, tuple[int, ...]]]]
Config = dict[str, Any]

# Layers whose configs leave out the dim_ordering, with an option and its value for which it does not matter.
WITHOUT_ORDERING: Mapping[str, tuple[str, int] | None] = {
    "Cropping2D": ("cropping", 0),
    "Cropping3D": ("cropping", 0),
    "SpatialDropout2D": None,  # it matters in training only
    "SpatialDropout3D": None,
    "UpSampling2D": ("size", 1),
    "UpSampling3D": ("size", 1),
    "ZeroPadding2D": ("padding", 0),
    "ZeroPadding3D": ("padding", 0),
}

# Layers whose configs leave out `shared_axes`, with Keras 1's name of their first weight.
SHARING: Mapping[str, str] = {"PReLU": "alphas", "ParametricSoftplus": "alphas", "SReLU": "t_left"}

# Regularizers and constraints under Keras 1's names, with today's names of their options.
PENALTIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "ActivityRegularizer": ("L1L2", {"l1": "l1", "l2": "l2"}),
    "L1L2Regularizer": ("L1L2", {"l1": "l1", "l2": "l2"}),
    "WeightRegularizer": ("L1L2", {"l1": "l1", "l2": "l2"}),
    "MaxNorm": ("MaxNorm", {"m": "max_value", "axis": "axis"}),
    "MinMaxNorm": ("MinMaxNorm", {"low": "min_value", "high": "max_value", "rate": "rate", "axis": "axis"}),
    "NonNeg": ("NonNeg", {}),
    "UnitNorm": ("UnitNorm", {"axis": "axis"}),
}

# Layers that returned their input itself, each with an option and the values for which they did so.
IDENTITIES: Mapping[str, tuple[str, tuple[Any, ...]] | None] = {
    "Activation": ("activation", ("linear",)),
    "ActivityRegularization": None,
    **dict.fromkeys(("Dropout", "GaussianDropout", "SpatialDropout1D"), ("p", (0, 1))),
    **dict.fromkeys(("SpatialDropout2D", "SpatialDropout3D"), ("p", (0, 1))),
}

MODELS = ("Container", "Model")
INITIAL = ("transform_bias",)  # options that only set initial values, and differ in today's layers


@dataclass
class Translation:
    """One reading of a config. `in_doubt`: the first layer whose data format is needed and unknown."""

    stored: StoredShapes
    custom: Mapping[str, Any]
    data_format: str | None
    in_doubt: str = ""

    def layer(self, entry: Any, name: str | None = None) -> Config:
        """`{"class_name", "config"}` of a layer or model. `name`: for a Sequential, whose config has none."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("class_name"), str):
            raise ArchitectureError(
                f"A layer of Keras 1 is written as 'class_name' and 'config'; found {entry!r:.200}."
            )
        kind, config = entry["class_name"], entry.get("config")
        if kind == "Sequential" and isinstance(config, list):
            return {"class_name": kind, "config": {"name": name, "layers": self._stack(config)}}
        if not isinstance(config, Mapping):
            raise ArchitectureError(f"{kind}: a config of Keras 1 is a dictionary; found {config!r:.200}.")
        if kind in self.custom:
            return {"class_name": kind, "config": dict(config)}
        if kind in MODELS:
            return {"class_name": "Model", "config": self._graph(config)}
        if kind == "InputLayer":
            return {"class_name": kind, "config": _renamed(config, {"input_dtype": "dtype"})}
        return self._leaf(kind, config)

    def _graph(self, config: Mapping[str, Any]) -> Config:
        if not isinstance(config.get("layers"), list):
            raise ArchitectureError(f"Model {config.get('name')!r}: a list of 'layers' is missing.")
        entries = [(entry, entry.get("name") if isinstance(entry, Mapping) else None) for entry in config["layers"]]
        layers = [{**entry, **self.layer(entry, name)} for entry, name in entries]
        return {**config, "layers": layers, "input_layers": _true_inputs(config)}

    def _stack(self, entries: list[Any]) -> list[Config]:
        return [self.layer(entry) for entry in entries]

    def _leaf(self, kind: str, config: Mapping[str, Any]) -> Config:
        name = config.get("name")
        options = {key: self._value(kind, name, key, value) for key, value in config.items() if key not in INITIAL}
        if options.get("batch_input_shape") is None and kind != "Embedding":
            # It says what an input was found to be, and asks for nothing.
            options = {key: value for key, value in options.items() if key not in ("input_dim", "input_length")}
        found = LAYERS.get(kind, kind)
        if found not in registry.layers or found == "Merge":
            return {"class_name": kind, "config": options}
        made_by: Any = registry.layers.find(found)
        try:
            _, options = layer_arguments(made_by, options_of(made_by), (), options)
        except (TypeError, ValueError) as error:
            raise ArchitectureError(f"{kind} {name!r}: {error}") from error
        return {"class_name": found, "config": with_todays_axes(found, self._completed(found, made_by, options))}

    def _value(self, kind: str, name: Any, key: str, value: Any) -> Any:
        if key == "layer":
            return _without_own_mask(self.layer(value)) if kind == "TimeDistributed" else self.layer(value)
        if key == "layers" and isinstance(value, list):
            return [self._branch(name, entry) for entry in value]
        if key.endswith(("_regularizer", "_constraint")) and isinstance(value, Mapping):
            return _penalty(f"{kind} {name!r}: {key}", value)
        return value

    def _branch(self, name: Any, entry: Any) -> Config:
        branch = self.layer(entry)
        outputs = branch["config"].get("output_layers") or []
        if len(outputs) > 1:
            raise ArchitectureError(
                f"Merge {name!r}: one of its branches has {len(outputs)} outputs, and Keras 1 does not write which of "
                "them it takes. Build the model by code and load the weights."
            )
        if branch["class_name"] == "Sequential" and any(settle(branch, [False], (), joint=False)):
            layers = branch["config"]["layers"]
            layers.append(stop(f"{layers[-1]['config'].get('name')}_unmasked"))  # Keras 1 lost a Sequential's mask here
        return branch

    def _completed(self, kind: str, made_by: Any, options: Config) -> Config:
        """The options, completed with those that Keras 1 left out or had in only one way."""
        if kind == "Flatten":
            return {**options, "data_format": "channels_last"}  # Keras 1 kept the order of the axes
        if kind in SHARING:
            return {**options, "shared_axes": self._shared_axes(kind, options)}
        if kind in WITHOUT_ORDERING and "data_format" not in options:
            return {**options, "data_format": self._session_format(kind, options)}
        if "data_format" in options_of(made_by) and options.get("data_format") is None:
            return {**options, "data_format": "channels_last"}  # for layers over one axis
        return options

    def _session_format(self, kind: str, options: Mapping[str, Any]) -> str:
        matters = WITHOUT_ORDERING[kind]
        if self.data_format is None and matters and set(_numbers(options.get(matters[0]))) != {matters[1]}:
            self.in_doubt = self.in_doubt or f"{kind} {options.get('name')!r}"
        return self.data_format or "channels_last"

    def _shared_axes(self, kind: str, options: Mapping[str, Any]) -> list[int] | None:
        pattern = re.compile(rf"{re.escape(str(options.get('name')))}_{SHARING[kind]}(_\d+)?(:0)?")
        shapes = {shape for arrays in self.stored.values() for weight, shape in arrays if pattern.fullmatch(weight)}
        if len(shapes) > 1:
            raise ArchitectureError(
                f"{kind} {options.get('name')!r}: the file has weights of several layers of that name, of the shapes "
                f"{', '.join(map(str, sorted(shapes)))}, which leave its shared_axes open."
            )
        shared = [axis for shape in shapes for axis, size in enumerate(shape, 1) if size == 1]
        return shared or None


def _without_own_mask(inner: Config) -> Config:
    """The inner layer of a TimeDistributed, which in Keras 1 never asked it for a mask."""
    options = inner["config"]
    if inner["class_name"] == "Embedding":
        return {**inner, "config": {**options, "mask_zero": False}}
    if inner["class_name"] == "Masking":
        name = options.get("name")
        return {"class_name": "Sequential", "config": {"name": None, "layers": [inner, stop(f"{name}_unmasked")]}}
    return inner


def _true_inputs(config: Mapping[str, Any]) -> Any:
    """The places of a model's inputs. Keras 1 wrote the last layer that returned the input itself."""
    entries = {entry["name"]: entry for entry in config["layers"] if isinstance(entry.get("name"), str)}
    places = config.get("input_layers")
    return [_before_identities(entries, place) for place in places] if isinstance(places, list) else places


def _before_identities(entries: Mapping[str, Any], place: Any) -> Any:
    for _ in entries:
        entry = entries.get(place[0]) if isinstance(place, list) and place and isinstance(place[0], str) else None
        if entry is None or not _is_identity(entry):
            break
        match entry.get("inbound_nodes"):
            case [[[_, *_] as before]]:
                place = before
            case _:
                break
    return place


def _is_identity(entry: Mapping[str, Any]) -> bool:
    identity = IDENTITIES.get(entry["class_name"], ("", ()))
    return identity is None or entry["config"].get(identity[0]) in identity[1]


def _numbers(value: Any) -> list[Any]:
    """The numbers in an option, at any depth."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return [number for item in value for number in _numbers(item)] if isinstance(value, (list, tuple)) else [value]


def _renamed(config: Mapping[str, Any], names: Mapping[str, str]) -> Config:
    return {names.get(key, key): value for key, value in config.items()}


def _penalty(where: str, value: Mapping[str, Any]) -> Any:
    """A regularizer or constraint as `{"class_name", "config"}`."""
    if "class_name" in value:
        return dict(value)
    name = value.get("name")
    if name == "EigenvalueRegularizer":
        raise ArchitectureError(f"{where} is an EigenvalueRegularizer, which is not supported.")
    if not isinstance(name, str) or name not in PENALTIES:
        return {"class_name": name, "config": {key: v for key, v in value.items() if key != "name"}}
    made_by, options = PENALTIES[name]
    unknown = sorted(set(value) - {"name", *options})
    if unknown:
        raise ArchitectureError(f"{where}: {name} has no option {unknown[0]!r}.")
    return {"class_name": made_by, "config": {options[key]: v for key, v in value.items() if key != "name"}}
