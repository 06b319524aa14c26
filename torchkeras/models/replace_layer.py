"""A layer of a graph replaced by another one: `model.head = nn.Linear(512, 5)`."""

from __future__ import annotations

from typing import Any

from torchkeras.base.nested import bound, leaves, mapped
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor


def outputs_with(graph: Graph, old: Layer, new: Layer) -> list[KerasTensor]:
    """The outputs of a graph with a new layer in place of an old one: the layers after it are called again.

    Raises ValueError when the new layer, or one after it, does not fit, or has another number of outputs.
    """
    changed: dict[KerasTensor, KerasTensor] = {}
    for node in graph.nodes:
        if node.layer is not old and changed.keys().isdisjoint(node.input_tensors):
            continue
        inputs = mapped(node.inputs, lambda tensor: changed.get(tensor, tensor))
        args, kwargs = bound(inputs, node.arguments)
        called: Any = new if node.layer is old else node.layer
        outputs = leaves(called(*args, **kwargs))
        if len(outputs) != len(node.output_tensors):
            raise ValueError(
                f"{type(new).__name__} {new.name!r} in the place of {old.name!r} gives {len(outputs)} outputs; "
                f"{old.name!r} gives {len(node.output_tensors)}."
            )
        changed.update(zip(node.output_tensors, outputs, strict=True))
    return [changed.get(tensor, tensor) for tensor in graph.outputs]
