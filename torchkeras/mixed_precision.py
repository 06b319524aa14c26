"""Dtype policies under the names that Keras has had for them. `torchkeras.config` keeps the global policy."""

from typing import TYPE_CHECKING

from torchkeras.base.dtypes import DTypePolicy
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.config import dtype_policy, set_dtype_policy

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy

__all__ = ["DTypePolicy", "Policy", "dtype_policy", "global_policy", "set_dtype_policy", "set_global_policy"]

if not TYPE_CHECKING:
    __getattr__ = _missing_from(__name__)
