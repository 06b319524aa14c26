"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device.

`CompiledModel`, which `compile` makes, is all that a step needs to know of a model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch

from torchkeras.activations.logits import CARRYING, ITSELF, carried, exactly
from torchkeras.base.python import lazy_property
from torchkeras.base.torch_versions import has_any_global_hook, uncompiled
from torchkeras.base.tracing import compiled_somewhere, is_compiling, made_once
from torchkeras.data.batch import Batch
from torchkeras.data.target_kinds import FREE
from torchkeras.engine.dtypes import widened
from torchkeras.engine.facts import facts_of
from torchkeras.engine.graph.layer_calls import HookFreeCalls, has_hooks
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.modes import call_module, in_mode
from torchkeras.engine.step.loss_scale import LossScale
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.output_loss import Spread, is_by_sample, mean, mean_of, name_of, with_mask
from torchkeras.engine.step.output_metric import LOGITS
from torchkeras.engine.step.targets import Target, losses_and_metrics, measures_of
from torchkeras.engine.step.unchanged import checked
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.engine.weights.weight import Variable
from torchkeras.errors import LikelyMistakeWarning
from torchkeras.metrics import Metric
from torchkeras.world.one_process import CURRENT, ONE_REPLICA, OneReplica, sharing

NO_LOSS = "The model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."

Values = dict[str, torch.Tensor]
BatchStep = Callable[[Batch], Values]


@dataclass(eq=False)
class CompiledModel:
    """All that a step needs to know of a compiled model, looked up once by `compile`.

    `network` computes the model's outputs and, after them, the tensors of the model's `add_loss` (`added_losses` is
    their number) and `add_metric` (`added_metrics` are their names). `fed`: the indices of the targets that it takes
    after the inputs, for losses and metrics that it computes. `details`: some output has a mask, or some layer an
    activity regularizer. `own_loss`: a user's `compute_loss`, of the batch, outputs, masks and all other losses.
    `ends`: the modules whose hooks would see that an output's activation is left out. `widened`: the outputs of 16 bits
    that losses and metrics take as 32 bits. `scaling`: the loss scale, if layers train in float16.

    `train_pass`, `score`: the built-in training and test steps, plain or compiled by torch; None if the class has its
    own.
    `replicas`: the forward pass over the network and its gradients, by several processes or by one.
    `is_unbuilt`: whether the first call may build more weights. `looks_at_data`: whether `fit` looks for likely
    mistakes in the next data, `looks_at_losses`: in what losses of the user's compute, and `doubted`: those that it has
    warned of.
    `placed`: the devices and types of the parameters when the optimizer last saw them. `asking`: the ids of the
    parameters with `requires_grad` when the weights were last found to train as at `compile`. `predicting`: the
    prediction compiled by torch, once it is used. `settled`: the count of changed options that this object follows;
    `look_again()` follows later changes. `trackers`: the metrics that a class with a step of its own lists, by name.
    """

    network: Network
    targets: Sequence[Target]
    optimizer: Any
    parameters: list[torch.Tensor]
    regularized: list[Variable]
    constrained: list[Variable]
    details: bool
    added_losses: int = 0
    added_metrics: Sequence[str] = ()
    trackers: Mapping[str, Metric] = field(default_factory=dict)
    fed: Sequence[int] = ()
    guard: Guard | None = None
    own_loss: Callable[..., torch.Tensor] | None = None
    ends: tuple[torch.nn.Module, ...] = ()
    widened: tuple[int, ...] = ()
    scaling: LossScale | None = None
    train_pass: Any = None
    score: Any = None
    is_unbuilt: bool = False
    looks_at_data: bool = True
    looks_at_losses: bool = True
    doubted: set[str] = field(default_factory=set)
    placed: list[Any] | None = None
    asking: set[int] = field(default_factory=set)
    predicting: Any = None
    replicas: OneReplica = ONE_REPLICA
    settled: int = field(default_factory=lambda: SETTLED.count)
    look_again: Callable[[], None] = lambda: None

    def follow(self, penalized: list[Variable], constrained: list[Variable], details: bool) -> None:
        """Follow the options of layers: penalties, constraints and last activations as they are now."""
        self.regularized, self.constrained, self.details = penalized, constrained, self.details or details
        targets: list[Target] = []
        for target, layer in zip(self.targets, self.ends[2:], strict=True):
            if facts_of(layer).ends_in != target.logits:  # type: ignore[union-attr]
                target = target.with_activation()
            targets.append(target)
        self.targets = targets
        self.__dict__.pop("logits", None)
        # The function is written here, and first: torch.compile can follow neither that nor the choice of direct calls.
        generated = self.network._generated
        generated.function(generated.plain._replace(details=self.details, logits=self.logits))
        self.calls, self.settled = HookFreeCalls(self.network), SETTLED.count

    @lazy_property
    def logits(self) -> tuple[int, ...]:
        """The outputs whose activation a step leaves out."""
        return tuple(target.index for target in self.targets if target.logits)

    @lazy_property
    def exact(self) -> tuple[int, ...]:
        """The outputs whose crossentropies are exact."""
        return tuple(target.index for target in self.targets if target.exact)

    @lazy_property
    def kept(self) -> Mapping[str, Metric]:
        """The metrics with a state, by name: those of `compile`, and those that the model itself lists."""
        return {**{each.name: each.metric for each in measures_of(self.targets) if each.keeps_state}, **self.trackers}

    @lazy_property
    def by_sample(self) -> bool:
        """Whether loss and metrics are means over samples, and nothing is added to them."""
        if self.details or self.added_losses or self.added_metrics or self.own_loss or self._gathers_penalized():
            return False
        return len(self.targets) > 0 and all(map(is_by_sample, losses_and_metrics(self.targets)))

    def _gathers_penalized(self) -> bool:
        """Whether a penalty is on weights that processes share: all processes must gather these at once."""
        with in_mode(False):  # a computed weight must change nothing here
            return any(sharing().is_sharded(tensor) for variable in self.regularized for tensor in variable.tensors)

    @lazy_property
    def calls(self) -> HookFreeCalls:
        """How a step calls the network; made for the first step, and set again when a run begins."""
        return HookFreeCalls(self.network)


# --- steps ------------------------------------------------------------------------------------------------------------


AS_IT_IS = nullcontext()


class TrainPass(NamedTuple):
    """What a training batch gives: the loss, its gradients by the parameters, and the reported numbers.

    `outputs`: the outputs if their metrics are not among the numbers yet, and are left to the caller; else None.
    """

    loss: torch.Tensor
    gradients: Sequence[torch.Tensor | None]
    values: Values
    outputs: list[torch.Tensor] | None = None


TrainFunction = Callable[..., TrainPass]  # (model, batch, defer_metrics=False), as `train_pass`
Scorer = Callable[[CompiledModel, Batch], "tuple[torch.Tensor, Values]"]  # as `losses`


def train_pass(model: CompiledModel, batch: Batch, defer_metrics: bool = False) -> TrainPass:
    """Forward pass, loss, gradients and metrics; `defer_metrics`: without the metrics, if they `can_wait`."""
    passed = forward(model, batch)
    loss, values = scored(model, batch, passed.outputs, passed.masks, passed.losses)
    gradients = gradients_of(model, loss)
    with torch.no_grad():
        if defer_metrics and can_wait(batch, passed):
            outputs = [carried(each, torch.Tensor.detach) for each in passed.outputs]
            return TrainPass(loss.detach(), gradients, values, outputs)
        return TrainPass(loss.detach(), gradients, metrics(model, batch, passed, values))


def can_wait(batch: Batch, passed: ForwardPass) -> bool:
    """Whether the metrics of a batch may be computed together with those of later ones, for a model `by_sample`."""
    for weight in batch.weights:
        if weight is not None:
            return False
    return not (passed.losses or passed.metrics) and batch.size > 0


def train_step(model: CompiledModel, batch: Batch, train_pass: TrainFunction = train_pass) -> Values:
    """`train_pass`, and the update. Returns the reported numbers as device scalars, but for metrics with a state."""
    if model.settled != SETTLED.count:
        model.look_again()
    if model.guard is not None:
        return model.guard.watched(lambda: _train(model, batch, train_pass), batch.size)
    return _train(model, batch, train_pass)


def _train(model: CompiledModel, batch: Batch, train_pass: TrainFunction) -> Values:
    passed = train_pass(model, batch)
    with torch.no_grad():
        _update(model, passed.loss, passed.gradients, batch.size + batch.others)
    return passed.values


def minimize(model: CompiledModel, loss: torch.Tensor, samples: Any) -> None:
    """One update of the weights by the gradients of a loss over so many samples."""
    gradients = gradients_of(model, loss)
    with torch.no_grad():
        _update(model, loss.detach(), gradients, samples)


def gradients_of(model: CompiledModel, loss: torch.Tensor) -> Any:
    """The gradients of a loss (in float16 of the scaled loss) by the parameters.

    They are None for parameters that `requires_grad_(False)` has frozen since `compile`: these stay as they are.
    """
    training = [parameter for parameter in model.parameters if parameter.requires_grad]
    frozen = len(model.parameters) - len(training)
    if not (training and loss.requires_grad):
        if training and not frozen:
            raise _no_gradient(model.targets)
        return (None,) * len(model.parameters)
    one = None  # the gradient of the loss by itself: autograd makes it
    if model.scaling is not None:
        one = model.scaling.for_loss(loss)
    elif not (compiled_somewhere() and is_compiling()):
        one = _one(loss.dtype, loss.device)
    gradients = model.replicas.gradients(loss, training, one)
    if not frozen:
        return gradients
    found = iter(gradients)
    return tuple(next(found) if parameter.requires_grad else None for parameter in model.parameters)


def _no_gradient(targets: Sequence[Target]) -> ValueError:
    names = ", ".join(name_of(target.objective.function) for target in targets) or "of add_loss"
    return ValueError(
        f"The loss {names} has no gradient for any weight: something on the way from the weights to it, such as "
        "argmax, round or detach, has none."
    )


def _update(
    model: CompiledModel, loss: torch.Tensor | None, gradients: Any, samples: Any, are_scaled: bool = True
) -> Values:
    """An update by gradients, in float16 those of a scaled loss; `loss`: None if they were made by hand."""
    if not model.parameters:
        return {}
    guard, scaling, optimizer = model.guard, model.scaling, model.optimizer
    if are_scaled and scaling is not None:
        unscaled = partial(scaling.judged, loss, gradients, samples, optimizer)
        scaling.watched(lambda: _update(model, loss, *unscaled(), are_scaled=False), 0)
        return {}
    if guard is not None:
        gradients, samples = guard.judged(loss, gradients, samples, optimizer)
    updated = optimizer.update(model.parameters, gradients, samples)
    for each in (guard, scaling):
        if each is not None:
            each.applied(updated)
    if updated and model.constrained:
        constrain(model)
    return {}


def update_by_hand(model: CompiledModel, gradients: Sequence[torch.Tensor | None], samples: Any) -> None:
    """One update by gradients that the user's own step has computed, without a loss scale of ours in float16."""
    if any(gradient is not None for gradient in gradients):
        with torch.no_grad():
            _update(model, None, gradients, samples, are_scaled=False)


def constrain(model: CompiledModel) -> None:
    """Apply the constraints to the weights that train."""
    for variable in model.constrained:
        if variable.trains:
            variable.assign(variable.constraint(variable.array))


def predict_step(run: Callable[[Any], Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs for a batch, for a caller that records no gradients; `run` calls the model."""
    return as_list(run(unpacked(inputs)))


def losses(model: CompiledModel, batch: Batch) -> tuple[torch.Tensor, Values]:
    """The loss to minimize, and the reported numbers: the loss, the losses of several outputs, and the metrics."""
    return score(model, batch, forward(model, batch))


def test_step(model: CompiledModel, batch: Batch) -> Values:
    """Forward and losses; for a caller that records no gradients. Returns what `train_step` does."""
    return losses(model, batch)[1]


class ForwardPass(NamedTuple):
    """A forward pass: the outputs, their masks, further losses, and the metrics that layers added, by name."""

    outputs: list[Any]
    masks: list[Any]
    losses: list[torch.Tensor]
    metrics: Values


def forward(model: CompiledModel, batch: Batch) -> ForwardPass:
    """A pass over the inputs. Outputs whose activation is left out are marked as logits."""
    tensors = batch.inputs
    for place in model.fed:
        tensors = [*tensors, batch.targets[place]]
    inputs = tensors[0] if len(tensors) == 1 else tensors
    run, logits = _way(model, tensors[0])
    by_layers, metrics_of_layers = ADDED.taken = [], {}
    try:
        found = run(inputs, details=model.details, logits=logits)
    finally:
        ADDED.taken = None
    masks, extra, widen = None, (), model.widened
    if model.details:
        found, masks, extra = found
    outputs = list(found) if isinstance(found, (list, tuple)) else [found]
    if torch.is_autocast_enabled(tensors[0].device.type):  # the user's own region, where any layer may give 16 bits
        widen = range(len(outputs))
    for index in widen:
        outputs[index] = widened(outputs[index])
    if logits:
        _mark_logits(model, outputs)
    for index in model.exact:
        exactly(outputs[index])
    return ForwardPass(outputs, masks or [None] * len(outputs), [*extra, *by_layers], metrics_of_layers)


def _way(model: CompiledModel, first: torch.Tensor) -> tuple[Callable[..., Any], tuple[int, ...]]:
    """The function that passes forward over the network, and the outputs that it gives as logits.

    No activation is left out where a hook would see that, or under autocast, which depends on the operations. `first`:
    an input.
    """
    replicas = model.replicas if torch.is_grad_enabled() else ONE_REPLICA
    observed = not (compiled_somewhere() and is_compiling()) and model.calls.observed(replicas.hooks)
    run = partial(call_module, model.network) if observed else model.calls.unobserved
    run = replicas.passing(run)
    if model.exact:
        run = partial(_carrying, run)
    if torch.is_autocast_enabled(first.device.type):
        return run, ()
    if observed and (has_any_global_hook() or any(map(has_hooks, model.ends))):
        return run, ()
    return run, model.logits


def _carrying(run: Callable[..., Any], inputs: Any, **options: Any) -> Any:
    """`run(inputs)`, with the input of each softmax and sigmoid as an attribute of its result."""
    CARRYING.always = True
    try:
        return run(inputs, **options)
    finally:
        CARRYING.always = False


def _mark_logits(model: CompiledModel, outputs: list[Any]) -> None:
    """Mark each output that is logits with the activation that was left out."""
    for target in model.targets:
        if target.logits:
            marked = outputs[target.index]
            if len(outputs) > 1 and sum(each is marked for each in outputs) > 1:  # the logits are an output themselves
                marked = outputs[target.index] = marked.view_as(marked)
            marked._keras_activation, marked._keras_logits = target.logits, ITSELF


def score(model: CompiledModel, batch: Batch, passed: ForwardPass) -> tuple[torch.Tensor, Values]:
    """`losses`, for a forward pass."""
    total, found = scored(model, batch, passed.outputs, passed.masks, passed.losses)
    with torch.no_grad() if torch.is_grad_enabled() else AS_IT_IS:
        return total, metrics(model, batch, passed, found)


@made_once
def _one(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of a loss by itself, made once: autograd would run a kernel for it every step."""
    with torch.inference_mode(False):
        return torch.ones((), dtype=dtype, device=device)


# --- losses and metrics ----------------------------------------------------------------------------------------------


def scored(
    model: CompiledModel, batch: Batch, outputs: list[torch.Tensor], masks: list[Any], extra: list[torch.Tensor]
) -> tuple[torch.Tensor, Values]:
    """The loss to minimize, and the reported numbers: this loss, and those of several outputs."""
    terms: list[Any] = []
    values: Values = {}
    looks = model.looks_at_losses and not (compiled_somewhere() and is_compiling())
    for target, true, weight in zip(model.targets, batch.targets, batch.weights, strict=len(model.targets) > 0):
        compute = _watched_loss_of if looks and target.objective.is_users else _loss_of
        loss = compute(target, outputs[target.scored], true, weight, masks[target.index])
        if target.loss_name is not None:
            values[target.loss_name] = loss.detach()
        if target.is_weighted:
            loss = loss * target.weight
        terms.append(loss)
    if looks:
        model.looks_at_losses = False
    for variable in model.regularized:
        terms.append(variable.regularizer(variable.array))
        _check_penalty(terms[-1], variable.full_name)
    count = len(outputs) - model.added_losses - len(model.added_metrics)
    extra = [*extra, *map(torch.mean, outputs[count : count + model.added_losses])]
    for loss in extra:
        _check_penalty(loss, "an output")
    terms += extra
    if model.own_loss is not None:
        total = model.own_loss(batch, outputs[:count], masks, extra)
    elif terms:
        total, *others = terms  # torch.compile cannot follow functools.reduce on Python 3.14
        for other in others:
            total = total + other
    else:
        raise RuntimeError(NO_LOSS)
    return total, {"loss": total.detach(), **values}


def _loss_of(target: Target, predicted: torch.Tensor, true: Any, weight: Any, mask: Any) -> torch.Tensor:
    """The loss of an output. Raises ValueError if it does not depend on the output."""
    objective = target.objective
    if predicted.shape[:1] != true.shape[:1]:
        _check_count(target, predicted, true)
    compute = checked(objective.given, objective) if objective.is_users else objective
    loss = CURRENT.batch.value(objective, compute, true, predicted, weight, mask)
    if predicted.requires_grad and not loss.requires_grad and target.weight:
        raise _no_gradient([target])
    return loss


def _watched_loss_of(target: Target, predicted: torch.Tensor, true: Any, weight: Any, mask: Any) -> torch.Tensor:
    """`_loss_of`, with a warning where each target met each output."""
    with uncompiled(), Spread(true, predicted) as spread:
        loss = _loss_of(target, predicted, true, weight, mask)
    if spread.shapes is not None:
        loss_name, (of_targets, of_outputs) = name_of(target.objective.given), spread.shapes
        warnings.warn(
            f"fit: the loss {loss_name} computes with targets of the shape {of_targets} and outputs of {of_outputs}, "
            "so each target meets each output. Give both one shape.",
            LikelyMistakeWarning,
            stacklevel=2,
        )
    return loss


def _check_count(target: Target, predicted: torch.Tensor, true: Any) -> None:
    """Raise ValueError for an output with another number of samples than its targets, unless its loss is free."""
    if target.scored == target.index and target.objective.target_kind != FREE:
        raise ValueError(
            f"Output {target.name!r} has the shape {tuple(predicted.shape)} for a batch of {len(true)} samples: "
            "a layer of the model changes their number."
        )


def _check_penalty(penalty: Any, of: str) -> None:
    """Raise TypeError for a user's regularizer that does not give one number."""
    if isinstance(penalty, torch.Tensor) and penalty.dim():
        found = f"a tensor of shape {tuple(penalty.shape)}"
    elif isinstance(penalty, (torch.Tensor, int, float)):
        return
    else:
        found = type(penalty).__name__
    raise TypeError(f"The regularizer of {of} must return one number; found {found}.")


def metrics(model: CompiledModel, batch: Batch, passed: ForwardPass, values: Values) -> Values:
    """The reported numbers: `values`, then the metrics; for a caller that records no gradients."""
    found, outputs = {**values}, passed.outputs
    for target, true, weight in zip(model.targets, batch.targets, batch.weights, strict=len(model.targets) > 0):
        if target.measures:
            measured(target, true, outputs[target.index], weight, passed.masks[target.index], found, outputs)
    added = outputs[len(outputs) - len(model.added_metrics) :]
    for name, value in zip(model.added_metrics, added, strict=True):
        found[name] = mean(value.detach())
    for name in passed.metrics:
        if name in found or name in model.kept:
            raise ValueError(
                f"A layer's add_metric has the name {name!r}, which another reported number has: rename it."
            )
    return {**found, **passed.metrics}


def measured(
    target: Target, true: Any, predicted: Any, weight: Any, mask: Any, values: Values, outputs: Sequence[Any] = ()
) -> None:
    """Update the metrics that have a state; put the numbers of the others into `values`.

    For a caller that records no gradients. `outputs`: all outputs, if the graph computes metrics.
    """
    are_logits = getattr(predicted, "_keras_logits", None) is ITSELF
    if not are_logits:
        predicted = carried(predicted, torch.Tensor.detach)
    probabilities = predicted
    if target.links and (are_logits or not target.logits):
        probabilities = target.link(predicted)  # type: ignore[misc]  # where it links there is one
    for measure in target.measures:
        metric, seen = measure.metric, predicted
        if measure.scores is not None:
            seen = outputs[measure.scores]
        elif measure.of_probabilities:
            seen = probabilities
        elif are_logits and not measure.keeps_state:
            metric = LOGITS[target.logits or ""].get(metric, metric)
        compute: Callable[..., Any] = partial(mean_of, metric, by_feature=True)  # by feature as in Keras 2
        if measure.keeps_state:
            compute = partial(_update_metric, measure.metric)
        if measure.is_users:
            compute = checked(metric, compute)
        weight_of_measure = weight if measure.weighted else None
        if measure.keeps_state:
            CURRENT.batch.count(measure, compute, true, seen, weight_of_measure, mask)
        else:
            values[measure.name] = CURRENT.batch.value(measure, compute, true, seen, weight_of_measure, mask)


def _update_metric(metric: Metric, true: Any, predicted: Any, weight: Any, mask: Any) -> None:
    metric.update_state(true, predicted, sample_weight=with_mask(weight, mask))
