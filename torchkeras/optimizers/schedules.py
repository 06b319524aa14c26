"""Learning-rate schedules: the rate of a step as a function of its number, computed on the host.

Pass one as an optimizer's `lr`. `schedule(step)` is the rate of the step, counted from 0; with gradient accumulation
every batch counts as a step, as in Keras 3. Names, options and formulas are Keras 3's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.base.rules import (
    ABOVE_0,
    AT_LEAST_0,
    FINITE,
    FLAG,
    STRING,
    KnownOptions,
    Rule,
    number,
    optional,
    read,
    rule,
)
from torchkeras.registry import Family

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

family: Family[Any] = Family("learning-rate schedule")


class LearningRateSchedule(KnownOptions):
    """The base of all schedules: a subclass defines `__call__(step) -> float` and, to be saved, `get_config()`.

    Example:
        >>> class Halving(LearningRateSchedule):
        ...     def __call__(self, step):
        ...         return 0.5**step
        >>> Halving()(3)
        0.125

    Source: https://keras.io/api/optimizers/learning_rate_schedules/
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__ == __name__:
            family.register(cls.__name__, cls)

    def __call__(self, step: int) -> float:
        """The rate of the step with this number, counted from 0."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__(step).")

    def get_config(self) -> dict[str, Any]:
        """The options by name."""
        raise NotImplementedError(f"{type(self).__name__} has no get_config().")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The schedule whose `get_config` returned `config`."""
        return cls(**config)


class _Declared(LearningRateSchedule):
    """A schedule whose options are its dataclass fields, read by `RULES`; others are numbers of at least 0."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            object.__setattr__(self, name, read(type(self).__name__, name, RULES.get(name, AT_LEAST_0), value))

    def get_config(self) -> dict[str, Any]:
        """The options by name."""
        return asdict(self)  # type: ignore[arg-type]  # every subclass is a dataclass


def _list_of(each: Rule, text: str) -> Rule:
    def holds(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(each.holds is None or each.holds(item) for item in value)

    return rule(text, holds, lambda value: list(map(each.convert, value)))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("staircase", "cycle"), FLAG),
    **dict.fromkeys(("decay_steps", "first_decay_steps"), ABOVE_0),
    "boundaries": _list_of(FINITE, "must be a list of numbers"),
    "values": _list_of(AT_LEAST_0, "must be a list of numbers of at least 0"),
    "warmup_target": optional(AT_LEAST_0),
    "name": optional(STRING),
    "t_mul": number("of at least 1", lambda v: 1 <= v < math.inf),
}


@dataclass(frozen=True)
class ExponentialDecay(_Declared):
    """initial_learning_rate * decay_rate ** (step / decay_steps).

    Options:
        initial_learning_rate (number of at least 0): the rate at step 0.
        decay_steps (number over 0): after how many steps the rate is multiplied by `decay_rate`.
        decay_rate (number of at least 0): the factor.
        staircase (bool, default False): whether the exponent is rounded down, so that the rate falls in steps.
        name (text or None, default "ExponentialDecay"): a name for the config.

    Example:
        >>> ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)(20)
        0.025

    Source: https://keras.io/api/optimizers/learning_rate_schedules/exponential_decay/
    """

    initial_learning_rate: float
    decay_steps: float
    decay_rate: float
    staircase: bool = False
    name: str | None = "ExponentialDecay"

    def __call__(self, step: int) -> float:
        passed = step / self.decay_steps
        return self.initial_learning_rate * self.decay_rate ** (math.floor(passed) if self.staircase else passed)


@dataclass(frozen=True)
class InverseTimeDecay(_Declared):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps).

    Options:
        initial_learning_rate (number of at least 0): the rate at step 0.
        decay_steps (number over 0): after how many steps the divisor has grown by `decay_rate`.
        decay_rate (number of at least 0): the growth of the divisor.
        staircase (bool, default False): whether step / decay_steps is rounded down, so that the rate falls in steps.
        name (text or None, default "InverseTimeDecay"): a name for the config.

    Example:
        >>> InverseTimeDecay(0.1, decay_steps=10, decay_rate=1.0)(30)
        0.025

    Source: https://keras.io/api/optimizers/learning_rate_schedules/inverse_time_decay/
    """

    initial_learning_rate: float
    decay_steps: float
    decay_rate: float
    staircase: bool = False
    name: str | None = "InverseTimeDecay"

    def __call__(self, step: int) -> float:
        passed = step / self.decay_steps
        return self.initial_learning_rate / (1 + self.decay_rate * (math.floor(passed) if self.staircase else passed))


@dataclass(frozen=True)
class PiecewiseConstantDecay(_Declared):
    """values[i] for the first i with step <= boundaries[i], and the last of `values` after all boundaries.

    Options:
        boundaries (list of numbers): the last step of each value, in rising order.
        values (list of numbers of at least 0): the rates, one more than boundaries.
        name (text or None, default "PiecewiseConstant"): a name for the config.

    Example:
        >>> PiecewiseConstantDecay([10, 20], [0.1, 0.01, 0.001])(11)
        0.01

    Source: https://keras.io/api/optimizers/learning_rate_schedules/piecewise_constant_decay/
    """

    boundaries: Sequence[float]
    values: Sequence[float]
    name: str | None = "PiecewiseConstant"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.boundaries or len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                "PiecewiseConstantDecay: values must have one number more than boundaries, which has at least one; "
                f"found {len(self.values)} and {len(self.boundaries)}."
            )
        if list(self.boundaries) != sorted(self.boundaries):
            raise ValueError(f"PiecewiseConstantDecay: boundaries must rise; found {self.boundaries!r}.")

    def __call__(self, step: int) -> float:
        return self.values[sum(step > boundary for boundary in self.boundaries)]


@dataclass(frozen=True)
class PolynomialDecay(_Declared):
    """(initial - end) * (1 - step / decay_steps) ** power + end, and `end_learning_rate` after `decay_steps`.

    Options:
        initial_learning_rate (number of at least 0): the rate at step 0.
        decay_steps (number over 0): how many steps the decay takes.
        end_learning_rate (number of at least 0, default 0.0001): the rate after these.
        power (number of at least 0, default 1.0): the power; 1 is a line.
        cycle (bool, default False): whether the decay is stretched to the first multiple of `decay_steps` that the step
            has not passed.
        name (text or None, default "PolynomialDecay"): a name for the config.

    Example:
        >>> PolynomialDecay(0.1, decay_steps=10, end_learning_rate=0.0)(5)
        0.05

    Source: https://keras.io/api/optimizers/learning_rate_schedules/polynomial_decay/
    """

    initial_learning_rate: float
    decay_steps: float
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    name: str | None = "PolynomialDecay"

    def __call__(self, step: int) -> float:
        length = self.decay_steps
        if self.cycle:
            length *= max(1, math.ceil(step / self.decay_steps))
        left = 1 - min(step, length) / length
        return (self.initial_learning_rate - self.end_learning_rate) * left**self.power + self.end_learning_rate


@dataclass(frozen=True)
class CosineDecay(_Declared):
    """peak * ((1 - alpha) * (1 + cos(pi * step / decay_steps)) / 2 + alpha), and peak * alpha after `decay_steps`.

    The peak is `initial_learning_rate`. With `warmup_target` the rate first changes linearly from there to the target,
    in `warmup_steps`. The target is then the peak, and steps are counted from there.

    Options:
        initial_learning_rate (number of at least 0): the rate at step 0.
        decay_steps (number over 0): how many steps the decay takes.
        alpha (number of at least 0, default 0.0): the share of the peak that is left at the end.
        name (text or None, default "CosineDecay"): a name for the config.
        warmup_target (number of at least 0 or None, default None): the rate at the end of a warmup; None means no
            warmup.
        warmup_steps (number of at least 0, default 0): how many steps the warmup takes.

    Example:
        >>> CosineDecay(0.0, decay_steps=10, warmup_target=0.1, warmup_steps=4)(4)
        0.1

    Source: Loshchilov and Hutter, https://arxiv.org/abs/1608.03983
    """

    initial_learning_rate: float
    decay_steps: float
    alpha: float = 0.0
    name: str | None = "CosineDecay"
    warmup_target: float | None = None
    warmup_steps: float = 0

    def __call__(self, step: int) -> float:
        start, peak = self.initial_learning_rate, self.initial_learning_rate
        if self.warmup_target is not None:
            peak = self.warmup_target
            if step < self.warmup_steps:
                return start + (peak - start) * step / self.warmup_steps
            step = step - self.warmup_steps  # type: ignore[assignment]
        cosine = 0.5 * (1 + math.cos(math.pi * min(step, self.decay_steps) / self.decay_steps))
        return peak * ((1 - self.alpha) * cosine + self.alpha)


@dataclass(frozen=True)
class CosineDecayRestarts(_Declared):
    """Repeats CosineDecay: each period is `t_mul` times as long as the last, and starts `m_mul` times as high.

    Options:
        initial_learning_rate (number of at least 0): the rate at step 0.
        first_decay_steps (number over 0): how many steps the first period takes.
        t_mul (number of at least 1, default 2.0): the growth of the periods.
        m_mul (number of at least 0, default 1.0): the factor of the rate that each period starts at.
        alpha (number of at least 0, default 0.0): the share of `initial_learning_rate` that is left at the end of a
            period.
        name (text or None, default "SGDRDecay"): a name for the config.

    Example:
        >>> CosineDecayRestarts(0.1, first_decay_steps=10)(10)
        0.1

    Source: Loshchilov and Hutter, https://arxiv.org/abs/1608.03983
    """

    initial_learning_rate: float
    first_decay_steps: float
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str | None = "SGDRDecay"

    def __call__(self, step: int) -> float:
        passed = step / self.first_decay_steps
        if self.t_mul == 1:
            period = math.floor(passed)
            within = passed - period
        else:
            period = math.floor(math.log(1 + passed * (self.t_mul - 1)) / math.log(self.t_mul) + 1e-9)
            before = (self.t_mul**period - 1) / (self.t_mul - 1)
            within = max(0.0, (passed - before) / self.t_mul**period)
        cosine = 0.5 * self.m_mul**period * (1 + math.cos(math.pi * within))
        return self.initial_learning_rate * ((1 - self.alpha) * cosine + self.alpha)


def serialize(schedule: LearningRateSchedule) -> dict[str, Any]:
    """`{"class_name", "config"}` of a schedule.

    Arguments:
        schedule (LearningRateSchedule): the schedule; it defines `get_config`.

    Example:
        >>> serialize(ExponentialDecay(0.1, 10, 0.5))["class_name"]
        'ExponentialDecay'
    """
    return family.serialize(schedule)


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
    """
    try:
        found = family.from_config(config, custom_objects)
    except TypeError as error:
        raise ValueError(f"The learning-rate schedule {config.get('class_name')}: {error}") from error
    if not isinstance(found, LearningRateSchedule):
        raise ValueError(f"{config.get('class_name')!r} is no LearningRateSchedule; found {found!r}.")
    return found


if not TYPE_CHECKING:
    __getattr__ = _missing_from(__name__)
