"""A network as torch.fx sees it: each call of a layer is one `call_module`, in Keras's order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Proxy

from torchkeras.base.nested import bound, leaves, mapped
from torchkeras.engine.graph.named_inputs import parameter_names
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.call import call_traced
from torchkeras.engine.symbolic.tensor import KerasTensor


def traced(graph: Graph, tracer: Any, names: Sequence[str]) -> list[Proxy]:
    """The outputs of a graph that a tracer of torch.fx traces. `names`: those of its inputs.

    torch.fx has made inputs for the parameters of `Network.forward`, which are those of any network.
    """
    for node in list(tracer.graph.nodes):
        tracer.graph.erase_node(node)
    values = {
        tensor: tracer.create_proxy("placeholder", name, (), {})
        for tensor, name in zip(graph.inputs, parameter_names(names), strict=True)
    }
    for node in graph.calls:
        args, kwargs = bound(mapped(node.inputs, values.__getitem__, KerasTensor), node.arguments)
        found = call_traced(tracer, node.layer, args, kwargs)
        if isinstance(node.outputs, KerasTensor):
            values[node.outputs] = found
        else:
            found = tracer.create_proxy("call_function", leaves, (found,), {})
            values.update((tensor, found[index]) for index, tensor in enumerate(node.output_tensors))
    return [values[tensor] for tensor in graph.outputs]
