"""Losses and metrics that use symbolic tensors of the model next to their arguments, as in Keras 2.

Such a function (one that closes over `z_mean`, or takes `K.gradients(y_pred, inputs)`) has no value for a batch alone.
It is called once, on the symbolic output and on an Input for the targets. The result becomes an output of the network
that trains, as a tensor passed to `add_loss` does. So one pass computes everything.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

from torch import Tensor

from torchkeras.base.dtypes import dtype_name
from torchkeras.base.naming import unique_name
from torchkeras.base.python import installed, loads, used_by
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
    """The `outputs` that the graph computes for losses and metrics, from the model's inputs and `targets`.

    `targets`: the Inputs for targets, by their index.
    """

    outputs: list[KerasTensor] = field(default_factory=list)
    targets: dict[int, KerasTensor] = field(default_factory=dict)

    def taken_from(self, targets: list[Target], outputs: list[KerasTensor]) -> list[Target]:
        """The targets of a model with these outputs, with the losses and metrics that the graph computes."""
        found = [self._target(place, target, outputs) for place, target in enumerate(targets)]
        # What the graph computes may need the activation at an output's end.
        return [replace(target, logits=None) for target in found] if self.outputs else found

    def _target(self, place: int, target: Target, outputs: list[KerasTensor]) -> Target:
        objective = target.objective
        measures = tuple(self._measure(place, measure, target, outputs) for measure in target.measures)
        if not isinstance(objective, FunctionObjective) and uses_symbolic(objective.given):
            name = name_of(objective.given)
            raise TypeError(f"compile: the loss {name} uses a symbolic tensor of the graph, as only a function can.")
        score = self._score(place, objective.given, target, outputs)
        if not self.outputs:
            return target
        if score is None:
            return replace(target, measures=measures)
        kind = objective.target_kind
        # A function that asks for the layer of the output knows what targets the layer has.
        if kind == FREE and not _asks_for_history(_unbound(objective.given)[0]):
            kind = LIKE
        computed = FunctionObjective(as_computed, kind, objective.function, objective.mask_weighs)
        return replace(target, measures=measures, objective=computed, scored=score)

    def _measure(self, place: int, measure: Measure, target: Target, outputs: list[KerasTensor]) -> Measure:
        score = None if measure.keeps_state else self._score(place, measure.metric, target, outputs)
        if score is None:
            return measure
        return replace(measure, metric=as_computed, scores=score, of_probabilities=False)

    def _score(self, place: int, function: Any, target: Target, outputs: list[KerasTensor]) -> int | None:
        """The index of the network's output that holds a function's result, if the function uses symbolic tensors."""
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


def refuse(functions: Iterable[Any]) -> None:
    """Raise TypeError for a loss or metric that uses symbolic tensors, if no built-in step computes it."""
    for function in functions:
        if uses_symbolic(function):
            raise TypeError(
                f"compile: {name_of(function)} uses a symbolic tensor of the graph, which only the built-in step can "
                "compute; the model's class has a step or a compute_loss of its own."
            )


def as_computed(true: Tensor, scores: Tensor) -> Tensor:
    """The scores that the graph has computed, in place of a loss or metric of targets and outputs."""
    return scores


def uses_symbolic(function: Any) -> bool:
    """Whether a function, or one that it can call, uses a symbolic tensor next to its arguments."""
    pending: list[Any] = [function]
    seen: dict[Any, Any] = {}  # holds the values: after an object is gone, another may have its `id`
    while pending:
        value = pending.pop()
        unbound, bound = _unbound(value)
        if isinstance(value, KerasTensor) or _asks_for_history(unbound):
            return True
        key = id(unbound), *map(id, bound)
        if key not in seen:
            seen[key] = value
            pending += _reached_from(unbound, bound)
    return False


def _unbound(value: Any) -> tuple[Any, list[Any]]:
    """The function of a bound method, which Python makes again at each access, and its object; else the value alone."""
    return (value.__func__, [value.__self__]) if isinstance(value, MethodType) else (value, [])


def _asks_for_history(function: Any) -> bool:
    """Whether a function asks a tensor for the layer that made it, which only a symbolic tensor knows."""
    if not isinstance(function, FunctionType) or installed(str(function.__module__)):
        return False
    return any(name == HISTORY for _, name in loads(function.__code__))


def _reached_from(value: Any, bound: list[Any]) -> list[Any]:
    """The values that a function uses, `bound` to an object or not; the items of a collection."""
    if isinstance(value, FunctionType):
        return _used_by(value, bound)
    if bound or isinstance(value, type):
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    return _attributes_named(value, {"__call__", "call"})


def _used_by(function: FunctionType, bound: list[Any]) -> list[Any]:
    """The values that a function uses, and those of their attributes, and of the object, that it reads."""
    if installed(str(function.__module__)):
        return []
    found = list(used_by(function).values())
    attributes = {name for kind, name in loads(function.__code__) if kind in ("LOAD_ATTR", "LOAD_METHOD")}
    for each in (*found, *bound):
        found += _attributes_named(each, attributes)
    return found


def _attributes_named(holder: Any, names: set[str]) -> list[Any]:
    """The attributes of an object that have one of these names; None for a name that it has not."""
    if isinstance(holder, (ModuleType, type, FunctionType)):
        return []
    found: list[Any] = []
    for name in names:
        each = inspect.getattr_static(holder, name, None)
        if isinstance(each, property):
            each = each.fget
        if isinstance(each, FunctionType):
            each = MethodType(each, holder)
        found.append(each)
    if isinstance(holder, Layer):
        found += [getattr(holder, name, None) for name in OF_LAYERS if name in names]
    return found
