"""The printed table of a model."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from torchkeras.engine.graph import Graph
from torchkeras.engine.layer import Layer

Row = list[str]


def print_summary(
    model: Layer,
    graph: Graph,
    line_length: int | None,
    positions: Any,
    print_fn: Callable[[str], Any] | None,
) -> None:
    """Print name and type, output shape and parameters of every layer, then the totals."""
    say = print_fn or print
    layers: list[Layer] = model.layers  # type: ignore[assignment]
    chain = is_chain(graph)
    ends, width = _columns(chain, line_length, positions)
    header = ["Layer (type)", "Output Shape", "Param #"] + ([] if chain else ["Connected to"])
    say("_" * width)
    say(_line(header, ends))
    say("=" * width)
    for index, layer in enumerate(layers):
        for row in _rows(layer, graph, chain):
            say(_line(row, ends))
        say(("=" if index == len(layers) - 1 else "_") * width)
    trainable = sum(prod(variable.shape) for variable in model.trainable_weights)
    other = sum(prod(variable.shape) for variable in model.non_trainable_weights)
    say(f"Total params: {trainable + other:,}")
    say(f"Trainable params: {trainable:,}")
    say(f"Non-trainable params: {other:,}")
    say("_" * width)


def is_chain(graph: Graph) -> bool:
    """Whether the graph is one layer after another, each called once, so that connections need no column."""
    by_depth: dict[int, int] = {}
    for node in graph.nodes:
        by_depth[graph.depths[node]] = by_depth.get(graph.depths[node], 0) + 1
        if len(node.input_tensors) > 1 or len(graph.nodes_of(node.layer)) > 1:
            return False
    return all(count == 1 for count in by_depth.values())


def _columns(chain: bool, line_length: int | None, positions: Any) -> tuple[list[int], int]:
    width = line_length or (65 if chain else 98)
    ends = positions or ([0.45, 0.85, 1.0] if chain else [0.33, 0.55, 0.67, 1.0])
    columns = 3 if chain else 4
    if len(ends) != columns:
        raise ValueError(f"summary: positions must hold {columns} column ends for this model; found {positions!r}.")
    return [int(width * end) if ends[-1] <= 1 else int(end) for end in ends], width


def _rows(layer: Layer, graph: Graph, chain: bool) -> list[Row]:
    try:
        shape = str(layer.output_shape)
    except AttributeError:
        shape = "multiple"
    row = [f"{layer.name} ({type(layer).__name__})", shape, str(layer.count_params())]
    if chain:
        return [row]
    sources = [
        f"{history.layer.name}[{history.node_index}][{history.tensor_index}]"
        for node in graph.nodes_of(layer)
        for history in (tensor._keras_history for tensor in node.input_tensors)
    ]
    first, *further = sources or [""]
    return [[*row, first], *(["", "", "", source] for source in further)]


def _line(fields: Row, ends: list[int]) -> str:
    line = ""
    for index, (field, end) in enumerate(zip(fields, ends, strict=True)):
        line = (line[:-1] + " " if index else "") + field
        line = line[:end] + " " * (end - len(line))
    return line
