"""From symbolic inputs and outputs to an ordered graph: which nodes, in which order, which layers.

The order of `layers` is Keras's: by depth (the longest way to an output), farthest first, then by the order in which
a walk back from the outputs first meets them. Keras sorts the keys of dicts.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.nested import POSITIONAL, TensorSlot, leaves, mapped, put_together, slots_as_written, taken_apart
from torchkeras.base.python import lazy_property
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.facts import facts_of, is_own
from torchkeras.engine.layer.call import attach, repeat
from torchkeras.engine.symbolic.tensor import History, KerasTensor, Node, Shape, calls_of, node_of

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network
    from torchkeras.engine.layer.layer import Layer


@dataclass(frozen=True, eq=False)
class Graph:
    """The calls of layers between `inputs` and `outputs`.

    `nodes` are in an order in which they can be computed; `depths` is each node's longest way to an output.
    """

    inputs: list[KerasTensor]
    outputs: list[KerasTensor]
    nodes: list[Node]
    layers: list[Layer]
    depths: Mapping[Node, int]

    def nodes_of(self, layer: Layer) -> list[Node]:
        """The calls of a layer that belong to this graph, in the order in which they were made."""
        return self._by_layer.get(layer, [])

    @lazy_property
    def calls(self) -> list[Node]:
        """The nodes that compute something: all but those of the inputs."""
        return [node for node in self.nodes if node.input_tensors]

    @lazy_property
    def makes_masks(self) -> bool:
        """Whether some output has a mask."""
        return any(tensor.keras_mask is not None for tensor in self.outputs)

    @lazy_property
    def _by_layer(self) -> dict[Layer, list[Node]]:
        mine = set(self.nodes)
        return {layer: [node for node in calls_of(layer) if node in mine] for layer in self.layers}

    @lazy_property
    def uses(self) -> Counter[KerasTensor]:
        """How often each tensor is an input of a call, or an output."""
        found = Counter(self.outputs)
        for node in self.calls:
            found.update(node.input_tensors)
        return found

    @lazy_property
    def index_layers(self) -> list[list[Layer]]:
        """For each input the layers that use its numbers as indices, also those of models inside."""
        found: list[list[Layer]] = [[] for _ in self.inputs]
        pending: list[tuple[Graph, dict[KerasTensor, Any]]] = [(self, dict(zip(self.inputs, found, strict=True)))]
        while pending:
            graph, lists = pending.pop()
            for node in graph.calls:
                own_lists = list(map(lists.get, node.input_tensors))
                inside: Any = getattr(node.layer, "_graph", None)
                if inside is not None and len(inside.inputs) == len(own_lists):
                    pending.append((inside, dict(zip(inside.inputs, own_lists, strict=True))))
                elif own_lists[0] is not None and facts_of(node.layer).indices is not None:
                    own_lists[0].append(node.layer)
        return found

    @lazy_property
    def one_sample(self) -> Shape | None:
        """The shape of one sample, where the graph has one input, of floats; None for other graphs.

        None as well where a layer uses these floats as indices, or the size of the batch is fixed.
        """
        first, *others = self.inputs
        batch, *sizes = first.shape
        plain = not others and batch is None and first.dtype.is_floating_point and not self.index_layers[0]
        return (1, *sizes) if plain else None

    @lazy_property
    def chained(self) -> list[tuple[Node, Node]]:
        """Pairs of calls, each its layer's only one, where the second alone uses the output of the first."""
        found = []
        for node in self.calls:
            tensor = node.input_tensors[0]
            before = node_of(tensor)
            counts = (len(self.nodes_of(before.layer)), len(self.nodes_of(node.layer)))
            if counts == (1, 1) and len(node.input_tensors) == self.uses[tensor] == 1:
                found.append((before, node))
        return found


class Untraced(Graph):
    """A graph that is traced when its nodes are first read: that of a Sequential, which grows layer by layer."""

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
        history = tensor.keras_history
        if node_of(tensor).input_tensors:
            raise ValueError(
                f"Model inputs must come from Input(); found the output of layer {history.layer.name!r}. Make an Input "
                f"of shape {tensor.shape[1:]} and call the layers that follow on it."
            )
    graph = _between(inputs, outputs, _inputs_sorted)
    _check_connected(inputs, graph.nodes)
    check_names(graph.layers)
    return graph


def computed_from(instead: Mapping[Any, KerasTensor], outputs: Any) -> Any:
    """Nested symbolic outputs as they are computed from other tensors in the place of some, by calls that are repeated.

    What is computed without those stays.
    """
    found = dict(instead)
    ends = [each for each in leaves(outputs) if each not in found]
    nodes, _ = _walk(ends, lambda node: [tensor for tensor in node.input_tensors if tensor not in instead])
    for node in nodes:
        if any(tensor in found for tensor in node.input_tensors):
            found.update(zip(node.output_tensors, repeat(node, found), strict=True))
    return mapped(outputs, lambda tensor: found.get(tensor, tensor))


def layers_as_written(
    graph: Graph, input_form: Any, output_form: Any, slots: Callable[[Any], list[int]] = slots_as_written
) -> list[Layer]:
    """The layers of a graph with dicts in the order in which they were written: torch's order of the submodules.

    `input_form`, `output_form`: of the graph's inputs and outputs, None for plain lists. `slots`: gives the numbers of
    a form's slots in another order.
    """

    def reordered(tensors: list[KerasTensor], form: Any) -> list[KerasTensor]:
        order = slots(form)
        return [tensors[k] for k in order] if len(order) == len(tensors) else tensors

    def inputs_of(node: Node) -> list[KerasTensor]:
        return reordered(node.input_tensors, _input_form_of(node))

    outputs = reordered(graph.outputs, output_form)
    as_they_are = all(map(is_, graph.outputs, outputs))
    if as_they_are and all(all(map(is_, node.input_tensors, inputs_of(node))) for node in graph.calls):
        return graph.layers
    return _between(reordered(graph.inputs, input_form), outputs, inputs_of).layers


def _input_form_of(node: Node) -> Any:
    """The form in which a call takes its inputs; None for plain lists."""
    if POSITIONAL in node.arguments:
        return node.arguments
    return getattr(node.layer, "_input_form", None)


def _inputs_sorted(node: Node) -> list[KerasTensor]:
    return node.input_tensors


def _between(
    inputs: list[KerasTensor], outputs: list[KerasTensor], inputs_of: Callable[[Node], Sequence[KerasTensor]]
) -> Graph:
    """The graph between inputs and outputs. `inputs_of`: those of a node, in the order in which to visit them."""
    finished, layer_order = _walk(outputs, inputs_of)
    depths, layer_depths = _depths(finished)
    for tensor in inputs:  # an input that no output needs is still an input of the model
        layer, node = tensor.keras_history.layer, node_of(tensor)
        if layer not in layer_depths:
            layer_depths[layer], depths[node], layer_order[layer] = 0, 0, -1
            finished.append(node)
    nodes = sorted(finished, key=lambda node: -depths[node])
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], layer_order[layer]))
    return Graph(inputs, outputs, nodes, layers, depths)


def before(tensor: KerasTensor) -> tuple[list[KerasTensor], list[Layer]]:
    """The inputs that a tensor is computed from, and the layers on the way, branch by branch."""
    nodes, _ = _walk([tensor], _inputs_sorted)
    inputs: list[KerasTensor] = []
    layers: dict[Layer, None] = {}
    for node in nodes:
        if node.input_tensors:
            layers[node.layer] = None
        else:
            inputs.append(node.outputs)
    return inputs, list(layers)


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
    own_nodes = set(map(node_of, inputs))
    fine: list[str] = []
    for node in nodes:
        if not node.input_tensors and node not in own_nodes:
            raise ValueError(
                f"Graph disconnected: cannot obtain value for tensor {node.outputs!r} at layer {node.layer.name!r}. "
                f"It is not among the model's inputs. "
                f"The following previous layers were accessed without issue: {fine}. "
                f"Add this Input to the model's inputs: Model(inputs=[..., {node.layer.name}], outputs=...)."
            )
        fine.append(node.layer.name)


def layer_names(tensors: Iterable[KerasTensor]) -> list[str]:
    """The name of the layer that made each tensor."""
    return [tensor.keras_history.layer.name for tensor in tensors]


def check_names(layers: Iterable[Layer]) -> None:
    """Raise ValueError where two layers have one name."""
    names = [layer.name for layer in layers]
    if len(set(names)) == len(names):
        return
    name, count = next(item for item in Counter(names).items() if item[1] > 1)
    raise ValueError(
        f"The name {name!r} is used {count} times in the model. All layer names should be unique: give each layer a "
        "name of its own, or none."
    )


def check_arguments(network: Network) -> None:
    """Raise TypeError for objects with tensors, which no config holds: in a call, or as the outputs of the network.

    A named tuple in a call is one, too; of one of outputs, `warn_of_named_tuples` warns.
    """
    graph = graph_if_any(network)
    outputs = None if graph is None else _object_in(network._output_form, (list, tuple, Mapping))
    if outputs is not None:
        raise TypeError(
            f"{type(network).__name__} {network.name!r}: its outputs are in a {type(outputs).__name__}, which no "
            "config holds: give them in a list or dict. save_weights and copy.deepcopy need none."
        )
    for node in () if graph is None else graph.nodes:
        found = _object_in(dict(node.arguments))
        if found is not None:
            raise TypeError(
                f"{type(node.layer).__name__} {node.layer.name!r}: its call gets a {type(found).__name__}, which no "
                "config holds: pass its tensors one by one, or in a list or dict. save_weights and copy.deepcopy need "
                "none."
            )
    for layer in () if graph is None else graph.layers:
        if layer._is_network:
            check_arguments(layer)  # type: ignore[arg-type]


def _object_in(value: Any, nested: tuple[type, ...] = ()) -> Any:
    """The first object in a form that holds tensors and is no plain list, tuple or dict; None for none.

    `nested`: classes whose subclasses are no such objects either.
    """
    if isinstance(value, TensorSlot) or not taken_apart(value, TensorSlot)[1]:
        return None
    if type(value) not in (list, tuple, dict) and not isinstance(value, nested):
        return value
    inside = value.values() if isinstance(value, Mapping) else value
    return next((found for item in inside if (found := _object_in(item, nested)) is not None), None)


def warn_of_named_tuples(network: Network, stacklevel: int) -> None:
    """Warn of outputs in a named tuple, which is a list in a config. Networks inside warn of their own."""
    found = _named_tuple_in(network._output_form)
    if found is not None:
        warnings.warn(
            f"{type(network).__name__} {network.name!r}: its outputs are in the named tuple {type(found).__name__}. In "
            "a config or file it is a list, without names: give them in a dict to keep names.",
            stacklevel=stacklevel,
        )


def _named_tuple_in(form: Any) -> Any:
    """The first named tuple in a form; None for none."""
    if isinstance(form, tuple) and hasattr(form, "_fields"):
        return form
    inside = form.values() if isinstance(form, Mapping) else form if isinstance(form, (list, tuple)) else ()
    return next((found for item in inside if (found := _named_tuple_in(item)) is not None), None)


def warn_of_outside_layers(network: Network, stacklevel: int) -> None:
    """Warn of layers in attributes that the graph does not call: a class of the package is made again without them."""
    if not is_own(type(network)) or network._graph is None:
        return
    called = set(network._graph.layers)
    held = {
        name: module
        for name, module in network._modules.items()
        if isinstance(module, AnyLayer) and module not in called
    }
    if not held:
        return
    inside = {module for layer in called for module in layer.modules()}
    outside = [name for name, module in held.items() if not inside.issuperset(_layers_alone(module))]
    if outside:
        warnings.warn(
            f"{type(network).__name__} {network.name!r}: the graph does not call the layers in its attributes "
            f"{', '.join(outside)}, so they are in no config or file. load_model then makes a model without them, and "
            "refuses weights of theirs: save such a layer by itself.",
            stacklevel=stacklevel,
        )


def _layers_alone(module: torch.nn.Module) -> list[Any]:
    """The layers in a module, itself included, but models: one of layers of the graph adds nothing to it."""
    return [part for part in module.modules() if isinstance(part, AnyLayer) and not part._is_network]


# --- the edges as plain data, for pickle and deepcopy ----------------------------------------------------------------


def edges(graph: Graph) -> dict[str, Any]:
    """The graph without its layers, as plain lists: what a pickled model stores next to the layers.

    A graph of objects that refer to each other would be copied by recursion, too deep for a long model.
    """
    numbers: dict[Node, tuple[int, int]] = {}  # of the layer, and of the call among those of the layer
    for layer_number, layer in enumerate(graph.layers):
        for call_number, node in enumerate(graph.nodes_of(layer)):
            numbers[node] = layer_number, call_number

    def places(tensors: list[KerasTensor]) -> list[tuple[int, int, int]]:
        return [(*numbers[node_of(tensor)], tensor.keras_history.tensor_index) for tensor in tensors]

    calls = []
    for node in graph.nodes:
        layer_number, call_number = numbers[node]
        call = {
            "layer": layer_number,
            "call": call_number,
            "inputs": places(node.input_tensors),
            "forms": (taken_apart(node.inputs)[0], taken_apart(node.outputs)[0]),
            "arguments": dict(node.arguments),
            "outputs": [(t.shape, t.dtype, t.name, _mask_shape(t)) for t in node.output_tensors],
        }
        calls.append(call)
    return {"calls": calls, "inputs": places(graph.inputs), "outputs": places(graph.outputs)}


def _mask_shape(tensor: KerasTensor) -> Shape | None:
    return None if tensor.keras_mask is None else tensor.keras_mask.shape


def bridged(plain: Mapping[str, Any], gaps: Mapping[int, int]) -> dict[str, Any]:
    """The edges without some layers of a single call: what used their output uses the one of another layer instead.

    `gaps`: from the number of a layer that is left out to that of the one whose output is used in its place.
    """

    def moved(places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        return [(gaps.get(layer, layer), call, index) for layer, call, index in places]

    calls = [{**call, "inputs": moved(call["inputs"])} for call in plain["calls"] if call["layer"] not in gaps]
    return {"calls": calls, "inputs": plain["inputs"], "outputs": moved(plain["outputs"])}


def rebuild(layers: list[Layer], plain: Mapping[str, Any]) -> Graph:
    """The graph again, on these layers: the inverse of `edges`."""
    made: dict[tuple[int, int, int], KerasTensor] = {}
    before = [len(calls_of(layer)) for layer in layers]  # a model has a node of its own
    nodes: dict[tuple[int, int], Node] = {}

    def tensors_at(places: list[tuple[int, int, int]]) -> list[KerasTensor]:
        return list(map(made.__getitem__, places))

    for call in plain["calls"]:
        number = (call["layer"], call["call"])
        layer, node_index = layers[call["layer"]], before[call["layer"]] + call["call"]
        outputs: list[KerasTensor] = []
        for index, (shape, dtype, name, mask_shape) in enumerate(call["outputs"]):
            tensor = KerasTensor(shape, dtype, name)
            tensor.keras_history = History(layer, node_index, index)
            if mask_shape is not None:
                tensor.keras_mask = KerasTensor(mask_shape, torch.bool)
            made[(*number, index)] = tensor
            outputs.append(tensor)
        input_form, output_form = call["forms"]
        inputs = put_together(input_form, tensors_at(call["inputs"]))
        nodes[number] = Node(layer, inputs, put_together(output_form, outputs), call["arguments"])
    for number in sorted(nodes):
        attach(nodes[number], nodes[number].input_tensors)
    return trace(tensors_at(plain["inputs"]), tensors_at(plain["outputs"]))


# --- shapes and masks for other inputs -------------------------------------------------------------------------------


def infer_again(
    graph: Graph, tensors: Sequence[KerasTensor], masks: Sequence[Any]
) -> tuple[dict[KerasTensor, KerasTensor], dict[KerasTensor, Any]]:
    """For each tensor of a graph the one that is there for other inputs, and its mask: found layer by layer.

    Raises TypeError when a mask arrives at a layer that supports none.
    """
    found = dict(zip(graph.inputs, tensors, strict=True))
    found_masks = dict(zip(graph.inputs, masks, strict=True))
    for node in graph.calls:
        inputs = mapped(node.inputs, found.__getitem__)
        input_masks = list(map(found_masks.__getitem__, node.input_tensors))
        outputs, output_masks = node.layer._infer_outputs(inputs, input_masks, node.arguments)
        found.update(zip(node.output_tensors, leaves(outputs), strict=True))
        found_masks.update(zip(node.output_tensors, output_masks, strict=True))
    return found, found_masks
