"""The part of a graph between any symbolic tensors and others, as a module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torchkeras.engine.graph.codegen import GeneratedFunctions, Variant
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.symbolic.tensor import KerasTensor, Node
from torchkeras.keras2.backend.wrapped import node_of


class Part(Network, abstract=True):
    """The graph from `inputs`, which may be made by layers, to `outputs`.

    `inputs` has every Input that the outputs need and that lies on no way from the others.
    """

    def __init__(self, inputs: Sequence[KerasTensor], outputs: Sequence[KerasTensor]):
        super().__init__()
        self.__dict__["_generated"] = _WithMasks(self)
        nodes = _between(inputs, outputs)
        layers = list(dict.fromkeys(node.layer for node in nodes))
        begins = [Node(_begin(each), [], each, {}) for each in inputs]
        depths = {node: len(nodes) - place for place, node in enumerate([*begins, *nodes])}
        self._take(Graph(list(inputs), list(outputs), [*begins, *nodes], layers, depths))


class _WithMasks(GeneratedFunctions):
    """Functions to which an input that has a mask in the graph brings it."""

    def function(self, variant: Variant) -> Any:
        has_mask = tuple(tensor.keras_mask is not None for tensor in self.network.inputs)
        return super().function(variant._replace(masked=has_mask))


def _begin(tensor: KerasTensor) -> InputLayer:
    """What stands for the layer of an input, in place of the one that made it."""
    return InputLayer(batch_input_shape=tensor.shape, dtype=tensor.dtype, name=tensor.name)


def _between(inputs: Iterable[KerasTensor], outputs: Iterable[KerasTensor]) -> list[Node]:
    """The calls between, each after those that it depends on."""
    given = set(inputs)
    finished: dict[Node, None] = {}
    pending = [(node_of(tensor), False) for tensor in outputs if tensor not in given]
    while pending:
        node, done = pending.pop()
        if done:
            finished[node] = None
        elif node not in finished:
            pending.append((node, True))
            pending += [(node_of(tensor), False) for tensor in reversed(node.input_tensors) if tensor not in given]
    return [node for node in finished if node.input_tensors]


def needed(outputs: Iterable[KerasTensor], stop: Iterable[KerasTensor] = ()) -> list[KerasTensor]:
    """Of the tensors `stop` and all Inputs, those that the outputs are computed from, the ways ending at `stop`."""
    given = set(stop)
    found: dict[KerasTensor, None] = {}
    seen: set[KerasTensor] = set()
    pending = list(outputs)
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        before = [] if tensor in given else node_of(tensor).input_tensors
        if before:
            pending += before
        else:
            found[tensor] = None
    return list(found)
