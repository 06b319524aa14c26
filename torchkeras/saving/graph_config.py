"""Graphs to and from plain data: the configs that Keras 2 writes, and their JSON.

A config is checked before anything is built from it: lists where lists belong, names that are texts.
"""

from __future__ import annotations

import heapq
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from torchkeras import registry
from torchkeras.base import bytecode
from torchkeras.base.bytecode import MAPPINGS, SCALARS
from torchkeras.base.nested import (
    POSITIONAL,
    TensorSlot,
    bound,
    decoded,
    encoded,
    put_together,
    slots_as_written,
    taken_apart,
)
from torchkeras.base.python import leave_room
from torchkeras.base.rules import CUSTOM_OBJECTS, read, refuse_unknown
from torchkeras.engine.graph.network import Network, flat
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, as_list, calls_of, node_of, unpacked
from torchkeras.errors import ArchitectureError, FileLimitError, ModelFileError
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.ties import KEY, tie, ties_of

# --- checks -----------------------------------------------------------------------------------------------------------


# What layers raise for bad options, and torch for sizes that are too large.
FAILURES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, MemoryError)


@contextmanager
def building(what: str = "The architecture") -> Iterator[None]:
    """Turn errors inside the `with` block into ArchitectureError."""
    try:
        yield
    except ModelFileError:
        raise
    except (ValueError, TypeError) as error:
        raise ArchitectureError(str(error)) from error
    except FAILURES as error:
        raise ArchitectureError(f"{what} cannot be built ({type(error).__name__}: {error}).") from error


def short(value: Any, most: int = 300) -> str:
    """A value as text for an error, cut after `most` letters."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def check(config: Any, limits: Limits = LIMITS) -> None:
    """Check the config of a model or a layer, and the configs inside it.

    Raises ArchitectureError, or FileLimitError for one that is too deep or has too many layers.
    """
    layers, deepest, pending = 0, 0, [(config, 1, 0)]
    while pending:
        found, depth, models = pending.pop()
        if depth > limits.json_depth:
            raise FileLimitError(f"The architecture is nested deeper than {limits.json_depth} levels.")
        deepest = max(deepest, depth)
        if isinstance(found, MAPPINGS) and not isinstance(found, registry.Kept):
            entries = _entries(found)
            layers, models = layers + len(entries), models + bool(entries)
            if layers > limits.layers:
                raise FileLimitError(f"The architecture has more than {limits.layers} layers.")
            if models > limits.models:
                raise FileLimitError(f"More than {limits.models} models stand in one another.")
            inside = found.values()
        elif isinstance(found, (list, tuple)):
            inside = found
        else:
            continue
        pending += [(value, depth + 1, models) for value in inside if not isinstance(value, SCALARS)]
    leave_room(deepest)


def _entries(found: Mapping[str, Any]) -> list[Any]:
    """The layers of a Sequential's or a functional model's entry, checked; none of any other mapping."""
    config = found.get("config")
    if found.get("class_name") == "Sequential":
        layers = config.get("layers") if isinstance(config, Mapping) else config
        if not isinstance(layers, (list, tuple)):
            raise ArchitectureError(f"A Sequential config needs a list of 'layers'; found {short(layers)}.")
        for entry in layers:
            check_entry(entry)
        return list(layers)
    if isinstance(config, MAPPINGS) and "input_layers" in config:
        check_functional(config)
        return list(config["layers"])
    return []


def check_model(config: Any) -> None:
    """Check the outer form of a model's config. Raises ArchitectureError."""
    if not isinstance(config, Mapping):
        raise ArchitectureError(
            f"A model config is a dictionary with 'class_name' and 'config'; found {type(config).__name__}."
        )


def check_entry(entry: Any) -> None:
    """Check the entry of a layer. Raises ArchitectureError."""
    named = isinstance(entry, Mapping) and isinstance(entry.get("class_name"), str)
    if not named or not isinstance(entry.get("config"), (Mapping, list)):
        raise ArchitectureError(f"A layer config needs a 'class_name' and a 'config'; found {short(entry)}.")


def check_functional(config: Any, limits: Limits = LIMITS) -> None:
    """Check the config of a functional model: its layers, their calls, its inputs and outputs.

    Raises ArchitectureError, FileLimitError.
    """
    if not isinstance(config, Mapping):
        raise ArchitectureError(f"A model config is a dictionary; found {short(config)}.")
    for key in ("layers", "input_layers", "output_layers"):
        if not isinstance(config.get(key), (list, tuple)):
            raise ArchitectureError(f"A model config needs a list of {key!r}; found {short(config.get(key))}.")
    names: set[str] = set()
    calls = 0
    for entry in config["layers"]:
        _check_layer(entry, names)
        names.add(entry["name"])
        calls += sum(map(len, entry["inbound_nodes"]))
    if calls > limits.calls:
        raise FileLimitError(f"The architecture has more than {limits.calls} connections.")
    _check_places("input_layers", config["input_layers"])
    _check_places("output_layers", config["output_layers"])


def _check_layer(entry: Any, names: Collection[str]) -> None:
    """Check the entry of a layer of a graph. `names`: of the layers before it. Raises ArchitectureError."""
    check_entry(entry)
    name, nodes = entry.get("name"), entry.get("inbound_nodes")
    if not isinstance(name, str) or not name:
        raise ArchitectureError(f"A layer in a model config needs a 'name'; found {short(entry)}.")
    if name in names:
        raise ArchitectureError(f"The config has two layers {name!r}; each needs a name of its own.")
    if not isinstance(nodes, (list, tuple)) or not all(map(_is_call, nodes)):
        raise ArchitectureError(
            f"Layer {name!r}: 'inbound_nodes' must be a list of calls, each a list of "
            f"[layer name, call, output, arguments]; found {short(nodes)}."
        )


def _check_places(key: str, value: Any) -> None:
    for found in places(value):
        if not _is_place(found) or len(found) != 3:
            raise ArchitectureError(f"{key!r} must be a list of [layer name, call, output]; found {short(value)}.")


def places(value: Any) -> list[Any]:
    """A list of places; Keras 3 writes a single place without the outer list."""
    return [value] if value and isinstance(value[0], str) else list(value)


def _is_call(call: Any) -> bool:
    return isinstance(call, (list, tuple)) and len(call) > 0 and all(map(_is_input, call))


def _is_input(found: Any) -> bool:
    arguments = found[3] if isinstance(found, (list, tuple)) and len(found) == 4 else {}
    return _is_place(found) and len(found) <= 4 and isinstance(arguments, Mapping)


def _is_place(found: Any) -> bool:
    return (
        isinstance(found, (list, tuple))
        and len(found) >= 3
        and isinstance(found[0], str)
        and all(isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in found[1:3])
    )


# --- configs ----------------------------------------------------------------------------------------------------------


KERAS_VERSION = "2.2.4"  # whose layout we write

Calling = Callable[..., Any]  # (layer, inputs, **arguments)
Call = tuple[str, int, list[Any]]  # a layer's name, the number of the call, its inputs


def layer_config(layer: Layer) -> dict[str, Any]:
    """`{"class_name", "config"}` of a layer or model, and what its config leaves out."""
    with registry.layers.writing(None) as written:
        entry = registry.layers.serialize(layer)
    return entry if written.owners else with_ties(entry, layer, written)


def with_ties(entry: dict[str, Any], model: Layer, written: registry.Written) -> dict[str, Any]:
    """The entry of a whole model, with what it has once although its config makes several of it."""
    ties = ties_of(model, written.held)
    return {**entry, registry.OWN: {**entry.get(registry.OWN, {}), KEY: ties}} if ties else entry


# The key of a model's config which says that outputs are numbered as in Keras, by the sorted keys of dicts. In configs
# of ours without it those of a call are numbered as they were written.
SORTED = "sorted_outputs"


def graph_config(name: str, graph: Graph, forms: tuple[Any, Any] = (None, None)) -> dict[str, Any]:
    """The config of a functional model; `forms`: of inputs and outputs other than one tensor or a plain list."""
    places: dict[Node, tuple[str, int]] = {}
    for layer in graph.layers:
        first = int(isinstance(layer, Network))  # the node of an inner model itself has the number 0
        places |= {node: (layer.name, index) for index, node in enumerate(graph.nodes_of(layer), first)}

    def place(tensor: KerasTensor) -> list[Any]:
        return [*places[node_of(tensor)], tensor.keras_history.tensor_index]

    def call(node: Node) -> list[Any]:
        return [[*place(tensor), encoded(node.arguments)] for tensor in node.input_tensors]

    def calls(layer: Layer) -> list[Any]:
        return [call(node) for node in graph.nodes_of(layer) if node.input_tensors]

    layers = [layer_config(layer) for layer in graph.layers]
    for layer, entry in zip(graph.layers, layers, strict=True):  # in place: an entry may get a number
        entry.update(name=layer.name, inbound_nodes=calls(layer))
    config: dict[str, Any] = {
        "name": name,
        "layers": layers,
        "input_layers": [place(tensor) for tensor in graph.inputs],
        "output_layers": [place(tensor) for tensor in graph.outputs],
    }
    if forms != (None, None):
        config["structure"] = [None if form is None else encoded(form) for form in forms]
    if any(_written_in_another_order(node.outputs) for node in graph.nodes):
        config[SORTED] = True
    return config


def _written_in_another_order(outputs: Any) -> bool:
    order = slots_as_written(taken_apart(outputs)[0])
    return order != sorted(order)


def in_structure(config: Mapping[str, Any], inputs: list[KerasTensor], outputs: list[KerasTensor]) -> tuple[Any, Any]:
    """The inputs and outputs in the form that the config gives. Raises ArchitectureError if it does not fit."""
    forms = config.get("structure") or (None, None)
    if not isinstance(forms, (list, tuple)) or len(forms) != 2:
        raise ArchitectureError(f"A model's 'structure' is two forms, of inputs and outputs; found {short(forms)}.")
    return _in_form(forms[0], inputs), _in_form(forms[1], outputs)


def _in_form(form: Any, tensors: list[KerasTensor]) -> Any:
    found = None if form is None else decoded(form)
    if found is None:
        return tensors
    indices = sorted(str(slot.index) for slot in taken_apart(found, TensorSlot)[1])
    if indices != sorted(map(str, range(len(tensors)))):
        raise ArchitectureError(f"A 'structure' names each of the {len(tensors)} tensors; found {short(form)}.")
    return put_together(found, tensors)


def connect(
    config: Mapping[str, Any],
    custom_objects: Mapping[str, Any] | None = None,
    given: Mapping[str, KerasTensor] | None = None,
    copies: Mapping[str, tuple[Layer, Layer]] | None = None,
    calling: Calling = lambda layer, *args, **kwargs: layer(*args, **kwargs),
) -> tuple[list[KerasTensor], list[KerasTensor]]:
    """Make the layers of a functional model's config and call them; returns its inputs and outputs.

    `given`: tensors to use in place of inputs, by the name of the input layer. `copies`: the layers that the config is
    of, by name, each with one to take in its place. `calling`: what calls a layer. Raises ArchitectureError for a
    config of another form or a call whose inputs nothing produces, and what layers raise for an unknown class or
    option.
    """
    check_functional(config)
    layers: dict[str, Layer] = {}
    forms: dict[str, tuple[Any, Any]] = {}
    made: dict[tuple[str, int], list[KerasTensor]] = {}
    calls: list[Call] = []
    given, copies = given or {}, copies or {}
    for entry in config["layers"]:
        name = entry["name"]
        if name in given:
            made[name, 0] = [given[name]]
            continue
        if name in copies:
            original, layer = copies[name]
        else:
            original = layer = _named_layer(entry, custom_objects)
        layers[name] = layer
        if isinstance(original, Network):
            forms[name] = _forms_of(entry["config"])
        first = int(name in forms)
        if not entry["inbound_nodes"]:
            made[name, 0] = _output_of(layer)
        calls += [(name, first + index, call) for index, call in enumerate(entry["inbound_nodes"])]
    _make_calls(layers, made, calls, calling, forms, bool(config.get(SORTED)))
    return _tensors_at(places(config["input_layers"]), made), _tensors_at(places(config["output_layers"]), made)


def _tensors_at(found: Sequence[Any], made: Mapping[tuple[str, int], list[KerasTensor]]) -> list[KerasTensor]:
    """The tensors at the places that a config gives. `made`: the outputs of each call."""
    tensors = []
    for name, index, output in found:
        if (name, index) not in made or not 0 <= output < len(made[name, index]):
            raise ArchitectureError(
                f"The config names output {output} of call {index} of layer {name!r}, which does not exist."
            )
        tensors.append(made[name, index][output])
    return tensors


def make_layer(entry: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
    """The layer of `{"class_name", "config"}`. Raises ArchitectureError if the class is not a layer."""
    layer = registry.layers.from_config(entry, custom_objects)
    if not isinstance(layer, Layer):
        raise ArchitectureError(f"{entry['class_name']!r} is no class of a layer; it made {short(layer)}.")
    own = entry.get(registry.OWN)
    if isinstance(own, Mapping) and KEY in own:
        tie(layer, own[KEY])
    return layer


def _named_layer(entry: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> Layer:
    """The layer of an entry, which gives it its name where its config does not."""
    layer = make_layer(entry, custom_objects)
    if "name" not in entry["config"]:
        layer.name = entry["name"]
    return layer


def _output_of(layer: Layer) -> list[KerasTensor]:
    """The outputs of a layer that is not called: an input, or an inner model."""
    if not calls_of(layer):
        raise ArchitectureError(f"Layer {layer.name!r} ({type(layer).__name__}) is called on nothing, and is no input.")
    return as_list(layer.get_output_at(0))


def _forms_of(config: Any) -> tuple[Any, Any]:
    """The forms of a model's inputs and outputs, with slots that have the numbers of its config."""
    found = config.get("structure") if isinstance(config, Mapping) else None
    return (None, None) if found is None else (decoded(found[0]), decoded(found[1]))


def _make_calls(
    layers: Mapping[str, Layer],
    made: dict[tuple[str, int], list[KerasTensor]],
    calls: list[Call],
    calling: Calling,
    forms: Mapping[str, tuple[Any, Any]],
    by_keys: bool,
) -> None:
    """Call each layer as soon as its inputs exist; the calls of one layer keep their order.

    The order is that of Keras, which goes through the list again and again. Only calls that became ready are visited.
    `forms`: of inputs and outputs of the models inside. `by_keys`: whether other outputs in dicts are numbered by the
    sorted keys.
    """
    missing = _missing_inputs(calls, made)
    takers: dict[tuple[str, int], list[int]] = {}
    for position, needs in enumerate(missing):
        for need in needs:
            takers.setdefault(need, []).append(position)
    ready = [(0, position) for position, needs in enumerate(missing) if not needs]
    while ready:
        passed, position = heapq.heappop(ready)
        name, index, call = calls[position]
        taken, given = forms.get(name, (None, None))
        outputs = _call_layer(partial(calling, layers[name]), name, index, call, made, taken)
        made[name, index] = _outputs_by_number(outputs, given, by_keys)
        for taker in takers.get((name, index), ()):
            missing[taker].discard((name, index))
            if not missing[taker]:
                heapq.heappush(ready, (passed + (taker < position), taker))
    for name, index, call in calls:
        if (name, index) not in made:
            raise ArchitectureError(
                f"Call {index} of layer {name!r} takes {short(call)}, which the config does not make."
            )


def _missing_inputs(calls: list[Call], made: Mapping[tuple[str, int], Any]) -> list[set[tuple[str, int]]]:
    """For each call the calls that must come before it: those that make its inputs, and the layer's call before."""
    listed = {(name, index) for name, index, _ in calls}
    missing = []
    for name, index, call in calls:
        needs = {(source, k) for source, k, *_ in call} | ({(name, index - 1)} & listed)
        missing.append(needs - made.keys())
    return missing


def _outputs_by_number(outputs: Any, form: Any, by_keys: bool) -> list[KerasTensor]:
    """The outputs of a call in the order of their numbers in the config. `form`: that of a model inside."""
    if form is not None:
        return flat(form, outputs, "The config: a model inside")
    found, tensors = taken_apart(outputs)
    return tensors if by_keys else [tensors[k] for k in slots_as_written(found)]


def _call_layer(
    layer: Callable[..., Any],
    name: str,
    index: int,
    call: list[Any],
    made: Mapping[tuple[str, int], list[KerasTensor]],
    form: Any,
) -> Any:
    tensors = []
    for source, k, output, *_ in call:
        outputs = made[source, k]
        if output >= len(outputs):
            raise ArchitectureError(
                f"Call {index} of layer {name!r} takes output {output} of {source!r}, which has {len(outputs)}."
            )
        tensors.append(outputs[output])
    arguments = {key: value for item in call for key, value in (item[3] if len(item) > 3 else {}).items()}
    if POSITIONAL not in arguments and form is None:
        return layer(unpacked(tensors), **arguments)
    found = decoded(arguments)
    found.setdefault(POSITIONAL, [form])
    if not all(slot.index in range(len(tensors)) for slot in taken_apart(found, TensorSlot)[1]):
        raise ArchitectureError(
            f"Call {index} of layer {name!r} has {len(tensors)} tensors; it names {short(arguments)}."
        )
    args, named = bound(tensors, found)
    return layer(*args, **named)


def to_json(model: Layer, **options: Any) -> str:
    """The architecture as JSON, in Keras 2.2.4's form; `options` go to `json.dumps`.

    Raises TypeError for an option that `json.dumps` does not have.
    """
    if options and "cls" not in options:  # an encoder, which may have options of its own
        parameters = inspect.signature(json.dumps).parameters.values()
        refuse_unknown("to_json", options, [each.name for each in parameters if each.kind is each.KEYWORD_ONLY])
    return json.dumps({**layer_config(model), "keras_version": KERAS_VERSION, "backend": "tensorflow"}, **options)


def model_from_config(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None, lambdas: str = bytecode.READ
) -> Any:
    """A new model, with fresh weights, from `{"class_name": ..., "config": ...}`.

    Arguments:
        config (dict): what `get_config` returned, with the name of the class.
        custom_objects (dict or None, default None): your own classes and functions by name.
        lambdas (text, default "read"): what is done with functions that are bytecode and that `custom_objects` does not
            replace: "read" takes those that are formulas, without running them; "refuse" takes none.

    Returns:
        The model, not compiled.

    Errors:
        ArchitectureError: the config is something else, or cannot be built.
        ValueError: `custom_objects` is no dictionary.
        ForbiddenContentError: a function is kept as bytecode that is not read.
        FileLimitError: the config is over a limit of size or depth.

    Example:
        >>> model = Sequential([Dense(2, input_shape=(4,))])
        >>> model_from_config({"class_name": "Sequential", "config": model.get_config()}).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model_saving_apis/
    """
    read("model_from_config", "custom_objects", CUSTOM_OBJECTS, custom_objects)
    check_model(config)
    check(config)
    config = bytecode.read(config, {**registry.get_custom_objects(), **(custom_objects or {})}, lambdas)
    return make_model(config, custom_objects)


def make_model(config: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    """`model_from_config` of a config that is checked, and has no functions as bytecode any more."""
    check_entry(config)
    with building():
        return make_layer(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new model, with new weights, from the text of `to_json`.

    Raises UnreadableFileError for other text, and the errors of `model_from_config`.
    """
    return model_from_config(json_text.parse(json_string, "The architecture"), custom_objects)
