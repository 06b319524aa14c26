"""What differs between versions of torch: each name as the newest has it, and what stands for it in those before.

A comment says from which version on torch has the name: with that one as the lowest, what stands for it goes away.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules import module as torch_modules

__all__ = ["COMPILES", "WARNS_OF_CACHES", "has_any_global_hook", "in_eager_mode", "scan"]

# torch 2.8: its compiler follows whole steps and models; those before are not asked to compile or export any.
COMPILES = torch.__version__ >= "2.8"
# torch 2.12: before, its compiler warns of functions of this package that keep their results by `functools.lru_cache`.
WARNS_OF_CACHES = torch.__version__ < "2.12"

try:  # torch 2.8
    from torch.nn.modules.module import _has_any_global_hook as has_any_global_hook
except ImportError:

    def has_any_global_hook() -> Any:
        """Whether a hook is registered for the calls of all modules."""
        return (
            torch_modules._global_backward_pre_hooks
            or torch_modules._global_backward_hooks
            or torch_modules._global_forward_pre_hooks
            or torch_modules._global_forward_hooks
        )


try:  # torch 2.6
    from torch._higher_order_ops.scan import scan
except ImportError:

    def scan(*arguments: Any, **options: Any) -> Any:
        """Raise NotImplementedError: this torch cannot write a loop along time as one operation."""
        raise NotImplementedError(
            f"A recurrent layer is exported as torch's scan, which torch {torch.__version__} does not have. "
            "Install torch 2.6 or newer to export it."
        )


# As torch.compiler.disable, which would import the compiler now and take five times as long as importing this package.
in_eager_mode: Any = torch._disable_dynamo  # type: ignore[attr-defined]
