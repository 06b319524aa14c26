"""What Keras 3.15 computes differently though it has the layers: joined masks, models called twice, modes of calls."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of
from torchkeras.layers.activation import Softmax
from torchkeras.layers.bidirectional import Bidirectional
from torchkeras.layers.core import Masking
from torchkeras.layers.elementwise import Elementwise, Masked
from torchkeras.layers.embedding import Embedding
from torchkeras.layers.functions import Lambda
from torchkeras.layers.merging import Concatenate
from torchkeras.layers.recurrence import Recurrent
from torchkeras.registry import class_name


def check_outputs(graph: Graph) -> None:
    """Refuse an output from a model that is called several times: Keras would take that of another call."""
    for tensor in graph.outputs:
        layer = node_of(tensor).layer
        calls = len(graph.nodes_of(layer))
        if isinstance(layer, Network) and class_name(layer) != "Sequential" and calls > 1:
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r} is called {calls} times and gives an output of the model, "
                "which has no form in Keras 3. Put a layer after it, such as Activation('linear')."
            )


def check_modes(graph: Graph) -> None:
    """Refuse a call with its own `training`: in a run, Keras 3 overrides it with the mode of the run."""
    for node in graph.nodes:
        training = node.arguments.get("training")
        if training is not None:
            raise ValueError(
                f"{type(node.layer).__name__} {node.layer.name!r} is called with training={training}, which has no "
                "form in Keras 3: there fit and predict say otherwise."
            )


def check_masks(graph: Graph) -> None:
    """Refuse calls on masked inputs that Keras 3 computes differently; the error names the layer and the reason."""
    sources: dict[KerasTensor, Any] = {}
    for node in graph.nodes:
        found = [sources.get(tensor) for tensor in node.input_tensors]
        if any(source is not None for source in found):
            for layer in node.layer.modules():
                problem = _problem(layer, node, found) if isinstance(layer, Layer) else None
                if problem is not None:
                    raise ValueError(
                        f"{type(layer).__name__} {layer.name!r}: a mask arrives, and Keras 3 {problem}; "
                        "that has no form there."
                    )
        for tensor in node.output_tensors:
            if tensor.keras_mask is not None:
                sources[tensor] = _source(node, found)


def _source(node: Node, found: list[Any]) -> Any:
    """Where a mask comes from: this call, or the source of the one mask that passes through it."""
    makes = isinstance(node.layer, (Masking, Embedding, Lambda, Network))
    return node if makes or len(set(found)) != 1 or found[0] is None else found[0]


def _problem(layer: Layer, node: Node, found: list[Any]) -> str | None:
    """What Keras 3 does differently with masked inputs of a layer, the call's or an inner one; None for nothing."""
    of_call = layer is node.layer
    if isinstance(layer, (Recurrent, Bidirectional)):
        return _problem_of_steps(layer, of_call and len(found) > 1)
    if isinstance(layer, Softmax):
        return "applies it"
    if isinstance(layer, Operation) and layer._pointwise:
        return "does not pass it on"
    if isinstance(layer, (Elementwise, Concatenate)) and not layer.any_mask:
        return None if of_call and _joins_alike(layer, node, found) else "joins masks in another way"
    return None


def _problem_of_steps(layer: Recurrent | Bidirectional, has_states: bool) -> str | None:
    """The same of a recurrent layer; `has_states`: it is called with initial states."""
    if isinstance(layer, Bidirectional) and layer.return_sequences:
        return "gives zeros at masked steps"
    if isinstance(layer, Bidirectional) and layer.forward_layer.zero_output_for_mask:
        return "gives the last output, not zeros, where the last step is masked"
    return "does not use it together with initial states" if has_states else None


def _joins_alike(layer: Layer, node: Node, found: list[Any]) -> bool:
    if isinstance(layer, Masked):
        return False
    along_time = isinstance(layer, Concatenate) and layer.axis % node.input_tensors[0].ndim == 1
    return along_time or len(set(found)) == 1
