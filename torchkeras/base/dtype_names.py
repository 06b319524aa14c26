"""Torch's types of elements by the names that configs and files have for them."""

from __future__ import annotations

import torch


def dtype_name(dtype: torch.dtype) -> str:
    """`"float32"` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str | torch.dtype) -> torch.dtype:
    """`torch.float32` for `"float32"`. Raises ValueError for a name that torch does not have."""
    found = name if isinstance(name, torch.dtype) else getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"dtype must be the name of a torch dtype, such as 'float32' or 'int64'; found {name!r}.")
    return found
