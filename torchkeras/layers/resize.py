"""Layers that make images and sequences larger or smaller without weights: zero padding."""

from typing import Annotated, Any

import torch
import torch.nn.functional as F

from torchkeras.engine.options import Rule, is_integer
from torchkeras.layers.spatial import Spatial, torch_padding

Pairs = tuple[tuple[int, int], ...]


def _read_pairs(value: Any, rank: int) -> Pairs:
    """(before, after) of each axis from one number for all, one for each, or pairs; over one axis also its pair."""
    if is_integer(value):
        found: Any = ((value, value),) * rank
    elif rank == 1 and isinstance(value, (tuple, list)) and all(map(is_integer, value)):
        found = (value,)
    elif isinstance(value, (tuple, list)):
        found = tuple((item, item) if is_integer(item) else item for item in value)
    else:
        found = ()
    if len(found) != rank or not all(map(_is_pair, found)):
        forms = "a pair (before, after)" if rank == 1 else f"{rank} integers, or {rank} pairs (before, after)"
        raise ValueError(f"must be an integer, {forms}, none of them negative; found {value!r}.")
    return tuple((int(before), int(after)) for before, after in found)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(is_integer(v) and v >= 0 for v in value)


AxisPairs = Annotated[Any, Rule(_read_pairs, lambda kept: kept[0] if len(kept) == 1 else kept, by_rank=True)]


class ZeroPadding(Spatial, abstract=True):
    """The input with zeros before and after each spatial axis.

    `padding`: an integer for all ends, an integer for each axis, or a pair (before, after) for each axis.
    Shape: (batch, *sizes, channels) -> (batch, *(before + size + after), channels), or with
    data_format='channels_first' the same with the channels at axis 1.
    """

    padding: AxisPairs = 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.pad(inputs, torch_padding(self.padding))


class ZeroPadding2D(ZeroPadding):
    __doc__ = ZeroPadding.__doc__

    rank = 2
