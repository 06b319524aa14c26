"""What `compile` settles: for each output its loss and metrics, and the names of the numbers that are reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from torchkeras import losses as loss_functions, metrics as metric_functions, optimizers
from torchkeras.engine.symbol import KerasTensor, as_list

Score = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Metric:
    """A metric of one output: its reported name, its function, and whether sample weights count."""

    name: str
    function: Score
    weighted: bool


@dataclass(frozen=True)
class Target:
    """An output that has a loss: which one, its name, the loss and its weight, the metrics.

    `reports_loss`: whether the loss is reported by itself, as it is when the model has several outputs.
    """

    index: int
    name: str
    reports_loss: bool
    loss: Score
    weight: float
    metrics: tuple[Metric, ...]
    weight_mode: str | None


def resolve(
    names: list[str],
    outputs: list[KerasTensor],
    loss: Any,
    metrics: Any,
    loss_weights: Any,
    sample_weight_mode: Any,
    weighted_metrics: Any,
) -> list[Target]:
    """The targets of a model from the arguments of `compile`; an output whose loss is None is none.

    Raises ValueError for an unknown name of an output, loss or metric, and for lists of another length.
    """
    found_losses = [None if each is None else _loss(each) for each in _for_outputs("loss", loss, names, share=True)]
    if all(each is None for each in found_losses):
        raise ValueError("compile: the model has no loss to optimize; give `loss`, by name or as a function.")
    weights = _for_outputs("loss_weights", loss_weights, names)
    modes = _for_outputs("sample_weight_mode", sample_weight_mode, names, share=True)
    plain = _metrics_for_outputs("metrics", metrics, names)
    weighted = _metrics_for_outputs("weighted_metrics", weighted_metrics, names)
    targets = []
    for k, (name, found_loss) in enumerate(zip(names, found_losses, strict=True)):
        if modes[k] not in (None, "temporal"):
            raise ValueError(f"compile: sample_weight_mode must be None or 'temporal'; found {modes[k]!r}.")
        if found_loss is None:
            continue
        prefix = f"{name}_" if len(names) > 1 else ""
        found = [
            Metric(prefix + metric_name, function, is_weighted)
            for is_weighted, wanted in ((False, plain[k]), (True, weighted[k]))
            for metric_name, function in (_metric(each, found_loss, outputs[k]) for each in wanted)
        ]
        weight = 1.0 if weights[k] is None else weights[k]
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
            raise ValueError(f"compile: loss_weights must hold numbers; found {weight!r}.")
        targets.append(Target(k, name, len(names) > 1, found_loss, float(weight), _unique(found), modes[k]))
    return targets


def reported_names(targets: list[Target]) -> list[str]:
    """The names of the numbers a step reports: `loss`, each output's loss when there are several, the metrics."""
    each = [f"{target.name}_loss" for target in targets if target.reports_loss]
    return ["loss", *each, *(metric.name for target in targets for metric in target.metrics)]


def _unique(metrics: list[Metric]) -> tuple[Metric, ...]:
    """Metrics with distinct names: a second `acc` is `acc_1`."""
    result: list[Metric] = []
    for metric in metrics:
        name, count = metric.name, 0
        while name in {made.name for made in result}:
            count += 1
            name = f"{metric.name}_{count}"
        result.append(Metric(name, metric.function, metric.weighted))
    return tuple(result)


def _loss(identifier: Any) -> Score:
    found = loss_functions.get(identifier)
    if isinstance(found, torch.nn.Module):
        raise ValueError(f"compile: loss must be a name or a function (y_true, y_pred); found the module {found!r}.")
    return found


def _metric(identifier: Any, loss: Score, output: KerasTensor) -> tuple[str, Score]:
    """Name and function of a metric. `accuracy` and `crossentropy` are chosen by the output's shape and loss."""
    if identifier in ("accuracy", "acc", "crossentropy", "ce"):
        by_kind = _ACCURACIES if identifier in ("accuracy", "acc") else _CROSSENTROPIES
        kind, loss = "categorical", loss_functions.function_of(loss)
        if output.shape[-1] == 1 or loss is loss_functions.binary_crossentropy:
            kind = "binary"
        elif loss is loss_functions.sparse_categorical_crossentropy:
            kind = "sparse"
        return ("acc" if by_kind is _ACCURACIES else "ce"), by_kind[kind]
    function = metric_functions.get(identifier)
    return getattr(function, "__name__", type(function).__name__), function


_ACCURACIES: Mapping[str, Score] = {
    "binary": metric_functions.binary_accuracy,
    "sparse": metric_functions.sparse_categorical_hits,
    "categorical": metric_functions.categorical_hits,
}
_CROSSENTROPIES: Mapping[str, Score] = {
    "binary": loss_functions.binary_crossentropy,
    "sparse": loss_functions.sparse_categorical_crossentropy,
    "categorical": loss_functions.categorical_crossentropy,
}


def _for_outputs(option: str, value: Any, names: list[str], share: bool = False) -> list[Any]:
    """One value for each output from a single one, a list, or a dictionary by output name."""
    if isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"compile: {option} names the output {unknown[0]!r}; the outputs are {', '.join(names)}.")
        return [value.get(name) for name in names]
    if isinstance(value, (list, tuple)):
        if len(value) != len(names):
            raise ValueError(
                f"compile: {option} has {len(value)} entries; the model has {len(names)} outputs: {', '.join(names)}."
            )
        return list(value)
    if value is not None and not share and len(names) > 1:
        raise ValueError(f"compile: {option} must be a list or a dictionary for several outputs; found {value!r}.")
    return [value] * len(names)


def _metrics_for_outputs(option: str, value: Any, names: list[str]) -> list[list[Any]]:
    """A list of metrics for each output: one list for all, a list of lists, or a dictionary by output name."""
    if isinstance(value, Mapping):
        return [as_list(found) for found in _for_outputs(option, value, names)]
    if value is not None and not isinstance(value, (list, tuple)):
        raise TypeError(f"compile: {option} must be a list or a dictionary; found {value!r}.")
    wanted = as_list(value)
    if wanted and all(isinstance(each, (list, tuple)) for each in wanted):
        return [as_list(found) for found in _for_outputs(option, wanted, names)]
    return [wanted for _ in names]


# --- in a file -------------------------------------------------------------------------------------------------------


def training_config(model: Any) -> dict[str, Any]:
    """How a model was compiled, as plain data."""
    return {
        "optimizer_config": optimizers.serialize(model.optimizer),
        "loss": _plain(model.loss, loss_functions.serialize),
        "metrics": _plain(model.metrics, metric_functions.serialize),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "weighted_metrics": _plain(model.weighted_metrics, metric_functions.serialize),
    }


def compile_arguments(training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> dict[str, Any]:
    """The inverse: the arguments of `compile`."""
    return {
        "optimizer": optimizers.deserialize(training["optimizer_config"], custom_objects),
        "loss": _known(training["loss"], loss_functions.deserialize, custom_objects),
        "metrics": _known(training.get("metrics"), metric_functions.deserialize, custom_objects),
        "loss_weights": training.get("loss_weights"),
        "sample_weight_mode": training.get("sample_weight_mode"),
        "weighted_metrics": _known(training.get("weighted_metrics"), metric_functions.deserialize, custom_objects),
    }


def mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    """`convert` on every loss or metric in lists and dictionaries by output."""
    if isinstance(value, Mapping) and "class_name" not in value:
        return {name: mapped(item, convert) for name, item in value.items()}
    return [mapped(item, convert) for item in value] if isinstance(value, (list, tuple)) else convert(value)


def _plain(value: Any, serialize: Callable[[Any], Any]) -> Any:
    return mapped(value, lambda item: item if isinstance(item, str) else serialize(item))


def _known(value: Any, deserialize: Callable[..., Any], custom_objects: Any) -> Any:
    """Names stay names (`accuracy` is resolved by the output); a name of the user's own becomes its function."""
    own = custom_objects or {}
    return mapped(value, lambda item: deserialize(item, own) if isinstance(item, Mapping) or item in own else item)
