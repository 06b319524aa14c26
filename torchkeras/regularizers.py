"""Regularizers: weight to penalty, a scalar tensor that is added to the loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from torchkeras import registry


class Regularizer:
    """The base class: an object that is called with a weight, and whose `get_config` gives its options."""

    def __call__(self, x: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(x): define the penalty there.")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The regularizer whose `get_config` gave `config`."""
        return cls(**config)


@dataclass(frozen=True)
class L1L2(Regularizer):
    """l1 * sum(abs(x)) + l2 * sum(x**2)"""

    l1: float = 0.0
    l2: float = 0.0

    def __call__(self, x: Tensor) -> Tensor:
        if not self.l2:
            return self.l1 * x.abs().sum() if self.l1 else x.new_zeros(())
        squares = self.l2 * x.square().sum()
        return squares + self.l1 * x.abs().sum() if self.l1 else squares

    def get_config(self) -> dict[str, float]:
        """The options as plain floats: they are often given as numpy's."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


@registry.factory
def l1(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name of the argument
    """l * sum(abs(x))"""
    return L1L2(l1=l)


@registry.factory
def l2(l: float = 0.01) -> L1L2:  # noqa: E741 - Keras's name of the argument
    """l * sum(x**2)"""
    return L1L2(l2=l)


@registry.factory
def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """l1 * sum(abs(x)) + l2 * sum(x**2)"""
    return L1L2(l1=l1, l2=l2)


# Keras 1's names; there a penalty on weights and one on outputs were called apart.
l1l2 = activity_l1l2 = l1_l2
activity_l1, activity_l2 = l1, l2
WeightRegularizer = ActivityRegularizer = L1L2Regularizer = L1L2

# Everything above is known by each of its names.
for _name, _value in list(vars().items()):
    if (isinstance(_value, type) and issubclass(_value, L1L2)) or getattr(_value, "makes_object", False):
        registry.regularizers.register(_name, _value)

get = deserialize = registry.regularizers.get
serialize = registry.regularizers.serialize
