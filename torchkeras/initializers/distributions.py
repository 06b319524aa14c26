"""Initializers whose numbers do not depend on the weight's fans, and two of whole matrices."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.arrays import as_numbers
from torchkeras.base.rules import AT_LEAST_0, FINITE
from torchkeras.initializers.initializer import SEED, Initializer


@dataclass(frozen=True)
class Constant(Initializer):
    """A constant value.

    Options:
        value (number or array, default 0): the value, or an array of the weight's shape.

    Errors:
        ValueError: for an array of another shape.

    Example:
        >>> Constant(3.0)((2,))
        tensor([3., 3.])
    """

    value: Any = 0

    def __post_init__(self) -> None:
        as_numbers(self.value, "Constant: value")

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        value = torch.as_tensor(self.value)
        if value.dim() and value.shape != values.shape:
            raise ValueError(f"Constant: value is of shape {tuple(value.shape)}, the weight of {tuple(values.shape)}.")
        return values.copy_(value)

    def get_config(self) -> dict[str, Any]:
        """The value; an array as nested lists, which JSON has."""
        return {"value": self.value.tolist() if hasattr(self.value, "tolist") else self.value}


@dataclass(frozen=True)
class Zeros(Initializer):
    """0 everywhere.

    Example:
        >>> Zeros()((2,))
        tensor([0., 0.])
    """

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.zero_()


@dataclass(frozen=True)
class Ones(Initializer):
    """1 everywhere.

    Example:
        >>> Ones()((2,))
        tensor([1., 1.])
    """

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.fill_(1.0)


@dataclass(frozen=True)
class RandomNormal(Initializer):
    """mean + stddev * N(0, 1).

    Options:
        mean (number, default 0.0): the mean.
        stddev (number, default 0.05): the standard deviation.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> RandomNormal(seed=1)((100, 100)).std().round(decimals=2)
        tensor(0.0500)
    """

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    rules = {"mean": FINITE, "stddev": AT_LEAST_0, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.normal_(self.mean, self.stddev, generator=generator)


@dataclass(frozen=True)
class RandomUniform(Initializer):
    """U(minval, maxval).

    Options:
        minval (number, default -0.05): the lower bound.
        maxval (number, default 0.05): the upper bound.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> RandomUniform(seed=1)((100, 100)).abs().max() <= 0.05
        tensor(True)
    """

    minval: float = -0.05
    maxval: float = 0.05
    seed: int | None = None

    rules = {"minval": FINITE, "maxval": FINITE, "seed": SEED}

    ordered = ("minval", "maxval")

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return values.uniform_(self.minval, self.maxval, generator=generator)


@dataclass(frozen=True)
class TruncatedNormal(Initializer):
    """mean + stddev * N(0, 1), drawn again beyond two deviations.

    The standard deviation of the result is 0.88 * stddev.

    Options:
        mean (number, default 0.0): the mean.
        stddev (number, default 0.05): the standard deviation before the cut.
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> TruncatedNormal(seed=1)((100, 100)).abs().max() <= 0.1
        tensor(True)
    """

    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    rules = {"mean": FINITE, "stddev": AT_LEAST_0, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        torch.nn.init.trunc_normal_(values, generator=generator)
        return values.mul_(self.stddev).add_(self.mean)


@dataclass(frozen=True)
class Orthogonal(Initializer):
    """gain * Q, its columns (or rows, if fewer) orthonormal once all axes but the last are joined.

    Options:
        gain (number, default 1.0): the length of the columns or rows.
        seed (integer or None, default None): gives the same numbers at each call.

    Errors:
        ValueError: for a shape of fewer than two axes.

    Example:
        >>> q = Orthogonal(seed=1)((3, 3))
        >>> torch.allclose(q @ q.T, torch.eye(3), atol=1e-6)
        True

    Source: Saxe et al., https://arxiv.org/abs/1312.6120
    """

    gain: float = 1.0
    seed: int | None = None

    rules = {"gain": FINITE, "seed": SEED}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() < 2:
            raise ValueError(f"Orthogonal needs a shape of two axes or more; found {tuple(values.shape)}.")
        matrix = torch.nn.init.orthogonal_(values.new_empty(values.shape).flatten(0, -2), self.gain, generator)
        return values.copy_(matrix.view(values.shape))


@dataclass(frozen=True)
class Identity(Initializer):
    """gain * I, repeated along the longer side of the matrix.

    Options:
        gain (number, default 1.0): the value on the diagonal.

    Errors:
        ValueError: unless the shape has two axes, one a multiple of the other.

    Example:
        >>> Identity()((2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    gain: float = 1.0

    rules = {"gain": FINITE}

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        if values.dim() != 2 or max(values.shape) % min(values.shape):
            raise ValueError(f"Identity needs two axes, one a multiple of the other; found {tuple(values.shape)}.")
        rows, columns = values.shape
        side = min(rows, columns)
        return values.copy_(self.gain * torch.eye(side).repeat(rows // side, columns // side))
