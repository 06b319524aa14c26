"""What nearly each module of Keras imported, and scripts therefore take from it."""

from torchkeras import (
    activations as activations,
    backend as K,
    constraints as constraints,
    initializers as initializers,
    regularizers as regularizers,
)

__all__ = ["K", "activations", "constraints", "initializers", "regularizers"]
