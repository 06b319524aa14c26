"""torchkeras: Keras's functional API on PyTorch."""

from torchkeras import (
    activations,
    callbacks,
    config,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
)
from torchkeras.engine.input import Input
from torchkeras.engine.naming import clear_session
from torchkeras.models import Model, Sequential

__version__ = "0.1.0"

__all__ = [
    "Input",
    "Model",
    "Sequential",
    "activations",
    "callbacks",
    "clear_session",
    "config",
    "constraints",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "regularizers",
]
