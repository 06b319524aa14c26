"""Tensors as arrays and arrays as tensors, and their layout in memory."""

from typing import Any

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values on the CPU; bfloat16, which NumPy does not have, as float32. May share the tensor's memory."""
    values = tensor.detach()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()


def as_tensor(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tensor of an array or tensor, without a copy where type and layout allow it."""
    if isinstance(value, torch.Tensor):
        return value.detach() if dtype is None else value.detach().to(dtype)
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()  # torch has neither read-only tensors nor negative strides
    tensor = torch.from_numpy(array)
    return tensor if dtype is None else tensor.to(dtype)


def fills_its_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor's values fill its memory without gaps, in any order of axes."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 0:
            return True
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True
