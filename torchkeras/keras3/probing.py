"""What the code of a layer counts, and must not while its output shapes are found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.keras3.stored import layers_within
from torchkeras.tensor_functions.operations.random_numbers import SeedGenerator


def attributes_within(layer: BaseLayer, kind: type) -> list[Any]:
    """The attributes of a class, of a layer and of those inside it."""
    return [each for one in (layer, *layers_within(layer)) for each in vars(one).values() if isinstance(each, kind)]


@contextmanager
def seeds_kept(layer: BaseLayer) -> Iterator[None]:
    """Put back, after the block, the states of generators of seeds."""
    before = [(each, each.state) for each in attributes_within(layer, SeedGenerator)]
    try:
        yield
    finally:
        for seed, state in before:
            seed.state = state
