"""What layers may add to the loss while they compute: activity regularizers, `add_loss`."""

from __future__ import annotations

import inspect
from typing import Any

from torch.nn import Module

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.added_losses import add_activity_losses


def with_activity_regularizer(network: Module) -> list[Any]:
    """The layers of a network, at any depth, that have an activity regularizer."""
    return [module for module in network.modules() if getattr(module, "activity_regularizer", None) is not None]


def hook_activities(model: Module, *, by_hand: bool) -> None:
    """Let the activity regularizers count that the generated code does not ask; all, in a step `by_hand`."""
    graphed = {layer for network in model.modules() if isinstance(network, Network) for layer in network.layers}
    asked = with_activity_regularizer(model)
    parts = {part for layer in asked if layer in graphed for part in layer.modules()} - graphed  # of wrappers
    for module in asked:
        if module not in parts and (by_hand or module not in graphed):
            add_activity_losses(module, in_steps=module not in graphed)


def may_add_losses(model: Module) -> bool:
    """Whether the class of some layer speaks of `add_loss`."""
    methods = (getattr(type(m), name) for m in model.modules() for name in ("call", "forward") if hasattr(m, name))
    return any("add_loss" in getattr(getattr(inspect.unwrap(m), "__code__", None), "co_names", ()) for m in methods)
