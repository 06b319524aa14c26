"""The forms of an optimizer of `torch.optim` in `compile`: an instance, a class, a partial, a pair with options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch


def is_torch(identifier: Any) -> bool:
    """Whether this is an optimizer of torch: an instance, a class, a partial of one, or (class, {options}).

    Arguments:
        identifier (any object): the object.

    Example:
        >>> is_torch(torch.optim.Adam), is_torch("adam")
        (True, False)
    """
    if isinstance(identifier, tuple) and len(identifier) == 2 and isinstance(identifier[1], Mapping):
        identifier = identifier[0]
    if isinstance(identifier, partial):
        identifier = identifier.func
    if inspect.isclass(identifier):
        return issubclass(identifier, torch.optim.Optimizer)
    return isinstance(identifier, torch.optim.Optimizer)


def divided(optimizer: Any, options: Mapping[str, Any]) -> tuple[partial[torch.optim.Optimizer], dict[str, Any]]:
    """The function that makes an optimizer of torch, and separately those `options` that its class does not have."""
    if isinstance(optimizer, tuple):
        optimizer = partial(optimizer[0], **optimizer[1])
    make: partial[torch.optim.Optimizer] = optimizer if isinstance(optimizer, partial) else partial(optimizer)
    known = inspect.signature(make.func).parameters
    own = {name: value for name, value in make.keywords.items() if name in options and name not in known}
    rest = {name: value for name, value in make.keywords.items() if name not in own}
    twice = [name for name in own if options[name] is not None]
    if twice:
        raise TypeError(f"TorchOptimizer: {twice[0]} is passed twice, among the class's options and next to them.")
    return partial(make.func, *make.args, **rest), own
