"""Tensors as arrays: conversion to NumPy, and their layout in memory."""

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values on the CPU; bfloat16, which NumPy does not have, as float32. May share the tensor's memory."""
    values = tensor.detach()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()


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
