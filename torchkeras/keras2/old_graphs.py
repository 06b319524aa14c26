"""What scripts find in the graph of a Keras 2 model beside what `Model` has: losses, updates, depths, nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch

from torchkeras.base import extensions
from torchkeras.base.extensions import members_of
from torchkeras.base.naming import unique_name
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of, is_connected
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, as_list, calls_of
from torchkeras.engine.weights.weight import penalized
from torchkeras.keras2.added import LOSSES, UPDATES, values, warn_of_none
from torchkeras.keras2.old_lists import moved
from torchkeras.keras2.put_into import OfModel
from torchkeras.layers.functions import Lambda
from torchkeras.models import Model, Sequential

_losses: Any = Model.losses


def calls(network: Any, frozen: bool = False) -> Iterator[tuple[Node, bool]]:
    """All calls, those in models inside once for each call of these; and whether a model around a call is frozen."""
    frozen = frozen or not network.trainable
    for node in graph_of(network).nodes if is_connected(network) else ():
        if node.input_tensors:
            yield node, frozen
            if isinstance(node.layer, Network):
                yield from calls(node.layer, frozen)


class OldGraph(OfModel):
    """The further names of models; never an object."""

    @property
    def losses(self) -> list[Any]:
        """The penalties, and all that was added: of the last pass by hand where there was one, else symbolic."""
        found = _losses.fget(self)
        penalties = len(penalized(self))
        if len(found) > penalties or not is_connected(self):
            return found
        added = [each.value for each in _told_losses(self) if self not in each.models]
        return [*found, *_activities(self), *training_of(self).added.losses, *added]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """`Model.add_loss`, also of numbers."""
        warn_of_none(self, losses)
        given = [
            KerasTensor.apply_function(torch.full_like, (self.outputs[0], x), {}) if isinstance(x, (int, float)) else x
            for x in as_list(losses)
        ]
        _add_loss(self, given, inputs)

    def _take_told(self) -> None:
        """Let training minimize what layers of the model were given as losses outside of a call."""
        for each in [each for each in _told_losses(self) if self not in each.models]:
            self.add_loss(each.value)
            each.models.add(self)

    @property
    def updates(self) -> list[Any]:
        """The statistics that training changes, once for each call, and what `add_update` was given."""
        found: list[Any] = []
        if not self.trainable:
            return found
        for node, frozen in calls(self):
            layer = node.layer
            if not (frozen or isinstance(layer, Network)) and node.arguments.get("training") is not False:
                found += moved(layer) if layer.trainable else []
        return [*found, *(each for layer in self.layers for each in values(UPDATES, layer))]

    @property
    def state_updates(self) -> list[Any]:
        """Nothing: stateful layers keep their states themselves."""
        return []

    @property
    def _input_layers(self) -> list[Layer]:
        return [tensor.keras_history.layer for tensor in self.inputs]

    @property
    def _output_layers(self) -> list[Layer]:
        return [tensor.keras_history.layer for tensor in self.outputs]

    input_layers, output_layers = _input_layers, _output_layers

    @property
    def input_layers_node_indices(self) -> list[int]:
        """Which call of its layer made each input."""
        return [tensor.keras_history.node_index for tensor in self.inputs]

    @property
    def input_layers_tensor_indices(self) -> list[int]:
        """Which output of that call each input is."""
        return [tensor.keras_history.tensor_index for tensor in self.inputs]

    @property
    def output_layers_node_indices(self) -> list[int]:
        """Which call of its layer made each output."""
        return [tensor.keras_history.node_index for tensor in self.outputs]

    @property
    def output_layers_tensor_indices(self) -> list[int]:
        """Which output of that call each output is."""
        return [tensor.keras_history.tensor_index for tensor in self.outputs]

    @property
    def _layers_by_depth(self) -> dict[int, list[Layer]]:
        """The layers by their longest way to an output."""
        depths: dict[Layer, int] = {}
        for node, depth in graph_of(self).depths.items():
            depths[node.layer] = max(depth, depths.get(node.layer, 0))
        found: dict[int, list[Layer]] = {}
        for layer in graph_of(self).layers:
            found.setdefault(depths[layer], []).append(layer)
        return found

    @property
    def _nodes_by_depth(self) -> dict[int, list[Node]]:
        """The calls by their longest way to an output."""
        found: dict[int, list[Node]] = {}
        for node, depth in graph_of(self).depths.items():
            found.setdefault(depth, []).append(node)
        return found

    layers_by_depth, nodes_by_depth = _layers_by_depth, _nodes_by_depth

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs; of symbolic inputs symbolic ones."""
        if not any(isinstance(each, KerasTensor) for each in as_list(inputs)):
            return _compute_mask(self, inputs, mask)
        given = as_list(inputs)
        _, masks = self._infer_outputs(inputs, as_list(mask) or [None] * len(given), {})
        return masks[0] if len(masks) == 1 else masks

    def run_internal_graph(self, inputs: Any, masks: Any = None) -> tuple[Any, Any, Any]:
        """Outputs, their masks and their shapes, of symbolic inputs."""
        given = as_list(inputs)
        outputs = as_list(self(inputs))
        _, found = self._infer_outputs(inputs, as_list(masks) or [None] * len(given), {})
        return outputs, found, [each.shape for each in outputs]


_compute_mask: Any = Model.compute_mask
_add_loss: Any = Model.add_loss
NAMES = (
    *("losses", "updates", "state_updates", "_input_layers", "_output_layers", "input_layers", "output_layers"),
    *("_layers_by_depth", "_nodes_by_depth", "layers_by_depth", "nodes_by_depth", "compute_mask"),
    *("run_internal_graph", "add_loss", "_take_told"),
    *(f"{ends}_layers_{kind}_indices" for ends in ("input", "output") for kind in ("node", "tensor")),
)


@dataclass(frozen=True, eq=False)
class InputNode(Node):
    """The node of an Input as Keras had it: its tensor goes in and comes out."""

    @property
    def input_tensors(self) -> list[KerasTensor]:
        """The tensor of the Input."""
        return self.output_tensors

    inbound_layers = node_indices = tensor_indices = property(lambda node: [])  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputNode) and other.layer is self.layer

    def __hash__(self) -> int:
        return id(self.layer)


@property
def _of_input(layer: Any) -> list[Node]:
    """The one node of an Input, under Keras's name."""
    return [InputNode(layer, [], node.outputs, {}) for node in calls_of(layer)]


def extend() -> None:
    """Add the names to `Model`, and what Keras's nodes have to `Node`."""
    extensions.extend(Model, **members_of(OldGraph, *NAMES))
    extensions.extend(Sequential, model=property(lambda model: model))  # Keras 1 kept the model of a Sequential there
    extensions.extend(InputLayer, _inbound_nodes=_of_input)
    extensions.extend(
        Node,
        outbound_layer=property(lambda node: node.layer),
        input_masks=property(lambda node: [mask_of(tensor) for tensor in node.input_tensors]),
        output_masks=property(lambda node: [mask_of(tensor) for tensor in node.output_tensors]),
        get_config=_config_of_node,
    )


_masks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def mask_of(tensor: Any) -> Any:
    """The mask of a symbolic tensor as a node of the graph, which scripts compute with; None where it has none."""
    mask = tensor.keras_mask
    if mask is None or hasattr(mask, "_keras_history"):
        return mask
    if tensor not in _masks:
        _masks[tensor] = Lambda(lambda x, mask=None: mask, name=unique_name("mask"))(tensor)
    return _masks[tensor]


def _config_of_node(node: Any) -> dict[str, Any]:
    return {
        "outbound_layer": node.layer.name,
        "inbound_layers": [layer.name for layer in node.inbound_layers],
        "node_indices": node.node_indices,
        "tensor_indices": node.tensor_indices,
    }


def _told_losses(network: Any) -> list[Any]:
    return [each for layer in network.modules() if isinstance(layer, Layer) for each in LOSSES.get(layer, ())]


def _activities(network: Any) -> list[Any]:
    """The penalties of activity regularizers, one for each output of a call; of a model inside on its own tensors."""
    asked = [node for node, _ in calls(network) if getattr(node.layer, "activity_regularizer", None) is not None]
    return [node.layer.activity_regularizer(each) for node in asked for each in node.output_tensors]
