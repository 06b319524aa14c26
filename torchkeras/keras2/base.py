"""What nearly each module of Keras imported, and scripts therefore take from it."""

import copy
import warnings

import numpy as np

from torchkeras import activations, constraints, initializers, losses, metrics, optimizers, regularizers
from torchkeras.keras2 import backend as K, initializations, interfaces
from torchkeras.keras2.backend.settings import transpose_shape
from torchkeras.keras2.utils import conv_utils
from torchkeras.keras2.utils.function_dump import func_dump, func_load
from torchkeras.keras2.utils.generic_utils import (
    deserialize_keras_object,
    has_arg,
    object_list_uid,
    serialize_keras_object,
    to_list,
    unpack_singleton,
)

__all__ = [
    "K",
    "activations",
    "constraints",
    "conv_utils",
    "copy",
    "deserialize_keras_object",
    "func_dump",
    "func_load",
    "has_arg",
    "initializations",
    "initializers",
    "interfaces",
    "losses",
    "metrics",
    "np",
    "object_list_uid",
    "optimizers",
    "regularizers",
    "serialize_keras_object",
    "to_list",
    "transpose_shape",
    "unpack_singleton",
    "warnings",
]
