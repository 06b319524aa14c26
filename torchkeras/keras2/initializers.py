"""What scripts take from `keras.initializers` beside the initializers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torchkeras.keras2.backend import normalize_data_format


def _compute_fans(shape: Sequence[int], data_format: str = "channels_last") -> tuple[float, float]:
    """How many inputs and outputs a unit has, from the shape of a weight."""
    if len(shape) == 2:
        return shape[0], shape[1]
    if len(shape) in (3, 4, 5):
        first = normalize_data_format(data_format) == "channels_first"
        field, channels = (shape[2:], shape[1::-1]) if first else (shape[:-2], shape[-2:])
        return channels[0] * prod(field), channels[1] * prod(field)
    return prod(shape) ** 0.5, prod(shape) ** 0.5
