"""The weights of a layer: its own, by declaration or by `add_weight`, and those of the layers inside it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from torchkeras.base.arrays import as_numbers
from torchkeras.base.torch_tables import own_buffers
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.weights.weight import Variable, own_variables, owned, owned_at, plain_modules

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


# Attributes for the engine's own lists and dicts, which the objects of users' classes have too.
ENGINES_OWN = frozenset(
    (
        *("_call_nodes", "_outbound_nodes", "_added", "_expected_axes", "_initial_weights"),
        *("_functions", "_sources", "_held_keys", "_stack", "_branches", "_built_for", "_variables"),
    )
)
TORCHS_OWN = frozenset(vars(nn.Module()))
# Orders of layers in files. KERAS1: a Sequential that begins with several branches is listed branch by branch. WRITTEN:
# our earlier files have dicts in their own order, where Keras sorts the keys. TORCH: Keras 3 on torch does not sort a
# dict inside a dict.
KERAS1, WRITTEN, TORCH = "keras1", "written", "torch"


class _Changes:
    """`count`: how often an attribute of some layer was set."""

    count = 0


CHANGES = _Changes()


class FrozenModels(Enum):
    """Where the weights of a frozen model stand in a list, which has the weights that train first, then the others.

    NOW: by what is frozen now, as in Keras 2. CONFIG: as Keras 2 lists them after it has read a config, which does not
    say that a model is frozen. LATER: as in tf.keras and Keras 3, where a frozen model freezes each of its layers.
    """

    NOW = "now"
    CONFIG = "config"
    LATER = "later"


class Order(NamedTuple):
    """The order in which the weights of nested layers are listed. `layers`: one of the orders above, or None."""

    frozen: FrozenModels = FrozenModels.NOW
    layers: str | None = None


NOW = Order()


def layers_directly_in(layer: Layer) -> list[Layer]:
    """The layers directly inside a layer, in the order in which their weights are listed."""
    found: list[Layer] = []
    pending: list[Any] = list(dict.fromkeys(layer._modules.values()))
    while pending:
        module = pending.pop(0)
        if isinstance(module, AnyLayer):
            found.append(module)
        elif module is not None:
            pending[:0] = dict.fromkeys(module._modules.values())
    return found


def ordered_weights(layer: Layer) -> list[Variable]:
    """The weights of a layer in the order of `get_weights`."""
    return layer._ordered_weights()


def sublayers(layer: Layer) -> list[Layer]:
    """The layers that a layer declares as directly inside it, in the order in which their weights are listed."""
    return layer._sublayers()


def list_by_kind(
    layer: Layer, training: list[Variable], others: list[Variable], order: Order, frozen: bool = False
) -> None:
    """Append a layer's weights to `training` and `others`; all weights of a frozen layer are `others`.

    Nested layers append to the same lists, so no level copies them. `frozen`: whether a model around the layer
    freezes it.
    """
    trains = layer._freezing.trainable and not frozen
    if layer._is_network and order.frozen is not FrozenModels.NOW:
        trains, frozen = True, order.frozen is FrozenModels.LATER and not trains
    own_training: list[Variable] = []
    own_others: list[Variable] = []
    for variable in own_variables(layer):
        if variable.made_to_train:
            own_training.append(variable)
        else:
            own_others.append(variable)
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
    """Set weights from arrays in Keras's order of axes. Raises ValueError, and sets nothing, if one does not fit."""
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
    arrays = []
    for variable, value in zip(variables, values, strict=True):
        array = as_numbers(value, f"{layer.name}: weight {variable.full_name!r}")
        _check_shape(layer, variable, np.shape(array))
        arrays.append(array)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def _check_shape(layer: Layer, variable: Variable, shape: tuple[int, ...]) -> None:
    """Raise ValueError for an array whose shape is not that of its weight."""
    if shape != variable.shape:
        advice = ", kernels as (inputs, units)" if shape == variable.shape[::-1] else ""
        raise ValueError(
            f"{layer.name}: weight {variable.full_name!r} has shape {variable.shape}; the array given for it has shape "
            f"{shape}. Give arrays as get_weights() does{advice}."
        )


def distinct(*lists: Iterable[Variable]) -> list[Variable]:
    """The variables of the lists, each weight once."""
    found: dict[tuple[int, ...], Variable] = {}
    for variable in itertools.chain(*lists):
        found.setdefault(variable.identity, variable)
    return list(found.values())


# --- what `trainable` freezes, so that it thaws the same and no others ------------------------------------------------


@dataclass
class Freezing:
    """What is frozen in a layer.

    `trainable`: what the user set. `above`: whether a layer or model around it is not trainable. `held`: the paths of
    the parameters that `trainable=False` froze. `at_compile`: those that were frozen when a model with the layer was
    last compiled.
    """

    trainable: bool = True
    above: bool = False
    held: set[str] = field(default_factory=set)
    at_compile: set[str] = field(default_factory=set)

    @property
    def is_frozen(self) -> bool:
        """Whether the layer is not trainable, or part of one that is not."""
        return self.above or not self.trainable

    def copy(self) -> Freezing:
        """The same for a copy of the layer, which freezes and thaws by itself."""
        return replace(self, held=set(self.held), at_compile=set(self.at_compile))


def with_freezing(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a pickled layer as it is today: earlier versions had an attribute for each field."""
    named = {"trainable": "_trainable", "above": "_frozen_above", "held": "_held", "at_compile": "_frozen_at_compile"}
    today, fields = dict(state), {}
    for name, earlier in named.items():
        if earlier in today:
            fields[name] = today.pop(earlier)
    if fields:
        today["_freezing"] = Freezing(**fields)
    return today


def is_frozen_layer(layer: Layer) -> bool:
    """Whether a layer is not trainable, or part of one that is not."""
    return layer._frozen


def follow_trainable(layer: Layer, frozen_above: bool) -> None:
    """Freeze or thaw the parameters of a layer and of all layers inside it, according to their `trainable`."""
    freezing = layer._freezing
    was_frozen = freezing.is_frozen
    if frozen_above is not freezing.above:
        freezing.above = frozen_above
        CHANGES.count += 1
    is_frozen = freezing.is_frozen
    if is_frozen:
        _freeze(layer, freezing)
    elif freezing.held:
        _thaw(layer, freezing)
    for inside in sublayers(layer):
        follow_trainable(inside, is_frozen)
    if is_frozen or was_frozen:
        hold_statistics(layer)


def _freeze(layer: Layer, freezing: Freezing) -> None:
    for path in _trainable_paths(layer):
        tensor: Any = owned(layer, path)
        if tensor.requires_grad:
            tensor.requires_grad_(False)
            freezing.held.add(path)


def _thaw(layer: Layer, freezing: Freezing) -> None:
    paths = freezing.held.intersection(_trainable_paths(layer))
    for tensor in owned_at(layer, *paths):
        tensor.requires_grad_(True)
    freezing.held -= paths


def _trainable_paths(layer: Layer) -> list[str]:
    """The paths of a layer's own tensors that were made to train."""
    paths: list[str] = []
    for variable in own_variables(layer):
        if variable.made_to_train:
            paths += variable.paths
    return paths


def hold_statistics(layer: Layer) -> None:
    """Set the mode of torch modules with buffers, such as the statistics of `nn.BatchNorm2d`: evaluation while the
    layer is frozen, else the layer's mode.
    """
    for _, module in plain_modules(layer)[1:]:  # the first is the layer itself
        if any(buffer is not None for buffer in own_buffers(module).values()):
            module.training = layer.training and not layer._freezing.is_frozen


def held_tensors(layer: Layer, for_another: bool = False) -> list[Tensor]:
    """The parameters that `trainable=False` froze; `for_another`: those that were frozen at a `compile` too."""
    freezing = layer._freezing
    paths = freezing.held
    if for_another:
        paths = paths & freezing.at_compile
    return owned_at(layer, *paths)


def note_compile(layer: Layer, collected: set[int]) -> None:
    """Note which parameters a `compile` left out because `trainable=False` froze them.

    `collected`: the ids of those that it trains. Nothing changes for the parameters that it neither trains nor freezes.
    """
    freezing = layer._freezing
    for path in _trainable_paths(layer):
        if path in freezing.held:
            freezing.at_compile.add(path)
        elif id(owned(layer, path)) in collected:
            freezing.at_compile.discard(path)
