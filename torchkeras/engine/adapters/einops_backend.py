"""einops on symbolic tensors: `rearrange(x, "b h w c -> b (h w) c")` makes nodes as torch's functions do.

einops finds the backend of a tensor among the classes derived from its own. This module does not import einops: where
the user has, it defines such a class for symbolic tensors.
"""

from __future__ import annotations

import sys
from typing import Any

from torchkeras.base.nested import Symbolic

_made: list[Any] = []


def offer() -> None:
    """Register a backend for symbolic tensors where einops is imported: torch's, with symbolic sizes."""
    einops = sys.modules.get("einops._backends")
    if einops is not None and not _made and hasattr(einops, "TorchBackend"):
        _made.append(
            type(
                "SymbolicBackend",
                (einops.TorchBackend,),
                {
                    "framework_name": "torchkeras",
                    "is_appropriate_type": lambda self, tensor: isinstance(tensor, Symbolic),
                    "shape": lambda self, tensor: tensor.size(),
                },
            )
        )
