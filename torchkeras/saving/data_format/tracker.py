"""How the weights of a model have to change for the same model in the other data format.

The tracker follows the calls of both models. It knows how each tensor of the target is related to the source's, and so
which rows or axes of the weights that meet it have to be reordered.
"""

from __future__ import annotations

import itertools
from typing import NoReturn

from torchkeras.activations import is_pointwise
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import Graph, graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.layers.core import Dense
from torchkeras.saving.data_format.orders import find_orders, is_alike, is_ours, over_images
from torchkeras.saving.data_format.relation import Places, Relation, Reordering, arranged, lowered
from torchkeras.saving.data_format.relation_rules import RULES, TrackedCall, unknown

Key = tuple[int, tuple[str, ...]]  # of a weight: the id of its layer, and its paths


class Tracker:
    """Follows both models. `reorderings` then has, for each weight of the target, the steps from the source's.

    Raises ValueError if the models have different architectures, or if no reordering makes them the same function.
    """

    def __init__(self, source: Network, target: Network):
        pairs = dict(pairs_of(source, target))
        formats = {
            over_images(layer): over_images(other).data_format for layer, other in pairs.items() if over_images(layer)
        }
        self.orders = find_orders(source, formats.__getitem__)
        self.chosen: dict[Layer, Places] = {}  # the order of a Dense's features, if a later call needs one
        self.pending = True
        while self.pending:
            self.pending = False
            self.reorderings: dict[Key, Reordering] = {}
            self.inputs = [Relation(self.orders[tensor]) for tensor in source.inputs]
            self.outputs = self.through(source, target, self.inputs)

    def through(self, source: Network, target: Network, given: list[Relation]) -> list[Relation]:
        """The relations of a network's outputs, for given relations of its inputs."""
        relations = dict(zip(source.inputs, given, strict=True))
        for node, other in zip(graph_of(source).nodes, graph_of(target).nodes, strict=True):
            if node.input_tensors:
                found = self.follow(self._call(node, other, [relations[tensor] for tensor in node.input_tensors]))
                relations.update(zip(node.output_tensors, found, strict=True))
            for tensor, made in zip(node.output_tensors, other.output_tensors, strict=True):
                shape = arranged(tensor.shape, relations[tensor].order)
                if any(None not in pair and pair[0] != pair[1] for pair in zip(shape, made.shape, strict=True)):
                    layer = node.layer
                    raise ValueError(
                        f"{type(layer).__name__} {layer.name!r}: its output {tensor.shape} must have the shape {shape} "
                        f"in the other data format; the target's has {made.shape}."
                    )
        return [relations[tensor] for tensor in source.outputs]

    def _call(self, node: Node, other: Node, given: list[Relation]) -> TrackedCall:
        for tensor, relation in zip(node.input_tensors, given, strict=True):
            if tensor.keras_mask is not None and lowered(relation.order) is None:
                raise ValueError(
                    f"{type(node.layer).__name__} {node.layer.name!r}: its input has a mask, whose axis of time must "
                    f"stay where it is in the other data format; found {relation}."
                )
        wanted = [self.orders.get(tensor) for tensor in node.output_tensors]
        shapes = node.input_shapes, node.output_shapes
        return TrackedCall(node.layer, other.layer, given, *shapes, wanted, node.input_tensors[0], self)

    def follow(self, call: TrackedCall) -> list[Relation]:
        """The relations of a call's outputs; notes what it does to the weights. Raises ValueError."""
        bases = type(call.source).__mro__ if is_ours(call.source) else ()
        rule = next((RULES[cls] for cls in bases if cls in RULES), unknown)
        found = rule(call)
        for variable in call.target.weights if rule is unknown else own_variables(call.target):
            reordering = Reordering(tuple(call.steps.get(variable.name, ())))
            if self.reorderings.setdefault((id(variable.layer), variable.paths), reordering) != reordering:
                call.refuse(f"it is called twice, and its weight {variable.name!r} would need two orders.")
        return found

    def choose(self, call: TrackedCall, places: Places) -> None:
        """Make a Dense give the features of this call in this order. Raises ValueError if no Dense can."""
        tensor = call.tensor
        while tensor is not None:
            node = node_of(tensor)
            layer = node.layer
            if type(layer) is Dense and is_pointwise(layer.activation) and len(tensor.shape) == 2:
                if self.chosen.setdefault(layer, places) != places:
                    break
                self.pending = True
                return
            passes = is_alike(layer, [2]) and len(node.input_tensors) == 1
            tensor = node.input_tensors[0] if passes else None
        call.refuse(
            f"its input {call.shapes[0]} must have its features in another order in the other data format, and no "
            "Dense before it can make them so."
        )


def pairs_of(source: Layer, target: Layer) -> list[tuple[Layer, Layer]]:
    """Each layer of a model, inner layers too, with that of the other model. Raises ValueError if they differ."""
    networks = isinstance(source, Network), isinstance(target, Network)
    if networks == (True, True):
        inner = _pairs_of_nodes(source, target)  # type: ignore[arg-type]
    else:
        sides = [sublayers(layer) for layer in (source, target)]
        if type(source) is not type(target) or len(sides[0]) != len(sides[1]):
            _refuse_pair(source, target)
        inner = list(zip(*sides, strict=True))
    names = [[variable.name for variable in own_variables(layer)] for layer in (source, target)]
    if names[0] != names[1]:
        _refuse_pair(source, target)
    return [(source, target), *(pair for two in inner for pair in pairs_of(*two))]  # type: ignore[arg-type]


def _pairs_of_nodes(source: Network, target: Network) -> list[tuple[Layer, Layer]]:
    """Each layer of a graph with that of the other one. Raises ValueError if the calls differ."""
    graphs = graph_of(source), graph_of(target)
    places = _places_in(graphs[0]), _places_in(graphs[1])
    if len(graphs[0].nodes) != len(graphs[1].nodes):
        raise ValueError(
            f"{source.name!r} and {target.name!r} must have the same layers; found {len(graphs[0].nodes)} calls in the "
            f"one and {len(graphs[1].nodes)} in the other."
        )

    def are_at_same_places(tensors: list[KerasTensor], others: list[KerasTensor]) -> bool:
        return [places[0][tensor] for tensor in tensors] == [places[1][tensor] for tensor in others]

    nodes = list(zip(graphs[0].nodes, graphs[1].nodes, strict=True))
    for node, other in nodes:
        alike = are_at_same_places(node.input_tensors, other.input_tensors)
        if not alike or len(node.output_tensors) != len(other.output_tensors):
            _refuse_pair(node.layer, other.layer)
    pairs = list(dict.fromkeys((node.layer, other.layer) for node, other in nodes))
    _check_one_to_one(pairs)
    if not are_at_same_places([*graphs[0].inputs, *graphs[0].outputs], [*graphs[1].inputs, *graphs[1].outputs]):
        _refuse_pair(source, target)
    return pairs


def _places_in(graph: Graph) -> dict[KerasTensor, tuple[int, int]]:
    """The place of each tensor of a graph: the number of its call, and that of the output of the call."""
    return {tensor: (k, i) for k, node in enumerate(graph.nodes) for i, tensor in enumerate(node.output_tensors)}


def _check_one_to_one(pairs: list[tuple[Layer, Layer]]) -> None:
    """Raise ValueError for a layer that stands for several ones of the other model."""
    for (layer, other), (again, other_again) in itertools.combinations(pairs, 2):
        if layer is again or other is other_again:
            _refuse_pair(layer, other)


def _refuse_pair(source: Layer, target: Layer) -> NoReturn:
    raise ValueError(
        f"Both models must be of one architecture but for the data format; {type(source).__name__} {source.name!r} of "
        f"the one stands where the other has {type(target).__name__} {target.name!r}."
    )
