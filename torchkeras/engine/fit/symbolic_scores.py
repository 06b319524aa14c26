"""Losses and metrics that use symbolic tensors of the model beside their arguments, as Keras 2's could.

Such a function (one that closes over `z_mean`, or takes `K.gradients(y_pred, inputs)`) has no value for a batch alone.
It is called once, on the symbolic output and on an Input that stands for the targets; what it gives becomes an output
of the network that trains, as what `add_loss` is given does. So one pass computes all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from torch import Tensor

from torchkeras.engine.data.target_kinds import FREE, LIKE
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.symbolic import KerasTensor, dtype_name
from torchkeras.engine.step.output_loss import FunctionObjective
from torchkeras.engine.step.output_metric import Measure
from torchkeras.engine.step.targets import Target
from torchkeras.naming import unique_name

PACKAGES = ("torchkeras", "torch", "numpy")  # whose functions use no tensor of a user's graph
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
        score = self._score(place, objective.given, target, outputs)
        if score is None:
            return replace(target, measures=measures)
        kind = LIKE if objective.target_kind == FREE else objective.target_kind
        computed = FunctionObjective(as_computed, kind, objective.function)
        return replace(target, measures=measures, objective=computed, scores=score)

    def _measure(self, place: int, measure: Measure, target: Target, outputs: list[KerasTensor]) -> Measure:
        score = None if measure.keeps_state else self._score(place, measure.metric, target, outputs)
        return measure if score is None else replace(measure, metric=as_computed, scores=score)

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


def as_computed(true: Tensor, scores: Tensor) -> Tensor:
    """What the graph has computed, in place of a loss or metric of targets and outputs."""
    return scores


def uses_symbolic(function: Any) -> bool:
    """Whether a function, or one that it can call, finds a symbolic tensor beside its arguments."""
    pending, seen = [function], set()
    while pending:
        value = pending.pop()
        if isinstance(value, KerasTensor):
            return True
        if id(value) not in seen:
            seen.add(id(value))
            pending += _reached_from(value)
    return False


def _reached_from(value: Any) -> list[Any]:
    """What a function uses, and what a collection holds."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__, *_attributes(value.__self__, set(_names(value.__func__.__code__)))]
    if not isinstance(value, FunctionType) or (value.__module__ or "").partition(".")[0] in PACKAGES:
        return []
    names = set(_names(value.__code__))
    held = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
    held += [value.__globals__[name] for name in names if name in value.__globals__]
    held += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    return [*held, *(found for each in held for found in _attributes(each, names))]


def _names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those inside it."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _attributes(holder: Any, names: set[str]) -> list[Any]:
    """Those of an object's attributes that have one of these names."""
    if isinstance(holder, (ModuleType, type, FunctionType)):
        return []
    own = getattr(holder, "__dict__", {})
    tensors = [getattr(holder, name, None) for name in OF_LAYERS if name in names] if isinstance(holder, Layer) else []
    return [*(own[name] for name in names if name in own), *tensors]
