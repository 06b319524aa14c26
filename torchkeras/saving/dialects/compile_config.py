"""How a model was compiled, as the files of every version say it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from torchkeras import registry
from torchkeras.base.nested import slots_as_written
from torchkeras.engine.graph.call_forms import output_form_of
from torchkeras.errors import ArchitectureError
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.dialects.dialect import NO_RULES, Dialect, LossRules
from torchkeras.saving.dialects.later_training import Later, plain
from torchkeras.saving.model_file import OWN
from torchkeras.saving.optimizer.options import from_keras3
from torchkeras.saving.training_config import mapped, several_of_one_layer

if TYPE_CHECKING:
    from torchkeras.models.model import Model

LATER_COMPILE = (
    "run_eagerly",
    "steps_per_execution",
    "jit_compile",
    "auto_scale_loss",
)  # they do not change what is computed
# The backends on which a file has the numbers of TensorFlow; where it does not say, most are of it.
_TENSORFLOW = ("tensorflow", "")
# What may be under `OWN`; it overrides the rest.
OWN_OPTIONS = ("loss", "metrics", "weighted_metrics", "on_nonfinite", "numerics")
# Losses and metrics of Keras 1 that have another meaning today, or none.
_MEAN = "is a mean over batches, today's counts all samples"
_COSINE: Mapping[str, str] = dict.fromkeys(
    ("cosine_proximity", "cosine"), "is a mean over the last axis, today's is a sum"
)
_ALONE: Mapping[str, str] = dict.fromkeys(
    ("fbeta_score", "fmeasure", "fscore", "f1score", "matthews_correlation"),
    "is a mean over batches, and is in torchkeras.keras2.metrics alone",
)
KERAS1_ALONE: Mapping[str, Mapping[str, str]] = {
    "loss": _COSINE,
    "metrics": {"precision": _MEAN, "recall": _MEAN, **_COSINE, **_ALONE},
}
BY_NAME = ("loss", "metrics", "weighted_metrics", "loss_weights", "sample_weight_mode")  # may be by names of outputs
LARGEST = 2**31  # an option that is a whole number


def modern_training(
    training: Any,
    file: str,
    dialect: Dialect,
    model: Model,
    custom_objects: Mapping[str, Any],
    backend: str = "",
    rules: LossRules = NO_RULES,
    as_written: bool = False,
) -> dict[str, Any]:
    """What a file says about compiling, as `saving.training_config.compile_as` takes it. `dialect`: of the writer.
    `backend`: of the writer, where the file names it; a `.keras` archive does not. `rules`: of the writer.

    `as_written`: whether lists have outputs that are dicts in the order in which these were written, not by their keys.
    Names of losses and metrics in files of Keras 1 and 2 stay names, with the weighted mean of 2.2.4. In files of Keras
    2.3, tf.keras and Keras 3 they become the classes that the names mean there. Raises ArchitectureError for what
    cannot be computed as it was there.
    """
    if not isinstance(training, Mapping) or not isinstance(training.get("optimizer_config"), Mapping):
        raise ArchitectureError(f"{file}: its training configuration names no optimizer; load it with compile=False.")
    later = dialect.classes
    numerics = rules.numerics if backend in _TENSORFLOW or not later else "keras"
    try:
        own = _own_training(training)
        given = {**training, **own}
        found = {
            "optimizer_config": from_keras3(training["optimizer_config"], later),
            "loss": given.get("loss"),
            "metrics": given.get("metrics"),
            "weighted_metrics": given.get("weighted_metrics"),
            "loss_weights": training.get("loss_weights"),
            "sample_weight_mode": training.get("sample_weight_mode"),
            "on_nonfinite": given.get("on_nonfinite"),
            "numerics": given.get("numerics") if own else numerics,
        }
        unknown = set(training) - set(found) - {*LATER_COMPILE, OWN} | set(own) - set(OWN_OPTIONS)
        if unknown:
            raise ValueError(f"the option {min(unknown)!r} of compile is not known")
        if dialect.name == "keras1":
            _check_keras1(found, {**registry.get_custom_objects(), **custom_objects})
        if as_written:
            order = slots_as_written(output_form_of(model))
            found |= {option: _by_keys(found[option], order, "metrics" in option) for option in BY_NAME}
        if dialect.names_outputs and not own and several_of_one_layer(model):
            found |= {option: _of_single_outputs(found[option], model) for option in BY_NAME}
        if (later or rules is not NO_RULES) and not own:
            found |= Later(dialect, model, custom_objects, rules).training(found)
        for option in ("loss", "metrics", "weighted_metrics"):
            found[option] = mapped(found[option], plain)
            mapped(found[option], check_size)
    except ValueError as error:
        raise ArchitectureError(f"{file}: {error}; load it with compile=False and compile it yourself.") from error
    return found


def _by_keys(value: Any, order: list[int], of_lists: bool) -> Any:
    """A list with an item for each output as written, in the order of the sorted keys. `of_lists`: with lists as items,
    as of metrics, since a plain list of these is one for all outputs.
    """
    if order == sorted(order) or not isinstance(value, list) or len(value) != len(order):
        return value
    if of_lists and not all(isinstance(item, list) for item in value):
        return value
    return [item for _, item in sorted(zip(order, value, strict=True), key=lambda pair: pair[0])]


def _check_keras1(training: Mapping[str, Any], custom_objects: Mapping[str, Any]) -> None:
    """Raise ValueError for a loss or metric of Keras 1 that is not in `custom_objects` and computes otherwise today."""
    for option, others in KERAS1_ALONE.items():
        mapped(training[option], partial(_check_meaning, others, custom_objects))


def _check_meaning(others: Mapping[str, str], custom_objects: Mapping[str, Any], item: Any) -> None:
    if isinstance(item, str) and item in others and item not in custom_objects:
        raise ValueError(f"{item!r} of Keras 1 {others[item]}")


def _of_single_outputs(value: Any, model: Model) -> Any:
    """An option by names with an entry for each output: in tf.keras a layer's name means the first of its outputs."""
    if not isinstance(value, Mapping) or "class_name" in value:
        return value
    return {**dict.fromkeys(model.output_names), **value}


def _own_training(training: Mapping[str, Any]) -> Mapping[str, Any]:
    own = training.get(OWN, {})
    if not isinstance(own, Mapping):
        raise ValueError(f"{OWN!r} in its training configuration must be a dictionary; found {own!r:.200}")
    return own


def check_size(item: Any, limits: Limits = LIMITS) -> None:
    """Raise ValueError for a loss or metric of this package with an absurdly large number."""
    if not isinstance(item, Mapping) or not isinstance(item.get("config"), Mapping):
        return
    name, options = item.get("class_name"), item["config"]
    if not isinstance(name, str) or (name not in registry.losses and name not in registry.metrics):
        return
    for option, value in options.items():
        if isinstance(value, int) and abs(value) > LARGEST:
            raise ValueError(f"{name} has {option}={value!r}, which is over {LARGEST}")
    _check_counts(name, options, limits)


def _check_counts(name: str, options: Mapping[str, Any], limits: Limits) -> None:
    """Raise ValueError for a metric that would count too many numbers."""
    size = 1
    for option, power in (("num_thresholds", 1), ("num_labels", 1), ("num_classes", 2)):
        value = options.get(option)
        if isinstance(value, int) and not isinstance(value, bool):
            size *= max(value, 1) ** power
            if size > (limits.counts if power == 2 else limits.thresholds):
                raise ValueError(f"{name} has {option}={value!r}, and would count {size} numbers")
