"""Constraints: weight to projected weight, applied after each step of the optimizer.

`axis` is the axis or axes that belong to one unit, in Keras's layout: 0 for a dense kernel (inputs, units), [0, 1, 2]
for a kernel (rows, columns, channels, filters).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras import config, registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.base.rules import FINITE, UP_TO_INFINITY, Checked, KnownOptions, integers, optional

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "maxnorm",
    "min_max_norm",
    "non_neg",
    "nonneg",
    "serialize",
    "unit_norm",
    "unitnorm",
]

AXIS = optional(integers("must be an integer or several"))


class Constraint(KnownOptions, Checked):
    """The base class: an object that is called with a weight; the fields of a dataclass are its config.

    Example:
        >>> class Rounded(Constraint):
        ...     def __call__(self, w):
        ...         return w.round()
        >>> Rounded()(torch.tensor([0.75, -0.25]))
        tensor([1., -0.])

    Source: https://keras.io/api/layers/constraints/
    """

    def __call__(self, w: Tensor) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        """The fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)} if is_dataclass(self) else {}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The constraint whose `get_config` gave `config`."""
        return cls(**config)


@dataclass(frozen=True)
class MaxNorm(Constraint):
    """w * min(norm, max_value) / (epsilon + norm), the norm along `axis`.

    Options:
        max_value (number of at least 0, default 2): the greatest norm.
        axis (integer, several or None, default 0): the axes that belong to one unit; None is all.

    Example:
        >>> MaxNorm(1.0)(torch.tensor([[3.0], [4.0]]))
        tensor([[0.6000],
                [0.8000]])

    Source: Srivastava et al., http://www.cs.toronto.edu/~rsalakhu/papers/srivastava14a.pdf
    """

    max_value: float = 2
    axis: int | Sequence[int] | None = 0

    rules = {"max_value": UP_TO_INFINITY, "axis": AXIS}

    def __call__(self, w: Tensor) -> Tensor:
        norm = _norm(w, self.axis)
        return w * (norm.clamp(0, self.max_value) / (config.epsilon() + norm))


@dataclass(frozen=True)
class NonNeg(Constraint):
    """max(w, 0).

    Example:
        >>> NonNeg()(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def __call__(self, w: Tensor) -> Tensor:
        return torch.relu(w)


@dataclass(frozen=True)
class UnitNorm(Constraint):
    """w / (epsilon + norm), the norm along `axis`.

    Options:
        axis (integer, several or None, default 0): the axes that belong to one unit; None is all.

    Example:
        >>> UnitNorm()(torch.tensor([[3.0], [4.0]]))
        tensor([[0.6000],
                [0.8000]])
    """

    axis: int | Sequence[int] | None = 0

    rules = {"axis": AXIS}

    def __call__(self, w: Tensor) -> Tensor:
        return w / (config.epsilon() + _norm(w, self.axis))


@dataclass(frozen=True)
class MinMaxNorm(Constraint):
    """w * (rate * clip(norm, min_value, max_value) + (1 - rate) * norm) / (epsilon + norm), the norm along `axis`.

    Options:
        min_value (number of at least 0, default 0.0): the least norm.
        max_value (number of at least 0, default 1.0): the greatest norm.
        rate (number, default 1.0): how far a norm outside of these is brought back by a step; 1 is all the way.
        axis (integer, several or None, default 0): the axes that belong to one unit; None is all.

    Example:
        >>> MinMaxNorm(max_value=3.0, rate=0.5)(torch.tensor([[3.0], [4.0]]))
        tensor([[2.4000],
                [3.2000]])
    """

    min_value: float = 0.0
    max_value: float = 1.0
    rate: float = 1.0
    axis: int | Sequence[int] | None = 0

    rules = {"min_value": UP_TO_INFINITY, "max_value": UP_TO_INFINITY, "rate": FINITE, "axis": AXIS}

    ordered = ("min_value", "max_value")

    def __call__(self, w: Tensor) -> Tensor:
        norm = _norm(w, self.axis)
        desired = torch.lerp(norm, norm.clamp(self.min_value, self.max_value), self.rate)
        return w * (desired / (config.epsilon() + norm))


def _norm(w: Tensor, axis: int | Sequence[int] | None) -> Tensor:
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return torch.linalg.vector_norm(w, dim=axes, keepdim=True)


@registry.factory
def maxnorm(max_value: float = 2, axis: int | Sequence[int] | None = 0, *, m: float | None = None) -> MaxNorm:
    """`MaxNorm(max_value, axis)`.

    Arguments:
        max_value (number of at least 0, default 2): the greatest norm.
        axis (integer, several or None, default 0): the axes that belong to one unit; None is all.
        m (number or None, default None): Keras 1's name of `max_value`.

    Example:
        >>> maxnorm(m=1.0)
        MaxNorm(max_value=1.0, axis=0)
    """
    return MaxNorm(max_value if m is None else m, axis)


max_norm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm

# Everything above is known by each of its names, aliases too.
for _name, _value in list(vars().items()):
    if (isinstance(_value, type) and issubclass(_value, Constraint)) or getattr(_value, "makes_object", False):
        registry.constraints.register(_name, _value)

get = deserialize = registry.constraints.get
serialize = registry.constraints.serialize

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
