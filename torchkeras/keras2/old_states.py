"""Tensors that a layer of an old script keeps in attributes while its `call` runs, for its next call in the graph.

In Keras a `call` runs once for each place in the graph, so what the first one finds was never set by a run. Here it
runs with each batch: the first call of a run finds the attributes as they were before any call, the next ones what it
left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from torchkeras.engine.symbolic.tensor import as_list

BEFORE = "_before_calls"  # by attribute, what it was before any call
COUNT = "_calls_until_now"


@contextmanager
def of_one_run(layer: Any, inputs: Any) -> Iterator[None]:
    """A block that is one call of a layer; one that only finds shapes leaves nothing."""
    places, held = len(layer._inbound_nodes), vars(layer)
    finds_shapes = any(isinstance(each, Tensor) and each.is_meta for each in as_list(inputs))
    kept, count = held.setdefault(BEFORE, {}), held.get(COUNT, 0)
    if kept and places and count % places == 0 and not finds_shapes:
        held.update(kept)
    before = dict(held)
    yield
    changed = {
        name: before.get(name) for name, value in held.items() if before.get(name) is not value and _passes(value)
    }
    if finds_shapes:
        held.update(changed)
    elif places:
        kept.update((name, value) for name, value in changed.items() if name not in kept)
        held[COUNT] = count + 1


def _passes(value: Any) -> bool:
    """Whether a value is a tensor that a run has made."""
    return isinstance(value, Tensor) and not isinstance(value, nn.Parameter) and "_added_weight" not in vars(value)
