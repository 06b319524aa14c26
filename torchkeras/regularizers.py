"""Regularizers: weight to penalty, a scalar tensor that is added to the loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch.nn.functional as F
from torch import Tensor

from torchkeras import registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.base.rules import FINITE, Checked, KnownOptions, one_of

__all__ = [
    "L1L2",
    "ActivityRegularizer",
    "L1L2Regularizer",
    "OrthogonalRegularizer",
    "PerSample",
    "Regularizer",
    "WeightRegularizer",
    "activity_l1",
    "activity_l1l2",
    "activity_l2",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l1l2",
    "l2",
    "serialize",
]


class Regularizer(KnownOptions, Checked):
    """The base class: an object that is called with a weight, and whose `get_config` gives its options.

    Example:
        >>> class Largest(Regularizer):
        ...     def __call__(self, x):
        ...         return x.abs().max()
        >>> Largest()(torch.tensor([1.0, -3.0]))
        tensor(3.)

    Source: https://keras.io/api/layers/regularizers/
    """

    def __call__(self, x: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(x): define the penalty there.")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The regularizer whose `get_config` gave `config`."""
        return cls(**config)


@dataclass(frozen=True)
class L1L2(Regularizer):
    """l1 * sum(abs(x)) + l2 * sum(x**2).

    Options:
        l1 (number or None, default 0.0): the factor of absolute values; None is 0.
        l2 (number or None, default 0.0): the factor of squares; None is 0.

    Example:
        >>> L1L2(l1=0.1, l2=1.0)(torch.tensor([1.0, -3.0]))
        tensor(10.4000)
    """

    l1: float = 0.0
    l2: float = 0.0

    rules = {"l1": FINITE, "l2": FINITE}

    def __post_init__(self) -> None:
        for name in self.rules:
            if getattr(self, name) is None:
                object.__setattr__(self, name, 0.0)
        super().__post_init__()

    def __call__(self, x: Tensor) -> Tensor:
        if not self.l2:
            return self.l1 * x.abs().sum() if self.l1 else x.new_zeros(())
        squares = self.l2 * x.square().sum()
        return squares + self.l1 * x.abs().sum() if self.l1 else squares

    def get_config(self) -> dict[str, float]:
        """The options as plain floats, also where they are NumPy's."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@dataclass(frozen=True)
class OrthogonalRegularizer(Regularizer):
    """factor * mean(abs(u @ v)) over the pairs of different rows u, v of a matrix, each divided by its length.

    Options:
        factor (number, default 0.01): the factor.
        mode (text, default "rows"): "rows" or "columns".

    Errors:
        ValueError: for another mode, and for a weight that is no matrix.

    Example:
        >>> OrthogonalRegularizer(1.0)(torch.tensor([[3.0, 0.0], [3.0, 4.0]]))
        tensor(0.6000)
    """

    factor: float = 0.01
    mode: str = "rows"

    rules = {"factor": FINITE, "mode": one_of("rows", "columns")}

    def __call__(self, x: Tensor) -> Tensor:
        if x.dim() != 2:
            raise ValueError(f"OrthogonalRegularizer: a weight must be a matrix; found the shape {tuple(x.shape)}.")
        rows = F.normalize(x if self.mode == "rows" else x.T, dim=1, eps=1e-6)
        products = (rows @ rows.T).triu(1).abs()
        return self.factor * products.sum() / max(len(rows) * (len(rows) - 1) / 2, 1)

    def get_config(self) -> dict[str, Any]:
        """The options as plain values."""
        return {"factor": float(self.factor), "mode": self.mode}


@dataclass(frozen=True)
class PerSample(Regularizer):
    """regularizer(x) / len(x): an activity regularizer as in tf.keras and Keras 3; models from their files have it.

    Options:
        regularizer (name or Regularizer): the penalty on the outputs for a batch.

    Errors:
        ValueError: `regularizer` is None, or an unknown name.

    Example:
        >>> PerSample(L1L2(l1=0.1))(torch.ones(4, 3))
        tensor(0.3000)
    """

    regularizer: Any

    def __post_init__(self) -> None:
        if self.regularizer is None:
            raise ValueError("PerSample: regularizer must be a name or a Regularizer; found None.")
        object.__setattr__(self, "regularizer", registry.regularizers.get(self.regularizer))

    def __call__(self, x: Tensor) -> Any:
        return self.regularizer(x) / max(len(x), 1)

    def get_config(self) -> dict[str, Any]:
        """The inner regularizer, serialized."""
        return {"regularizer": registry.regularizers.serialize(self.regularizer)}


@registry.factory
def l1(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name of the argument
    """l * sum(abs(x)).

    Arguments:
        l (number, default 0.01): the factor.

    Example:
        >>> l1(0.1)(torch.tensor([1.0, -3.0]))
        tensor(0.4000)
    """
    return L1L2(l1=l)


@registry.factory
def l2(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name of the argument
    """l * sum(x**2).

    Arguments:
        l (number, default 0.01): the factor.

    Example:
        >>> l2(0.1)(torch.tensor([1.0, -3.0]))
        tensor(1.)
    """
    return L1L2(l2=l)


@registry.factory
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """l1 * sum(abs(x)) + l2 * sum(x**2).

    Arguments:
        l1 (number, default 0.01): the factor of absolute values.
        l2 (number, default 0.01): the factor of squares.

    Example:
        >>> l1_l2(0.1, 0.1)(torch.tensor([1.0, -3.0]))
        tensor(1.4000)
    """
    return L1L2(l1=l1, l2=l2)


# Keras 1's names; it had one name for penalties on weights and another for those on outputs.
l1l2 = activity_l1l2 = l1_l2
activity_l1, activity_l2 = l1, l2
WeightRegularizer = ActivityRegularizer = L1L2Regularizer = L1L2

# Everything above is known by each of its names.
for _name, _value in list(vars().items()):
    if (isinstance(_value, type) and issubclass(_value, (L1L2, OrthogonalRegularizer, PerSample))) or getattr(
        _value, "makes_object", False
    ):
        registry.regularizers.register(_name, _value)

get = deserialize = registry.regularizers.get
serialize = registry.regularizers.serialize

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
