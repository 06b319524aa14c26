"""Training mode or evaluation mode: for a while, and for a user's code that asks which it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from torch import nn


@contextmanager
def in_mode(module: nn.Module, training: bool) -> Iterator[None]:
    """Have a module, and all inside, in training mode or not within the block; then each is as it was before."""
    before = [(inside, inside.training) for inside in module.modules()]
    module.train(training)
    try:
        yield
    finally:
        for inside, mode in before:
            inside.training = mode


def by_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """A `call` or `forward` of a user's whose `training`, where it is not given, is the mode of the layer."""
    names = list(inspect.signature(function).parameters)
    if "training" not in names:
        return function
    place = names.index("training") - 1
    by_position = inspect.signature(function).parameters["training"].kind is not inspect.Parameter.KEYWORD_ONLY

    @wraps(function)
    def in_its_mode(self: Any, *args: Any, **kwargs: Any) -> Any:
        if by_position and len(args) > place:
            given = self.training if args[place] is None else args[place]
            return function(self, *args[:place], given, *args[place + 1 :], **kwargs)
        if kwargs.get("training") is None:
            kwargs["training"] = self.training
        return function(self, *args, **kwargs)

    return in_its_mode
