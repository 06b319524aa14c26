"""The inputs, outputs, shapes and masks of a layer's calls: by node or, where all calls agree, as attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, unpacked


def _masks(tensors: Sequence[KerasTensor]) -> list[Any]:
    return [tensor.keras_mask for tensor in tensors]


# By the name in errors: how to read it from a node.
VIEWS: Mapping[str, Callable[[Node], list[Any]]] = {
    "input": lambda node: node.input_tensors,
    "output": lambda node: node.output_tensors,
    "input shape": lambda node: node.input_shapes,
    "output shape": lambda node: node.output_shapes,
    "input mask": lambda node: _masks(node.input_tensors),
    "output mask": lambda node: _masks(node.output_tensors),
}


def of_call(layer: AnyLayer, node_index: int, what: str) -> Any:
    """The view of one call. Raises RuntimeError before the first call, and ValueError where there is no such call."""
    nodes = layer._inbound_nodes
    if not nodes:
        raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
    if not -len(nodes) <= node_index < len(nodes):
        raise ValueError(
            f"Asked to get {what} at node {node_index}, but the layer has only {len(nodes)} inbound nodes."
        )
    return unpacked(VIEWS[what](nodes[node_index]))


def of_single_call(layer: AnyLayer, what: str) -> Any:
    """The view of the only call. Raises AttributeError when there is none or more than one."""
    nodes = layer._inbound_nodes
    if len(nodes) > 1:
        raise AttributeError(
            f"Layer {layer.name} has multiple inbound nodes, hence the notion of 'layer {what}' is ill-defined. "
            f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
        )
    if not nodes:
        raise AttributeError(f"Layer {layer.name} is not connected, no {what} to return.")
    return unpacked(VIEWS[what](nodes[0]))


def of_all_calls(layer: AnyLayer, what: str) -> Any:
    """The view that all calls share. Raises AttributeError when there is no call, or they differ."""
    nodes = layer._inbound_nodes
    if not nodes:
        raise AttributeError(f"The layer has never been called and thus has no defined {what}.")
    found = {tuple(VIEWS[what](node)) for node in nodes}
    if len(found) > 1:
        raise AttributeError(
            f"The layer {layer.name!r} has multiple inbound nodes with different {what.partition(' ')[0]} shapes. "
            f"Hence the notion of {what!r} is ill-defined for the layer. "
            f"Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
        )
    return unpacked(list(found.pop()))
