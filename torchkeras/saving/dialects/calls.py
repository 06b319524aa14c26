"""The calls of layers in configs of tf.keras and Keras 3: read into one form, and written in today's.

A call in a config names its tensors by `[layer, call, output]`. tf.keras writes a list of inputs, whose fourth item has
the arguments, which may hold further tensors. Keras 3 writes `{"args", "kwargs"}` with `__keras_tensor__` anywhere
inside.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, NamedTuple

import torch

from torchkeras.base.dtypes import dtype_of
from torchkeras.base.nested import POSITIONAL, TENSOR, TensorSlot, encoded, ordered
from torchkeras.engine.functions import function_arguments
from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects.translation import Config, is_object, plain
from torchkeras.saving.layer_facts import facts

CONSTANT = "_CONSTANT_VALUE"
ARRAYS = ("__numpy__", "__tensor__")


class CallPlace(NamedTuple):
    """A tensor of a graph: the layer that made it, the number of the call, the number of the output."""

    layer: str
    call: int
    output: int


@dataclass(frozen=True)
class NodeCall:
    """The arguments of one call, with a `CallPlace` for each tensor."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_calls(entry: Mapping[str, Any], names: Container[str]) -> list[NodeCall]:
    """The calls in the entry of a layer. `names`: those of all layers of the graph. Raises ArchitectureError."""
    nodes = entry.get("inbound_nodes")
    if not isinstance(nodes, list):
        raise ArchitectureError(f"Layer {entry.get('name')!r} has no list of 'inbound_nodes'; found {nodes!r}.")
    read = (_of_keras3(node) if isinstance(node, Mapping) and "args" in node else _of_tf(node, names) for node in nodes)
    return [call for call in read if call is not None]


def _of_keras3(node: Mapping[str, Any]) -> NodeCall:
    args, kwargs = _placed(node["args"]), _placed(node.get("kwargs") or {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise ArchitectureError(f"A call needs a list of 'args' and 'kwargs'; found {node!r}.")
    return NodeCall(tuple(args), kwargs)


def _placed(value: Any) -> Any:
    """A value of Keras 3, with its tensors as places."""
    if is_object(value) and value["class_name"] == "__keras_tensor__":
        return _call_place(value["config"]["keras_history"])
    if is_object(value) and value["class_name"] in ("__tuple__", "__slice__", "__ellipsis__", *ARRAYS):
        return _placed(plain(value)) if value["class_name"] == "__tuple__" else value
    if isinstance(value, Mapping):
        return {key: _placed(item) for key, item in value.items()}
    return [_placed(item) for item in value] if isinstance(value, (list, tuple)) else value


def _of_tf(node: Any, names: Container[str]) -> NodeCall | None:
    found: dict[str, Any] = {}

    def tensor(item: Any) -> Any:
        if _is_input(item):
            if len(item) > 3 and item[3]:
                found.update(item[3])
            return item[2] if item[0] == CONSTANT else _call_place(item[:3])
        if isinstance(item, Mapping):
            return {key: tensor(part) for key, part in item.items()}
        if not isinstance(item, (list, tuple)):
            raise ArchitectureError(f"A call's input is [layer, call, output, arguments]; found {item!r}.")
        return [tensor(part) for part in item]

    first = tensor(node)
    if first == []:
        return None
    kwargs = {key: _kept(value, names) for key, value in found.items()}
    return NodeCall((_unpacked(first),), kwargs)


def _unpacked(inputs: Any) -> Any:
    """The inputs of a call of tf.keras, in which a list of one input means the input itself."""
    is_one = isinstance(inputs, list) and len(inputs) == 1 and not isinstance(inputs[0], (list, dict))
    return inputs[0] if is_one else inputs


def _is_input(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) in (3, 4) and isinstance(item[0], str)


def _kept(value: Any, names: Container[str]) -> Any:
    """An argument of tf.keras, with its tensors as places."""
    if isinstance(value, (list, tuple)):
        is_place = len(value) == 3 and isinstance(value[0], str) and value[0] in names
        return _call_place(value) if is_place else [_kept(item, names) for item in value]
    return {key: _kept(item, names) for key, item in value.items()} if isinstance(value, Mapping) else value


def _call_place(value: Any) -> CallPlace:
    if len(value) != 3 or not isinstance(value[0], str) or not all(type(k) is int and k >= 0 for k in value[1:]):
        raise ArchitectureError(f"A tensor is named by [layer, call, output]; found {value!r}.")
    return CallPlace(*value)


def leaves_in(value: Any) -> Iterator[Any]:
    """All that is inside nested lists and dictionaries; these in the order of their sorted keys, as in Keras."""
    if isinstance(value, Mapping):
        for key in ordered(value):
            yield from leaves_in(value[key])
    elif isinstance(value, (list, tuple)) and not isinstance(value, CallPlace):
        for item in value:
            yield from leaves_in(item)
    else:
        yield value


def places_in(value: Any) -> Iterator[CallPlace]:
    """The places among them."""
    return (found for found in leaves_in(value) if isinstance(found, CallPlace))


def _has_places(value: Any) -> bool:
    return next(places_in(value), None) is not None


def read_places(value: Any) -> list[CallPlace]:
    """`input_layers` or `output_layers`: one place, or a list or dictionary of them, at any depth."""
    if isinstance(value, Mapping):
        return [place for key in ordered(value) for place in read_places(value[key])]
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str):
        return [_call_place(value)]
    if isinstance(value, (list, tuple)):
        return [place for item in value for place in read_places(item)]
    raise ArchitectureError(f"Inputs and outputs of a model are lists of [layer, call, output]; found {value!r}.")


def read_form(value: Any) -> Any:
    """The form of `input_layers` or `output_layers` as plain data; None for one place, or a plain list of them."""
    numbers = count()

    def form(item: Any) -> Any:
        if isinstance(item, Mapping):
            return _by_sorted_keys(item, form)
        if item and isinstance(item[0], str):
            return encoded(TensorSlot(next(numbers)))
        return [form(inner) for inner in item]

    found = form(value)
    flat = isinstance(found, list) and all(isinstance(item, dict) and TENSOR in item for item in found)
    return None if flat or TENSOR in found else found


def _by_sorted_keys(items: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Each item changed, in the order of the sorted keys, as Keras goes through dicts; the dict keeps its own order."""
    changed = {key: change(items[key]) for key in ordered(items)}
    return {key: changed[key] for key in items}


# --- writing ---------------------------------------------------------------------------------------------------------

# Arguments that are tensors, in their order after the first in today's list of inputs.
TENSORS = ("value", "key", "initial_state", "constants", "attention_mask")
MASKS = ("mask", "query_mask", "value_mask", "key_mask")


def named(call: NodeCall, class_name: str, where: str) -> Config:
    """The arguments of a call after the first, by name. Raises ArchitectureError for too many."""
    names = facts(class_name).arguments
    if not call.args or len(call.args) > 1 + len(names):
        raise ArchitectureError(f"{where}: a call with {len(call.args)} arguments by position is not read.")
    return {**dict(zip(names, call.args[1:], strict=False)), **call.kwargs}


def written(call: NodeCall, class_name: str, where: str, training: bool) -> tuple[list[list[Any]], Config]:
    """A call as today's list of inputs, and the options that follow from it.

    `training`: whether the layer follows a `training` given in the call. Raises ArchitectureError.
    """
    given = {name: value for name, value in named(call, class_name, where).items() if name not in MASKS}
    tensors = {name: list(places_in(given.pop(name, None))) for name in TENSORS}
    options: Config = {}
    if tensors["constants"]:
        options["num_constants"] = len(tensors["constants"])
    if tensors["attention_mask"]:
        tensors["key"] = tensors["key"] or tensors["value"]
        given["masks"] = "attention_mask"
    if not training:
        given.pop("training", None)
    inputs = [*places_in(call.args[0]), *chain.from_iterable(tensors.values())]
    arguments = _said(given)
    if _has_places(arguments):
        raise ArchitectureError(f"{where}: tensors as arguments {', '.join(sorted(arguments))} are not read.")
    return [[*place, arguments] for place in inputs], options


def _said(arguments: Config) -> Config:
    """The arguments that say something: all but None and False, which is a mode for `training` alone."""
    found = {key: value for key, value in arguments.items() if value is not None and value is not False}
    return {**found, "training": False} if arguments.get("training") is False else found


def is_plain(call: NodeCall) -> bool:
    """Whether a call has all its tensors in one positional argument, as one tensor or a list."""
    first = call.args[0] if len(call.args) == 1 else None
    flat = isinstance(first, CallPlace) or (
        isinstance(first, list) and all(isinstance(item, CallPlace) for item in first)
    )
    return flat and not _has_places(call.kwargs)


def as_given(call: NodeCall) -> list[list[Any]]:
    """A call of a user's layer as today's list of inputs, with all arguments as they were given but for empty masks."""
    places: list[CallPlace] = []
    kwargs = {name: value for name, value in call.kwargs.items() if not _is_empty_mask(name, value)}

    def slots(value: Any) -> Any:
        if isinstance(value, CallPlace):
            places.append(value)
            return TensorSlot(len(places) - 1)
        if isinstance(value, Mapping):
            return _by_sorted_keys(value, slots)
        return [slots(item) for item in value] if isinstance(value, (list, tuple)) else value

    arguments = encoded({POSITIONAL: slots(call.args), **slots(kwargs)})
    return [[*place, arguments] for place in places]


def _is_empty_mask(name: str, value: Any) -> bool:
    return name in MASKS and all(mask is None for mask in leaves_in(value))


# --- functions of tensors --------------------------------------------------------------------------------------------


def constant(value: Any, numbers: bool = False) -> Any:
    """An argument; an array that was written as nested lists becomes an array again, and with `numbers` a number."""
    is_array = isinstance(value, list) and not _has_places(value)
    is_array = is_array or (numbers and isinstance(value, (int, float)))
    return {"class_name": "__numpy__", "config": {"value": value}} if is_array else value


SLICE = ("start", "stop", "step")


def as_arguments(values: list[Any]) -> tuple[list[Any], list[CallPlace]]:
    """Arguments in the form of an `Operation`, and the tensors among them."""
    inputs: list[CallPlace] = []
    return [_as_argument(value, inputs) for value in values], inputs


def _as_argument(value: Any, inputs: list[CallPlace]) -> Any:
    """An argument in the form of an `Operation`; its tensors are added to `inputs`."""
    if isinstance(value, CallPlace):
        inputs.append(value)
        return {"input": len(inputs) - 1}
    if isinstance(value, (list, tuple)):
        return [_as_argument(item, inputs) for item in value]
    kind = value["class_name"] if is_object(value) else None
    if kind == "__ellipsis__":
        return {"ellipsis": True}
    if kind in ARRAYS:
        return _constant(value["config"])
    if kind == "__slice__":
        return _as_argument(value["config"], inputs)
    if isinstance(value, Mapping) and value.keys() <= {*SLICE}:
        return {"slice": [_as_argument(value.get(part), inputs) for part in SLICE]}
    return value


def _constant(config: Any) -> Any:
    """A constant: of the type that the file says or, if it says none, of that of the first input."""
    if not isinstance(config, Mapping) or "value" not in config:
        raise ArchitectureError(f"An array has a 'value' and a 'dtype'; found {config!r:.200}.")
    if "dtype" not in config:
        return {"array": config["value"]}
    try:
        kind = dtype_of(str(config["dtype"]))
        tensor = torch.tensor(config["value"], dtype=kind)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArchitectureError(f"An array of {config['dtype']} has other values: {error}.") from error
    return {"constant": 0, **function_arguments.written(tensor)}


def as_indices(value: Any) -> Any:
    """What stands in `x[...]`, with arrays of small whole numbers as indices: torch reads uint8 as a mask."""
    if is_object(value) and value["class_name"] in ARRAYS and "int" in str(value["config"].get("dtype")):
        return {**value, "config": {**value["config"], "dtype": "int64"}}
    if isinstance(value, (list, tuple)) and not isinstance(value, CallPlace):
        return [as_indices(item) for item in value]
    return value


def bound(
    spec: str, call: NodeCall, options: Mapping[str, Any], where: str, none_counts: bool = False
) -> tuple[str, list[Any]]:
    """Function and arguments by a row of a table of functions: `mean x axis=None keepdims=False ~dtype=None`.

    A row has today's name, then the parameters in today's order, some with a default. A parameter after `~` must have
    the value given there. A None in the call means the default, unless `none_counts`. Raises ArchitectureError for a
    missing or unknown argument.
    """
    name, *parameters = spec.split()
    given = {**options, **call.kwargs}
    order = [parameter.partition("=")[0] for parameter in parameters if not parameter.startswith("~")]
    order = [name for name in order if name not in options]
    given.update(zip(order, call.args, strict=False))
    values = []
    for parameter in parameters:
        key, has_default, text = parameter.lstrip("~").partition("=")
        is_given = key in given
        if not is_given and not has_default:
            raise ArchitectureError(f"{where}: its call lacks the argument {key!r}.")
        default = LITERALS.get(text, text) if has_default else None
        value = given.pop(key, None)
        if value is None and not (none_counts and is_given):
            value = default
        if not parameter.startswith("~"):
            values.append(value)
        elif value not in (None, default):
            raise ArchitectureError(f"{where}: {key} must be {text}; found {value!r}.")
    if given or len(call.args) > len(order):
        raise ArchitectureError(f"{where}: arguments of its call that are not read: {', '.join(sorted(given))}.")
    return name, values


LITERALS: Mapping[str, Any] = {
    "None": None,
    "False": False,
    "True": True,
    "0": 0,
    "1": 1,
    "-1": -1,
    "0.0": 0.0,
    "0.2": 0.2,
    "0.5": 0.5,
    "4": 4,
    "1e-12": 1e-12,
    "1e-05": 1e-5,
    "1e-08": 1e-8,
    "1.0": 1.0,
    "2": 2,
}
