"""Assignments of a graph, made when a step of it ends: `K.update` in a layer's `call`, or in `get_updates`.

In Keras 2 an assignment is an operation that a step runs. Here code computes at once, so within `waiting` the
assignments are kept with their values, and made when the block ends: what is read in between has the old ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.weights.weight import Variable

_kept: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("kept assignments", default=None)


def waits() -> bool:
    """Whether an assignment is to be kept and not to be made at once."""
    return _kept.get() is not None


def of_layer(layer: Any, updates: Any) -> None:
    """Keep the assignments that a layer's `call` adds; they are made when it ends, if it trains."""
    kept = _kept.get()
    pairs = [each for each in flat(updates) if each is not None]
    if kept is not None:
        kept.extend(pairs)
    elif layer.training:
        make(pairs)


@contextmanager
def waiting(layer: Any) -> Iterator[None]:
    """Keep the assignments added inside the block, and make them after it if the layer is in training."""
    token = _kept.set([])
    try:
        yield
        pairs = _kept.get() or []
    finally:
        _kept.reset(token)
    if layer.training:
        make(pairs)


@contextmanager
def collected() -> Iterator[None]:
    """Keep the assignments inside the block, for its caller to make."""
    token = _kept.set([])
    try:
        yield
    finally:
        _kept.reset(token)


def flat(updates: Any) -> list[tuple[Any, Any]]:
    """Assignments as pairs, from one, a pair or a list of these."""
    if isinstance(updates, tuple) and len(updates) == 2 and isinstance(updates[0], (Tensor, Variable)):
        return [updates]  # type: ignore[list-item]
    if isinstance(updates, (list, tuple)):
        return [pair for each in updates for pair in flat(each)]
    raise TypeError(f"an update is what K.update gives, or a pair of a variable and its value; found {updates!r}.")


def make(pairs: list[tuple[Any, Any]]) -> None:
    """Make assignments, all from values of before. On `meta`, where shapes are found, there is nothing to assign."""
    with torch.no_grad():
        found = [(target.value if isinstance(target, Variable) else target, value) for target, value in pairs]
        found = [(target, torch.as_tensor(value).detach().clone()) for target, value in found if not _is_meta(value)]
        for target, value in found:
            target.copy_(value)


def _is_meta(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_meta
