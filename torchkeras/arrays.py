"""From tensors to NumPy arrays."""

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values on the CPU; bfloat16, which NumPy does not have, as float32. May share the tensor's memory."""
    values = tensor.detach()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()


def at_hand(tensor: torch.Tensor) -> bool:
    """Whether `tensor.numpy()` costs nothing: the numbers lie on the CPU, and nothing traces what is done with them."""
    traced = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    return type(tensor) is torch.Tensor and tensor.is_cpu and not traced
