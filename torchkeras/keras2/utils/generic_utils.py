"""`keras.utils.generic_utils`: names to objects and back, arguments of functions, lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torchkeras.keras2.backend import has_arg, transpose_shape
from torchkeras.keras2.utils.function_dump import func_dump, func_load
from torchkeras.keras2.utils.progbar import Progbar
from torchkeras.registry import CustomObjectScope, custom_object_scope, get_custom_objects

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "custom_object_scope",
    "deserialize_keras_object",
    "func_dump",
    "func_load",
    "get_custom_objects",
    "get_from_module",
    "has_arg",
    "is_all_none",
    "make_tuple",
    "object_list_uid",
    "serialize_keras_object",
    "slice_arrays",
    "to_list",
    "transpose_shape",
    "unpack_singleton",
]


def serialize_keras_object(instance: Any) -> Any:
    """`{"class_name", "config"}` of an object with a config, else the name of a function; None stays None."""
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError(f"Cannot serialize {instance!r}: it has neither a get_config nor a name.")


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """The object that `serialize_keras_object` described.

    Arguments:
        identifier (dict or text): `{"class_name", "config"}`, or the name of a function.
        module_objects (dict or None, default None): the objects that are known by name, such as `globals()`.
        custom_objects (dict or None, default None): further ones, which come first, also while the object is made.
        printable_module_name (text, default "object"): the word for such an object in errors.

    Errors:
        ValueError: the name is unknown, or the identifier is of another form.
    """
    custom = dict(custom_objects or {})
    known = {**(module_objects or {}), **get_custom_objects(), **custom}
    if isinstance(identifier, str):
        return _found(known, identifier, printable_module_name)
    if not isinstance(identifier, Mapping) or not {"class_name", "config"} <= identifier.keys():
        raise ValueError(
            f"What describes an {printable_module_name} is its name, or a 'class_name' and a 'config'; found "
            f"{identifier!r}."
        )
    made_by, config = _found(known, identifier["class_name"], printable_module_name), identifier["config"]
    from_config = getattr(made_by, "from_config", None)
    if from_config is not None and has_arg(from_config, "custom_objects"):
        return from_config(config, custom_objects={**get_custom_objects(), **custom})
    with custom_object_scope(custom):
        return made_by(**config) if from_config is None else from_config(config)


def _found(known: Mapping[str, Any], name: str, kind: str) -> Any:
    if known.get(name) is None:
        raise ValueError(f"Unknown {kind}: {name}")
    return known[name]


def get_from_module(
    identifier: Any,
    module_params: Mapping[str, Any],
    module_name: str,
    instantiate: bool = False,
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """An object by its name, or made from a dict of its name and arguments; anything else is returned as it is.

    Arguments:
        identifier (any): a name, or a dict with a "name" and arguments.
        module_params (dict): the objects that are known by name, such as `globals()`; custom objects come first.
        module_name (text): the word for such an object in errors.
        instantiate (bool, default False): whether to call what a name stands for.
        kwargs (dict or None, default None): the arguments of that call.

    Errors:
        ValueError: the name is unknown.
    """
    if not isinstance(identifier, (str, dict)):
        return identifier
    name = identifier if isinstance(identifier, str) else str(identifier.get("name"))
    found = get_custom_objects().get(name) or module_params.get(name)
    if not found:
        raise ValueError(f"Invalid {module_name}: {identifier}")
    if isinstance(identifier, dict):
        return found(**{key: value for key, value in identifier.items() if key != "name"})
    return found(**(kwargs or {})) if instantiate else found


def make_tuple(*args: Any) -> tuple[Any, ...]:
    """The arguments as a tuple."""
    return args


def to_list(x: Any, allow_tuple: bool = False) -> list[Any]:
    """A list as it is, anything else as a list of one; a tuple's items when `allow_tuple`."""
    if isinstance(x, list):
        return x
    return list(x) if allow_tuple and isinstance(x, tuple) else [x]


def unpack_singleton(x: Any) -> Any:
    """The only item of a list or tuple of one, else the list or tuple."""
    return x[0] if len(x) == 1 else x


def object_list_uid(object_list: Any) -> str:
    """A text that is the same for the same objects."""
    return ", ".join(str(id(each)) for each in to_list(object_list))


def is_all_none(iterable_or_element: Any) -> bool:
    """Whether a value, or each item of a list or tuple, is None."""
    return all(each is None for each in to_list(iterable_or_element, allow_tuple=True))


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """`array[start:stop]`, or `array[start]` when `start` is a list of row numbers, of an array or each of a list.

    A list of HDF5 datasets takes row numbers as well. No arrays give [None].
    """
    if arrays is None:
        return [None]
    rows = np.asarray(start).tolist() if hasattr(start, "__len__") else slice(start, stop)
    if isinstance(arrays, list):
        return [None if array is None else array[rows] for array in arrays]
    return arrays[rows]
