"""Learning-rate schedules: the rate of a step as a function of its number, computed on the host.

Give one as an optimizer's `lr`. `schedule(step)` is the rate of the step counted from 0; with gradient accumulation
every batch counts as a step, as in Keras 3. Names, options and formulas are Keras 3's,
https://keras.io/api/optimizers/learning_rate_schedules/.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

from torchkeras.registry import Family

family: Family[Any] = Family("learning-rate schedule")


class LearningRateSchedule:
    """The base of all schedules: a subclass defines `__call__(step) -> float` and, to be saved, `get_config()`."""

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
        """The schedule whose `get_config` gave `config`."""
        return cls(**config)


class _Declared(LearningRateSchedule):
    """A schedule whose options are its dataclass fields: all numbers that are no flag are checked."""

    def __post_init__(self) -> None:
        for name, value in list(vars(self).items()):
            if name not in ("name", "staircase", "cycle", "boundaries", "values", "warmup_target"):
                object.__setattr__(self, name, _number(self, name, value))
            elif name in ("staircase", "cycle") and not isinstance(value, bool):
                raise ValueError(f"{type(self).__name__}: {name} must be True or False; found {value!r}.")
            if name in ("decay_steps", "first_decay_steps") and value <= 0:
                raise ValueError(f"{type(self).__name__}: {name} must be over 0; found {value!r}.")

    def get_config(self) -> dict[str, Any]:
        """The options by name."""
        return asdict(self)  # type: ignore[arg-type]  # every subclass is a dataclass


def _number(schedule: Any, name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{type(schedule).__name__}: {name} must be a number; found {value!r}.")
    return value if isinstance(value, (int, float)) else float(value)  # NumPy's numbers are no JSON


@dataclass(frozen=True)
class ExponentialDecay(_Declared):
    """initial_learning_rate * decay_rate ** (step / decay_steps); the exponent is rounded down with `staircase`."""

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
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); the quotient is rounded down with `staircase`."""

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
    """values[i] for the first i with step <= boundaries[i], the last of `values` after all boundaries."""

    boundaries: Sequence[float]
    values: Sequence[float]
    name: str | None = "PiecewiseConstant"

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("boundaries", "values"):
            found = getattr(self, option)
            if not isinstance(found, (list, tuple)):
                raise ValueError(f"PiecewiseConstantDecay: {option} must be a list of numbers; found {found!r}.")
            object.__setattr__(self, option, [_number(self, option, value) for value in found])
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

    With `cycle` the decay is stretched to the first multiple of `decay_steps` that the step has not passed.
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

    The peak is `initial_learning_rate`. With `warmup_target` the rate first goes straight from there to the target in
    `warmup_steps`; then the target is the peak, and steps are counted from there. Loshchilov and Hutter,
    https://arxiv.org/abs/1608.03983
    """

    initial_learning_rate: float
    decay_steps: float
    alpha: float = 0.0
    name: str | None = "CosineDecay"
    warmup_target: float | None = None
    warmup_steps: float = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warmup_target is not None:
            object.__setattr__(self, "warmup_target", _number(self, "warmup_target", self.warmup_target))

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
    """CosineDecay again and again: each period is `t_mul` times as long as the last, and starts `m_mul` times as high.

    The first takes `first_decay_steps`. Loshchilov and Hutter, https://arxiv.org/abs/1608.03983
    """

    initial_learning_rate: float
    first_decay_steps: float
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str | None = "SGDRDecay"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.t_mul < 1:
            raise ValueError(f"CosineDecayRestarts: t_mul must be at least 1; found {self.t_mul!r}.")

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
    """`{"class_name", "config"}` of a schedule."""
    return family.serialize(schedule)


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The schedule of such a config. Raises ValueError for an unknown class or options that are not its own."""
    try:
        found = family.from_config(config, custom_objects)
    except TypeError as error:
        raise ValueError(f"The learning-rate schedule {config.get('class_name')}: {error}") from error
    if not isinstance(found, LearningRateSchedule):
        raise ValueError(f"{config.get('class_name')!r} is no LearningRateSchedule; found {found!r}.")
    return found
