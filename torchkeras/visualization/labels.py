"""What a drawing says of each layer, whatever draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchkeras.base.rules import FLAG_OR_DIGIT, check
from torchkeras.base.texts import type_name
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import Graph, graph_if_any, graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of, unpacked
from torchkeras.visualization.summary import nested_model, trained

if TYPE_CHECKING:
    from torchkeras.models.model import Model


@dataclass(frozen=True)
class Shown:
    """The parts that a person asked to see, by the names of the arguments of `function`."""

    function: str
    show_shapes: bool = False
    show_layer_names: bool = True
    expand_nested: bool = False
    show_dtype: bool = False
    show_layer_activations: bool = False
    show_trainable: bool = False

    def __post_init__(self) -> None:
        check(self.function, FLAG_OR_DIGIT, **{name: value for name, value in vars(self).items() if name != "function"})


def checked_graph(function: str, model: Model) -> Graph:
    """The model's graph. Raises TypeError for what is no model, RuntimeError for one that is not built yet."""
    if not isinstance(model, Network):
        raise TypeError(f"{function}: model must be a model of torchkeras; found {type(model).__name__}.")
    return graph_of(model)


def inner_graph(layer: Layer, shown: Shown) -> Graph | None:
    """The graph to draw in place of the layer: that of a model, or of the model that a wrapper applies."""
    model = nested_model(layer) if shown.expand_nested else None
    return None if model is None else graph_if_any(model)


def label(layer: Layer, nodes: Sequence[Node], shown: Shown, name: str | None = None) -> list[str]:
    """The lines to write for these calls of a layer; `name` replaces the layer's own."""
    kind = class_of(layer)
    lines = [f"{printable(name or layer.name)} ({kind})" if shown.show_layer_names else kind]
    if shown.show_shapes:
        lines.append(shapes(nodes))
    if shown.show_dtype:
        lines.append(_agreed([", ".join(type_name(t.dtype) for t in node.output_tensors) for node in nodes]))
    return lines + details(layer, shown)


def class_of(layer: Layer) -> str:
    """The name of the class; of a layer that applies another, `TimeDistributed(Dense)`."""
    wrapped = getattr(layer, "layer", None)
    name = type(layer).__name__
    return printable(f"{name}({type(wrapped).__name__})" if isinstance(wrapped, Layer) else name)


def details(layer: Layer, shown: Shown) -> list[str]:
    """What was asked for of the layer itself, a line each."""
    lines = []
    if shown.show_layer_activations and getattr(layer, "activation", None) is not None:
        lines.append(f"activation {_activation(layer)}")
    if shown.show_trainable and trained(layer) != "-":
        lines.append({"Y": "trainable", "N": "not trainable"}[trained(layer)])
    return lines


def tensor_name(graph: Graph, tensor: KerasTensor) -> str:
    """The tensor as `summary` names it, with the call and the output only where there are several."""
    layer, call, output = tensor.keras_history
    calls, outputs = len(graph.nodes_of(layer)), len(node_of(tensor).output_tensors)
    return printable(layer.name) + (f"[{call}]" + f"[{output}]" * (outputs > 1)) * (calls > 1 or outputs > 1)


def shapes(nodes: Sequence[Node]) -> str:
    """What the calls take and give: `(None, 4) → (None, 2)`."""
    taken = [_shape_text(node.input_tensors) for node in nodes if node.input_tensors]
    given = _agreed([_shape_text(node.output_tensors) for node in nodes])
    return f"{_agreed(taken)} → {given}" if taken else given


def _shape_text(tensors: list[KerasTensor]) -> str:
    return str(unpacked([tensor.shape for tensor in tensors]))


def _agreed(found: Sequence[Any]) -> str:
    """What all calls have, or "multiple"."""
    return str(found[0]) if all(other == found[0] for other in found) else "multiple"


def _activation(layer: Layer) -> str:
    activation = layer.activation
    return printable(getattr(activation, "__name__", None) or type(activation).__name__)


def printable(text: str) -> str:
    """The text on one line, with escapes as in Python for what a screen cannot show."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
