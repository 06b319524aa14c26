"""The updates and losses of a layer, which scripts print, count and give to `K.function`; `old_graphs` has a model's.

Here layers move their statistics, and add their penalties, while a step computes. The lists are made when they are
asked for: from the layer's calls in the graph, and from what scripts gave to `add_loss` and `add_update`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from torchkeras.base import extensions
from torchkeras.base.extensions import members_of
from torchkeras.engine.layer.added_losses import losses_of_call
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import as_list, calls_of
from torchkeras.engine.weights.weight import penalized
from torchkeras.keras2.added import LOSSES, UPDATES
from torchkeras.keras2.backend.functions import Moved
from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.put_into import OfLayer
from torchkeras.layers import GRU, LSTM, BatchNormalization, ConvLSTM2D, SimpleRNN


class Listed(NamedTuple):
    """A loss or an update, and the inputs that it depends on; None where it depends on weights alone."""

    value: Any
    inputs: Any


def updates_of(layer: Any) -> Iterator[Listed]:
    """The statistics that the calls of a layer move in training, and what scripts added."""
    for node in calls_of(layer) if layer.trainable else ():
        if node.arguments.get("training") is not False:
            yield from [Listed(each, node.inputs) for each in moved(layer)]
    for each in layer.modules():
        yield from [Listed(added.value, added.inputs) for added in UPDATES.get(each, ())]


def moved(layer: Any) -> list[Moved]:
    """The statistics of a layer, and of those inside it, that one call in training moves."""
    moving = [each for each in layer.modules() if isinstance(each, BatchNormalization)]
    return [
        Moved(each, weight)
        for each in moving
        if each.trainable and each.mode == 0
        for weight in each.weights
        if not weight.trainable
    ]


def losses_of(layer: Any) -> Iterator[Listed]:
    """The penalties of a layer's weights, of the outputs of its calls, and what scripts added."""
    if layer.built:
        yield from [Listed(each.regularizer(each.array), None) for each in penalized(layer)]
    regularizer: Any = getattr(layer, "activity_regularizer", None)
    if regularizer is not None:
        for node in calls_of(layer):
            yield from [Listed(as_node("activity_loss", regularizer, t), node.inputs) for t in node.output_tensors]
    if "_activity_of_call" in vars(layer):
        yield Listed(*vars(layer)["_activity_of_call"])
    for each in layer.modules():
        yield from [Listed(added.value, added.inputs) for added in LOSSES.get(each, ())]
        yield from [Listed(value, None) for value in losses_of_call(each)]


def _of(listed: Iterable[Listed], inputs: Any) -> list[Any]:
    """Those that depend on some of these inputs, or for None on none."""
    wanted = as_list(inputs)
    return [
        each.value
        for each in listed
        if (not wanted and each.inputs is None) or any(a is b for a in wanted for b in as_list(each.inputs))
    ]


class ListedOfLayer(OfLayer):
    """The further names of `Layer`; never an object."""

    @property
    def updates(self) -> list[Any]:
        """The statistics that the layer's calls move in training; `K.function` takes them among its updates."""
        return [each.value for each in updates_of(self)]

    @property
    def losses(self) -> list[Any]:
        """The penalties on the weights, as scalars, on the outputs of each call, and what was added."""
        return [each.value for each in losses_of(self)]

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on some of these inputs; for None those that depend on none."""
        return _of(updates_of(self), inputs)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on some of these inputs; for None those of the weights alone."""
        return _of(losses_of(self), inputs)


class Cell:
    """What stands for the cell of a recurrent layer that has none: the layer, without what its calls add."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)

    @property
    def losses(self) -> list[Any]:
        """The penalties on the weights."""
        return self._layer.get_losses_for(None)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The penalties on the weights, for None."""
        return self.losses if inputs is None else []


def extend() -> None:
    """Add the names to `Layer` and to the recurrent layers."""
    names = ("updates", "losses", "get_updates_for", "get_losses_for")
    extensions.extend(Layer, **members_of(ListedOfLayer, *names))
    for kind in (SimpleRNN, GRU, LSTM, ConvLSTM2D):
        extensions.extend(kind, cell=property(Cell))
