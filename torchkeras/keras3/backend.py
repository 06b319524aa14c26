"""`keras.backend`: types, settings and names. The functions of tensors that it had in Keras 2 are in `keras.ops`."""

from __future__ import annotations

import gc
import sys
from typing import Any, NoReturn

import torch

from torchkeras.base import naming
from torchkeras.config import epsilon, floatx, image_data_format, set_epsilon
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras3 import config
from torchkeras.keras3.config import backend, set_floatx, set_image_data_format
from torchkeras.keras3.dtypes import is_float_dtype, is_int_dtype, result_type, standardize_dtype

__all__ = [
    "backend",
    "clear_session",
    "epsilon",
    "floatx",
    "get_uid",
    "image_data_format",
    "is_float_dtype",
    "is_int_dtype",
    "is_keras_tensor",
    "result_type",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "standardize_dtype",
]


def clear_session(free_memory: bool = True) -> None:
    """Count automatic names from the start again, and let go of what compiled code keeps.

    The dtype policy is that of `floatx` again, interactive logging is on, and files with bytecode are refused. Seeds
    and weights stay.

    Arguments:
        free_memory (bool, default True): whether Python collects its garbage.

    Example:
        >>> clear_session()

    Source: https://keras.io/api/utils/config_utils/
    """
    naming.clear_session()
    config.config.set_dtype_policy(None)
    config.enable_interactive_logging()
    config.disable_unsafe_deserialization()
    if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
        torch.compiler.reset()
    if free_memory:
        gc.collect()


def get_uid(prefix: str = "") -> int:
    """The number of a use of a prefix, from 1 on; names that layers get are counted too.

    Arguments:
        prefix (text, default ""): the prefix.

    Example:
        >>> get_uid("mine"), get_uid("mine")
        (1, 2)

    Source: https://keras.io/api/utils/config_utils/
    """
    number = naming.count_name(prefix).removeprefix(f"{prefix}_")
    return int(number) + 1 if number.isdigit() else 1


def is_keras_tensor(x: Any) -> bool:
    """Whether it is a symbolic tensor.

    Arguments:
        x (any): what is asked about.

    Example:
        >>> is_keras_tensor(torch.ones(1))
        False

    Source: https://keras.io/api/utils/config_utils/
    """
    return isinstance(x, KerasTensor)


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"keras.backend has no {name!r} in Keras 3: it has {', '.join(__all__)}. Functions of tensors are in "
        "keras.ops, random numbers in keras.random."
    )
