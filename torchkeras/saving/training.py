"""How a file says that its model was compiled, and the state of its optimizer, in the forms of every version.

Keras 1 keeps the state in the order of the weights' names, Keras 2 in that of the weights; both slot by slot (all first
moments, then all second ones). Keras 3 and tf_keras keep it weight by weight. The arrays lie as the weights of the same
file do, so they go through the same conversions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from torchkeras import registry
from torchkeras.engine.compiled import mapped
from torchkeras.engine.naming import snake_case
from torchkeras.engine.weight import Variable
from torchkeras.optimizers import Optimizer
from torchkeras.saving.errors import ArchitectureError, WeightMismatchError
from torchkeras.saving.layouts.matching import Match, Named
from torchkeras.saving.layouts.origin import Origin

# Options of newer optimizers that change nothing with these values; `...` for any.
WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "name": (...,),
    "weight_decay": (None, 0, False),
    "use_ema": (False,),
    "ema_momentum": (...,),  # these two are for use_ema
    "ema_overwrite_frequency": (...,),
    "jit_compile": (...,),
    "is_legacy_optimizer": (...,),
    "loss_scale_factor": (None,),
    "gradient_accumulation_steps": (None,),
    "centered": (False,),
}
LATER_COMPILE = (
    "run_eagerly",
    "steps_per_execution",
    "jit_compile",
    "auto_scale_loss",
)  # how, and not what, is computed
# The options of losses that are the functions' own.
LOSS_DEFAULTS: Mapping[str, tuple[Any, ...]] = {
    "name": (...,),
    "dtype": (None, "float32"),
    "reduction": ("auto", "sum_over_batch_size"),
    "from_logits": (False,),
    "label_smoothing": (0, 0.0),
    "axis": (-1,),
    "ignore_class": (None,),
}


def modern_training(training: Any, file: str, later: bool) -> dict[str, Any]:
    """What a file says about compiling, in the form of Keras 2.2.4. `later`: tf.keras or Keras 3 wrote it.

    Raises ArchitectureError for what cannot be done as it was there.
    """
    if not isinstance(training, Mapping) or not isinstance(training.get("optimizer_config"), Mapping):
        raise ArchitectureError(f"{file}: its training configuration names no optimizer; load it with compile=False.")
    try:
        found = {
            "optimizer_config": _optimizer(training["optimizer_config"], later),
            "loss": mapped(training.get("loss"), _function),
            "metrics": mapped(training.get("metrics"), _function),
            "weighted_metrics": mapped(training.get("weighted_metrics"), _function),
            "loss_weights": training.get("loss_weights"),
            "sample_weight_mode": training.get("sample_weight_mode"),
        }
        unknown = set(training) - set(found) - set(LATER_COMPILE)
        if unknown:
            raise ValueError(f"the option {min(unknown)!r} of compile is not known")
    except ValueError as error:
        raise ArchitectureError(f"{file}: {error}; load it with compile=False and compile it yourself.") from error
    return found


def _optimizer(config: Mapping[str, Any], later: bool) -> dict[str, Any]:
    name, options = str(config.get("class_name")).rpartition(">")[2], config.get("config")
    if not isinstance(options, Mapping):
        raise ValueError(f"the optimizer {name} has no options")
    kept = _without_effect(f"optimizer {name}", options, WITHOUT_EFFECT)
    if later:
        if name == "RMSprop" and "decay" not in options:  # which the optimizers of tf.keras up to 2.10 have
            raise ValueError("RMSprop of Keras 3 adds epsilon under the root, which torchkeras's does not")
        if kept.pop("clipnorm", None) is not None:
            raise ValueError(f"{name} clips each gradient to a norm of its own (clipnorm), which torchkeras does not")
        if kept.get("global_clipnorm") is not None:
            kept["clipnorm"] = kept["global_clipnorm"]
    if kept.pop("momentum", 0) and name == "RMSprop":
        raise ValueError("RMSprop has no momentum here")
    if name == "SGD" and "momentum" in options:
        kept["momentum"] = options["momentum"]
    kept.pop("global_clipnorm", None)
    if isinstance(kept.get("learning_rate"), Mapping):
        kept.update(_schedule(name, kept["learning_rate"]))
    return {"class_name": name, "config": kept}


def _schedule(name: str, schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Rate and decay of the one schedule that is Keras 2's `decay`. Raises ValueError for another."""
    options = schedule.get("config")
    told = options if isinstance(options, Mapping) else {}
    rate, rise, steps = (told.get(key) for key in ("initial_learning_rate", "decay_rate", "decay_steps"))
    numbers = all(isinstance(value, (int, float)) for value in (rate, rise, steps))
    if schedule.get("class_name") != "InverseTimeDecay" or told.get("staircase") or not numbers or not steps:
        raise ValueError(f"the learning rate of {name} is a schedule, {schedule.get('class_name')!r}")
    return {"learning_rate": rate, "decay": rise / steps}  # type: ignore[operator]


def _without_effect(what: str, options: Mapping[str, Any], table: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The options without those that change nothing. Raises ValueError for one of these with a value that does."""
    kept = {}
    for key, value in options.items():
        allowed = table.get(key)
        if allowed is None:
            kept[key] = value
        elif ... not in allowed and value not in allowed:
            raise ValueError(f"the {what} has {key}={value!r}, which torchkeras does not have")
    return kept


def _function(value: Any) -> Any:
    """The name of a loss or metric: what was a class becomes its function."""
    if not isinstance(value, Mapping):
        return value
    name, options = str(value.get("class_name")).rpartition(">")[2], value.get("config")
    if name == "function" and isinstance(options, str):
        return options
    if not isinstance(options, Mapping):
        raise ValueError(f"{name} has no options")
    wrapped = options.get("fn")
    rest = _without_effect(name, {k: v for k, v in options.items() if k != "fn"}, LOSS_DEFAULTS)
    if rest:
        raise ValueError(f"{name} has {next(iter(rest))}={next(iter(rest.values()))!r}, which torchkeras does not have")
    if wrapped is not None:
        return _function(wrapped)
    function = snake_case(name)
    if function not in registry.metrics:
        raise ValueError(f"{name} is not known as a loss or metric")
    return function


def restore(
    optimizer: Optimizer,
    arrays: Sequence[Named],
    matches: Sequence[Match],
    variables: Sequence[Variable],
    origin: Origin,
    file: str,
) -> None:
    """Give an optimizer the state of a file. `variables`: those that train, in the optimizer's order.

    Raises WeightMismatchError when the arrays are not those of the weights.
    """
    template = optimizer.get_weights()
    first = int(optimizer.counts_steps)
    taken = {(id(found.variable.layer), found.variable.name): found for found in matches}
    found = [taken[id(variable.layer), variable.name] for variable in variables]
    order = [source.path for match in found for source in match.sources]
    if origin.generation == 1:
        order = [source.path for source in sorted((s for m in found for s in m.sources), key=lambda s: s.name)]
    values = [named.values() for named in arrays]
    counted = [value for value, named in zip(values, arrays, strict=True) if not _is_rate(named.name)]
    slots = _slots(arrays, counted[first:], len(order), len(optimizer.moment_names))
    if slots is None:
        raise WeightMismatchError(
            f"{file}: its optimizer has {len(arrays)} arrays of state; {type(optimizer).__name__} of "
            f"{len(order)} weights takes {first} and {len(optimizer.moment_names)} for each."
        )
    state = [*counted[:first]]
    try:
        for slot in slots:
            by_path = dict(zip(order, slot, strict=True))
            state += [
                match.recipe.make([torch.from_numpy(by_path[s.path]) for s in match.sources]).numpy() for match in found
            ]
        optimizer.set_weights([*state, *template[len(state) :]])
    except (ValueError, RuntimeError) as error:
        raise WeightMismatchError(f"{file}: the state of its optimizer does not fit: {error}") from error


def _is_rate(name: str) -> bool:
    return name.removesuffix(":0").endswith("learning_rate")


def _slots(arrays: Sequence[Named], values: list[Any], count: int, slots: int) -> list[list[Any]] | None:
    """The state slot by slot; none for an optimizer that kept none; None when the numbers do not fit."""
    if not values:
        return []
    if len(values) < slots * count:
        return None
    if any(_is_step(named.name) for named in arrays[:1]):  # weight by weight, but for Adam's maxima, the third slot
        together = min(slots, 2)
        side_by_side, last = values[: together * count], values[together * count :]
        found = [side_by_side[k::together] for k in range(together)] + ([last] if slots > together else [])
        return found if len(values) == slots * count else None
    rest = values[slots * count :]  # Keras 2.2.4 writes a zero for each weight where amsgrad would have its maximum
    if any(value.shape != (1,) for value in rest):
        return None
    return [values[k * count : (k + 1) * count] for k in range(slots)]


def _is_step(name: str) -> bool:
    return name.removesuffix(":0").endswith("iteration")
