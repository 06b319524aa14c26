"""A network as torch.fx sees it: each call of a layer is one `call_module`, in Keras's order of axes.

The code of layers asks for sizes and types, which torch.fx does not know: so they are leaves, whatever the tracer says.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch.fx import Proxy

from torchkeras.base.nested import bound, leaves, mapped
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.symbolic.tensor import KerasTensor


def traced(graph: Graph, inputs: Any) -> list[Proxy]:
    """The outputs of a graph for inputs of torch.fx, which are one value: the tuple of them."""
    values = {tensor: inputs[index] for index, tensor in enumerate(graph.inputs)}
    tracer: Any = inputs.tracer
    for node in graph.calls:
        args, kwargs = bound(mapped(node.inputs, values.__getitem__, KerasTensor), node.arguments)
        found = tracer.call_module(node.layer, partial(_leaf, tracer, node.layer), args, kwargs)
        if isinstance(node.outputs, KerasTensor):
            values[node.outputs] = found
        else:
            found = tracer.create_proxy("call_function", leaves, (found,), {})
            values.update((tensor, found[index]) for index, tensor in enumerate(node.output_tensors))
    return [values[tensor] for tensor in graph.outputs]


def _leaf(tracer: Any, layer: Any, *args: Any, **kwargs: Any) -> Proxy:
    return tracer.create_proxy("call_module", tracer.path_of_module(layer), args, kwargs)
