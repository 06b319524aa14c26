"""What `trainable` freezes. It remembers which parameters it froze, so that it thaws those and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from torch import Tensor

from torchkeras.base.torch_tables import own_buffers
from torchkeras.engine.weights.weight import own_variables, owned, owned_at, plain_modules
from torchkeras.engine.weights.weight_lists import CHANGES, sublayers

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


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
        if variable.trainable:
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
