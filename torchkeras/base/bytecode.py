"""Functions in configs: find those stored as Python bytecode, and what replaces them.

Keras writes a function of a Lambda or a Merge as marshalled bytecode, in another form in each generation. Such a
function is never run. The user's function replaces it, or else the formula that an annex reads from it. The
config is refused where it is no formula, and with `lambdas="refuse"`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any

from torchkeras.base.annexes import annex
from torchkeras.errors import ForbiddenContentError

# The options that may be functions, by class. The user gives the first one under the layer's name.
SINKS = {"Lambda": ("function", "output_shape", "mask"), "Merge": ("mode", "output_shape", "output_mask")}
KINDS = ("lambda", "function", "formula", "raw", None)  # what Keras writes into `<option>_type`
KERAS3 = "__lambda__"
FORMULA = "formula"  # the key, and the type, under which a formula is in a config
READ, REFUSE = "read", "refuse"  # what is done with bytecode
# Most of a config. Whether a value is one of these, or a dict, is known sooner than whether it is a Mapping.
SCALARS = (str, int, float, type(None))
MAPPINGS = (dict, Mapping)

# What gives the functions of this process that its own configs have as bytecode, by that: such a one is known, and
# needs no reading. It is called with the user's custom objects, which may have values for the function's globals.
WRITTEN: dict[str, Any] = {}

_NAME = re.compile(r"[\w.\- <>]{1,100}")  # bytecode does not match it


def kept(option: str, config: Mapping[str, Any]) -> str:
    """How a config stores an option that may be a function.

    As "bytecode", as a "formula", by "name", as a plain "value", or as bytecode that is "known".
    """
    value, kind = config.get(option), config.get(f"{option}_type")
    if kind == "lambda" and WRITTEN and key_of(value) in WRITTEN:
        return "known"
    if isinstance(value, Mapping):
        return _kept_as_mapping(value)
    if kind == "lambda":
        return "bytecode"
    if isinstance(value, str):
        is_mode = option == "mode" and kind in ("raw", None)
        return _kept_as_text(value, is_mode)
    return "bytecode" if _is_marshalled(value) else "value"


def _is_marshalled(value: Any) -> bool:
    """Whether a value is bytes, or a list that begins with bytes or a text: those of the code, then its defaults."""
    if isinstance(value, (list, tuple)) and value:
        return isinstance(value[0], (str, bytes))
    return isinstance(value, bytes)


def _kept_as_mapping(value: Mapping[str, Any]) -> str:
    if set(value) == {FORMULA}:
        return FORMULA
    return "name" if _keras3_name(value) else "bytecode"


def _kept_as_text(value: str, is_mode: bool) -> str:
    """`is_mode`: whether a name is that of a merge mode, a plain value, rather than that of a function."""
    if not _NAME.fullmatch(value):
        return "bytecode"
    return "value" if is_mode else "name"


def key_of(dump: Any) -> str | None:
    """What bytecode is known by, with defaults and closure; None for what JSON does not have."""
    try:
        return json.dumps(dump)
    except (TypeError, ValueError):
        return None


def name_of(value: Any) -> str:
    """The name under which a function is stored."""
    return _keras3_name(value) if isinstance(value, Mapping) else str(value)


def _keras3_name(value: Mapping[str, Any]) -> str:
    name = value.get("config")
    return name if value.get("class_name") == "function" and isinstance(name, str) and _NAME.fullmatch(name) else ""


def place(option: str, layer_name: Any) -> str:
    """The key in `custom_objects` for a function: the name of the layer, or `layer.output_shape`."""
    return str(layer_name) if option in ("function", "mode") else f"{layer_name}.{option}"


def read(config: Any, given: Mapping[str, Any], lambdas: str = READ, version: str | None = None) -> Any:
    """A config, of any depth, with formulas in the place of bytecode.

    A function that `given` (custom objects) replaces stays as it is. `version`: of the Keras that wrote the file.
    Raises ForbiddenContentError, naming what is refused, if a function is no formula, for bytecode in another place
    than a Lambda or Merge, and for any bytecode with `lambdas="refuse"`.
    """
    if lambdas not in (READ, REFUSE):
        raise ValueError(f"lambdas must be {READ!r} or {REFUSE!r}; found {lambdas!r}.")

    def inside(part: Any) -> Any:
        if isinstance(part, (list, tuple)):
            parts = [value if isinstance(value, SCALARS) else inside(value) for value in part]
            return part if _same(parts, part) else parts
        if not isinstance(part, MAPPINGS):
            return part
        _check_no_other_bytecode(part)
        found = _with_formulas_inside(part, given, lambdas, version)
        found = {key: value if isinstance(value, SCALARS) else inside(value) for key, value in found.items()}
        return part if _same(found.values(), part.values()) else found

    return inside(config)


def _check_no_other_bytecode(config: Mapping[str, Any]) -> None:
    """Raise ForbiddenContentError if the config is a function of Keras 3 or an activation, as bytecode."""
    if config.get("class_name") == KERAS3:
        raise ForbiddenContentError("A function is stored as Python bytecode, which is never run.")
    if len(config) == 1 and _is_dump(config.get("value")):
        raise ForbiddenContentError("An activation is stored as Python bytecode, which is never run.")


def _with_formulas_inside(
    config: Mapping[str, Any], given: Mapping[str, Any], lambdas: str, version: str | None
) -> Mapping[str, Any]:
    """A config; that of a Lambda or Merge has formulas in the place of bytecode."""
    kind, options = config.get("class_name"), config.get("config")
    if not isinstance(kind, str) or kind not in SINKS or not isinstance(options, Mapping):
        return config
    named = {**options, "name": options.get("name", config.get("name"))}
    found = _with_formulas(kind, named, given, lambdas, inputs_in(config), version)
    if "name" not in options:
        del found["name"]
    return {**config, "config": found}


def _same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(map(operator.is_, new, old))


def inputs_in(config: Mapping[str, Any]) -> int | None:
    """How many tensors a layer is called on, by the nodes that a model's config has of it; None where that differs."""
    nodes = config.get("inbound_nodes")
    counts = {_inputs_of(node) for node in (nodes if isinstance(nodes, (list, tuple)) else ())}
    return counts.pop() if len(counts) == 1 else None


def _inputs_of(node: Any) -> int:
    given = node
    if isinstance(node, Mapping):  # Keras 3: the arguments of the call
        arguments = node.get("args")
        given = arguments[0] if isinstance(arguments, (list, tuple)) and arguments else None
    return len(given) if isinstance(given, (list, tuple)) and given and not isinstance(given[0], str) else 1


def _with_formulas(
    kind: str, options: dict[str, Any], given: Mapping[str, Any], lambdas: str, inputs: int | None, version: str | None
) -> dict[str, Any]:
    """The options of a layer with formulas in the place of its functions, which have the `arguments` inside them."""
    for option in SINKS[kind]:
        if kept(option, options) != "bytecode":
            continue
        if place(option, options["name"]) in given:
            options |= {option: [], f"{option}_type": "lambda"}  # nothing of it is looked at again
            continue
        options[option] = {FORMULA: formula_data(formula(kind, option, options, given, lambdas, inputs, version))}
        options[f"{option}_type"] = FORMULA
        if option == SINKS[kind][0]:
            options["arguments"] = {}
    return options


def formula(
    kind: str,
    option: str,
    config: Mapping[str, Any],
    given: Mapping[str, Any],
    lambdas: str = READ,
    inputs: int | None = None,
    version: str | None = None,
) -> Any:
    """The formula of a function that a layer's config has as bytecode. Raises ForbiddenContentError as `read`.

    `inputs`: how many tensors the layer is called on, if that is known. `version`: of the Keras that wrote the config.
    """
    if lambdas == REFUSE:
        raise refusal(kind, option, config.get("name"))
    try:
        return annex("functions in bytecode").formula_of(option, config, given, inputs, version)
    except ForbiddenContentError as error:
        raise refusal(kind, option, config.get("name"), str(error)) from error


def formula_from(kind: str, option: str, config: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """The formula that a config has as data. Raises ForbiddenContentError for what is not on its lists."""
    name = config.get("name")
    try:
        return annex("functions as formulas").formula_from(config[option][FORMULA], str(name or option), given)
    except ForbiddenContentError as error:
        raise ForbiddenContentError(f"{kind} {name!r}: its {option} is no formula that is known: {error}.") from error


def is_formula(value: Any) -> bool:
    """Whether a function is a formula that was read."""
    return hasattr(value, "is_formula")


def formula_data(found: Any) -> Any:
    """A formula as plain data."""
    return annex("functions as formulas").data_of(found)


def refusal(kind: str, option: str, layer_name: Any, reason: str = "") -> ForbiddenContentError:
    """The error for bytecode in an option of a layer; `reason`: why it is no formula."""
    why = f"; it is no formula that can be read ({reason})" if reason else ""
    return ForbiddenContentError(
        f"{kind} {layer_name!r}: its {option} is stored as Python bytecode, which is never run{why}; "
        f"pass the function itself: custom_objects={{{place(option, layer_name)!r}: function}}."
    )


def _is_dump(value: Any) -> bool:
    # A place in a graph, [layer, call, output], has numbers after the text.
    is_triple = isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], str)
    return is_triple and not isinstance(value[1], int)
