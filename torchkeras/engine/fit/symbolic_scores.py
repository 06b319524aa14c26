"""Losses and metrics that use symbolic tensors of the model beside their arguments, as Keras 2's could.

Such a function (one that closes over `z_mean`, or takes `K.gradients(y_pred, inputs)`) has no value for a batch alone.
It is called once, on the symbolic output and on an Input that stands for the targets; what it gives becomes an output
of the network that trains, as what `add_loss` is given does. So one pass computes all.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

from torch import Tensor

from torchkeras.base.dtype_names import dtype_name
from torchkeras.base.function_values import installed, loads, used_by
from torchkeras.base.naming import unique_name
from torchkeras.data.target_kinds import FREE, LIKE
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.step.output_loss import FunctionObjective, name_of
from torchkeras.engine.step.output_metric import Measure
from torchkeras.engine.step.targets import Target
from torchkeras.engine.symbolic.tensor import KerasTensor

HISTORY = "_keras_history"
OF_LAYERS = ("input", "output", "inputs", "outputs")


@dataclass
class Scores:
    """What the graph computes for losses and metrics: `outputs`, in order, from the model's inputs and `targets`.

    `targets`: the Inputs that stand for targets, by their place.
    """

    outputs: list[KerasTensor] = field(default_factory=list)
    targets: dict[int, KerasTensor] = field(default_factory=dict)

    def taken_from(self, targets: list[Target], outputs: list[KerasTensor]) -> list[Target]:
        """The targets of a model with `outputs`; those whose losses or metrics the graph computes say so."""
        found = [self._target(place, target, outputs) for place, target in enumerate(targets)]
        # What the graph computes may need the activation at an output's end.
        return [replace(target, logits=None) for target in found] if self.outputs else found

    def _target(self, place: int, target: Target, outputs: list[KerasTensor]) -> Target:
        objective, measures = target.objective, tuple(self._measure(place, m, target, outputs) for m in target.measures)
        if not isinstance(objective, FunctionObjective) and uses_symbolic(objective.given):
            name = name_of(objective.given)
            raise TypeError(f"compile: the loss {name} uses a symbolic tensor of the graph, as only a function can.")
        score = self._score(place, objective.given, target, outputs)
        if not self.outputs:
            return target
        if score is None:
            return replace(target, measures=measures)
        # A function that asks for the layer of the output knows what targets the layer has.
        free = objective.target_kind == FREE and not _asks_for_history(objective.given)
        kind = LIKE if free else objective.target_kind
        computed = FunctionObjective(as_computed, kind, objective.function, objective.mask_weighs)
        return replace(target, measures=measures, objective=computed, scores=score)

    def _measure(self, place: int, measure: Measure, target: Target, outputs: list[KerasTensor]) -> Measure:
        score = None if measure.keeps_state else self._score(place, measure.metric, target, outputs)
        if score is None:
            return measure
        return replace(measure, metric=as_computed, scores=score, of_probabilities=False)

    def _score(self, place: int, function: Any, target: Target, outputs: list[KerasTensor]) -> int | None:
        """Which output of the network has what a function gives, if the function uses symbolic tensors."""
        if not uses_symbolic(function):
            return None
        predicted = outputs[target.index]
        true = self.targets.get(place)
        if true is None:
            name, dtype = unique_name(f"{target.name}_target"), dtype_name(predicted.dtype)
            true = InputLayer(batch_input_shape=predicted.shape, dtype=dtype, name=name).input
        score = function(true, predicted)
        if not isinstance(score, KerasTensor):
            return None
        self.targets[place] = true
        self.outputs.append(score)
        return len(outputs) + len(self.outputs) - 1


def refuse(targets: list[Target]) -> None:
    """Raise TypeError for a loss or metric that uses symbolic tensors, where no built-in step computes it."""
    for function in (f for t in targets for f in (t.objective.given, *(measure.metric for measure in t.measures))):
        if uses_symbolic(function):
            raise TypeError(
                f"compile: {name_of(function)} uses a symbolic tensor of the graph, which only the built-in step can "
                "compute; the model's class has a step or a compute_loss of its own."
            )


def as_computed(true: Tensor, scores: Tensor) -> Tensor:
    """What the graph has computed, in place of a loss or metric of targets and outputs."""
    return scores


def uses_symbolic(function: Any) -> bool:
    """Whether a function, or one that it can call, finds a symbolic tensor beside its arguments."""
    pending: list[Any] = [function]
    seen: dict[Any, Any] = {}  # holds the values: an object that is gone leaves its `id` to another
    while pending:
        value = pending.pop()
        if isinstance(value, KerasTensor) or _asks_for_history(value):
            return True
        # A bound method is made at each look at it.
        key = (id(value.__func__), id(value.__self__)) if isinstance(value, MethodType) else id(value)
        if key not in seen:
            seen[key] = value
            pending += _reached_from(value)
    return False


def _asks_for_history(value: Any) -> bool:
    """Whether a function asks a tensor which layer has made it, as only a symbolic one knows."""
    function = value.__func__ if isinstance(value, MethodType) else value
    if not isinstance(function, FunctionType) or installed(function.__module__ or ""):
        return False
    return any(name == HISTORY for _, name in loads(function.__code__))


def _reached_from(value: Any) -> list[Any]:
    """What a function uses, and what a collection holds."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, FunctionType):
        return _of_function(value, [])
    if isinstance(value, MethodType):
        return _of_function(value.__func__, [value.__self__]) if isinstance(value.__func__, FunctionType) else []
    return [] if isinstance(value, type) else _attributes_named(value, {"__call__", "call"})


def _of_function(function: FunctionType, bound: list[Any]) -> list[Any]:
    """What a function uses, and attributes of it and of what the function is bound to."""
    if installed(function.__module__ or ""):
        return []
    held = list(used_by(function).values())
    attributes = {name for kind, name in loads(function.__code__) if kind in ("LOAD_ATTR", "LOAD_METHOD")}
    return [*held, *(found for each in (*held, *bound) for found in _attributes_named(each, attributes))]


def _attributes_named(holder: Any, names: set[str]) -> list[Any]:
    """Those of an object's attributes that have one of these names."""
    if isinstance(holder, (ModuleType, type, FunctionType)):
        return []
    found = [inspect.getattr_static(holder, name, None) for name in names]
    found = [each.fget if isinstance(each, property) else each for each in found]
    tensors = [getattr(holder, name, None) for name in OF_LAYERS if name in names] if isinstance(holder, Layer) else []
    return [*(MethodType(each, holder) if isinstance(each, FunctionType) else each for each in found), *tensors]
