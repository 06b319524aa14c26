"""The random numbers of Python, NumPy and torch: their state now, and back to it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def state() -> dict[str, Any]:
    """The state of every generator that a script has without making one; tensors and plain values."""
    version, internal, gauss = random.getstate()
    # The old generator of NumPy is the one that scripts and Keras draw from.
    name, keys, position, has_gauss, cached = np.random.get_state(legacy=True)  # noqa: NPY002
    return {
        "python": [version, list(internal), gauss],
        "numpy": [str(name), torch.from_numpy(np.array(keys, np.int64)), int(position), int(has_gauss), float(cached)],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def restore(saved: Mapping[str, Any]) -> None:
    """Go back to a state. Raises ValueError when it is of more CUDA devices than there are."""
    if len(saved["cuda"]) > torch.cuda.device_count():
        raise ValueError(
            f"The checkpoint has random states of {len(saved['cuda'])} CUDA devices; there are "
            f"{torch.cuda.device_count()}."
        )
    version, internal, gauss = saved["python"]
    random.setstate((version, tuple(internal), gauss))
    name, keys, position, has_gauss, cached = saved["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), position, has_gauss, cached))  # noqa: NPY002
    torch.set_rng_state(saved["torch"])
    if saved["cuda"]:
        torch.cuda.set_rng_state_all(saved["cuda"])
