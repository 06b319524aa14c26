"""How a model was compiled, as Keras 3.15 writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.saving.optimizer_options import to_keras3

Plain = dict[str, Any]

# Names of losses and metrics in Keras 3, where they are others; None where it has none that gives the same numbers.
LOSSES: Mapping[str, str | None] = {
    **dict.fromkeys(("kullback_leibler_divergence", "kld", "KLD"), "kl_divergence"),
    **dict.fromkeys(("cosine_proximity", "cosine"), "cosine_similarity"),
    "logcosh": "log_cosh",
    "MSE": "mse",
    "MAE": "mae",
    "MAPE": "mape",
    "MSLE": "msle",
}
METRICS: Mapping[str, str | None] = {
    **LOSSES,
    **dict.fromkeys(("cosine_proximity", "cosine"), None),
    "logcosh": "LogCoshError",
}


def compile_config(training: Mapping[str, Any], optimizer: Any) -> Plain:
    """How a model was compiled. Raises ValueError for an option that Keras 3 does not have or computes otherwise."""
    if training["sample_weight_mode"] is not None:
        raise ValueError(f"compile: sample_weight_mode {training['sample_weight_mode']!r} has no form in Keras 3.")
    return {
        "optimizer": _optimizer(optimizer),
        "loss": _named(training["loss"], "loss", LOSSES),
        "loss_weights": training["loss_weights"],
        "metrics": _named(training["metrics"], "metric", METRICS) or None,
        "weighted_metrics": _named(training["weighted_metrics"], "metric", METRICS) or None,
        "run_eagerly": False,
        "steps_per_execution": 1,
        "jit_compile": False,
    }


def _optimizer(optimizer: Any) -> Plain:
    kind, options = to_keras3(optimizer)
    return _object("keras.optimizers", kind, options)


def _named(value: Any, kind: str, names: Mapping[str, str | None]) -> Any:
    """A loss or metric, or several, by Keras 3's names."""
    if isinstance(value, (list, tuple)):
        return [_named(item, kind, names) for item in value]
    if isinstance(value, Mapping):
        return {name: _named(item, kind, names) for name, item in value.items()}
    if value in names and names[value] is None:
        raise ValueError(f"compile: the {kind} {value!r} has no form in Keras 3.")
    return names.get(value, value)


def _object(module: str, class_name: str, config: Plain) -> Plain:
    return {"module": module, "class_name": class_name, "config": config, "registered_name": None}
