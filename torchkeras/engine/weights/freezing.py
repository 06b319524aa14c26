"""What `trainable` freezes: which parameters it has turned off, so that it turns on again those and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from torch import Tensor

from torchkeras.engine.weights.weight import own_variables, owned, plain_modules
from torchkeras.engine.weights.weight_lists import CHANGES, sublayers

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


@dataclass
class Freezing:
    """What of a layer is frozen.

    `trainable`: what the user set. `above`: whether it is part of something that is not trainable. `held`: the
    parameters, by their paths, that `trainable=False` has frozen. `at_compile`: those of them that the last `compile`
    around the layer found so.
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
        """The same for a copy of the layer, which is frozen and thawed by itself."""
        return replace(self, held=set(self.held), at_compile=set(self.at_compile))


def with_freezing(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a pickled layer as it is today: earlier versions had an attribute for each field."""
    named = {"trainable": "_trainable", "above": "_frozen_above", "held": "_held", "at_compile": "_frozen_at_compile"}
    fields = {field: state[name] for field, name in named.items() if name in state}
    if not fields:
        return {**state}
    rest = {name: value for name, value in state.items() if name not in named.values()}
    return {**rest, "_freezing": Freezing(**fields)}


def is_frozen(layer: Layer) -> bool:
    """Whether a layer is not trainable, or part of one that is not."""
    return layer._frozen


def follow_trainable(layer: Layer, frozen_above: bool) -> None:
    """Freeze or thaw the parameters of a layer and of all layers inside it, as their `trainable` says."""
    freezing = layer._freezing
    was_frozen = freezing.is_frozen
    if frozen_above is not freezing.above:
        freezing.above = frozen_above
        CHANGES.count += 1
    is_frozen = freezing.is_frozen
    if is_frozen or freezing.held:
        for variable in own_variables(layer):
            for path in variable.paths if variable.trainable else ():
                _freeze_or_thaw(layer, freezing, path)
    for inside in sublayers(layer):
        follow_trainable(inside, is_frozen)
    if is_frozen or was_frozen:
        hold_statistics(layer)


def _freeze_or_thaw(layer: Layer, freezing: Freezing, path: str) -> None:
    tensor = owned(layer, path)
    if tensor is None:
        return
    if freezing.is_frozen and tensor.requires_grad:
        tensor.requires_grad_(False)
        freezing.held.add(path)
    elif not freezing.is_frozen and path in freezing.held:
        tensor.requires_grad_(True)
        freezing.held.discard(path)


def hold_statistics(layer: Layer) -> None:
    """Let torch modules with buffers, such as the statistics of `nn.BatchNorm2d`, be in training as the layer is and,
    while it is frozen, in evaluation.
    """
    for prefix, module in plain_modules(layer):
        if prefix and any(buffer is not None for buffer in module._buffers.values()):
            module.training = layer.training and not layer._freezing.is_frozen


def held_tensors(layer: Layer, for_another: bool = False) -> list[Tensor]:
    """The parameters that `trainable=False` has frozen; `for_another`: those that a later `compile` found so."""
    freezing = layer._freezing
    paths = freezing.held & freezing.at_compile if for_another else freezing.held
    found = (owned(layer, path) for path in paths)
    return [tensor for tensor in found if tensor is not None]


def note_compile(layer: Layer, collected: set[int]) -> None:
    """Note which parameters a `compile` has left out since `trainable=False` has frozen them.

    `collected`: the ids of those that it trains. What it trains in part or in another model goes on as it was.
    """
    freezing = layer._freezing
    for path in {path for variable in own_variables(layer) if variable.trainable for path in variable.paths}:
        if path in freezing.held:
            freezing.at_compile.add(path)
        elif id(owned(layer, path)) in collected:
            freezing.at_compile.discard(path)
