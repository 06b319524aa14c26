"""The class that tells a layer from other torch modules, for files that `Layer` imports and that cannot import it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn


class BaseLayer(nn.Module):
    """The base of `Layer` alone."""


if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer as AnyLayer
else:
    AnyLayer = BaseLayer  # `isinstance(module, AnyLayer)`: at run time and for type checkers
