"""The order of a value's axes: Keras's, or with the last axis moved next to the batch ("channels first").

Spatial layers compute channels-first only. A `channels_last` layer declares this as its `layout`, and its caller
permutes the axes: the layout pass of a graph in a model, the call itself for a single layer.
"""

from enum import Enum
from typing import Any

import torch


class Layout(Enum):
    """The order of axes in the inputs and outputs of a layer's `forward`."""

    KERAS = "the order that Keras shows"
    CHANNELS_FIRST = "the last of Keras's axes lies at axis 1"
    ANY = "either, the same for all inputs and outputs"
    AXIS = "either, and `forward` receives the index of the layer's axis as `axis=`"


def to_channels_first(ndim: int) -> tuple[int, ...] | None:
    """The permutation from Keras's order to channels first; None when they are the same."""
    return (0, ndim - 1, *range(1, ndim - 1)) if ndim > 2 else None


def to_keras(ndim: int) -> tuple[int, ...] | None:
    """The permutation from channels first to Keras's order; None when they are the same."""
    return (0, *range(2, ndim), 1) if ndim > 2 else None


def axis_channels_first(axis: int, ndim: int) -> int:
    """The index of one of Keras's axes in a channels-first value."""
    axis %= ndim
    order = to_channels_first(ndim)
    return axis if order is None else order.index(axis)


def convert(value: Any, order: Any) -> Any:
    """`value.permute(order(value.dim()))` for a tensor or each of a list of them."""
    if isinstance(value, (list, tuple)):
        return [convert(item, order) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    permutation = order(value.dim())
    return value if permutation is None else value.permute(permutation)
