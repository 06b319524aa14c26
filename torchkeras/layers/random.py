"""What layers that draw random numbers share: the option `seed`, and how dropout chooses values."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from torchkeras.base.arrays import fills_its_memory
from torchkeras.base.tracing import traced
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import OptionalInt


class Seeded(Layer, abstract=True):
    """A layer that draws random numbers.

    Options:
        seed (integer or None, default None): the start of a generator of the layer's own; None draws from torch's.
    """

    seed: OptionalInt = None

    _generator: torch.Generator | None = None

    def _generator_on(self, device: torch.device) -> torch.Generator | None:
        if self.seed is None or device.type == "meta":
            return None
        known = self._generator
        if known is None or known.device != device or known.initial_seed() != self.seed % 2**64:
            self._generator = torch.Generator(device).manual_seed(self.seed)
        return self._generator

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_generator": None}


def leaves_to_torch(inputs: torch.Tensor) -> bool:
    """Whether torch has to draw the numbers for a tensor: on a device, in its compiler, for a class such as DTensor."""
    return type(inputs) is not torch.Tensor or not inputs.is_cpu or traced()


def kept(like: torch.Tensor, shape: Sequence[int], rate: float, generator: torch.Generator | None) -> torch.Tensor:
    """Random booleans of `shape`: False with the probability `rate`, else True.

    On the CPU, torch's own `bernoulli_` draws one number after another. Here a word of 64 random bits makes 4 or 8
    places, in a quarter of the time. A rate is then rounded, by 1/2**17 at most; 0.25, 0.5 and the like are exact.

    Arguments:
        like (tensor): its device is that of the booleans. Where its shape is theirs, so is its order in memory.
        shape (list of integers): the shape of the booleans.
        rate (float from 0 to 1): the probability of False.
        generator (torch.Generator or None): where the numbers are drawn from; None takes torch's own.
    """
    width = 8 if (rate * 2**8).is_integer() else 16
    if leaves_to_torch(like) or not 0.01 <= rate <= 0.99:
        places = torch.empty_like(like) if tuple(shape) == like.shape else like.new_empty(shape)
        return places.bernoulli_(1 - rate, generator=generator).bool()
    count = math.prod(shape)
    words = torch.empty(-(-count * width // 64), dtype=torch.int64, device="cpu")
    words.random_(-(2**63), None, generator=generator)
    bits = words.view(torch.int8 if width == 8 else torch.int16)[:count]
    reordered = tuple(shape) == like.shape and not like.is_contiguous() and fills_its_memory(like)
    bits = bits.as_strided(shape, like.stride()) if reordered else bits.view(shape)
    return bits >= round(rate * 2**width) - 2 ** (width - 1)
