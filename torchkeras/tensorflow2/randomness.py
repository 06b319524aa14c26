"""`tf.random`: random numbers, drawn by `keras.random`."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras.keras3 import ops, random
from torchkeras.tensorflow2.signatures import Function, taking
from torchkeras.tensorflow2.tensors import as_value, sizes_in


def set_seed(seed: int) -> None:
    """Begin torch's random numbers at a seed."""
    torch.manual_seed(int(seed))


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Random numbers of a normal distribution."""
    return random.normal(sizes_in(shape), 0.0, 1.0, dtype, seed=seed) * stddev + mean


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Random numbers of a normal distribution, none farther from the mean than two deviations."""
    return random.truncated_normal(sizes_in(shape), 0.0, 1.0, dtype, seed=seed) * stddev + mean


def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Random numbers from `minval` up to, and without, `maxval`; whole ones for a type of these."""
    sizes = sizes_in(shape)
    if not ops.cast(0, dtype).is_floating_point():
        if maxval is None:
            raise ValueError("tf.random.uniform: maxval must be given for a type of whole numbers.")
        return random.randint(sizes, int(minval), int(maxval), dtype, seed=seed)
    most = 1 if maxval is None else maxval
    return random.uniform(sizes, 0.0, 1.0, dtype, seed=seed) * (most - minval) + minval


def categorical(logits: Any, num_samples: Any, dtype: Any = "int64", seed: Any = None) -> Any:
    """Places drawn along the last axis, by the logarithms of their chances."""
    return random.categorical(as_value(logits), int(num_samples), dtype=dtype or "int64", seed=seed)


def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Random numbers of a gamma distribution."""
    found = random.gamma(sizes_in(shape), alpha, dtype, seed=seed)
    return found if beta is None else found / beta


def poisson(shape: Any, lam: Any, dtype: Any = "float32", seed: Any = None) -> Any:
    """Random numbers of a Poisson distribution, of a shape for each mean."""
    means = as_value(lam).float()
    return ops.cast(torch.poisson(means.expand(*sizes_in(shape), *means.shape)), dtype)


def shuffle(value: Any, seed: Any = None) -> Any:
    """The parts along the first axis in another order, at random."""
    return random.shuffle(as_value(value), seed=seed)


def _stateless(function: Function) -> Function:
    """A function whose numbers are those of its seed, two whole numbers."""

    def draw(shape: Any, seed: Any, *args: Any, **options: Any) -> Any:
        first, second = sizes_in(seed)
        return function(shape, *args, seed=(first * 2654435761 + second) % 2**31, **options)

    draw.__doc__ = function.__doc__
    return draw


class Generator:
    """Random numbers that begin at a seed: `Generator.from_seed(1).normal((2,))`."""

    def __init__(self, seed: int | None = None) -> None:
        self._seeds = random.SeedGenerator(seed)

    @classmethod
    def from_seed(cls, seed: int, alg: Any = None) -> Generator:
        """One that begins at a seed."""
        return cls(int(seed))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """One that begins anywhere."""
        return cls()

    def reset_from_seed(self, seed: int) -> None:
        """Begin again at a seed."""
        self._seeds = random.SeedGenerator(int(seed))

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None) -> Any:
        """Random numbers of a normal distribution."""
        return normal(shape, mean, stddev, dtype, self._seeds)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", name: Any = None
    ) -> Any:
        """Random numbers of a normal distribution, none farther from the mean than two deviations."""
        return truncated_normal(shape, mean, stddev, dtype, self._seeds)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", name: Any = None) -> Any:
        """Random numbers from `minval` up to, and without, `maxval`."""
        return uniform(shape, minval, maxval, dtype, self._seeds)

    def split(self, count: int = 1) -> list[Generator]:
        """Further ones, which begin at seeds that this one draws."""
        return [Generator(int(self.uniform((), 0, 2**31 - 1, "int32"))) for _ in range(count)]


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The one that all share."""
    if not _global:
        _global.append(Generator())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Let all share another one."""
    _global[:] = [generator]


NAMES: dict[str, Any] = {
    "Generator": Generator,
    "categorical": taking("logits num_samples dtype=int64 seed=None", categorical),
    "gamma": taking("shape alpha beta=None dtype=float32 seed=None", gamma),
    "get_global_generator": get_global_generator,
    "normal": taking("shape mean=0.0 stddev=1.0 dtype=float32 seed=None", normal),
    "poisson": taking("shape lam dtype=float32 seed=None", poisson),
    "set_global_generator": set_global_generator,
    "set_seed": set_seed,
    "shuffle": taking("value seed=None", shuffle),
    "stateless_normal": _stateless(normal),
    "stateless_truncated_normal": _stateless(truncated_normal),
    "stateless_uniform": _stateless(uniform),
    "truncated_normal": taking("shape mean=0.0 stddev=1.0 dtype=float32 seed=None", truncated_normal),
    "uniform": taking("shape minval=0 maxval=None dtype=float32 seed=None", uniform),
}
