"""The rule of each option of an optimizer; which options Keras 2.2.4 does not have.

    momentum: float = newer(0.0)

A config holds a `newer` option only when it is not at its default, so that Keras 2.2.4 reads our files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from torchkeras import config
from torchkeras.base.rules import ABOVE_0, AT_LEAST_0, BELOW_1, FINITE, FLAG, SHARE, Rule, integer, number, optional
from torchkeras.optimizers import schedules


def newer(default: Any) -> Any:
    """A keyword-only dataclass field, for an option that Keras 2.2.4 does not have."""
    return field(default=default, kw_only=True, metadata={"newer": True})


def _rate(value: Any) -> Any:
    if isinstance(value, schedules.LearningRateSchedule):
        return value
    if isinstance(value, Mapping):
        return schedules.deserialize(value)
    return AT_LEAST_0.read(value)


def _factors(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"must be a dictionary of numbers by layer name; found {value!r}.")
    return {name: _factor(name, number) for name, number in value.items()}


def _factor(name: str, value: Any) -> float:
    try:
        return AT_LEAST_0.read(value)
    except ValueError as error:
        raise ValueError(f"of the layer {name!r} {error}") from error


def _patterns(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(pattern, str) for pattern in value or ()):
        raise ValueError(f"must be a list of strings; found {value!r}.")
    return tuple(value or ())


def _epsilon(value: Any) -> float:
    return config.epsilon() if value is None else AT_LEAST_0.read(value)


_at_most_0 = number("of at most 0", lambda v: -math.inf < v <= 0)
RATE = Rule(_rate, takes="float | schedules.LearningRateSchedule | Mapping[str, Any]")

RULES: dict[str, Rule] = {
    **dict.fromkeys(("decay", "momentum", "schedule_decay", "initial_accumulator_value", "adam_lr_ratio"), AT_LEAST_0),
    **dict.fromkeys(("epsilon_1", "epsilon_2", "beta", "l1_regularization_strength"), AT_LEAST_0),
    **dict.fromkeys(("l2_regularization_strength", "l2_shrinkage_regularization_strength"), AT_LEAST_0),
    **dict.fromkeys(("rho", "beta_1", "beta_2", "adam_beta_1", "adam_beta_2"), BELOW_1),
    **dict.fromkeys(("nesterov", "amsgrad", "centered", "epsilon_inside_root", "use_ema"), FLAG),
    **dict.fromkeys(("exclude_embeddings", "relative_step"), FLAG),
    **dict.fromkeys(("clipnorm", "clipvalue", "each_clipnorm", "weight_decay"), optional(AT_LEAST_0)),
    **dict.fromkeys(("adam_weight_decay", "rms_rate"), optional(AT_LEAST_0)),
    **dict.fromkeys(("learning_rate_power", "beta_2_decay"), _at_most_0),
    **dict.fromkeys(("muon_a", "muon_b", "muon_c"), FINITE),
    **dict.fromkeys(("no_weight_decay", "exclude_layers"), Rule(_patterns)),
    "lr": RATE,
    "epsilon": Rule(_epsilon, takes="float | None", settled=False),
    "clip_threshold": ABOVE_0,
    "ns_steps": integer(0),
    "ema_momentum": SHARE,
    "ema_overwrite_frequency": optional(integer(1)),
    "gradient_accumulation_steps": optional(integer(1)),
    "lr_multipliers": optional(Rule(_factors)),
}
# Other names, only as arguments of the constructor.
GIVEN: dict[str, Rule] = {"learning_rate": optional(RATE), "global_clipnorm": RULES["clipnorm"]}
