"""How a model was compiled, as Keras 2.2.4 writes it: losses and metrics by name, since it has no such classes."""

from __future__ import annotations

from collections.abc import Mapping, Set
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
# The functions that 2.2.4 finds by name, and those of ours that it has under another one.
_LOSSES = frozenset(
    """
    binary_crossentropy categorical_crossentropy categorical_hinge cosine cosine_proximity hinge kld
    kullback_leibler_divergence logcosh mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error
    mean_squared_logarithmic_error mse msle poisson sparse_categorical_crossentropy squared_hinge KLD MAE MAPE MSE MSLE
    """.split()  # noqa: SIM905
)
_METRICS = frozenset(
    """
    acc accuracy binary_accuracy categorical_accuracy ce crossentropy sparse_categorical_accuracy
    sparse_top_k_categorical_accuracy top_k_categorical_accuracy
    """.split()  # noqa: SIM905
)
RENAMED = {"bce": "binary_crossentropy", "kl_divergence": "kullback_leibler_divergence", "log_cosh": "logcosh"}
NAMES = {
    "loss": (LOSSES, _LOSSES, registry.losses),
    "metrics": (METRICS, _LOSSES | _METRICS, registry.metrics),
}
SAYS_NOTHING = ("name", "dtype")


def training_for_keras2(training: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Plain, list[str]]:
    """How a model was compiled in the form of 2.2.4, and the names of the classes and functions that it does not have.

    `own`: the same in our form, which is added if it says more. 2.2.4 ignores `weighted_metrics` when it loads.
    """
    made, left = dict(training), []
    for option, (names, functions, family) in NAMES.items():
        made[option] = mapped(training[option], lambda item, n=names, f=family: _function_name(item, n, f))
        lacking = set(family.names()) - functions
        mapped(made[option], lambda item, names=lacking: left.extend(_lacking(item, names)))
    said = {**{name: made.get(name) for name in own}, "on_nonfinite": None, "numerics": None}
    return {**made, **({} if said == own else {"torchkeras": dict(own)})}, left


def _lacking(item: Any, functions: Set[str]) -> list[str]:
    """The name of a loss or metric in a list, if it is a class or one of these functions."""
    if isinstance(item, Mapping):
        return [item["class_name"]]
    return [item] if item in functions else []


def _function_name(item: Any, names: Mapping[str, str], family: registry.Family[Any]) -> Any:
    """A class as the name of the function that computes the same, if there is one; else as it is."""
    if isinstance(item, str):
        return RENAMED.get(item, item)
    if not isinstance(item, Mapping) or item["class_name"] not in names:
        return item
    options, default = dict(item["config"]), family.find(item["class_name"])().get_config()
    if options.get("reduction") == "mean":
        options["reduction"] = "sum_over_batch_size"
    same = all(options.get(key) == value for key, value in default.items() if key not in SAYS_NOTHING)
    return names[item["class_name"]] if same else item
