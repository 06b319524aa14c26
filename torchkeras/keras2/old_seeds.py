"""First values of weights by NumPy's state, as in Keras 2: `np.random.seed(7)` makes them the same again."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torchkeras.initializers import initializer as initializers

_generator = initializers._generator


def extend() -> None:
    """Draw what has no seed of its own by one that NumPy's global state gives."""
    initializers._generator = _of_numpy


def _of_numpy(initializer: Any, device: torch.device) -> torch.Generator | None:
    if getattr(initializer, "seed", None) is not None or device.type == "meta":
        return _generator(initializer, device)
    draw: Any = np.random  # the state that scripts seed
    return torch.Generator(device).manual_seed(int(draw.randint(10_000_000)))
