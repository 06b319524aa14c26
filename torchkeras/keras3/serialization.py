"""Objects of Keras to and from plain data, and your own classes and functions by name.

An object is `{"module", "class_name", "config", "registered_name"}`, as in `.keras` files. What such data name is
looked up among the public names of Keras and what was registered or is passed; nothing is imported or run for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.base.dtypes import DTypePolicy, dtype_name, dtype_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras3 import (
    activations,
    constraints,
    dialect,
    dtype_policies,
    initializers,
    losses,
    metrics,
    optimizers,
    random,
    regularizers,
)
from torchkeras.keras3.config import in_safe_mode
from torchkeras.keras3.differences import HABITS
from torchkeras.registry import BUILT
from torchkeras.saving import keras3_entry
from torchkeras.saving.dialects import modern
from torchkeras.saving.graph_config import model_from_config
from torchkeras.saving.layer_facts import FOREIGN
from torchkeras.saving.write.keras3_writing import KERAS3_VERSION, entry_of

__all__ = [
    "CustomObjectScope",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
    "serialize_keras_object",
]

PLAIN = (str, int, float, bool, type(None))
COMPILED = "compile_config"
# The modules whose classes, and whose functions by their names, data may have; layers are found by `registry.layers`.
MODULES: Mapping[str, ModuleType] = {
    "keras.activations": activations,
    "keras.constraints": constraints,
    "keras.initializers": initializers,
    "keras.losses": losses,
    "keras.metrics": metrics,
    "keras.optimizers": optimizers,
    "keras.optimizers.schedules": optimizers.schedules,
    "keras.random": random,
    "keras.regularizers": regularizers,
}
CLASSES: dict[str, dict[str, Any]] = {
    **{
        place: {name: found for name in module.__all__ if inspect.isclass(found := getattr(module, name))}
        for place, module in MODULES.items()
    },
    "keras.dtype_policies": dict(dtype_policies.CLASSES),
    "keras": {"DTypePolicy": DTypePolicy},
}
PLACES = {
    found: (place, name) for place, known in CLASSES.items() for name, found in known.items() if name == found.__name__
}
_OF_FUNCTIONS = (activations, losses, metrics, initializers, regularizers)


# --- your own classes and functions ----------------------------------------------------------------------------------


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[Any], Any]:
    """Make a class or function known as "package>name", by which files and configs name it: a decorator.

    A later one of the same name takes its place.

    Arguments:
        package (text, default "Custom"): the first part of the name.
        name (text or None, default None): the second part; None is the object's own name.

    Errors:
        ValueError: a class has no `get_config`.

    Example:
        >>> @register_keras_serializable(package="docs")
        ... def doubled(x):
        ...     return 2 * x
        >>> get_registered_name(doubled)
        'docs>doubled'

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """

    def register(known: Any) -> Any:
        if inspect.isclass(known) and not hasattr(known, "get_config"):
            raise ValueError(f"register_keras_serializable: the class {known.__name__} has no get_config.")
        for objects in (registry.REGISTERED, registry.get_custom_objects()):  # the second is that of a scope
            registered = f"{package}>{known.__name__ if name is None else name}"
            objects.pop(registered, None)
            objects[registered] = known
        return known

    return register


def get_registered_name(obj: Any) -> str:
    """The name under which a class or function was registered; without one its own.

    Arguments:
        obj (class or function): the object.

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    return registry.registered_name(obj)


def get_registered_object(
    name: str, custom_objects: Mapping[str, Any] | None = None, module_objects: Mapping[str, Any] | None = None
) -> Any:
    """The class or function of a name, such as "package>name"; None without one.

    Arguments:
        name (text): the name.
        custom_objects (dict or None, default None): where else to look, after what is registered.
        module_objects (dict or None, default None): where to look last.

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    places = (registry.get_custom_objects(), custom_objects or {}, module_objects or {})
    return next((known[name] for known in places if name in known), None)


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions that are known everywhere, by name. What is added or removed counts at once.

    Example:
        >>> get_custom_objects()["Mine"] = Dense
        >>> get_custom_objects().pop("Mine").__name__
        'Dense'

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    return registry.REGISTERED


@contextmanager
def custom_object_scope(custom_objects: Mapping[str, Any] | None) -> Iterator[None]:
    """Know further classes and functions by name inside a `with` block, in the thread that runs it.

    Arguments:
        custom_objects (dict or None): names to classes or functions.

    Example:
        >>> with custom_object_scope({"docs_twice": lambda x: 2 * x}):
        ...     layer = Activation("docs_twice")
        >>> layer(torch.ones(2)).tolist()
        [2.0, 2.0]

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    with registry.custom_object_scope(custom_objects or {}):
        yield


CustomObjectScope = custom_object_scope


# --- to plain data ---------------------------------------------------------------------------------------------------


def serialize_keras_object(obj: Any) -> Any:
    """An object as plain data, from which `deserialize_keras_object` makes it again: JSON can hold it.

    Arguments:
        obj (any): layers, models, losses, metrics, optimizers and other objects of Keras, objects of your own classes
            with a `get_config`, functions with a name, tensors, arrays, slices, bytes, numbers, texts, None; and lists,
            tuples and dicts of these.

    Errors:
        TypeError: an object has no `get_config`, or this does not return a dict.
        ValueError: a lambda, or another function without a name.

    Example:
        >>> serialize_keras_object(MaxNorm(2.0))["config"]
        {'max_value': 2.0, 'axis': 0}
        >>> serialize_keras_object({"at": slice(1, 3)})
        {'at': {'class_name': '__slice__', 'config': {'start': 1, 'stop': 3, 'step': None}}}

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    if isinstance(obj, PLAIN):
        return obj
    if isinstance(obj, (list, tuple)):
        found = [serialize_keras_object(each) for each in obj]
        return tuple(found) if isinstance(obj, tuple) else found
    if isinstance(obj, Mapping):
        return {key: serialize_keras_object(each) for key, each in obj.items()}
    value = _value(obj)
    return _object(obj) if value is None else value


def _value(obj: Any) -> Any:
    """A value that is no object of Keras, in its form; None for others."""
    if isinstance(obj, bytes):
        return _entry("bytes", value=obj.decode("utf-8"))
    if isinstance(obj, slice):
        ends = {"start": obj.start, "stop": obj.stop, "step": obj.step}
        return _entry("slice", **{name: serialize_keras_object(each) for name, each in ends.items()})
    if obj is Ellipsis:
        return _entry("ellipsis")
    if isinstance(obj, KerasTensor):
        history = obj.keras_history
        place = [history.layer.name, history.node_index, history.tensor_index]
        return _entry("keras_tensor", shape=obj.shape, dtype=dtype_name(obj.dtype), keras_history=place)
    if isinstance(obj, torch.Tensor):
        return _entry("tensor", value=obj.tolist(), dtype=str(obj.dtype).removeprefix("torch."))
    if isinstance(obj, np.ndarray) and obj.ndim > 0:
        return _entry("numpy", value=obj.tolist(), dtype=str(obj.dtype))
    return obj.item() if isinstance(obj, (np.ndarray, np.generic)) else None


def _entry(kind: str, **config: Any) -> dict[str, Any]:
    return {"class_name": f"__{kind}__", "config": config}


def _object(obj: Any) -> dict[str, Any]:
    """The entry of a function or of an object with a config."""
    if isinstance(obj, Layer):
        return entry_of(obj)
    if inspect.isclass(obj) or not hasattr(obj, "get_config"):
        return _function(obj)
    config = obj.get_config()
    if not isinstance(config, Mapping):
        raise TypeError(f"{type(obj).__name__}: get_config must return a dict; found {type(config).__name__}.")
    config = serialize_keras_object(config)
    if type(obj) in PLACES:
        return keras3_entry.entry(*PLACES[type(obj)], config)
    return keras3_entry.users_entry(registry.registered_name(type(obj)), config)


def _function(obj: Any) -> dict[str, Any]:
    name = getattr(obj, "__name__", None)
    if inspect.isclass(obj) or isinstance(obj, ModuleType) or not callable(obj) or name is None:
        raise TypeError(
            f"An object is written by its class and its config; {obj!r:.200} of type {type(obj).__name__} has no "
            "get_config."
        )
    if name == "<lambda>":
        raise ValueError(f"A function is written by its name; {obj!r} has none: define it with `def`.")
    known = name if _public_function(name) is obj else registry.registered_name(obj)
    return {"module": "builtins", "class_name": "function", "config": known, "registered_name": "function"}


def _public_function(name: str) -> Any:
    """The function of Keras with a name; None without one."""
    found = (getattr(module, name) for module in _OF_FUNCTIONS if name in module.__all__)
    return next((each for each in found if not inspect.isclass(each)), None)


# --- from plain data -------------------------------------------------------------------------------------------------


def deserialize_keras_object(
    config: Any, custom_objects: Mapping[str, Any] | None = None, safe_mode: bool = True
) -> Any:
    """The object that plain data of `serialize_keras_object` describe; nothing in them is imported or run.

    Classes and functions are those of Keras, what was registered, and `custom_objects`. A tuple comes back as a list.

    Arguments:
        config (any): the data.
        custom_objects (dict or None, default None): your own classes and functions by name.
        safe_mode (bool, default True): whether functions stored as bytecode are refused. With False those of a Lambda
            that are formulas are read, without running them.

    Errors:
        TypeError: an unknown class or function, or data of another form.
        ValueError: an option has a bad value; a function is stored as bytecode.

    Example:
        >>> deserialize_keras_object(serialize_keras_object(Dense(3, name="out"))).units
        3
        >>> deserialize_keras_object({"class_name": "Mine", "config": {}, "registered_name": "docs>Mine"})
        Traceback (most recent call last):
        TypeError: Unknown class 'docs>Mine': decorate your own with ...

    Source: https://keras.io/api/models/model_saving_apis/serialization_utils/
    """
    with registry.custom_object_scope(before_registered(custom_objects)):
        return _made(config, bytecode.REFUSE if in_safe_mode(safe_mode) else bytecode.READ)


def before_registered(custom_objects: Mapping[str, Any] | None) -> dict[str, Any]:
    """Custom objects of a call: those registered or of a scope come before them. Layers of networks come last."""
    return {**dialect.WITHIN_NETWORKS, **(custom_objects or {}), **registry.get_custom_objects()}


def _made(config: Any, lambdas: str) -> Any:
    if isinstance(config, str):
        return registry.get_custom_objects().get(config, config)
    if isinstance(config, PLAIN):
        return config
    if isinstance(config, (list, tuple)):
        return [_made(each, lambdas) for each in config]
    if not isinstance(config, Mapping):
        raise TypeError(f"deserialize_keras_object takes plain data; found {type(config).__name__}: {config!r:.200}.")
    if "class_name" not in config or "config" not in config:
        return {key: _made(each, lambdas) for key, each in config.items()}
    if config["class_name"] in VALUES:
        return VALUES[config["class_name"]](config["config"] or {}, lambdas)
    if config["class_name"] == bytecode.KERAS3:
        raise ValueError("A function is stored as Python bytecode, which is never run.")
    if config["class_name"] == "function":
        return _named_function(config)
    return _of_class(config, lambdas)


def _symbolic(config: Mapping[str, Any], lambdas: str) -> Any:
    raise TypeError(
        f"A symbolic tensor belongs to the graph of a model, and nothing is made of it alone; found {config!r:.200}."
    )


VALUES: Mapping[str, Callable[[Mapping[str, Any], str], Any]] = {
    "__bytes__": lambda config, lambdas: config["value"].encode("utf-8"),
    "__ellipsis__": lambda config, lambdas: Ellipsis,
    "__keras_tensor__": _symbolic,
    "__numpy__": lambda config, lambdas: np.array(config["value"], dtype=config["dtype"]),
    "__slice__": lambda config, lambdas: slice(*(_made(config[end], lambdas) for end in ("start", "stop", "step"))),
    "__tensor__": lambda config, lambdas: torch.tensor(config["value"], dtype=dtype_of(config["dtype"])),
}


def _named_function(config: Mapping[str, Any]) -> Any:
    name, known = config["config"], registry.get_custom_objects()
    if not isinstance(name, str):
        raise TypeError(f"A function has its name as 'config'; found {name!r:.200}.")
    found = known.get(name) or _public_function(name)
    if found is None:
        found = next((each for key, each in known.items() if key.endswith(f">{name}")), None)
    if found is None:
        raise _unknown("function", name)
    return found


def _unknown(kind: str, name: Any) -> TypeError:
    return TypeError(
        f"Unknown {kind} {name!r:.200}: decorate your own with @keras.saving.register_keras_serializable(), in a "
        "module that is imported before, or pass it in custom_objects."
    )


def _of_class(config: Mapping[str, Any], lambdas: str) -> Any:
    """The object of an entry that names a class."""
    name = registry.registered_or_own(config)
    known = registry.get_custom_objects()
    found = known.get(name, known.get(str(config.get("registered_name"))))
    if isinstance(found, FunctionType):
        return found
    if _is_layer(config) if found is None else (inspect.isclass(found) and issubclass(found, Layer)):
        return _layer(config, lambdas)
    if found is None:
        found = CLASSES.get(_place(config.get("module")), {}).get(config["class_name"])
    if found is None:
        raise _unknown("class", name)
    options = {} if config["config"] is None else config["config"]
    if not isinstance(options, Mapping):
        raise TypeError(f"{name}: 'config' must be a dict; found {options!r:.200}.")
    make = getattr(found, "from_config", None)
    if make is None:
        raise TypeError(f"{name}: the class has no from_config, which would make an object of its config.")
    with dialect.known_anew():
        return make(dict(options))


def _is_layer(config: Mapping[str, Any]) -> bool:
    """Whether an entry is that of a layer or model of Keras; one without a module is, if there is such a layer."""
    name, module = str(config["class_name"]), config.get("module")
    if module is None:
        return name.startswith(FOREIGN) or ("module" not in config and name in registry.layers)
    models = ("Functional", "Model", "Sequential")
    return str(module).startswith(("keras.layers", "keras.src.layers")) or (
        name in models and str(module).partition(".")[0] == "keras"
    )


def _place(module: Any) -> str:
    """The public module of a class. Genuine files may name where its code stands: "keras.src.losses.losses"."""
    if not isinstance(module, str) or not module.startswith("keras.src."):
        return str(module)
    if ".schedules." in module:
        return "keras.optimizers.schedules"
    return next((place for place in MODULES if f".{place.partition('.')[2]}." in f"{module}."), module)


def _with_habits(config: Any) -> Any:
    """A translated config, with what layers of Keras 3 always do, where it is no option there."""
    if isinstance(config, (list, tuple)):
        return type(config)(map(_with_habits, config))
    if not isinstance(config, Mapping) or isinstance(config, registry.Kept):
        return config
    made = {key: _with_habits(value) for key, value in config.items()}
    options = made.get("config")
    if isinstance(options, Mapping) and not isinstance(options, registry.Kept):
        made["config"] = {**HABITS.get(str(made.get("class_name")), {}), **options}
    return made


def _layer(config: Mapping[str, Any], lambdas: str) -> Any:
    """A layer or model, built if the data say how, and compiled."""
    translated = _with_habits(modern.of_config(dict(config), KERAS3_VERSION, lambdas=lambdas))
    with dialect.known_anew(written=True):
        made = model_from_config(translated, lambdas=lambdas)
    if config.get(BUILT) and not made.built:
        made.build_from_config(config[BUILT])
    if config.get(COMPILED):
        made.compile_from_config(config[COMPILED])
    return made
