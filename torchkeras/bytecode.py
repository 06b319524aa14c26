"""Functions in configs: find those stored as Python bytecode, and the user's functions that replace them.

Keras writes a function of a Lambda or a Merge as marshalled bytecode, in another form in each generation. Such a
function is never run: the config is refused unless the user gives a replacement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from torchkeras.errors import ForbiddenContentError

# The options that may be functions, by class. The user gives the first one under the layer's name.
SINKS = {"Lambda": ("function", "output_shape", "mask"), "Merge": ("mode", "output_shape", "output_mask")}
KINDS = ("lambda", "function", "raw", None)  # what Keras writes into `<option>_type`
KERAS3 = "__lambda__"

_NAME = re.compile(r"[\w.\- <>]{1,100}")  # bytecode does not match it


def kept(option: str, config: Mapping[str, Any]) -> str:
    """How a config stores an option that may be a function: as "bytecode", by "name", or as a plain "value"."""
    value, kind = config.get(option), config.get(f"{option}_type")
    if isinstance(value, Mapping):
        return "name" if _keras3_name(value) else "bytecode"
    if kind == "lambda":
        return "bytecode"
    if option == "mode" and kind in ("raw", None) and isinstance(value, str) and _NAME.fullmatch(value):
        return "value"  # the name of a merge mode
    if isinstance(value, str):
        return "name" if _NAME.fullmatch(value) else "bytecode"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (str, bytes)):
        return "bytecode"
    return "bytecode" if isinstance(value, bytes) else "value"


def name_of(value: Any) -> str:
    """The name under which a function is stored."""
    return _keras3_name(value) if isinstance(value, Mapping) else str(value)


def _keras3_name(value: Mapping[str, Any]) -> str:
    name = value.get("config")
    return name if value.get("class_name") == "function" and isinstance(name, str) and _NAME.fullmatch(name) else ""


def place(option: str, layer_name: Any) -> str:
    """The key in `custom_objects` for a function: the name of the layer, or `layer.output_shape`."""
    return str(layer_name) if option in ("function", "mode") else f"{layer_name}.{option}"


def refuse(config: Any, given: Mapping[str, Any]) -> None:
    """Look for bytecode in a config, at any depth.

    Raises ForbiddenContentError if a function is bytecode and `given` (custom objects) has no replacement.
    """
    pending: list[Any] = [config]
    while pending:
        found = pending.pop()
        if isinstance(found, (list, tuple)):
            pending += found
        elif isinstance(found, Mapping):
            pending += _inside(found, given)


def _inside(entry: Mapping[str, Any], given: Mapping[str, Any]) -> list[Any]:
    """The parts of a mapping that are still to be searched."""
    kind, options = entry.get("class_name"), entry.get("config")
    if kind == KERAS3:
        raise ForbiddenContentError("A function is stored as Python bytecode, which is never run.")
    if set(entry) == {"value"} and _is_dump(entry["value"]):
        raise ForbiddenContentError("An activation is stored as Python bytecode, which is never run.")
    if not isinstance(kind, str) or kind not in SINKS or not isinstance(options, Mapping):
        return list(entry.values())
    left = dict(options)
    for option in SINKS[kind]:
        if kept(option, options) == "bytecode":
            key = place(option, options.get("name", entry.get("name")))
            if key not in given:
                raise refusal(kind, option, options.get("name", entry.get("name")))
            del left[option]
    return [*left.values(), *(value for key, value in entry.items() if key != "config")]


def refusal(kind: str, option: str, layer_name: Any) -> ForbiddenContentError:
    """The error for bytecode in an option of a layer."""
    return ForbiddenContentError(
        f"{kind} {layer_name!r}: its {option} is stored as Python bytecode, which is never run; "
        f"pass the function itself: custom_objects={{{place(option, layer_name)!r}: function}}."
    )


def _is_dump(value: Any) -> bool:
    # A place in a graph, [layer, call, output], has numbers after the text.
    is_triple = isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], str)
    return is_triple and not isinstance(value[1], int)
