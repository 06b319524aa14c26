"""Architectures of Keras 0, translated to Keras 1's. The form is the same, except that `name` of a layer is its class.

Dropout in an Embedding is refused: Keras 0 scaled its outputs outside training as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from torchkeras.errors import ArchitectureError
from torchkeras.legacy.arguments import LAYERS

# Entries of a config that are not options of the layer.
BESIDE_LAYER = ("name", "cache_enabled", "custom_name")
# Entries of a layer's config that had no meaning.
WITHOUT: Mapping[str, tuple[str, ...]] = {"Embedding": ("input_shape",), "Merge": ("trainable",)}


def is_config(config: Any) -> bool:
    """Whether a config has the form of Keras 0, where `name` of a layer is its class."""
    return isinstance(config, Mapping) and "class_name" not in config and isinstance(config.get("name"), str)


def keras1_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A model's config of Keras 0 in the form of Keras 1. Raises ArchitectureError for what is not supported."""
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
