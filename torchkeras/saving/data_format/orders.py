"""The order of axes that each tensor of a model has in the model of the other data format, found from its layers.

A layer over images needs its channels where its data format puts them. A layer that works value by value, or along an
axis named by an option, has all its tensors in one order. Any other layer needs the order that it had. Known orders
spread through the graph, in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from torchkeras.activations import is_pointwise
from torchkeras.engine.facts import is_own
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node
from torchkeras.layers.activation import Parametric, Pointwise, Softmax
from torchkeras.layers.conv_recurrent import ConvLSTMStep, ConvRNN2D
from torchkeras.layers.core import Activation, ActivityRegularization
from torchkeras.layers.elementwise import Elementwise
from torchkeras.layers.image_preprocessing import Rescaling
from torchkeras.layers.layer_normalization import AlongAxes, UnitNormalization
from torchkeras.layers.merging import Concatenate
from torchkeras.layers.normalization import Channelwise
from torchkeras.layers.shaping import Flatten, Permute, Reshape
from torchkeras.layers.spatial import Spatial
from torchkeras.layers.wrappers import SpectralNormalization, TimeDistributed
from torchkeras.saving.data_format.relation import Order, arranged, find, lifted, lowered, moved, orders_of, unmoved

# Layers whose inputs and outputs all have one order.
ALIKE = (Pointwise, Activation, ActivityRegularization, Operation, Parametric, Softmax, Elementwise, Concatenate)
ALIKE = (*ALIKE, Channelwise, AlongAxes, UnitNormalization)
FREE = (Flatten, Reshape, Permute)  # whose outputs may have another order than their inputs
BY_VALUE: dict[type, Callable[[Any], bool]] = {  # the layers of `ALIKE` that may treat axes differently
    Activation: lambda layer: is_pointwise(layer.activation),
    **dict.fromkeys((Operation, Rescaling), lambda layer: layer._by_value),
}
Becomes = Callable[[Layer], str]  # the data format that a layer over images has in the target
Handle = tuple[KerasTensor, int]  # a tensor, and the number of time axes that wrappers of the layer take away


def is_ours(layer: Layer) -> bool:
    """Whether we know what a layer computes: its class is the package's own, not derived from one."""
    return is_own(type(layer))


def over_images(layer: Layer) -> Any:
    """The layer (or its cell) that has `data_format` and `rank`; None for a layer that is not over images."""
    if isinstance(layer, ConvRNN2D):
        return layer.cell if isinstance(layer.cell, ConvLSTMStep) else None
    return layer if isinstance(layer, (Spatial, ConvLSTMStep)) and is_ours(layer) else None


def by_value(layer: Layer) -> bool:
    """Whether nothing in a layer of `ALIKE` depends on the place of an axis."""
    return all(holds(layer) for cls, holds in BY_VALUE.items() if isinstance(layer, cls))


def image_order(images: Any, ndim: int, becomes: str) -> Order:
    """The order of a tensor of a layer over images: the channels come before or after its spatial axes."""
    lead = ndim - images.rank - 1
    return unmoved(ndim) if lead < 1 or becomes == images.data_format else moved(ndim, lead, becomes)


def find_orders(network: Network, becomes: Becomes) -> dict[KerasTensor, Order]:
    """The order of every tensor of a network and its inner networks. Without a reason, no axis moves."""
    return _Search(becomes).orders_in(network)


class _Search:
    def __init__(self, becomes: Becomes):
        self.becomes = becomes
        self.orders: dict[KerasTensor, Order] = {}
        self.groups: list[list[Handle]] = []

    def orders_in(self, network: Network) -> dict[KerasTensor, Order]:
        nodes = list(_call_nodes(network))
        for node in nodes:
            if node.input_tensors:
                self.ask(node.layer, [(t, 0) for t in node.input_tensors], [(t, 0) for t in node.output_tensors])
        self.spread()
        for node in nodes:
            for tensor in node.output_tensors:
                if tensor not in self.orders:
                    self.orders[tensor] = self.default(node, tensor)
                    self.spread()
        return self.orders

    def ask(self, layer: Layer, inputs: list[Handle], outputs: list[Handle]) -> None:
        """Note the orders that a call of a layer needs."""
        images, handles = over_images(layer), [*inputs, *outputs]
        if isinstance(layer, TimeDistributed):
            self.ask(layer.layer, _below_time(inputs), _below_time(outputs))
        elif isinstance(layer, SpectralNormalization):
            self.ask(layer.layer, inputs, outputs)
        elif isinstance(layer, Network):
            self.groups += [[h, (inner, 0)] for h, inner in zip(handles, (*layer.inputs, *layer.outputs), strict=True)]
        elif images is not None:
            self._ask_for_images(images, handles)
        elif is_alike(layer, [tensor.ndim for tensor, _ in handles]):
            self.groups.append(handles)
        elif not isinstance(layer, FREE):
            for tensor, _ in handles:
                self.orders.setdefault(tensor, unmoved(tensor.ndim))

    def _ask_for_images(self, layer: Layer, handles: list[Handle]) -> None:
        for tensor, lift in handles:
            order = image_order(layer, tensor.ndim - lift, self.becomes(layer))
            self.orders.setdefault(tensor, lifted(order, lift))

    def spread(self) -> None:
        """Pass known orders on to all tensors that must have the same order, until nothing changes."""
        found = True
        while found:
            found = False
            for group in (*self.groups, *reversed(self.groups)):
                known = [lowered(self.orders[tensor], lift) for tensor, lift in group if tensor in self.orders]
                unknown = [(tensor, lift) for tensor, lift in group if tensor not in self.orders]
                if not unknown or not known or known[0] is None:
                    continue
                self.orders.update((tensor, lifted(known[0], lift)) for tensor, lift in unknown)
                found = True

    def default(self, node: Node, tensor: KerasTensor) -> Order:
        """The order of a tensor that nothing decides: for a Reshape, the first that keeps its result; else unmoved."""
        if isinstance(node.layer, Reshape) and None not in (*node.inputs.shape[1:], *tensor.shape[1:]):
            before, after = ((1, *shape[1:]) for shape in (node.inputs.shape, tensor.shape))
            for order in orders_of(tensor.ndim):
                if reshape_keeps(before, after, self.orders[node.inputs], order):
                    return order
        return unmoved(tensor.ndim)


def is_alike(layer: Layer, ndims: list[int]) -> bool:
    """Whether a layer has all its tensors, of these numbers of axes, in one order."""
    return isinstance(layer, ALIKE) and is_ours(layer) and by_value(layer) and len(set(ndims)) == 1


def reshape_keeps(before: Any, after: Any, order: Order, new_order: Order) -> bool:
    """Whether a reshape, with its target shape permuted, turns a tensor in one order into the result in another."""
    ids = np.arange(np.prod(before)).reshape(before)
    target = ids.transpose(order).reshape(arranged(after, new_order))
    return find(ids.reshape(after), target, [new_order]) is not None


def _call_nodes(network: Network) -> Iterator[Node]:
    """The calls in a network; the calls inside an inner network come before the call of it."""
    for node in graph_of(network).nodes:
        if node.input_tensors:
            for inner in _networks(node.layer):
                yield from _call_nodes(inner)
        yield node


def _networks(layer: Layer) -> list[Network]:
    if isinstance(layer, Network):
        return [layer]
    return _networks(layer.layer) if isinstance(layer, (TimeDistributed, SpectralNormalization)) else []


def _below_time(handles: list[Handle]) -> list[Handle]:
    """The same tensors without the axis of time, as the layer inside a TimeDistributed has them."""
    return [(tensor, lift + 1) for tensor, lift in handles]
