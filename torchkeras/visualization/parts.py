"""What a picture has a box for: each call of a layer, each output of the model, each model inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torchkeras.base.texts import type_name
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of
from torchkeras.visualization.colours import kind_of
from torchkeras.visualization.labels import (
    Shown,
    class_of,
    details,
    inner_graph,
    printable,
    shapes,
    tensor_name,
)


@dataclass(eq=False)
class Part:
    """A box: its lines of text, and its `title`, shown while the mouse rests on it.

    `inside`: the parts of a model that is drawn in its place. `takes`: for each input the number of the part that gives
    it, and which output. `ports`: for each output that is taken, what stands beside the line that leaves there.
    `given`: for each of them, its name and shape.
    """

    kind: str
    name: str
    lines: Sequence[str] = ()
    label: str = ""  # how other boxes name it
    title: str = ""
    shared: bool = False
    inside: Level | None = None
    takes: list[tuple[int, int]] = field(default_factory=list)
    ports: dict[int, str] = field(default_factory=dict)
    given: dict[int, str] = field(default_factory=dict)


@dataclass(eq=False)
class Level:
    """The parts of one graph, each after those that it takes from."""

    parts: list[Part] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)  # the parts that are the inputs of a model inside
    exits: list[int] = field(default_factory=list)  # and those that stand for its outputs
    beside: dict[int, str] = field(default_factory=dict)  # what stands beside the lines that leave these


def levels(graph: Graph, shown: Shown) -> list[Level]:
    """The level of a graph, then those of the models inside, each after the one that it is in.

    A model is drawn inside once; its other calls are boxes that name it.
    """
    drawn: dict[int, Layer] = {}
    found = [Level()]
    pending = [(graph, found[0])]
    for inner, level in pending:
        for part, node in _fill(inner, level, shown, outermost=level is found[0]):
            below = inner_graph(node.layer, shown)
            if below is None:
                continue
            if id(below) in drawn:
                part.lines = [*part.lines, _reference(drawn[id(below)], node.layer)]
                continue
            drawn[id(below)] = node.layer
            part.inside = Level(beside=part.ports)
            found.append(part.inside)
            pending.append((below, part.inside))
    return found


def _reference(drawn: Layer, layer: Layer) -> str:
    return "inside: see call 1" if drawn is layer else f"inside: see {printable(drawn.name)}"


def _fill(graph: Graph, level: Level, shown: Shown, outermost: bool) -> list[tuple[Part, Node]]:
    number = {node: index for index, node in enumerate(graph.nodes)}
    parts = [_part(graph, node, shown) for node in graph.nodes]
    exits = _exits(graph, level, outermost)
    given = [*(node.input_tensors for node in graph.nodes), *([tensor] for tensor in graph.outputs)]
    for part, tensors in zip([*parts, *exits], given, strict=True):
        for tensor in tensors:
            source, output = number[node_of(tensor)], tensor.keras_history.tensor_index
            part.takes.append((source, output))
            parts[source].ports[output] = _wire_label(tensor, shown)
            parts[source].given[output] = f"{tensor_name(graph, tensor)} {tensor.shape}"
    level.parts += [*parts, *exits]
    if not outermost:
        level.entries += [number[node_of(tensor)] for tensor in graph.inputs]
        level.exits += range(len(parts), len(parts) + len(exits))
    return list(zip(parts, graph.nodes, strict=True))


def _exits(graph: Graph, level: Level, outermost: bool) -> list[Part]:
    """A box for each output of the outermost graph; of a model inside, the places where its outputs leave it."""
    if outermost:
        return [_exit(graph, index) for index in range(len(graph.outputs))]
    return [Part("exit", "", ports={0: level.beside.get(index, "")}) for index in range(len(graph.outputs))]


def _part(graph: Graph, node: Node, shown: Shown) -> Part:
    layer, calls = node.layer, graph.nodes_of(node.layer)
    name, kind = printable(layer.name), class_of(layer)
    lines = [name] if shown.show_layer_names else []
    if len(calls) > 1:
        lines.append(f"call {calls.index(node) + 1} of {len(calls)}")
    title = [f"{name} ({kind})", shapes([node])]
    if len(node.input_tensors) > 1:
        title.append(f"takes {', '.join(tensor_name(graph, tensor) for tensor in node.input_tensors)}")
    lines += details(layer, shown)
    label = name if len(calls) == 1 else f"{name}[{calls.index(node)}]"
    return Part(kind_of(layer), kind, lines, label, "\n".join(title), shared=len(calls) > 1)


def _exit(graph: Graph, index: int) -> Part:
    name = "output" if len(graph.outputs) == 1 else f"output {index + 1}"
    return Part("ends", name, label=name, title=f"{name}: {tensor_name(graph, graph.outputs[index])}")


def _wire_label(tensor: KerasTensor, shown: Shown) -> str:
    facts = [str(tensor.shape)] * shown.show_shapes + [type_name(tensor.dtype)] * shown.show_dtype
    return " ".join(facts)
