"""Torch's own tables of a module: what stands directly inside it, by name.

`named_children()` and the like pass over None and over what stands in two places. These are the dicts themselves: they
change with the module, and with `remove_duplicate` out of the way a shared module or weight stands at each of its
names. No other file reads torch's private names for them from outside of a module.
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
