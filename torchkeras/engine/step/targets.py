"""What `compile` resolves: the loss and metrics of each output, and the names of the reported numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from torchkeras.engine.facts import facts_of
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.step.output_loss import Objective, name_of, objective
from torchkeras.engine.step.output_metric import (
    LOGITS,
    Link,
    Measure,
    TorchMetric,
    exact_link,
    is_collection,
    is_exact_of,
    link_of,
    measures,
    takes_logits,
)
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, node_of
from torchkeras.engine.weights.expressions import Expression, is_frozen


class Numerics(NamedTuple):
    """What versions of Keras compute differently.

    `links`: whether metrics that expect probabilities get them although the loss takes logits. `exact`: whether
    crossentropies are computed from the input of the output's activation, without clipping. `mask_weighs`: whether the
    loss of a masked output is a mean over all steps, in which masked steps count 0. `as_objects`: whether a
    function among the metrics counts as a `MeanMetricWrapper` does, under the text that named it. `by_position`:
    whether a list of metrics has an entry, a metric or a list of them, for each of several outputs; then the loss of
    the only one with a loss is not reported beside their sum. `names_by_loss`: whether the numbers of outputs without
    a name of their own, those of a model's own code, have the names of the losses and metrics alone.
    """

    links: bool = False
    exact: bool = False
    mask_weighs: bool = False
    as_objects: bool = False
    by_position: bool = False
    names_by_loss: bool = False


NUMERICS: Mapping[str | None, Numerics] = {
    None: Numerics(links=True),
    "keras": Numerics(),
    "keras-2.3": Numerics(links=True, mask_weighs=True),
    "tensorflow": Numerics(exact=True),
    "tensorflow-2.10": Numerics(exact=True, mask_weighs=True),
    "keras-3": Numerics(exact=True, as_objects=True, by_position=True, names_by_loss=True),
}


@dataclass(frozen=True)
class Target:
    """An output that has a loss: its index and name, the loss with its weight, and the metrics.

    `loss_name`: the name under which the loss is reported, as it is for a model with several outputs; None: it is not.
    `logits`: the activation ("softmax", "sigmoid") that a step leaves out, if loss and metrics need only its input.
    `link`: the function from the output to probabilities, if the loss takes logits; for measures `of_probabilities`.
    `exact`: whether crossentropies are computed from the input of the output's activation, without clipping.
    `scored`: the output of the trained network that the loss takes: the output itself, or another one that holds the
    loss of each sample, if the graph computes it. `links`: whether a measure takes what `link` gives.
    `is_weighted`: whether the weight is another than 1.
    """

    index: int
    name: str
    loss_name: str | None
    objective: Objective
    weight: Any  # a float, or a variable
    measures: tuple[Measure, ...]
    weight_mode: str | None
    scored: int
    logits: str | None = None
    link: Link | None = None
    exact: bool = False
    links: bool = field(init=False)
    is_weighted: bool = field(init=False)

    def __post_init__(self) -> None:
        # No lazy properties: torch.compile would see the target change.
        links = self.link is not None and any(measure.of_probabilities for measure in self.measures)
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "is_weighted", not isinstance(self.weight, float) or self.weight != 1.0)

    def with_activation(self) -> Target:
        """The same target for a step that does not leave the activation out."""
        return replace(self, logits=None, link=None if self.logits else self.link)


def measures_of(targets: Iterable[Target]) -> Iterator[Measure]:
    """The measures of all targets."""
    for target in targets:
        yield from target.measures


def losses_and_metrics(targets: Iterable[Target]) -> Iterator[Any]:
    """The functions and objects that score the targets."""
    for target in targets:
        yield target.objective.given
        yield from (measure.metric for measure in target.measures)


def resolve(
    names: list[str],
    owners: Callable[[], list[str]],
    graph: Graph,
    options: Any,
    own_step: bool = False,
    measures_alone: bool = False,
    are_named: bool = True,
) -> list[Target]:
    """The targets of a model from the options of `compile`; an output whose loss is None has no target.

    `graph`: what a step computes; its first outputs are the model's, which have `names`. `owners()`: for each output
    the name that stands for all outputs of its layer. `options`: the `CompileOptions`. `own_step`: whether the user's
    code trains, and may update the metrics itself. `measures_alone`: whether an output has a target for its metrics
    alone, since the loss is the user's code. `are_named`: whether the outputs have names of their own. Raises
    ValueError for an unknown name of an output, loss or metric, and for lists of another length.
    """

    def option_of(option: str) -> Any:
        value = getattr(options, option)
        return by_output(value, names, owners()) if isinstance(value, Mapping) else value

    losses = for_outputs("loss", option_of("loss"), names, share=True)
    weights = for_outputs("loss_weights", option_of("loss_weights"), names)
    modes = for_outputs("sample_weight_mode", option_of("sample_weight_mode"), names, share=True)
    numerics = NUMERICS[options.numerics]
    several, by_loss = len(names) > 1, numerics.names_by_loss and not are_named
    taken = {"loss", *(f"{name}_loss" for name in names)}
    plain = metrics_for_outputs("metrics", option_of("metrics"), names, numerics.by_position)
    weighted = metrics_for_outputs("weighted_metrics", option_of("weighted_metrics"), names, numerics.by_position)
    targets = []
    for index, loss in enumerate(losses):
        if modes[index] not in (None, "temporal"):
            raise ValueError(f"compile: sample_weight_mode must be None or 'temporal'; found {modes[index]!r}.")
        if loss is None and measures_alone and (plain[index] or weighted[index]):
            loss = unscored
        if loss is None:
            _warn_of_left_out(names[index], option_of)
            continue
        if isinstance(loss, (list, tuple)) and len(loss) == 1:
            (loss,) = loss
        prefix = f"{names[index]}_" if several and not by_loss else ""
        target = _target(
            graph, index, names[index], loss, plain[index], weighted[index], numerics, own_step, prefix, taken
        )
        of_loss = 0.0 if loss is unscored else _weight(weights[index])
        loss_name = f"{getattr(loss, 'name', name_of(loss))}_loss" if by_loss else f"{names[index]}_loss"
        target = replace(target, weight=of_loss, weight_mode=modes[index], loss_name=loss_name if several else None)
        targets.append(target)
    if not targets:
        _warn_of_unused(options)
    if len(targets) == 1 and NUMERICS[options.numerics].by_position:
        targets = [replace(targets[0], loss_name=None)]
    _check_disjoint(targets)
    if options.on_nonfinite is not None:
        _check_taken_back(targets, options.on_nonfinite)
    return targets


def unscored(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The loss of an output that the user's code scores: 0."""
    return y_pred.new_zeros(y_pred.shape[:1])


def _target(
    graph: Graph,
    index: int,
    name: str,
    identifier: Any,
    plain: list[Any],
    weighted: list[Any],
    numerics: Numerics,
    own_step: bool,
    prefix: str,
    taken: set[str],
) -> Target:
    """The target of an output, with a loss of weight 1 that is not reported.

    `plain`, `weighted`: its metrics without and with weights. `prefix`: what the names of its metrics begin with.
    `taken`: the names of other numbers; those of its metrics join them.
    """
    output = graph.outputs[index]
    loss = objective(identifier, numerics.mask_weighs)
    link = link_of(loss, output) if numerics.links else None
    found: list[Measure] = []
    for metric in plain:
        found += measures(metric, loss, output, False, link, numerics.as_objects, own_step)
    for metric in weighted:
        found += measures(metric, loss, output, True, link, numerics.as_objects, own_step)
    named = _unique(found, prefix, taken, numerics.as_objects)
    logits = _logits(graph, output, loss, named, numerics.exact)
    if numerics.exact and logits is not None:
        link = exact_link(logits)
        named = tuple(replace(each, of_probabilities=not is_exact_of(logits, each.metric)) for each in named)
    return Target(index, name, None, loss, 1.0, named, None, index, logits, link, numerics.exact)


def _weight(weight: Any) -> Any:
    """The weight of a loss: a number, or a variable that is read in each step; None is 1."""
    if weight is None:
        return 1.0
    if isinstance(weight, Tensor) and not weight.dim():
        if is_frozen(weight):
            raise ValueError(
                "compile: loss_weights must hold numbers and variables; found a tensor that torch computed from "
                "variables, and would keep their values of that moment: make it a K.variable of its own, and set both."
            )
        return weight if isinstance(weight, (nn.Parameter, Expression)) else float(weight)
    if isinstance(weight, bool) or not (isinstance(weight, (int, float, np.number)) and np.isfinite(weight)):
        raise ValueError(f"compile: loss_weights must hold finite numbers; found {weight!r}.")
    return float(weight)


def _warn_of_left_out(name: str, option_of: Callable[[str], Any]) -> None:
    """Warn of options that name an output without a loss: it has no target."""
    for option in ("metrics", "weighted_metrics", "loss_weights"):
        value = option_of(option)
        if isinstance(value, Mapping) and value.get(name) not in (None, [], ()):
            warnings.warn(
                f"compile: {option} names the output {name!r}, which has no loss; it is left out.", stacklevel=4
            )


def _warn_of_unused(options: Any) -> None:
    """Warn of options for outputs if no output has a loss: they change nothing."""
    for option in ("metrics", "weighted_metrics", "loss_weights", "sample_weight_mode"):
        value = getattr(options, option)
        if value not in (None, [], ()) and not isinstance(value, Mapping):
            warnings.warn(
                f"compile: {option} is for outputs that have a loss, and none has: it is left out.", stacklevel=4
            )


def reported_names(targets: list[Target]) -> list[str]:
    """The names of the numbers that a step reports: `loss`, the losses of several outputs, the metrics."""
    each = [target.loss_name for target in targets if target.loss_name is not None]
    return ["loss", *each, *(measure.name for measure in measures_of(targets))]


def _unique(measures: list[Measure], prefix: str, taken: set[str], as_objects: bool) -> tuple[Measure, ...]:
    """Metrics under their full names, distinct and not `taken`: a second `acc` is `acc_1`.

    Functions with sample weights are `weighted_acc`, as in Keras 2.2.4. An object has its own name, as in Keras 3,
    unless that is taken.
    """
    result: list[Measure] = []
    for each in measures:
        base = prefix + each.name
        if each.weighted and (base in taken or not (each.keeps_state or as_objects)):
            base = f"{prefix}weighted_{each.name}"
        name, count = base, 0
        while name in taken:
            count += 1
            name = f"{base}_{count}"
        taken.add(name)
        result.append(replace(each, name=name))
    return tuple(result)


def _check_disjoint(targets: list[Target]) -> None:
    """Raise ValueError for one metric object that would count two outputs together."""
    seen: dict[int, str] = {}
    for each in measures_of(targets):
        if each.keeps_state and seen.setdefault(id(each.metric), each.name) != each.name:
            raise ValueError(
                f"compile: one object of the metric {each.metric.name!r} is given for {seen[id(each.metric)]!r} "
                f"and for {each.name!r}, and would count both together: make one for each."
            )


def _check_taken_back(targets: list[Target], policy: str) -> None:
    """Raise ValueError for a metric of torchmetrics, whose counts of a bad batch cannot be taken back."""
    for measure in measures_of(targets):
        if isinstance(measure.metric, TorchMetric):
            raise ValueError(
                f"compile: on_nonfinite={policy!r} cannot take back what {measure.name!r}, a metric in the manner of "
                "torchmetrics, has counted; use a metric of torchkeras.metrics."
            )


def check_units(graph: Graph, targets: Iterable[Target]) -> None:
    """Raise ValueError for an output that ends in a softmax over one unit, which is always 1."""
    for target in targets:
        output = graph.outputs[target.index]
        if output.shape[-1] == 1 and facts_of(output.keras_history.layer).ends_in == "softmax":
            raise ValueError(
                f"fit: the output {target.name!r} is a softmax over one unit, which is always 1: nothing can be "
                "learned. Use activation='sigmoid', or a unit for each class."
            )


def _logits(
    graph: Graph, output: KerasTensor, loss: Objective, measures: tuple[Measure, ...], exact: bool
) -> str | None:
    """The activation at the output's end, if a step can do without it; if `exact`, metrics may still apply it."""
    layer = output.keras_history.layer
    if graph.uses[output] != 1 or node_of(output).has_own_mode:
        return None
    activation: Any = facts_of(layer).ends_in
    if activation not in LOGITS or getattr(layer, "activity_regularizer", None) is not None:
        return None
    scores, suffices = [loss.given], is_exact_of
    if not exact:
        scores, suffices = [loss.given, *(each.metric for each in measures)], takes_logits
    for each in scores:
        if not suffices(activation, each):
            return None
    return activation


def by_output(value: Any, names: Sequence[str], owners: Sequence[str]) -> Any:
    """A dictionary by names of layers as one by names of outputs; anything else as it is.

    As in Keras 2, the name of a layer stands for all of its outputs, except for those with an entry of their own.
    """
    if not isinstance(value, Mapping) or "class_name" in value or list(names) == list(owners):
        return value
    by_layer = {name: value[owner] for name, owner in zip(names, owners, strict=True) if owner in value}
    return {**by_layer, **value}


def for_outputs(option: str, value: Any, names: list[str], share: bool = False) -> list[Any]:
    """One value for each output from a single one, a list, or a dictionary by output name."""
    if isinstance(value, Mapping) and "class_name" not in value:
        _check_output_names(option, value, names)
        return list(map(value.get, names))
    if isinstance(value, (list, tuple)):
        if len(value) != len(names):
            raise ValueError(
                f"compile: {option} has {len(value)} entries; the model has {len(names)} outputs: {', '.join(names)}."
            )
        return list(value)
    if value is not None and not share and len(names) > 1:
        raise ValueError(f"compile: {option} must be a list or a dictionary for several outputs; found {value!r}.")
    return [value] * len(names)


def _check_output_names(option: str, value: Mapping[str, Any], names: list[str]) -> None:
    """Raise ValueError for a key that is no name of an output."""
    unknown = [name for name in value if name not in names]
    if unknown:
        raise ValueError(f"compile: {option} names the output {unknown[0]!r}; the outputs are {', '.join(names)}.")


def metrics_for_outputs(option: str, value: Any, names: list[str], by_position: bool = False) -> list[list[Any]]:
    """A list of metrics for each output: one list for all, a list of lists, or a dictionary by output name.

    A collection of torchmetrics stands for a list. `by_position`: see `Numerics`.
    """
    if value is None:
        value = []
    if not isinstance(value, (list, tuple)) and is_collection(value):
        value = [value]
    if not isinstance(value, (list, tuple, Mapping)):
        raise TypeError(f"compile: {option} must be a list or a dictionary, such as [{value!r}]; found {value!r}.")
    by_output = isinstance(value, Mapping) or (by_position and len(names) > 1)
    if value and (by_output or all(isinstance(each, (list, tuple)) for each in value)):
        return list(map(as_list, for_outputs(option, value, names)))
    return [list(value) for _ in names]
