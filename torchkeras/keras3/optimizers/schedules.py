"""Schedules of the learning rate, in Keras 3's form: those of `torchkeras.optimizers.schedules`.

A schedule gives a number that has `numpy()`, too, where Keras gives a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchkeras import registry
from torchkeras.base.rules import is_integer
from torchkeras.keras3.optimizers.variables import Rate
from torchkeras.keras3.optimizers.written import written
from torchkeras.keras3.variable import TensorLike
from torchkeras.optimizers import schedules as base

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "deserialize",
    "serialize",
]

LearningRateSchedule = base.LearningRateSchedule


class _Twin:
    """What the schedules have in Keras 3: an option may be a variable, and the rate may be asked for its array.

    Integers stay integers in the config.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, TensorLike):
                object.__setattr__(self, name, value.value.item())
        given = dict(vars(self))
        super().__post_init__()  # type: ignore[misc]
        for name, value in given.items():
            object.__setattr__(self, name, _with_integers(value, getattr(self, name)))

    def __call__(self, step: Any) -> Rate:
        return Rate(super().__call__(step if isinstance(step, (int, float)) else float(step)))  # type: ignore[misc]


def _with_integers(given: Any, read: Any) -> Any:
    """An option as it was read, but that integers stay integers, as they do in Keras 3's configs."""
    if isinstance(read, list):
        return [_with_integers(*each) for each in zip(given, read, strict=True)]
    return int(given) if is_integer(given) else read


class ExponentialDecay(_Twin, base.ExponentialDecay):
    __doc__ = base.ExponentialDecay.__doc__


class InverseTimeDecay(_Twin, base.InverseTimeDecay):
    __doc__ = base.InverseTimeDecay.__doc__


class PiecewiseConstantDecay(_Twin, base.PiecewiseConstantDecay):
    __doc__ = base.PiecewiseConstantDecay.__doc__


class PolynomialDecay(_Twin, base.PolynomialDecay):
    __doc__ = base.PolynomialDecay.__doc__


class CosineDecay(_Twin, base.CosineDecay):
    __doc__ = base.CosineDecay.__doc__


class CosineDecayRestarts(_Twin, base.CosineDecayRestarts):
    __doc__ = base.CosineDecayRestarts.__doc__


KNOWN: dict[str, type[Any]] = {
    each.__name__: each
    for each in (
        *(ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay),
        *(CosineDecay, CosineDecayRestarts),
    )
}


class CalledRate(base.LearningRateSchedule):
    """The rate that a function without arguments gives, called at each step.

    Arguments:
        function (function): gives the rate.
    """

    def __init__(self, function: Callable[[], Any]):
        self.function = function

    def __call__(self, step: int) -> float:
        return float(self.function())

    def get_config(self) -> dict[str, Any]:
        """Raises ValueError: a config has no place for a function."""
        raise ValueError(
            "A learning rate that is a function has no form in a config: give the optimizer a number or a schedule."
        )


def serialize(learning_rate_schedule: Any) -> dict[str, Any]:
    """The class and the config of a schedule, as Keras 3 writes them.

    Arguments:
        learning_rate_schedule (LearningRateSchedule): the schedule.

    Returns:
        dictionary: "module", "class_name", "config" and "registered_name".

    Example:
        >>> serialize(ExponentialDecay(0.1, 10, 0.5))["module"]
        'keras.optimizers.schedules'

    Source: https://keras.io/api/optimizers/learning_rate_schedules/
    """
    return written("keras.optimizers.schedules", learning_rate_schedule)


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The schedule of a config that `serialize` gave.

    Arguments:
        config (dictionary): "class_name" and "config".
        custom_objects (dictionary or None, default None): further classes, by name.

    Errors:
        ValueError: for an unknown class, and for options that it does not have.

    Example:
        >>> deserialize(serialize(ExponentialDecay(0.1, 10, 0.5)))(10)
        0.05

    Source: https://keras.io/api/optimizers/learning_rate_schedules/
    """
    own = {**KNOWN, **registry.get_custom_objects(), **(custom_objects or {})}
    return base.deserialize(config, own)
