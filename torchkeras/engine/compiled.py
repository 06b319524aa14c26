"""What `compile` settles: for each output its loss and metrics, and the names of the numbers that are reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torchkeras import losses as loss_functions, metrics as metric_functions, optimizers
from torchkeras.engine.graph import Graph
from torchkeras.engine.measures import LOGITS, Measure, measure
from torchkeras.engine.objectives import Objective, objective
from torchkeras.engine.symbol import KerasTensor, as_list


@dataclass(frozen=True)
class Target:
    """An output that has a loss: which one, its name, the loss and its weight, the metrics.

    `reports_loss`: whether the loss is reported by itself, as it is when the model has several outputs.
    `logits`: the activation ("softmax", "sigmoid") that a step leaves out, since loss and metrics need its input alone.
    """

    index: int
    name: str
    reports_loss: bool
    objective: Objective
    weight: float
    measures: tuple[Measure, ...]
    weight_mode: str | None
    logits: str | None = None


def resolve(names: list[str], graph: Graph, options: Mapping[str, Any]) -> list[Target]:
    """The targets of a model from the arguments of `compile`; an output whose loss is None is none.

    Raises ValueError for an unknown name of an output, loss or metric, and for lists of another length.
    """
    losses = [
        None if each is None else objective(each)
        for each in _for_outputs("loss", options.get("loss"), names, share=True)
    ]
    weights = _for_outputs("loss_weights", options.get("loss_weights"), names)
    modes = _for_outputs("sample_weight_mode", options.get("sample_weight_mode"), names, share=True)
    wanted = [_metrics_for_outputs(option, options.get(option), names) for option in ("metrics", "weighted_metrics")]
    targets = []
    for k, (name, loss) in enumerate(zip(names, losses, strict=True)):
        if modes[k] not in (None, "temporal"):
            raise ValueError(f"compile: sample_weight_mode must be None or 'temporal'; found {modes[k]!r}.")
        if loss is None:
            continue
        output = graph.outputs[k]
        measures = _unique(
            [
                Measure(_prefix(name, names, metric, is_weighted) + own_name, metric, is_weighted)
                for is_weighted, of_outputs in zip((False, True), wanted, strict=True)
                for own_name, metric in (measure(each, loss, output) for each in of_outputs[k])
            ]
        )
        weight = 1.0 if weights[k] is None else weights[k]
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
            raise ValueError(f"compile: loss_weights must hold numbers; found {weight!r}.")
        logits = _logits(graph, output, loss, measures)
        targets.append(Target(k, name, len(names) > 1, loss, float(weight), measures, modes[k], logits))
    _check_apart(targets)
    return targets


def reported_names(targets: list[Target]) -> list[str]:
    """The names of the numbers a step reports: `loss`, each output's loss when there are several, the metrics."""
    each = [f"{target.name}_loss" for target in targets if target.reports_loss]
    return ["loss", *each, *(measure.name for target in targets for measure in target.measures)]


def _prefix(output: str, outputs: list[str], metric: Any, is_weighted: bool) -> str:
    """What Keras 2.2.4 puts before a metric's name; a `Metric` object has a name of the user's."""
    by_output = f"{output}_" if len(outputs) > 1 else ""
    return by_output + ("weighted_" if is_weighted and not isinstance(metric, metric_functions.Metric) else "")


def _unique(measures: list[Measure]) -> tuple[Measure, ...]:
    """Metrics with distinct names: a second `acc` is `acc_1`."""
    result: list[Measure] = []
    for each in measures:
        name, count = each.name, 0
        while name in {made.name for made in result}:
            count += 1
            name = f"{each.name}_{count}"
        result.append(Measure(name, each.metric, each.weighted))
    return tuple(result)


def _check_apart(targets: list[Target]) -> None:
    """One metric object for two outputs would mix them: raise ValueError."""
    seen: dict[int, str] = {}
    for target in targets:
        for each in target.measures:
            if each.keeps_state and seen.setdefault(id(each.metric), each.name) != each.name:
                raise ValueError(
                    f"compile: one object of the metric {each.metric.name!r} is given for {seen[id(each.metric)]!r} and "
                    f"for {each.name!r}, and would count both together: make one for each, in a dictionary by output."
                )


def _logits(graph: Graph, output: KerasTensor, loss: Objective, measures: tuple[Measure, ...]) -> str | None:
    """The activation at the output's end, when a step can do without it."""
    layer = output._keras_history.layer
    activation = layer.ends_in if graph.outputs.count(output) == 1 else None
    known = LOGITS.get(activation or "", {})
    used = any(output in node.input_tensors for node in graph.nodes)
    observed = layer._forward_hooks or layer._forward_pre_hooks or getattr(layer, "activity_regularizer", None)
    if used or observed or _key(loss.given) not in known or any(_key(each.metric) not in known for each in measures):
        return None
    return activation


def _key(function: Any) -> Any:
    """Something to look up: an object that cannot be hashed is in no table."""
    return function if callable(getattr(function, "__hash__", None)) else None


def _for_outputs(option: str, value: Any, names: list[str], share: bool = False) -> list[Any]:
    """One value for each output from a single one, a list, or a dictionary by output name."""
    if isinstance(value, Mapping) and "class_name" not in value:
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
