"""Models in configs of tf.keras and Keras 3, translated to today's: layers, calls, and the numbers of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras import registry
from torchkeras.base.nested import decoded, mapped, slots_as_written
from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects import calls, masking
from torchkeras.saving.dialects.calls import CallPlace, NodeCall
from torchkeras.saving.dialects.translation import Config, Words, class_name, is_known, is_object, layer, own_form
from torchkeras.saving.graph_config import SORTED
from torchkeras.saving.layer_facts import STACKS


@dataclass(frozen=True)
class Forms:
    """How one Keras writes layers and calls.

    `words`: the translation of options. `is_function`: whether an entry is a function of tensors. `function(entry,
    call, where)`: its name, and its arguments by position and by name. `training`: whether a layer follows the
    `training` in its call. `masks(class_name, call, graph)`: whether each input of a call has a mask, None if the
    file does not say. `numberings`: for a Sequential (False) and a functional model (True), what may have to be
    added to the numbers of its calls in arguments and in outputs, to begin at 1. `loses_calls`: whether arguments
    name the first call of a layer, whichever is meant. `dropping`, `joint`: see `masking.settle`. `as_written`:
    whether calls have the inputs and outputs of models inside in the order in which the dicts of these were
    written, as in `.keras` files of ours before they had it by keys. `in_calls`: by class, options that are
    arguments of calls today, by the names of these.
    """

    words: Words
    is_function: Callable[[Mapping[str, Any]], bool]
    function: Callable[[Mapping[str, Any], NodeCall, str], tuple[str, list[Any], Config]]
    training: bool
    masks: Callable[[str, NodeCall, Mapping[str, Any]], list[bool | None]]
    numberings: Mapping[bool, tuple[tuple[int, int], ...]]
    dropping: tuple[str, ...] = ()
    joint: bool = False
    loses_calls: bool = False
    as_written: bool = False
    in_calls: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def modern(config: Mapping[str, Any], forms: Forms) -> Config:
    """Today's `{"class_name", "config"}` of a model. Raises ArchitectureError, ForbiddenContentError."""
    own = own_form(config)
    if own is not None:
        return _beside(own, config)
    entry = _entry(config, forms)
    if masking.is_model(entry):
        count = len(entry["config"]["input_layers"]) if "input_layers" in entry["config"] else 1
        masking.settle(entry, [False] * count, forms.dropping, forms.joint)
    return entry


def _entry(entry: Any, forms: Forms) -> Config:
    """The entry of a layer or model, translated."""
    if not is_object(entry):
        raise ArchitectureError(f"A layer's config needs a 'class_name' and a 'config'; found {_short(entry)}.")
    own = own_form(entry)
    if own is not None:
        return _beside(own, entry)
    given = entry.get("config")
    if isinstance(given, registry.Kept):
        return _beside({"class_name": class_name(entry), "config": given}, entry)
    if isinstance(given, list) and class_name(entry) == "Sequential":
        given = {"layers": given}
    if not isinstance(given, Mapping):
        raise ArchitectureError(f"The config of {class_name(entry)} must be a dictionary; found {_short(given)}.")
    if "layers" not in given or class_name(entry) in STACKS:
        return _beside(layer({**entry, "config": given}, forms.words, lambda inner: _entry(inner, forms)), entry)
    if not isinstance(given["layers"], list) or not all(map(is_object, given["layers"])):
        raise ArchitectureError(f"The layers of {class_name(entry)} {given.get('name')!r} must be a list of configs.")
    return _beside({"class_name": class_name(entry), "config": _model(given, forms)}, entry)


def _model(given: Mapping[str, Any], forms: Forms) -> Config:
    """The config of a model, translated."""
    made = _functional(given, forms) if "input_layers" in given else _sequential(given, forms)
    if not _is_frozen(given, made["layers"]):
        return {"name": given.get("name"), **made}
    for found in made["layers"]:
        _thaw(found)
    return {"name": given.get("name"), "trainable": False, **made}


def _beside(made: Config, entry: Mapping[str, Any]) -> Config:
    """A translated entry with what ours have next to the config, and how a user's layer was built."""
    kept = (registry.OWN, registry.BUILT) if isinstance(made["config"], registry.Kept) else (registry.OWN,)
    return {**made, **{key: entry[key] for key in kept if key in entry}}


def _is_frozen(given: Mapping[str, Any], layers: list[Config]) -> bool:
    """Whether a model is frozen. tf.keras does not write it of a Sequential, which has frozen all layers inside."""
    said = [found["config"].get("trainable") for found in layers if found["class_name"] != "InputLayer"]
    return given["trainable"] is False if "trainable" in given else bool(said) and not any(said)


def _thaw(entry: Config) -> None:
    """Let the layers of a frozen model train with it. There, `trainable` of a model sets that of all layers inside."""
    if isinstance(entry["config"], registry.Kept):
        entry["config"].pop("trainable", None)
        return
    for key in ("layer", "backward_layer", "cell"):
        if is_object(entry["config"].get(key)):
            _thaw(entry["config"][key])
    for inner in entry["config"].get("layers", ()):
        _thaw(inner)
    entry["config"].pop("trainable", None)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}..."


# --- Sequential ------------------------------------------------------------------------------------------------------

SEQUENTIAL_KEYS = ("name", "trainable", "dtype", "layers", "build_input_shape")
FUNCTIONAL_KEYS = ("name", "trainable", "dtype", "layers", "input_layers", "output_layers")


def _known_keys(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ArchitectureError(f"Model {given.get('name')!r}: unknown option {unknown[0]!r} in its config.")


def _sequential(given: Mapping[str, Any], forms: Forms) -> Config:
    _known_keys(given, SEQUENTIAL_KEYS)
    layers = [_entry(entry, forms) for entry in given["layers"]]
    shape = given.get("build_input_shape")
    if shape is not None and layers and not _tells_its_input(layers[0]):
        stateful = any(found["config"].get("stateful") for found in layers)
        batch_shape = list(shape) if stateful else [None, *shape[1:]]
        if masking.is_model(layers[0]):
            inputs = {"name": f"{given.get('name')}_input", "batch_input_shape": batch_shape}
            layers.insert(0, {"class_name": "InputLayer", "config": inputs})
        else:
            layers[0]["config"]["batch_input_shape"] = batch_shape
    return {"layers": layers}


def _tells_its_input(entry: Config) -> bool:
    config = entry["config"]
    if "layers" in config:
        return "input_layers" in config or (bool(config["layers"]) and _tells_its_input(config["layers"][0]))
    return entry["class_name"] == "InputLayer" or config.get("batch_input_shape") is not None


# --- functional models -----------------------------------------------------------------------------------------------


def _functional(given: Mapping[str, Any], forms: Forms) -> Config:
    _known_keys(given, FUNCTIONAL_KEYS)
    entries = {entry.get("name", entry["config"].get("name")): entry for entry in given["layers"]}
    if len(entries) != len(given["layers"]):
        raise ArchitectureError(f"Model {given.get('name')!r}: two of its layers have one name.")
    read, outputs = _calls_and_outputs(given, entries, forms)
    shifts = _shifts(outputs, entries, read, forms)
    graph = {**given, "entries": entries, "calls": read}
    made = []
    for name in _needed(outputs, read, entries, forms):
        if forms.is_function(entries[name]):
            made += _operations(name, entries[name], read[name], forms)
        else:
            made.append(_layer_entry(name, entries[name], read[name], graph, forms))
    _shift_calls(made, shifts[0])
    inputs = [list(place) for place in calls.read_places(given["input_layers"])]
    forms_of = [calls.read_form(given[key]) for key in ("input_layers", "output_layers")]
    return {
        "layers": made,
        "input_layers": inputs,
        "output_layers": [[name, call + shifts[1].get(name, 0), output] for name, call, output in outputs],
        **({} if forms_of == [None, None] else {"structure": forms_of}),
        SORTED: not forms.as_written,
    }


def _calls_and_outputs(
    given: Mapping[str, Any], entries: Mapping[str, Any], forms: Forms
) -> tuple[dict[str, list[NodeCall]], list[CallPlace]]:
    """The calls of each layer, by its name, and the places of a model's outputs."""
    read = {name: calls.read_calls(entry, entries) for name, entry in entries.items()}
    outputs = calls.read_places(given["output_layers"])
    if forms.as_written:
        read = {name: [_by_keys(call, entries[name], entries) for call in found] for name, found in read.items()}
        outputs = [_output_by_keys(place, entries) for place in outputs]
    return read, outputs


def _shift_calls(entries: list[Config], shifts: Mapping[str, int]) -> None:
    """Add to the numbers of calls in the inputs of layers, in place. `shifts`: what to add, by the layer called."""
    for entry in entries:
        for call in entry["inbound_nodes"]:
            for item in call:
                item[1] += shifts.get(item[0], 0)


def _order_of(entry: Mapping[str, Any], key: str) -> list[int]:
    """The numbers by sorted keys of the inputs or outputs of a model inside, as they were written; [] for others."""
    config = entry.get("config")
    given = config.get(key) if isinstance(config, Mapping) else None
    if given is None or not calls.read_places(given):  # which checks them
        return []
    order = slots_as_written(decoded(calls.read_form(given)))
    return [] if order == sorted(order) else order


def _output_by_keys(place: CallPlace, entries: Mapping[str, Any]) -> CallPlace:
    order = _order_of(entries.get(place.layer, {}), "output_layers")
    return place._replace(output=order[place.output]) if place.output < len(order) else place


def _by_keys(call: NodeCall, entry: Mapping[str, Any], entries: Mapping[str, Any]) -> NodeCall:
    """A call with the inputs and outputs of models inside by the sorted keys of their dicts."""
    args, kwargs = mapped((call.args, dict(call.kwargs)), lambda place: _output_by_keys(place, entries), CallPlace)
    order = _order_of(entry, "input_layers")
    if args and isinstance(args[0], list) and len(args[0]) == len(order):
        args = [place for _, place in sorted(zip(order, args[0], strict=True), key=lambda pair: pair[0])], *args[1:]
    return NodeCall(tuple(args), kwargs)


def _shifts(
    outputs: list[CallPlace],
    entries: Mapping[str, Any],
    read: Mapping[str, list[NodeCall]],
    forms: Forms,
) -> tuple[dict[str, int], dict[str, int]]:
    """What to add to the numbers of calls of inner models, which today begin at 1: in arguments, and in outputs.

    A graph is saved with the calls that its outputs need: each call is used. Raises ArchitectureError if some are not.
    """
    arguments = _places_in_arguments(read)
    shifts: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for name, found in read.items():
        uses = [{place.call for place in group if place.layer == name} for group in (arguments, outputs)]
        numberings, first = ((0, 0),), 0
        is_model = masking.is_model(entries[name])
        if is_model:
            numberings, first = forms.numberings["input_layers" in entries[name]["config"]], 1
        every_call = set(range(first, first + len(found)))
        fitting = [pair for pair in numberings if _numbered(uses, pair) == every_call]
        if len(found) > 1 and (not fitting or (forms.loses_calls and uses[0])):
            used = ", ".join(str(sorted(group)) for group in uses if group)
            raise ArchitectureError(
                f"Layer {name!r} is called {len(found)} times, and the file uses the calls {used}: Keras 3.2 did not "
                "write which are meant. Build the model by code and load the weights."
            )
        if is_model:
            shifts[0][name], shifts[1][name] = (fitting or numberings)[0]
    return shifts


def _places_in_arguments(read: Mapping[str, list[NodeCall]]) -> list[CallPlace]:
    """The outputs of layers that calls take."""
    nodes = [call for found in read.values() for call in found]
    return [place for call in nodes for place in calls.places_in([call.args, call.kwargs])]


def _numbered(uses: list[set[int]], adding: tuple[int, int]) -> set[int]:
    """The calls that arguments and outputs use, with what is added to the numbers of each."""
    return {call + add for used, add in zip(uses, adding, strict=True) for call in used}


def _needed(
    outputs: list[CallPlace], read: Mapping[str, list[NodeCall]], entries: Mapping[str, Any], forms: Forms
) -> list[str]:
    """The layers, without functions that only compute masks: today's layers do this themselves."""
    used = {place.layer for place in outputs}
    waiting = [name for name, entry in entries.items() if not forms.is_function(entry)]
    used.update(waiting)
    waiting = [*used]
    while waiting:
        name = waiting.pop()
        for call in read.get(name, ()):
            kwargs = {key: value for key, value in call.kwargs.items() if key not in calls.MASKS}
            for place in calls.places_in([call.args, kwargs]):
                if place.layer not in used:
                    used.add(place.layer)
                    waiting.append(place.layer)
    return [name for name in entries if name in used]


def _layer_entry(
    name: str, entry: Mapping[str, Any], found: list[NodeCall], graph: Mapping[str, Any], forms: Forms
) -> Config:
    entry, found = _in_calls(entry, found, forms)
    made = _entry(entry, forms)
    where = f"{made['class_name']} {name!r}"
    nodes = []
    for call in found:
        if not is_known(made["class_name"]) and not calls.is_plain(call):
            nodes.append(calls.as_given(call))
            continue
        inputs, options = calls.written(call, made["class_name"], where, forms.training)
        made["config"].update(options)
        for item, said in zip(inputs, forms.masks(made["class_name"], call, graph), strict=False):
            item[3] = item[3] if said is None else {**item[3], masking.EXPECTED: said}
        nodes.append(inputs)
    return {"name": name, **made, "inbound_nodes": nodes}


def _in_calls(
    entry: Mapping[str, Any], found: list[NodeCall], forms: Forms
) -> tuple[Mapping[str, Any], list[NodeCall]]:
    """A layer's entry and its calls, with options that are arguments of calls today in the calls."""
    name = class_name(entry)
    if name not in forms.in_calls or not is_known(name):
        return entry, found
    config, moved = dict(entry["config"]), {}
    for option, argument in forms.in_calls[name].items():
        if config.get(option) is True:
            del config[option]
            moved[argument] = True
    return {**entry, "config": config}, [NodeCall(call.args, {**call.kwargs, **moved}) for call in found]


def _operations(name: str, entry: Mapping[str, Any], found: list[NodeCall], forms: Forms) -> list[Config]:
    """A function of tensors as an `Operation`. Its arguments become options, so all its calls must have the same."""
    where = f"{entry['class_name']} {name!r}"
    read = [forms.function(entry, call, where) for call in found]
    encoded = [(function, keywords, *calls.as_arguments(arguments)) for function, arguments, keywords in read]
    if len({repr(option[:3]) for option in encoded}) != 1:
        raise ArchitectureError(f"{where}: a function called with {len(found)} sets of arguments is not read.")
    function, keywords, arguments, _ = encoded[0]
    config = {"name": name, "function": function, "arguments": arguments, "keeps_mask": False}
    config |= {"keywords": keywords} if keywords else {}
    nodes = [[[*place, {}] for place in inputs] for *_, inputs in encoded]
    return [{"name": name, "class_name": "Operation", "config": config, "inbound_nodes": nodes}]
