"""Weights, dropout and orders of samples drawn by NumPy's state, as in Keras 2: `np.random.seed(7)` repeats them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torchkeras.base import extensions
from torchkeras.initializers import distributions as initializers
from torchkeras.layers.noise import Noise

_generator = initializers._generator


def extend() -> None:
    """Draw what has no seed of its own by one that NumPy's global state gives."""
    extensions.extend(initializers, _generator=_of_numpy)


def _of_numpy(initializer: Any, device: torch.device) -> torch.Generator | None:
    if getattr(initializer, "seed", None) is not None or device.type == "meta":
        return _generator(initializer, device)
    return torch.Generator(device).manual_seed(_seed())


def seed_noise(layer: Any) -> None:
    """Begin torch's numbers by NumPy's state when a graph gets a layer that draws some: in Keras it has a seed then."""
    for each in layer.modules():
        if isinstance(each, Noise) and each.seed is None and 0 < getattr(each, "rate", 0.5) < 1:
            torch.manual_seed(_seed())


def seed_order() -> None:
    """Begin torch's numbers by NumPy's state before samples are shuffled, which Keras did by that state."""
    torch.manual_seed(_seed())


def _seed() -> int:
    draw: Any = np.random  # the state that scripts seed
    return int(draw.randint(10_000_000))
