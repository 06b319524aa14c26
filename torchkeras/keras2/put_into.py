"""Bases of the classes whose methods are put into layers, models and optimizers: for type checkers those themselves."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer as OfLayer
    from torchkeras.models import Model as OfModel
    from torchkeras.optimizers import Optimizer as OfOptimizer
else:
    OfLayer = OfModel = OfOptimizer = object

__all__ = ["OfLayer", "OfModel", "OfOptimizer"]
