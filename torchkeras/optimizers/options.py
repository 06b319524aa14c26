"""How each option of an optimizer is read, at the start and whenever it is set; which of them 2.2.4 does not have.

    momentum: float = newer(0.0)

A `newer` option stands in a config only when it is not at its default, so that Keras 2.2.4 reads our files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from torchkeras import config
from torchkeras.declared import flag, integer, or_none
from torchkeras.optimizers import schedules

RATE = "float | schedules.LearningRateSchedule | Mapping[str, Any]"
# The types that options take, where their fields do not say them: for `scripts/write_stubs.py`.
TAKES = {"lr": RATE, "learning_rate": f"{RATE} | None", "epsilon": "float | None"}


def newer(default: Any) -> Any:
    """A keyword-only dataclass field, for an option that Keras 2.2.4 does not have."""
    return field(default=default, kw_only=True, metadata={"newer": True})


def _number(text: str, holds: Callable[[float], bool]) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, (bool, str)) or not (math.isfinite(number) and holds(number)):
            raise ValueError(f"must be a number {text}; found {value!r}.")
        return number

    return read


def _rate(value: Any) -> Any:
    if isinstance(value, schedules.LearningRateSchedule):
        return value
    if isinstance(value, Mapping):
        return schedules.deserialize(value)
    return at_least_0(value)


def _factors(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"must be a dictionary of numbers by layer name; found {value!r}.")
    return {name: _factor(name, number) for name, number in value.items()}


def _factor(name: str, value: Any) -> float:
    try:
        return at_least_0(value)
    except ValueError as error:
        raise ValueError(f"of the layer {name!r} {error}") from error


def _patterns(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(pattern, str) for pattern in value or ()):
        raise ValueError(f"must be a list of strings; found {value!r}.")
    return tuple(value or ())


at_least_0 = _number("of at least 0", lambda v: v >= 0)
share = _number("from 0 to below 1", lambda v: 0 <= v < 1)
_over_0 = _number("over 0", lambda v: v > 0)
_at_most_0 = _number("of at most 0", lambda v: v <= 0)
_any = _number("", lambda v: True)

RULES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("decay", "momentum", "schedule_decay", "initial_accumulator_value", "adam_lr_ratio"), at_least_0),
    **dict.fromkeys(("epsilon_1", "epsilon_2", "beta", "l1_regularization_strength"), at_least_0),
    **dict.fromkeys(("l2_regularization_strength", "l2_shrinkage_regularization_strength"), at_least_0),
    **dict.fromkeys(("rho", "beta_1", "beta_2", "adam_beta_1", "adam_beta_2"), share),
    **dict.fromkeys(("nesterov", "amsgrad", "centered", "epsilon_inside_root", "use_ema"), flag),
    **dict.fromkeys(("exclude_embeddings", "relative_step"), flag),
    **dict.fromkeys(("clipnorm", "clipvalue", "each_clipnorm", "weight_decay"), or_none(at_least_0)),
    **dict.fromkeys(("adam_weight_decay", "rms_rate"), or_none(at_least_0)),
    **dict.fromkeys(("learning_rate_power", "beta_2_decay"), _at_most_0),
    **dict.fromkeys(("muon_a", "muon_b", "muon_c"), _any),
    **dict.fromkeys(("no_weight_decay", "exclude_layers"), _patterns),
    "lr": _rate,
    "epsilon": lambda value: config.epsilon() if value is None else at_least_0(value),
    "clip_threshold": _over_0,
    "ns_steps": integer(0),
    "ema_momentum": _number("from 0 to 1", lambda v: 0 <= v <= 1),
    "ema_overwrite_frequency": or_none(integer(1)),
    "gradient_accumulation_steps": or_none(integer(1)),
    "lr_multipliers": _factors,
}
