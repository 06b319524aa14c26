"""What tells a layer from a module of torch, in the rooms that `Layer` is made of and that cannot import it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn


class BaseLayer(nn.Module):
    """The base of `Layer` and of nothing else."""


if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer as AnyLayer
else:
    AnyLayer = BaseLayer  # `isinstance(module, AnyLayer)`: a layer, as type checkers see too
