"""einops on symbolic tensors: `rearrange(x, "b h w c -> b (h w) c")` makes nodes as torch's functions do.

einops finds a tensor's backend among the classes derived from its own. It is not imported here: when it has been, by
the user, one such class is made for symbolic tensors.
"""

from __future__ import annotations

import sys
from typing import Any

from torchkeras.base.nested import Symbolic

_made: list[Any] = []


def offer() -> None:
    """Have einops, where it is imported, know symbolic tensors: they compute as torch's, with sizes of their own."""
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
