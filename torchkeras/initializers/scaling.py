"""Initializers whose variance depends on the weight's fans: how many inputs and outputs a unit has."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from torchkeras import registry
from torchkeras.base.rules import ABOVE_0, read, word
from torchkeras.initializers.initializer import SEED, Initializer

TRUNCATED_STDDEV = 0.87962566103423978  # of a standard normal without what lies beyond two deviations


@dataclass(frozen=True)
class VarianceScaling(Initializer):
    """Values of variance scale / n: truncated normal, or U(-limit, limit) with limit = sqrt(3 * scale / n).

    Options:
        scale (positive number, default 1.0): the variance times n.
        mode (text, default "fan_in"): n is the number of inputs ("fan_in"), of outputs ("fan_out") or their mean
            ("fan_avg").
        distribution (text, default "normal"): "normal" (truncated), "untruncated_normal" or "uniform".
        seed (integer or None, default None): gives the same numbers at each call.

    Errors:
        ValueError: for a scale that is not positive, or another mode or distribution.

    Example:
        >>> VarianceScaling(2.0, seed=1)((200, 100)).std().round(decimals=2)
        tensor(0.1000)
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "normal"
    seed: int | None = None

    rules = {
        "scale": ABOVE_0,
        "mode": word("fan_in", "fan_out", "fan_avg"),
        "distribution": word("normal", "uniform", "untruncated_normal"),
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        for option, rule in self.rules.items():
            value = getattr(self, option)
            if value is not getattr(VarianceScaling, option):  # the default
                object.__setattr__(self, option, read("VarianceScaling", option, rule, value))

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return self.draw_for(*_fans(values.shape), values, generator)

    def draw_for(self, fan_in: float, fan_out: float, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """As `draw`, for these numbers of inputs and outputs."""
        units = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        stddev = math.sqrt(self.scale / max(1.0, units))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0) * stddev
            return values.uniform_(-limit, limit, generator=generator)
        if self.distribution == "untruncated_normal":
            return values.normal_(0.0, stddev, generator=generator)
        torch.nn.init.trunc_normal_(values, generator=generator)
        return values.mul_(stddev / TRUNCATED_STDDEV)

    def with_fans(self, fan_in: float, fan_out: float) -> Initializer:
        """The same for a weight whose shape does not tell its numbers of inputs and outputs."""
        return _WithFans(self, fan_in, fan_out)


@dataclass(frozen=True)
class _WithFans(Initializer):
    scaling: VarianceScaling
    fan_in: float
    fan_out: float

    @property
    def seed(self) -> int | None:
        return self.scaling.seed

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        return self.scaling.draw_for(self.fan_in, self.fan_out, values, generator)


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    if 2 <= len(shape) <= 5:
        positions = math.prod(shape[:-2])
        return positions * shape[-2], positions * shape[-1]
    side = math.sqrt(math.prod(shape))
    return side, side


@registry.factory
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(3 / fan_in).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> lecun_uniform(seed=1)((3, 2)).abs().max() <= 1
        tensor(True)

    Source: LeCun 1998, http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@registry.factory
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / fan_in.

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> lecun_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: https://arxiv.org/abs/1706.02515
    """
    return VarianceScaling(1.0, "fan_in", "normal", seed)


@registry.factory
def glorot_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / (fan_in + fan_out)).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> glorot_uniform(seed=1)((3, 3)).abs().max() <= 1
        tensor(True)

    Source: http://proceedings.mlr.press/v9/glorot10a.html
    """
    return VarianceScaling(1.0, "fan_avg", "uniform", seed)


@registry.factory
def glorot_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / (fan_in + fan_out).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> glorot_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: http://proceedings.mlr.press/v9/glorot10a.html
    """
    return VarianceScaling(1.0, "fan_avg", "normal", seed)


@registry.factory
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """U(-limit, limit), limit = sqrt(6 / fan_in).

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> he_uniform(seed=1)((6, 2)).abs().max() <= 1
        tensor(True)

    Source: https://arxiv.org/abs/1502.01852
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


@registry.factory
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / fan_in.

    Arguments:
        seed (integer or None, default None): gives the same numbers at each call.

    Example:
        >>> he_normal(seed=1)((3, 2)).shape
        torch.Size([3, 2])

    Source: https://arxiv.org/abs/1502.01852
    """
    return VarianceScaling(2.0, "fan_in", "normal", seed)
