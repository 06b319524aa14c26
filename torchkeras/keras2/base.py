"""What nearly each module of Keras imported, and scripts therefore take from it."""

from torchkeras import (
    activations,
    backend as K,
    constraints,
    initializers,
    regularizers,
)

__all__ = ["K", "activations", "constraints", "initializers", "regularizers"]
