"""A graph to and from plain data: the configs that Keras 2 writes, and JSON of them.

A model's config lists its layers, each with the calls that belong to the model. A call is a list of its inputs:
`[layer name, which call of it, which output, arguments]`. Calls of a model inside count from 1, since Keras gives a
model a node of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.engine.graph import Graph
from torchkeras.engine.layer import Layer
from torchkeras.engine.network import Network
from torchkeras.engine.symbol import KerasTensor, Node, as_list, node_of, unpacked

KERAS_VERSION = "2.2.4"  # whose layout we write


def layer_config(layer: Layer) -> dict[str, Any]:
    """`{"class_name", "config"}` of a layer or model."""
    return {"class_name": layer.class_name, "config": layer.get_config()}


def graph_config(name: str, graph: Graph) -> dict[str, Any]:
    """The config of a functional model."""
    places = {
        node: (layer.name, index + isinstance(layer, Network))
        for layer in graph.layers
        for index, node in enumerate(graph.nodes_of(layer))
    }

    def place(tensor: KerasTensor) -> list[Any]:
        return [*places[node_of(tensor)], tensor._keras_history.tensor_index]

    def call(node: Node) -> list[Any]:
        return [[*place(tensor), dict(node.arguments)] for tensor in node.input_tensors]

    layers = [
        {
            "name": layer.name,
            **layer_config(layer),
            "inbound_nodes": [call(node) for node in graph.nodes_of(layer) if node.input_tensors],
        }
        for layer in graph.layers
    ]
    return {
        "name": name,
        "layers": layers,
        "input_layers": [place(tensor) for tensor in graph.inputs],
        "output_layers": [place(tensor) for tensor in graph.outputs],
    }


def connect(
    config: Mapping[str, Any],
    custom_objects: Mapping[str, Any] | None = None,
    given: Mapping[str, KerasTensor] | None = None,
) -> tuple[list[KerasTensor], list[KerasTensor]]:
    """Make the layers of a functional model's config and call them; returns its inputs and outputs.

    `given`: tensors to use in place of inputs, by the name of the input layer. Raises ValueError for a config of
    another form, an unknown class or option, or a call whose inputs are nowhere made.
    """
    for key in ("layers", "input_layers", "output_layers"):
        if not isinstance(config.get(key), (list, tuple)):
            raise ValueError(f"A model config needs a list of {key!r}; found {config.get(key)!r}.")
    layers: dict[str, Layer] = {}
    made: dict[tuple[str, int], list[KerasTensor]] = {}
    calls: list[tuple[str, int, list[Any]]] = []
    for entry in config["layers"]:
        name = entry["name"]
        if given and name in given:
            made[name, 0] = [given[name]]
            continue
        layers[name] = layer = registry.layers.from_config(entry, custom_objects)
        first = int(isinstance(layer, Network))
        if not entry["inbound_nodes"]:
            made[name, 0] = as_list(layer.get_output_at(0))
        calls += [(name, first + index, call) for index, call in enumerate(entry["inbound_nodes"])]
    _make_calls(layers, made, calls)

    def tensor(place: Any) -> KerasTensor:
        name, index, output = place
        if (name, index) not in made or not 0 <= output < len(made[name, index]):
            raise ValueError(
                f"The config names output {output} of call {index} of layer {name!r}, which is nowhere made."
            )
        return made[name, index][output]

    return [tensor(p) for p in _places(config["input_layers"])], [tensor(p) for p in _places(config["output_layers"])]


def _make_calls(
    layers: Mapping[str, Layer], made: dict[tuple[str, int], list[KerasTensor]], calls: list[tuple[str, int, list[Any]]]
) -> None:
    """Call the layers, each as soon as its inputs are there, a layer's own calls in their order."""
    while calls:
        waiting: list[tuple[str, int, list[Any]]] = []
        held: set[str] = set()
        for name, index, call in calls:
            ready = name not in held and all((source, k) in made for source, k, *_ in call)
            if not ready:
                waiting.append((name, index, call))
                held.add(name)
                continue
            tensors = [made[source, k][output] for source, k, output, *_ in call]
            arguments = {key: value for item in call for key, value in (item[3] if len(item) > 3 else {}).items()}
            made[name, index] = as_list(layers[name](unpacked(tensors), **arguments))
        if len(waiting) == len(calls):
            name, index, call = calls[0]
            raise ValueError(f"Call {index} of layer {name!r} takes {call}, which the config nowhere makes.")
        calls = waiting


def _places(value: Any) -> list[Any]:
    """A list of places; Keras 3 writes a lone one without the outer list."""
    return [value] if value and isinstance(value[0], str) else list(value)


def to_json(model: Layer, **options: Any) -> str:
    """The architecture as JSON, in Keras 2.2.4's form; `options` go to `json.dumps`."""
    return json.dumps({**layer_config(model), "keras_version": KERAS_VERSION, "backend": "tensorflow"}, **options)


def model_from_config(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new model from `{"class_name", "config"}`. Raises ValueError for anything else."""
    if not isinstance(config, Mapping):
        raise ValueError(
            f"A model config is a dictionary with 'class_name' and 'config'; found {type(config).__name__}."
        )
    return registry.layers.from_config(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new model, with fresh weights, from what `to_json` gave. Raises ValueError for text that is no such JSON."""
    try:
        config = json.loads(json_string)
    except ValueError as error:
        raise ValueError(f"The architecture is not JSON: {error}.") from error
    return model_from_config(config, custom_objects)
