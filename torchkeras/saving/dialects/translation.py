"""Options of layers in tf.keras and Keras 3, translated to today's.

Everything is plain data: nothing is created, imported or run. An option is dropped only if a table says that its value
changes nothing; any other value is refused. Options in no table go on to the layer, which checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras import registry
from torchkeras.base.bytecode import SCALARS
from torchkeras.base.dtypes import MIXED
from torchkeras.engine.facts import is_own
from torchkeras.errors import ArchitectureError
from torchkeras.saving.layer_facts import ANY, EVERY, FOREIGN, facts

Config = dict[str, Any]
Inner = Callable[[Mapping[str, Any]], Config]  # translates the entry of an inner layer


@dataclass(frozen=True)
class Words:
    """What one Keras says in its own words.

    `activations`: names of activations that mean another function today; None if there is no such function today.
    `changes`: by class, a function that changes `{"class_name", "config"}`; it also gets the layer's name in errors.
    """

    activations: Mapping[str, str | None]
    changes: Mapping[str, Callable[[Config, str], Config]]


# --- tables ----------------------------------------------------------------------------------------------------------

CLASSES: Mapping[str, str] = {
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
    "SyncBatchNormalization": "BatchNormalization",
    "Convolution1DTranspose": "Conv1DTranspose",
    "Convolution3DTranspose": "Conv3DTranspose",
    "Functional": "Model",
    "GroupedQueryAttention": "GroupQueryAttention",
}
# Initializers and regularizers that have other names.
_SCALED = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform", "lecun_normal")
OBJECTS: Mapping[str, str] = {
    **{name.title().replace("_", ""): name for name in _SCALED},
    "L1": "L1L2",
    "L2": "L1L2",
    "OrthogonalInitializer": "Orthogonal",
    "IdentityInitializer": "Identity",
}
DISTRIBUTIONS: Mapping[Any, str] = {"truncated_normal": "normal"}

LAYERS = ("layer", "cell", "backward_layer")  # options that are layers


# --- objects in options ----------------------------------------------------------------------------------------------


def is_object(value: Any) -> bool:
    """Whether a value is the config of an object."""
    return not isinstance(value, SCALARS) and isinstance(value, Mapping) and isinstance(value.get("class_name"), str)


def class_name(entry: Mapping[str, Any]) -> str:
    """Today's name of a class. A class registered by a user keeps its package: `package>Name`."""
    name = registry.registered_or_own(entry)
    return CLASSES.get(name, name)


def is_known(name: str) -> bool:
    """Whether a class of layers is of this package, not a user's."""
    return name in registry.layers and is_own(registry.layers.find(name))


def plain(value: Any) -> Any:
    """A value without Keras 3's wrapping of tuples and arrays."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    kind = value["class_name"] if is_object(value) else None
    if kind == "__tuple__":
        return [plain(item) for item in value["items"]]
    return value["config"]["value"] if kind in ("__numpy__", "__tensor__") else value


def dtype(value: Any, where: str) -> Any:
    """The name of a dtype policy, or of its one dtype. Raises ArchitectureError for a dtype of integers."""
    name = value
    if is_object(value):
        if value["class_name"] not in ("Policy", "PolicyV1", "DTypePolicy", "FloatDTypePolicy"):
            raise ArchitectureError(f"{where}: a dtype policy of class {value['class_name']!r} is not read.")
        name = _config(value, where).get("name")
    if name in (None, "_infer"):
        return None
    if not isinstance(name, str) or (name.startswith("mixed_") and name not in MIXED):
        raise ArchitectureError(f"{where}: the dtype policy {name!r:.200} is not known.")
    return name


def function_name(value: Mapping[str, Any]) -> Any:
    """The name of a user's function; an empty list for bytecode, which is dropped here."""
    found, registered = value.get("config"), value.get("registered_name")
    if value["class_name"] != "function" or not isinstance(found, str):
        return []
    if found.startswith(FOREIGN):
        return found.removeprefix(FOREIGN)
    return registered if isinstance(registered, str) and ">" in registered else found


def own_form(entry: Any) -> Config | None:
    """A layer or model that this package wrote in its own form; None for another. Raises ArchitectureError."""
    if not is_object(entry):
        return None
    name, given = entry["class_name"], entry.get("config")
    if not name.startswith(FOREIGN):
        return None
    if not isinstance(given, Mapping):
        raise ArchitectureError(f"The config of {name} must be a dictionary; found {given!r:.200}.")
    return {"class_name": name.removeprefix(FOREIGN), "config": dict(given)}


def named_object(value: Any, where: str) -> Any:
    """An initializer, regularizer or constraint by its name or as `{"class_name", "config"}`."""
    if not is_object(value):
        return value
    if value["class_name"] in ("function", "__lambda__"):
        return _named_function(value, where)
    name, given = class_name(value), plain_config(_config(value, where), where)
    given.pop("dtype", None)  # of tf.keras: an initial value has the type of its weight
    for key in ("input_axes", "output_axes"):
        if given.pop(key, None) is not None:
            raise ArchitectureError(f"{where}: {key} of {name} must be None.")
    if name == "VarianceScaling":
        given["distribution"] = DISTRIBUTIONS.get(given.get("distribution"), given.get("distribution"))
    return {"class_name": OBJECTS.get(name, name), "config": given}


def plain_config(given: Mapping[str, Any], where: str) -> Config:
    """The options of an object; a seed generator becomes the seed that it began with."""
    return {key: seed(value, where) if key == "seed" else plain(value) for key, value in given.items()}


def seed(value: Any, where: str) -> Any:
    """A seed; for a seed generator the one that it began with."""
    return _config(value, where).get("seed") if is_object(value) else value


def _config(value: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    if not isinstance(value.get("config"), Mapping):
        raise ArchitectureError(f"{where}: a {value['class_name']} needs a 'config'; found {dict(value)!r:.200}.")
    return value["config"]


def _named_function(value: Mapping[str, Any], where: str) -> str:
    name = function_name(value)
    if not name:
        raise ArchitectureError(f"{where}: a function is stored as Python bytecode, which is never run.")
    return name


# --- layers ----------------------------------------------------------------------------------------------------------


def layer(entry: Mapping[str, Any], words: Words, inner: Inner) -> Config:
    """Today's `{"class_name", "config"}` of a layer that is not a model; `inner` translates its inner layers.

    Raises ArchitectureError.
    """
    name, given = class_name(entry), dict(entry["config"])
    where = f"{name} {given.get('name')!r}"
    options = {key: _option(key, value, where, words, inner) for key, value in _used(name, given, where).items()}
    made: Config = {"class_name": name, "config": options}
    return words.changes[name](made, where) if name in words.changes else made


def _used(name: str, given: Config, where: str) -> Config:
    """The options that today's layer has, under today's names."""
    found = facts(name)
    renamed, unused = {theirs: ours for ours, theirs in found.renamed.items()}, {**EVERY.unused, **found.unused}
    if not is_known(name) and given.get("activity_regularizer", ANY) is None:  # as Keras 3 writes it for a user's class
        unused["activity_regularizer"] = (None,)
    for key, allowed in unused.items():
        if key in given and given[key] not in allowed:
            text = " or ".join(map(repr, allowed))
            raise ArchitectureError(f"{where}: {key} must be {text}; found {given[key]!r}.")
    return {renamed.get(key, key): value for key, value in given.items() if key not in found.idle and key not in unused}


def _option(key: str, value: Any, where: str, words: Words, inner: Inner) -> Any:
    """The value of a layer's option, translated."""
    if key.endswith(("_initializer", "_regularizer", "_constraint")):
        made = named_object(value, f"{where}: {key}")
        return _per_sample(made) if key == "activity_regularizer" else made
    if key.endswith("activation"):
        return activation(value, f"{where}: {key}", words, inner)
    if key in LAYERS and value is not None:
        return inner(value)
    if key in ("cells", "layers"):
        return list(map(inner, value or ()))
    if key == "dtype":
        return dtype(value, where)
    return seed(value, where) if key == "seed" else plain(value)


def _per_sample(regularizer: Any) -> Any:
    """An activity regularizer, which counts for each sample there; None without one."""
    return None if regularizer is None else {"class_name": "PerSample", "config": {"regularizer": regularizer}}


def activation(value: Any, where: str, words: Words, inner: Inner) -> Any:
    """An activation by its name, or as a layer's config."""
    if is_object(value) and value["class_name"] in ("function", "__lambda__"):
        return _named_function(value, where)
    if is_object(value):
        return inner(value)
    found = words.activations.get(value, value) if isinstance(value, str) else value
    if found is None and value is not None:
        raise ArchitectureError(f"{where}: {value!r} computed another function than today's, which is not supported.")
    return found
