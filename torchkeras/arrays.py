"""From tensors to NumPy arrays."""

import numpy as np
import torch


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values on the CPU; bfloat16, which NumPy does not have, as float32. May share the tensor's memory."""
    values = tensor.detach()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()
