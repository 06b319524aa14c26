"""Torch's own tables of a module: the dicts of what stands directly inside it, by attribute.

Unlike `named_children()` and the like, they have None, and a shared module or weight at each of its names. They change
with the module. Code that runs for each layer or batch reads `_modules`, `_parameters` and `_buffers` itself: one call
less.
"""

from __future__ import annotations

from typing import Any

from torch import nn

__all__ = ["own_buffers", "own_modules", "own_parameters"]


def own_modules(module: nn.Module) -> dict[Any, Any]:
    """The modules directly inside, by attribute."""
    return module._modules  # type: ignore[return-value]


def own_parameters(module: nn.Module) -> dict[Any, Any]:
    """The module's own parameters, by attribute."""
    return module._parameters  # type: ignore[return-value]


def own_buffers(module: nn.Module) -> dict[Any, Any]:
    """The module's own buffers, by attribute."""
    return module._buffers  # type: ignore[return-value]
