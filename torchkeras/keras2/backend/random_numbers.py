"""Random numbers. A `seed` begins a sequence of numbers of its own, which each further use of it goes on with.

A tensor of them has its numbers. In Keras it is an operation, so after the first time `K.eval` and `K.function` draw
others of the same kind for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from torchkeras import config
from torchkeras.base import rules
from torchkeras.base.tracing import is_compiling
from torchkeras.keras2.backend.nodes import as_type, node, sizes

_generators: dict[tuple[int, str], torch.Generator] = {}
_draws: WeakIdKeyDictionary = WeakIdKeyDictionary()  # a `Draw` by tensor


@dataclass
class Draw:
    """How a tensor was drawn: by a function, and what torch counts of changes to it. Whether it has been read since."""

    again: Callable[[], Tensor]
    version: int
    is_read: bool = False


def forget() -> None:
    """Let the sequences of all seeds begin again."""
    _generators.clear()


def generator(seed: Any, device: torch.device | None = None) -> torch.Generator | None:
    """That of a seed; None, which is torch's own, without one."""
    if seed is None:
        return None
    seed, device = rules.read("keras.backend", "seed", rules.integer(), seed), device or config.device()
    key = (seed, str(device))
    if key not in _generators:
        _generators[key] = torch.Generator(device).manual_seed(seed)
    return _generators[key]


def _drawn(shape: Any, dtype: Any, seed: Any, draw: Callable[[Tensor, torch.Generator | None], Any]) -> Tensor:
    made = torch.empty(sizes(shape), dtype=as_type(dtype), device=config.device())
    draw(made, None if made.is_meta else generator(seed))
    if not (made.is_meta or is_compiling()):
        _draws[made] = Draw(partial(_drawn, tuple(made.shape), made.dtype, seed, draw), made._version)
    return made


def _numbers(function: str, **given: Any) -> list[float]:
    """Numbers, which may be tensors of one. Raises ValueError, with the function and the argument, for others."""
    return [rules.read(function, name, rules.NUMBER, value) for name, value in given.items()]


def read(x: Tensor) -> Tensor:
    """A tensor; for one of random numbers, from the second time on, others, unless code has changed it."""
    draw = _draws.get(x)
    if draw is None or draw.version != x._version:
        return x
    first, draw.is_read = not draw.is_read, True
    return x if first else draw.again()


@node
def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers of a normal distribution.

    >>> random_normal((2, 3)).shape
    torch.Size([2, 3])
    """
    mean, stddev = _numbers("random_normal", mean=mean, stddev=stddev)
    return _drawn(shape, dtype, seed, lambda made, own: made.normal_(mean, stddev, generator=own))


@node
def random_uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers from `minval` to below `maxval`, all equally likely; whole ones when `dtype` is a type of these.

    >>> random_uniform((2, 3)).shape
    torch.Size([2, 3])
    """
    minval, maxval = _numbers("random_uniform", minval=minval, maxval=maxval)
    if not as_type(dtype).is_floating_point:
        return _drawn(shape, dtype, seed, lambda made, own: made.random_(int(minval), int(maxval), generator=own))
    return _drawn(shape, dtype, seed, lambda made, own: made.uniform_(minval, maxval, generator=own))


@node
def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """1 with probability `p`, else 0.

    >>> random_binomial((3,), p=1.0)
    tensor([1., 1., 1.])
    """
    (p,) = _numbers("random_binomial", p=p)
    return _drawn(shape, dtype, seed, lambda made, own: made.bernoulli_(p, generator=own))


@node
def truncated_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    """Numbers of a normal distribution, those beyond two standard deviations drawn again.

    >>> truncated_normal((1000,)).abs().max() <= 2
    tensor(True)
    """
    mean, stddev = _numbers("truncated_normal", mean=mean, stddev=stddev)
    low, high = mean - 2 * stddev, mean + 2 * stddev
    return _drawn(
        shape, dtype, seed, lambda made, own: nn.init.trunc_normal_(made, mean, stddev, low, high, generator=own)
    )
