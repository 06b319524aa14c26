"""Images, volumes and sequences in either order of axes: computed channels first."""

from __future__ import annotations

from torch import Tensor

from torchkeras.engine.symbolic.axis_order import convert, to_channels_first, to_keras


def first(x: Tensor, data_format: str) -> Tensor:
    """`x` with its channels at axis 1."""
    return convert(x, to_channels_first) if data_format == "channels_last" else x


def in_format(x: Tensor, data_format: str) -> Tensor:
    """The inverse of `first`."""
    return convert(x, to_keras) if data_format == "channels_last" else x
