"""How a model was compiled, as Keras 2.2.4 writes it: losses and metrics by name, since it has no such classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.saving.training_config import mapped

Plain = dict[str, Any]

# The functions of 2.2.4 that compute the same as classes with their default options.
BOTH: Mapping[str, str] = {
    "MeanSquaredError": "mean_squared_error",
    "MeanAbsoluteError": "mean_absolute_error",
    "MeanAbsolutePercentageError": "mean_absolute_percentage_error",
    "MeanSquaredLogarithmicError": "mean_squared_logarithmic_error",
    "Poisson": "poisson",
    "CategoricalHinge": "categorical_hinge",
    "KLDivergence": "kullback_leibler_divergence",
    "BinaryCrossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "categorical_crossentropy",
    "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
}
LOSSES: Mapping[str, str] = {**BOTH, "LogCosh": "logcosh"}
METRICS: Mapping[str, str] = {
    **BOTH,
    "LogCoshError": "logcosh",
    "BinaryAccuracy": "binary_accuracy",
    "CategoricalAccuracy": "categorical_accuracy",
    "SparseCategoricalAccuracy": "sparse_categorical_accuracy",
    "TopKCategoricalAccuracy": "top_k_categorical_accuracy",
    "SparseTopKCategoricalAccuracy": "sparse_top_k_categorical_accuracy",
}
NAMES = {"loss": (LOSSES, registry.losses), "metrics": (METRICS, registry.metrics)}
SAYS_NOTHING = ("name", "dtype")


def training_for_keras2(training: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Plain, list[str]]:
    """How a model was compiled in the form of 2.2.4, and the names of the classes that 2.2.4 does not have.

    `own`: the same in our form, which is added if it says more. 2.2.4 ignores `weighted_metrics` when it loads.
    """
    made, left = dict(training), []
    for option, (names, family) in NAMES.items():
        made[option] = mapped(training[option], lambda item, n=names, f=family: _function_name(item, n, f))
        mapped(made[option], lambda item: left.append(item["class_name"]) if isinstance(item, Mapping) else None)
    said = {**{name: made.get(name) for name in own}, "on_nonfinite": None, "numerics": None}
    return {**made, **({} if said == own else {"torchkeras": dict(own)})}, left


def _function_name(item: Any, names: Mapping[str, str], family: registry.Family[Any]) -> Any:
    """A class as the name of the function that computes the same, if there is one; else as it is."""
    if not isinstance(item, Mapping) or item["class_name"] not in names:
        return item
    options, default = dict(item["config"]), family.find(item["class_name"])().get_config()
    if options.get("reduction") == "mean":
        options["reduction"] = "sum_over_batch_size"
    same = all(options.get(key) == value for key, value in default.items() if key not in SAYS_NOTHING)
    return names[item["class_name"]] if same else item
