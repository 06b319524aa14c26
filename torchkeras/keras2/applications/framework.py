"""What keras-applications asks of `keras.backend`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torchkeras.config import floatx, image_data_format, set_image_data_format
from torchkeras.engine.layer.symbolic import KerasTensor

__all__ = [
    "backend",
    "floatx",
    "image_data_format",
    "int_shape",
    "is_keras_tensor",
    "name_scope",
    "set_image_data_format",
]


def backend() -> str:
    """The backend's name; kernels of files lie as TensorFlow has them."""
    return "torch"


def int_shape(x: Any) -> tuple[int | None, ...]:
    """The sizes of a tensor's axes, None where unknown."""
    return tuple(x.shape)


def is_keras_tensor(x: Any) -> bool:
    """Whether a tensor is symbolic."""
    return isinstance(x, KerasTensor)


def name_scope(name: str) -> AbstractContextManager[None]:
    """Nothing: names of layers are given one by one."""
    return nullcontext()
