"""What nearly each module of Keras imported, and scripts therefore take from it."""

from torchkeras import activations, backend as K, constraints, initializers, losses, metrics, optimizers, regularizers
from torchkeras.keras2 import initializations, interfaces
from torchkeras.keras2.utils import conv_utils

__all__ = [
    "K",
    "activations",
    "constraints",
    "conv_utils",
    "initializations",
    "initializers",
    "interfaces",
    "losses",
    "metrics",
    "optimizers",
    "regularizers",
]
