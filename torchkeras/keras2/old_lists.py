"""The lists of updates and losses that Keras 2 keeps of a graph, which scripts print, count and give to `K.function`.

Here layers move their statistics, and add their penalties, while a step computes. The lists are made when they are
asked for, from the calls in the graph; `extend()` adds them to `Layer` and `Model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import wraps
from numbers import Number
from typing import Any, NamedTuple

from torch import Tensor

from torchkeras.backend.functions import Moved
from torchkeras.backend.lambdas import as_node
from torchkeras.backend.nodes import tensor
from torchkeras.engine.fit.custom_steps import Extending
from torchkeras.engine.layer.added_losses import losses_of_call
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.symbolic import KerasTensor, Node, as_list
from torchkeras.layers import GRU, LSTM, BatchNormalization, ConvLSTM2D, SimpleRNN
from torchkeras.models import Model

_add_loss, _compile = Layer.add_loss, Model.compile
_losses: Any = Model.losses


class Listed(NamedTuple):
    """A loss or an update, and the inputs that it depends on; None where it depends on weights alone."""

    value: Any
    inputs: Any


def updates_of(layer: Any, nodes: Iterable[Node]) -> Iterator[Listed]:
    """The statistics that these calls of a layer move in training."""
    moving = [each for each in layer.modules() if isinstance(each, BatchNormalization) and each.trainable]
    for node in nodes if layer.trainable else ():
        if node.arguments.get("training") is not False:
            for each in moving:
                yield from [Listed(Moved(each, weight), node.inputs) for weight in each.non_trainable_weights]


def losses_of(layer: Any, nodes: Iterable[Node]) -> Iterator[Listed]:
    """The penalties of a layer's weights, of the outputs of these calls, and what scripts added by hand."""
    if layer.built:
        yield from [Listed(each.regularizer(each.value), None) for each in layer._penalized()]
    regularizer = getattr(layer, "activity_regularizer", None)
    for node in nodes if regularizer is not None else ():
        yield from [Listed(_penalty(regularizer, each), node.inputs) for each in node.output_tensors]
    if "_activity_of_call" in vars(layer):
        yield Listed(vars(layer)["_activity_of_call"][1], vars(layer)["_activity_of_call"][0])
    for each in layer.modules():
        yield from vars(each).get("_given_losses", ())
        yield from [Listed(value, None) for value in losses_of_call(each)]


def _penalty(regularizer: Any, output: KerasTensor) -> Any:
    return as_node("activity_loss", regularizer, output)


def _of(listed: Iterable[Listed], inputs: Any) -> list[Any]:
    """Those that depend on these inputs, or for None on none."""
    wanted = as_list(inputs)
    return [each.value for each in listed if _same(as_list(each.inputs), wanted)]


def _same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


class ListedOfLayer:
    """The further names of `Layer`; never an object."""

    @property
    def updates(self: Any) -> list[Any]:
        """The statistics that the layer's calls move in training; `K.function` takes them among its updates."""
        return [each.value for each in updates_of(self, self._inbound_nodes)]

    @property
    def losses(self: Any) -> list[Any]:
        """The penalties on the weights, as scalars, on the outputs of each call, and what was added by hand."""
        return [each.value for each in losses_of(self, self._inbound_nodes)]

    def get_updates_for(self: Any, inputs: Any) -> list[Any]:
        """The updates that depend on these inputs of a call."""
        return _of(updates_of(self, self._inbound_nodes), inputs)

    def get_losses_for(self: Any, inputs: Any) -> list[Any]:
        """The losses that depend on these inputs of a call; for None those of the weights alone."""
        return _of(losses_of(self, self._inbound_nodes), inputs)

    def add_loss(self: Any, losses: Any, inputs: Any = None) -> None:
        """`Layer.add_loss`; outside of `call` also symbolic tensors and numbers, which `compile` adds to the loss."""
        given = as_list(losses)
        by_hand = [each for each in given if isinstance(each, (KerasTensor, Number))]
        if len(by_hand) < len(given):
            _add_loss(self, [each for each in given if isinstance(each, Tensor)] if by_hand else losses, inputs)
        vars(self).setdefault("_given_losses", []).extend(Listed(each, inputs) for each in by_hand)


class ListedOfModel:
    """The further names of `Model`; never an object."""

    @property
    def updates(self: Any) -> list[Any]:
        """The statistics that the layers move in training; `K.function` takes them among its updates."""
        if not self.trainable:
            return []
        return [each.value for layer, nodes in _by_layer(self) for each in updates_of(layer, nodes)]


    @property
    def losses(self: Any) -> list[Any]:
        """Those of the layers; in a class with steps of its own what its steps have computed."""
        if not self._is_connected or type(self).train_step is not Extending.train_step:
            return _losses.fget(self)
        return [each.value for layer, nodes in _by_layer(self) for each in losses_of(layer, nodes)]


def _by_layer(model: Any) -> list[tuple[Any, list[Node]]]:
    """The layers of a model with their calls in it."""
    return [(layer, model._graph.nodes_of(layer)) for layer in model.layers]


@wraps(_compile)
def compile_with_given(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Model.compile`, which adds what scripts gave to `add_loss` of layers outside of their `call`."""
    for layer in self.modules():
        for value, _ in vars(layer).pop("_given_losses", ()):
            self.add_loss(value if isinstance(value, KerasTensor) else _number(value, self.inputs[0]))
    return _compile(self, *args, **kwargs)


def _number(value: Any, inputs: KerasTensor) -> Any:
    return as_node("loss", lambda given: tensor(float(value)).to(given.device), inputs)


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
    """Add the names to `Layer`, `Model` and the recurrent layers."""
    for name in ("updates", "losses", "get_updates_for", "get_losses_for", "add_loss"):
        setattr(Layer, name, vars(ListedOfLayer)[name])
    Model.updates, Model.losses = ListedOfModel.updates, ListedOfModel.losses  # type: ignore
    Model.compile = compile_with_given  # type: ignore[method-assign]
    for kind in (SimpleRNN, GRU, LSTM, ConvLSTM2D):
        kind.cell = property(Cell)  # type: ignore[attr-defined]
