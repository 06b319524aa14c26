"""How a file says that its model was compiled, in the forms of every version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.engine.compiled import mapped
from torchkeras.engine.naming import snake_case
from torchkeras.saving.errors import ArchitectureError
from torchkeras.saving.optimizer_options import from_keras3

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
            "optimizer_config": from_keras3(training["optimizer_config"], later),
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
