"""From symbolic inputs and outputs to an ordered graph: which nodes, in which order, which layers.

The order of `layers` is Keras's: by depth (the longest way to an output), farthest first, then by the order in which
a walk back from the outputs first meets them. Keras sorts the keys of dicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.lazy import lazy_property
from torchkeras.base.nested import POSITIONAL, put_together, slots_as_written, taken_apart
from torchkeras.engine.facts import facts_of
from torchkeras.engine.layer.call import attach
from torchkeras.engine.symbolic.tensor import History, KerasTensor, Node, Shape, node_of

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network
    from torchkeras.engine.layer.layer import Layer


@dataclass(frozen=True, eq=False)
class Graph:
    """The part of what a person wrote that lies between `inputs` and `outputs`.

    `nodes` stand in an order in which they can be computed; `depths` is each node's longest way to an output.
    """

    inputs: list[KerasTensor]
    outputs: list[KerasTensor]
    nodes: list[Node]
    layers: list[Layer]
    depths: Mapping[Node, int]

    def nodes_of(self, layer: Layer) -> list[Node]:
        """The calls of a layer that belong to this graph, in the order in which they were made."""
        return self._calls.get(layer, [])

    @lazy_property
    def _calls(self) -> dict[Layer, list[Node]]:
        mine = set(self.nodes)
        return {layer: [node for node in layer._call_nodes if node in mine] for layer in {node.layer for node in mine}}

    @lazy_property
    def taken(self) -> Counter[KerasTensor]:
        """How often each tensor is an input of a call, or an output."""
        return Counter([*self.outputs, *(tensor for node in self.nodes for tensor in node.input_tensors)])

    @lazy_property
    def index_layers(self) -> list[list[Layer]]:
        """For each input the layers that take its numbers as indices, also those of models inside."""
        found: list[list[Layer]] = [[] for _ in self.inputs]
        pending: list[tuple[Any, dict[KerasTensor, int]]] = [(self, {each: k for k, each in enumerate(self.inputs)})]
        while pending:
            graph, numbers = pending.pop()
            for node in graph.nodes:
                taken = [numbers.get(tensor) for tensor in node.input_tensors]
                inside: Any = getattr(node.layer, "_graph", None)
                if inside is not None and len(inside.inputs) == len(taken):
                    pairs = zip(inside.inputs, taken, strict=True)
                    pending.append((inside, {tensor: number for tensor, number in pairs if number is not None}))
                elif taken and taken[0] is not None and facts_of(node.layer).indices is not None:
                    found[taken[0]].append(node.layer)
        return found

    @lazy_property
    def one_sample(self) -> Shape | None:
        """The shape of one sample, where all that the graph takes is one input of floats; None for other graphs.

        None as well where a layer takes these floats as indices, or the size of the batch is fixed.
        """
        first, *others = self.inputs
        batch, *sizes = first.shape
        plain = not others and batch is None and first.dtype.is_floating_point and not self.index_layers[0]
        return (1, *sizes) if plain else None

    @lazy_property
    def chained(self) -> list[tuple[Node, Node]]:
        """Calls whose one input is made by a call before for them alone: both, where each is its layer's only one."""
        calls = Counter(node.layer for node in self.nodes)
        found = [(node_of(node.input_tensors[0]), node) for node in self.nodes if len(node.input_tensors) == 1]
        return [
            (before, node)
            for before, node in found
            if self.taken[node.input_tensors[0]] == calls[before.layer] == calls[node.layer] == 1
        ]


class Untraced(Graph):
    """A graph that is traced when its nodes are asked for: that of a Sequential, which grows layer by layer."""

    def __init__(self, inputs: list[KerasTensor], outputs: list[KerasTensor]):
        self.__dict__.update(inputs=inputs, outputs=outputs)

    @lazy_property
    def _traced(self) -> Graph:
        return trace(self.inputs, self.outputs)

    nodes = property(lambda self: self._traced.nodes)  # type: ignore[assignment]
    layers = property(lambda self: self._traced.layers)  # type: ignore[assignment]
    depths = property(lambda self: self._traced.depths)  # type: ignore[assignment]


def graph_of(network: Network) -> Graph:
    """The graph of a network. Raises NotBuiltError where there is none yet."""
    return network._graphed


def graph_if_any(network: Network) -> Graph | None:
    """The graph of a network, None where there is none yet."""
    return network._graph


def is_connected(network: Network) -> bool:
    """Whether a network knows its inputs and outputs, and no thread is still building it."""
    return network._is_connected


def has_own_code(network: Network) -> bool:
    """Whether the class of a model computes by its own `call` or `forward` instead of the generated one."""
    return network._has_own_code


def trace(inputs: list[KerasTensor], outputs: list[KerasTensor]) -> Graph:
    """The graph between inputs and outputs.

    Raises ValueError when an output cannot be computed from the inputs, an input is no `Input`, or two layers have the
    same name; RuntimeError for a cycle.
    """
    for tensor in inputs:
        history = tensor._keras_history
        if node_of(tensor).input_tensors:
            raise ValueError(
                f"Model inputs must come from Input(); found the output of layer {history.layer.name!r}. Make an Input "
                f"of shape {tensor.shape[1:]} and call the layers that follow on it."
            )
    graph = _between(inputs, outputs, _inputs_sorted)
    _check_connected(inputs, graph.nodes)
    check_names(graph.layers)
    return graph


def layers_as_written(
    graph: Graph, input_form: Any, output_form: Any, slots: Callable[[Any], list[int]] = slots_as_written
) -> list[Layer]:
    """The layers of a graph with dicts in the order in which they were written: torch's order of the submodules.

    `input_form`, `output_form`: of the graph's inputs and outputs, None for plain lists. `slots`: gives the numbers of
    a form's slots in another order.
    """

    def placed(tensors: list[KerasTensor], form: Any) -> list[KerasTensor]:
        order = slots(form)
        return [tensors[k] for k in order] if len(order) == len(tensors) else tensors

    def inputs_of(node: Node) -> list[KerasTensor]:
        given = node.arguments if POSITIONAL in node.arguments else getattr(node.layer, "_input_form", None)
        return placed(node.input_tensors, given)

    inputs, outputs = placed(graph.inputs, input_form), placed(graph.outputs, output_form)
    called = ((node.input_tensors, inputs_of(node)) for node in graph.nodes)
    if all(found is again for one in ((graph.outputs, outputs), *called) for found, again in zip(*one, strict=True)):
        return graph.layers
    return _between(inputs, outputs, inputs_of).layers


def _inputs_sorted(node: Node) -> list[KerasTensor]:
    return node.input_tensors


def _between(
    inputs: list[KerasTensor], outputs: list[KerasTensor], inputs_of: Callable[[Node], Sequence[KerasTensor]]
) -> Graph:
    """The graph between inputs and outputs. `inputs_of`: those of a node, in the order in which they count."""
    finished, layer_order = _walk(outputs, inputs_of)
    depths, layer_depths = _depths(finished)
    for tensor in inputs:  # an input that no output needs is still an input of the model
        layer, node = tensor._keras_history.layer, node_of(tensor)
        if layer not in layer_depths:
            layer_depths[layer], depths[node], layer_order[layer] = 0, 0, -1
            finished.append(node)
    position = {node: index for index, node in enumerate(finished)}
    nodes = sorted(finished, key=lambda node: (-depths[node], position[node]))
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], layer_order[layer]))
    return Graph(inputs, outputs, nodes, layers, depths)


def before(tensor: KerasTensor) -> tuple[list[KerasTensor], list[Layer]]:
    """The inputs that a tensor is computed from, and the layers on the way, branch by branch."""
    nodes, _ = _walk([tensor], _inputs_sorted)
    called = [node for node in nodes if node.input_tensors]
    inputs = [node.outputs for node in nodes if not node.input_tensors]
    return inputs, list(dict.fromkeys(node.layer for node in called))


def _walk(
    outputs: list[KerasTensor], inputs_of: Callable[[Node], Sequence[KerasTensor]]
) -> tuple[list[Node], dict[Layer, int]]:
    """All nodes before the outputs, each after those it depends on; and the layers in the order first met."""
    finished: dict[Node, None] = {}
    in_progress: dict[Node, None] = {}
    layer_order: dict[Layer, int] = {}
    for output in outputs:
        pending: list[tuple[Node, bool]] = [(node_of(output), False)]
        while pending:
            node, done = pending.pop()
            if done:
                finished[node] = None
                del in_progress[node]
                continue
            if node in finished:
                continue
            if node in in_progress:
                raise RuntimeError(f"The graph has a cycle: layer {node.layer.name!r} depends on its own output.")
            layer_order.setdefault(node.layer, len(layer_order))
            in_progress[node] = None
            pending.append((node, True))
            pending += [(node_of(tensor), False) for tensor in reversed(inputs_of(node))]
    return list(finished), layer_order


def _depths(finished: list[Node]) -> tuple[dict[Node, int], dict[Layer, int]]:
    depths: dict[Node, int] = {}
    layer_depths: dict[Layer, int] = {}
    for node in reversed(finished):
        depth = max(depths.get(node, 0), layer_depths.get(node.layer, 0))
        depths[node] = layer_depths[node.layer] = depth
        for tensor in node.input_tensors:
            before = node_of(tensor)
            depths[before] = max(depths.get(before, 0), depth + 1)
    return depths, layer_depths


def _check_connected(inputs: list[KerasTensor], nodes: list[Node]) -> None:
    given = {node_of(tensor) for tensor in inputs}
    fine: list[str] = []
    for node in nodes:
        if not node.input_tensors and node not in given:
            raise ValueError(
                f"Graph disconnected: cannot obtain value for tensor {node.outputs!r} at layer {node.layer.name!r}. "
                f"It is not among the model's inputs. "
                f"The following previous layers were accessed without issue: {fine}. {_advice(node)}"
            )
        fine.append(node.layer.name)


def _advice(node: Node) -> str:
    if node.input_tensors:
        return "Compute the outputs from the model's inputs alone."
    return f"Add this Input to the model's inputs: Model(inputs=[..., {node.layer.name}], outputs=...)."


def check_names(layers: Iterable[Layer]) -> None:
    """Raise ValueError where two layers have one name."""
    for name, count in Counter(layer.name for layer in layers).items():
        if count > 1:
            raise ValueError(
                f"The name {name!r} is used {count} times in the model. All layer names should be unique: give each "
                "layer a name of its own, or none."
            )


# --- the edges as plain data, for pickle and deepcopy ----------------------------------------------------------------


def edges(graph: Graph) -> dict[str, Any]:
    """The graph without its layers, as plain lists: what a pickled model holds beside them.

    A graph of objects that refer to each other would be copied by recursion, too deep for a long model.
    """
    number = {layer: index for index, layer in enumerate(graph.layers)}
    call = {node: (number[layer], k) for layer in graph.layers for k, node in enumerate(graph.nodes_of(layer))}

    def place(tensor: KerasTensor) -> tuple[int, int, int]:
        return (*call[node_of(tensor)], tensor._keras_history.tensor_index)

    calls = [
        {
            "layer": call[node][0],
            "call": call[node][1],
            "inputs": [place(tensor) for tensor in node.input_tensors],
            "forms": (taken_apart(node.inputs)[0], taken_apart(node.outputs)[0]),
            "arguments": dict(node.arguments),
            "outputs": [
                (t.shape, t.dtype, t.name, None if t._keras_mask is None else t._keras_mask.shape)
                for t in node.output_tensors
            ],
        }
        for node in graph.nodes
    ]
    return {
        "calls": calls,
        "inputs": [place(tensor) for tensor in graph.inputs],
        "outputs": [place(tensor) for tensor in graph.outputs],
    }


def bridged(plain: Mapping[str, Any], gaps: Mapping[int, int]) -> dict[str, Any]:
    """The edges without some layers of a single call: what takes their output has the one of another layer instead.

    `gaps`: from the number of a layer that is left out to that of the one whose output takes its place.
    """

    def moved(places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        return [(gaps.get(layer, layer), call, index) for layer, call, index in places]

    calls = [{**call, "inputs": moved(call["inputs"])} for call in plain["calls"] if call["layer"] not in gaps]
    return {"calls": calls, "inputs": plain["inputs"], "outputs": moved(plain["outputs"])}


def rebuild(layers: list[Layer], plain: Mapping[str, Any]) -> Graph:
    """The graph again, on these layers: the inverse of `edges`."""
    made: dict[tuple[int, int, int], KerasTensor] = {}
    before = [len(layer._call_nodes) for layer in layers]  # a model has a node of its own
    nodes: dict[tuple[int, int], Node] = {}
    for call in plain["calls"]:
        layer = layers[call["layer"]]
        outputs: list[KerasTensor] = []
        for index, (shape, dtype, name, mask_shape) in enumerate(call["outputs"]):
            tensor = KerasTensor(shape, dtype, name)
            tensor._keras_history = History(layer, before[call["layer"]] + call["call"], index)
            tensor._keras_mask = None if mask_shape is None else KerasTensor(mask_shape, torch.bool)
            made[call["layer"], call["call"], index] = tensor
            outputs.append(tensor)
        inputs = [made[place] for place in call["inputs"]]
        form_in, form_out = call["forms"]
        node = Node(layer, put_together(form_in, inputs), put_together(form_out, outputs), call["arguments"])
        nodes[call["layer"], call["call"]] = node
    for _, node in sorted(nodes.items(), key=lambda item: item[0]):
        attach(node, node.input_tensors)
    return trace([made[place] for place in plain["inputs"]], [made[place] for place in plain["outputs"]])
