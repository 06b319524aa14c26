"""Constraints of Keras 3: weight to projected weight. They are this package's, and take arrays and lists too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from torchkeras import constraints
from torchkeras.constraints import Constraint
from torchkeras.keras3.families import Family
from torchkeras.tensor_functions.operations.values import floats, tensor_of

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "serialize",
    "unit_norm",
]


@dataclass(frozen=True)
class MaxNorm(constraints.MaxNorm):
    __doc__ = constraints.MaxNorm.__doc__

    def __call__(self, w: Any) -> Tensor:
        return super().__call__(floats(tensor_of(w)))


@dataclass(frozen=True)
class MinMaxNorm(constraints.MinMaxNorm):
    __doc__ = constraints.MinMaxNorm.__doc__

    def __call__(self, w: Any) -> Tensor:
        return super().__call__(floats(tensor_of(w)))


@dataclass(frozen=True)
class NonNeg(constraints.NonNeg):
    __doc__ = constraints.NonNeg.__doc__

    def __call__(self, w: Any) -> Tensor:
        return super().__call__(tensor_of(w))


@dataclass(frozen=True)
class UnitNorm(constraints.UnitNorm):
    __doc__ = constraints.UnitNorm.__doc__

    def __call__(self, w: Any) -> Tensor:
        return super().__call__(floats(tensor_of(w)))


max_norm, min_max_norm, non_neg, unit_norm = MaxNorm, MinMaxNorm, NonNeg, UnitNorm

FAMILY = Family(
    "constraint",
    "keras.constraints",
    {
        "Constraint": Constraint,
        "MaxNorm": MaxNorm,
        "MinMaxNorm": MinMaxNorm,
        "NonNeg": NonNeg,
        "UnitNorm": UnitNorm,
        "constraint": Constraint,
        "max_norm": MaxNorm,
        "min_max_norm": MinMaxNorm,
        "non_neg": NonNeg,
        "unit_norm": UnitNorm,
    },
)


def get(identifier: Any) -> Any:
    """The constraint that a name, a class, a callable or a config means; None for None.

    Arguments:
        identifier (name, class, callable, config or None): what names the constraint.

    Errors:
        ValueError: it names nothing.

    Example:
        >>> get("max_norm")
        MaxNorm(max_value=2, axis=0)

    Source: https://keras.io/api/layers/constraints/
    """
    return FAMILY.get(identifier)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The constraint that `serialize` wrote.

    Arguments:
        config (dict, name or None): what was written.
        custom_objects (dict or None, default None): further classes and functions, by name.

    Errors:
        ValueError: it has another form, or names nothing.

    Example:
        >>> deserialize({"class_name": "UnitNorm", "config": {"axis": 1}})
        UnitNorm(axis=1)

    Source: https://keras.io/api/layers/constraints/
    """
    return FAMILY.deserialize(config, custom_objects)


def serialize(constraint: Any) -> Any:
    """The form of a constraint in a config: `module`, `class_name`, `config` and `registered_name`.

    Arguments:
        constraint (Constraint or function): what is written.

    Errors:
        ValueError: it has neither a config nor a name.

    Example:
        >>> serialize(UnitNorm(1))["config"]
        {'axis': 1}

    Source: https://keras.io/api/layers/constraints/
    """
    return FAMILY.serialize(constraint)
