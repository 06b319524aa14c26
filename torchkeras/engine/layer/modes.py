"""Training mode or evaluation mode for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
