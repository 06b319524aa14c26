"""`keras.mixed_precision`: dtype policies under their earlier names, and the optimizer that scales the loss."""

from torchkeras.base.dtypes import DTypePolicy
from torchkeras.config import dtype_policy
from torchkeras.keras3.dtype_policies import set_dtype_policy
from torchkeras.keras3.optimizers import LossScaleOptimizer

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy

__all__ = [
    "DTypePolicy",
    "LossScaleOptimizer",
    "Policy",
    "dtype_policy",
    "global_policy",
    "set_dtype_policy",
    "set_global_policy",
]
