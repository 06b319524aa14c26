"""Regularizers of Keras 3: tensor to penalty.

`Regularizer` is this package's. The others are its classes with Keras 3's options; they take arrays and lists too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from torchkeras import regularizers
from torchkeras.base.rules import AT_LEAST_0, one_of
from torchkeras.keras3.families import Family
from torchkeras.regularizers import PerSample, Regularizer
from torchkeras.tensor_functions.operations.values import tensor_of

__all__ = [
    "L1",
    "L1L2",
    "L2",
    "OrthogonalRegularizer",
    "Regularizer",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l2",
    "orthogonal_regularizer",
    "serialize",
]


@dataclass(frozen=True)
class L1L2(regularizers.L1L2):
    """l1 * sum(abs(x)) + l2 * sum(x**2).

    Options:
        l1 (number of at least 0 or None, default 0.0): the factor of absolute values; None is 0.
        l2 (number of at least 0 or None, default 0.0): the factor of squares; None is 0.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> L1L2(l1=0.1, l2=1.0)([1.0, -3.0])
        tensor(10.4000)

    Source: https://keras.io/api/layers/regularizers/
    """

    rules = {"l1": AT_LEAST_0, "l2": AT_LEAST_0}

    def __call__(self, x: Any) -> Tensor:
        return super().__call__(tensor_of(x))


@dataclass(frozen=True)
class L1(L1L2):
    """l1 * sum(abs(x)).

    Options:
        l1 (number of at least 0 or None, default 0.01): the factor; None is 0.01.

    Errors:
        ValueError: the factor has a bad value.

    Example:
        >>> L1(0.1)([1.0, -3.0])
        tensor(0.4000)

    Source: https://keras.io/api/layers/regularizers/
    """

    l1: float = 0.01
    l2: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.l1 is None:
            object.__setattr__(self, "l1", 0.01)
        super().__post_init__()

    def get_config(self) -> dict[str, float]:
        """The factor."""
        return {"l1": float(self.l1)}


@dataclass(frozen=True)
class L2(L1L2):
    """l2 * sum(x**2).

    Options:
        l2 (number of at least 0 or None, default 0.01): the factor; None is 0.01.

    Errors:
        ValueError: the factor has a bad value.

    Example:
        >>> L2(0.1)([1.0, -3.0])
        tensor(1.)

    Source: https://keras.io/api/layers/regularizers/
    """

    l1: float = field(default=0.0, init=False, repr=False)
    l2: float = 0.01

    def __post_init__(self) -> None:
        if self.l2 is None:
            object.__setattr__(self, "l2", 0.01)
        super().__post_init__()

    def get_config(self) -> dict[str, float]:
        """The factor."""
        return {"l2": float(self.l2)}


@dataclass(frozen=True)
class OrthogonalRegularizer(regularizers.OrthogonalRegularizer):
    """factor * mean(abs(u @ v)) over the pairs of different rows u, v of a matrix, each divided by its length.

    Options:
        factor (number of at least 0, default 0.01): the factor.
        mode (text, default "rows"): "rows" or "columns".

    Errors:
        ValueError: an option has a bad value, or what it is called with is no matrix.

    Example:
        >>> OrthogonalRegularizer(1.0)([[3.0, 0.0], [3.0, 4.0]])
        tensor(0.6000)

    Source: https://keras.io/api/layers/regularizers/
    """

    rules = {"factor": AT_LEAST_0, "mode": one_of("rows", "columns")}

    def __call__(self, x: Any) -> Tensor:
        return super().__call__(tensor_of(x))


l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer

# As a text "l1_l2" names nothing: its factors are 0.
FAMILY = Family(
    "regularizer",
    "keras.regularizers",
    {
        "L1": L1,
        "L2": L2,
        "L1L2": L1L2,
        "OrthogonalRegularizer": OrthogonalRegularizer,
        "Regularizer": Regularizer,
        "l1": L1,
        "l2": L2,
        "l1l2": L1L2,
        "orthogonal_regularizer": OrthogonalRegularizer,
    },
)


def get(identifier: Any) -> Any:
    """The regularizer that a name, a class, a callable or a config means; None for None.

    Arguments:
        identifier (name, class, callable, config or None): what names the regularizer.

    Errors:
        ValueError: it names nothing.

    Example:
        >>> get("l2")
        L2(l2=0.01)

    Source: https://keras.io/api/layers/regularizers/
    """
    return deserialize(identifier)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The regularizer that `serialize` wrote.

    Arguments:
        config (dict, name or None): what was written.
        custom_objects (dict or None, default None): further classes and functions, by name.

    Errors:
        ValueError: it has another form, or names nothing.

    Example:
        >>> deserialize({"class_name": "L1", "config": {"l1": 0.5}})
        L1(l1=0.5)

    Source: https://keras.io/api/layers/regularizers/
    """
    # An activity regularizer there counts for each sample anyway: what this package's own says so of is read as it.
    inside = config["config"]["regularizer"] if _is_per_sample(config) else config
    return FAMILY.deserialize(inside, custom_objects)


def _is_per_sample(config: Any) -> bool:
    return isinstance(config, Mapping) and config.get("class_name") == PerSample.__name__


def serialize(regularizer: Any) -> Any:
    """The form of a regularizer in a config: `module`, `class_name`, `config` and `registered_name`.

    Arguments:
        regularizer (Regularizer or function): what is written.

    Errors:
        ValueError: it has neither a config nor a name.

    Example:
        >>> serialize(L2(0.1))["config"]
        {'l2': 0.1}

    Source: https://keras.io/api/layers/regularizers/
    """
    return FAMILY.serialize(regularizer.regularizer if isinstance(regularizer, PerSample) else regularizer)
