"""The weights of a layer: its own, by declaration or by `add_weight`, and those of the layers inside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import nn

from torchkeras.base.arrays import as_numbers
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.weights.weight import Variable, own_variables

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

# Attributes in which the engine keeps lists and dicts of its own, also in an object of a user's class.
ENGINES_OWN = frozenset(
    (
        *("_call_nodes", "_outbound_nodes", "_added", "_expected_axes", "_initial_weights"),
        *("_functions", "_sources", "_held_keys", "_stack", "_branches", "_built_for"),
    )
)
TORCHS_OWN = frozenset(vars(nn.Module()))
# Orders of layers in files: Keras 1's, branch by branch where several begin a Sequential; ours before the keys of dicts
# were sorted as Keras sorts them; and Keras 3's on torch, where those of a dict inside a dict are not sorted.
KERAS1, WRITTEN, TORCH = "keras1", "written", "torch"


class _Changes:
    """`count`: how often an attribute of some layer was set."""

    count = 0


CHANGES = _Changes()


class FrozenModels(Enum):
    """How a model that does not train counts where weights are listed: first those that train, then the others.

    NOW: by what is frozen now, as Keras 2 lists them. CONFIG: as Keras 2 lists them after it has read a config, which
    does not say that a model is frozen. LATER: as tf.keras and Keras 3 do, where a frozen model has frozen each of its
    layers.
    """

    NOW = "now"
    CONFIG = "config"
    LATER = "later"


class Order(NamedTuple):
    """The order in which the weights of layers in layers are listed. `layers`: one of those above, None for today's."""

    frozen: FrozenModels = FrozenModels.NOW
    layers: str | None = None


NOW = Order()


def layers_directly_in(layer: Layer) -> list[Layer]:
    """The layers directly inside a layer, in the order in which their weights are listed."""
    found: list[Layer] = []
    pending = list(layer.children())
    while pending:
        module = pending.pop(0)
        if isinstance(module, AnyLayer):
            found.append(module)
        else:
            pending[:0] = list(module.children())
    return found


def sublayers(layer: Layer) -> list[Layer]:
    """The layers that a layer says are directly inside it, in the order in which their weights are listed."""
    return layer._sublayers()


def list_by_kind(
    layer: Layer, training: list[Variable], others: list[Variable], order: Order, frozen: bool = False
) -> None:
    """Put the weights that train, and the others, at the ends of these lists; of what is frozen all are others.

    So no list is copied at each level of layers in layers. `frozen`: whether a model around it freezes its layers.
    """
    trains = layer._freezing.trainable and not frozen
    if layer._is_network and order.frozen is not FrozenModels.NOW:
        trains, frozen = True, order.frozen is FrozenModels.LATER and not trains
    own_training: list[Variable] = []
    own_others: list[Variable] = []
    for variable in own_variables(layer):
        (own_training if variable.trainable else own_others).append(variable)
    layers = layer._sublayers_in(order.layers) if order.layers else layer._sublayers()
    if trains:
        training += own_training
        others += own_others
        for inside in layers:
            inside._list_by_kind(training, others, order, frozen)
        return
    training_inside: list[Variable] = []
    others_inside: list[Variable] = []
    for inside in layers:
        inside._list_by_kind(training_inside, others_inside, order, frozen)
    others += [*own_training, *own_others, *training_inside, *others_inside]


def weights_in(layer: Layer, order: Order) -> list[Variable]:
    """All weights of a layer, in the order of a file."""
    training: list[Variable] = []
    others: list[Variable] = []
    layer._list_by_kind(training, others, order, order.frozen is FrozenModels.LATER and layer._freezing.above)
    return distinct(training, others)


def set_weights(layer: Layer, variables: Sequence[Variable], weights: Any) -> None:
    """Set weights from arrays in Keras's order of axes. Raises ValueError, and sets nothing, where one does not fit."""
    if isinstance(weights, (str, Mapping)) or not isinstance(weights, Iterable):
        raise TypeError(
            f"{layer.name}: set_weights takes a list of arrays, as get_weights() gives it; found {weights!r}."
        )
    values = list(weights)
    if len(variables) != len(values):
        found = f"{len(variables)} weights: {', '.join(v.full_name for v in variables)}"
        if not layer.built:
            found = "none before it is built: call it on data, or build(input_shape), first"
        raise ValueError(f"{layer.name}: set_weights was given {len(values)} arrays; the layer has {found}.")
    pairs = [
        (variable, as_numbers(value, f"{layer.name}: weight {variable.full_name!r}"))
        for variable, value in zip(variables, values, strict=True)
    ]
    for variable, value in pairs:
        _check_shape(layer, variable, np.shape(value))
    for variable, value in pairs:
        variable.assign(value)


def _check_shape(layer: Layer, variable: Variable, shape: tuple[int, ...]) -> None:
    """Raise ValueError for an array of another shape than the weight that it is for."""
    if shape != variable.shape:
        advice = ", kernels as (inputs, units)" if shape == variable.shape[::-1] else ""
        raise ValueError(
            f"{layer.name}: weight {variable.full_name!r} has shape {variable.shape}; the array given for it has shape "
            f"{shape}. Give arrays as get_weights() does{advice}."
        )


def distinct(*lists: Iterable[Variable]) -> list[Variable]:
    """The variables of the lists, each weight once."""
    found: dict[tuple[int, ...], Variable] = {}
    for variables in lists:
        for variable in variables:
            found.setdefault(variable.identity, variable)
    return list(found.values())
