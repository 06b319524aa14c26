"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial, reduce
from operator import add
from typing import Any, NamedTuple

import torch

from torchkeras.activations import CARRYING, ITSELF
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.data.batch import Batch
from torchkeras.data.target_kinds import FREE
from torchkeras.engine.dtypes import widened
from torchkeras.engine.graph.hook_free_calls import has_any_global_hook, has_hooks
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.modes import call_module
from torchkeras.engine.step.compiled_model import NO_LOSS, CompiledModel, Values
from torchkeras.engine.step.output_loss import Score, mean_of, name_of, scores_of, weighted_mean, with_mask
from torchkeras.engine.step.output_metric import LOGITS
from torchkeras.engine.step.targets import Target
from torchkeras.engine.step.unchanged import checked
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.losses.shared import carried, exactly
from torchkeras.metrics import Metric
from torchkeras.world.one_process import CURRENT, ONE_REPLICA

AS_IT_IS = nullcontext()


class Learned(NamedTuple):
    """What a batch says to an optimizer: the loss, its gradients by the parameters; and the reported numbers.

    `outputs`: those whose metrics are left to the caller and are not among the numbers; None where they are.
    """

    loss: torch.Tensor
    gradients: Sequence[torch.Tensor | None]
    values: Values
    outputs: list[torch.Tensor] | None = None


Learner = Callable[..., Learned]  # (model, batch, late=False), as `learn`
Scorer = Callable[[CompiledModel, Batch], "tuple[torch.Tensor, Values]"]  # as `losses`


def learn(model: CompiledModel, batch: Batch, late: bool = False) -> Learned:
    """Forward, loss, gradients, metrics; with `late`, for a model that is `by_sample`, without those that can wait."""
    passed = forward(model, batch)
    loss, values = scored(model, batch, passed.outputs, passed.masks, passed.losses)
    gradients = gradients_of(model, loss)
    with torch.no_grad():
        if late and can_wait(batch, passed):
            return Learned(
                loss.detach(), gradients, values, [carried(each, torch.Tensor.detach) for each in passed.outputs]
            )
        return Learned(loss.detach(), gradients, metrics(model, batch, passed, values))


def can_wait(batch: Batch, passed: Pass) -> bool:
    """Whether numbers of a batch may be computed with those of others, for a model that is `by_sample`."""
    for weight in batch.weights:
        if weight is not None:
            return False
    return not (passed.losses or passed.metrics) and batch.size > 0


def train_step(model: CompiledModel, batch: Batch, learn: Learner = learn) -> Values:
    """What is learned, and the update. Returns the reported numbers as device scalars, without metrics with state."""
    if model.settled != SETTLED.count and model.look_again is not None:
        model.look_again()
    if model.guard is not None:
        return model.guard.watched(lambda: _train(model, batch, learn), batch.size)
    return _train(model, batch, learn)


def _train(model: CompiledModel, batch: Batch, learn: Learner) -> Values:
    learned = learn(model, batch)
    with torch.no_grad():
        _update(model, learned.loss, learned.gradients, batch.size + batch.others)
    return learned.values


def minimize(model: CompiledModel, loss: torch.Tensor, samples: Any) -> None:
    """One update of the weights against the gradients of a loss over so many samples."""
    gradients = gradients_of(model, loss)
    with torch.no_grad():
        _update(model, loss.detach(), gradients, samples)


def gradients_of(model: CompiledModel, loss: torch.Tensor, some: list[torch.Tensor] | None = None) -> Any:
    """The gradients of a loss, of its scaled one in float16, by the parameters that train, or by `some` of them."""
    parameters = some or model.parameters
    if not parameters:
        return ()
    if not all([parameter.requires_grad for parameter in parameters]):  # noqa: C419  # what torch.compile follows
        return _gradients_of_some(model, loss)
    if not loss.requires_grad:
        raise _no_gradient(", ".join(name_of(each.objective.function) for each in model.targets))
    one = None  # the gradient of the loss by itself, left to autograd
    if model.scaling is not None:
        one = model.scaling.for_loss(loss)
    elif not (compiled_somewhere() and is_compiling()):
        one = _one(loss.dtype, loss.device)
    return model.replicas.gradients(loss, parameters, one)


def _gradients_of_some(model: CompiledModel, loss: torch.Tensor) -> Any:
    """As `gradients_of`, where some parameters were frozen since `compile`, by `requires_grad_(False)`.

    Without a gradient they stay as they are.
    """
    training = [parameter for parameter in model.parameters if parameter.requires_grad]
    if not (training and loss.requires_grad):  # nothing that the loss depends on trains any more
        return (None,) * len(model.parameters)
    found = iter(gradients_of(model, loss, training))
    return tuple(next(found) if parameter.requires_grad else None for parameter in model.parameters)


def _no_gradient(names: str) -> ValueError:
    return ValueError(
        f"The loss {names} has no gradient for any weight: something on the way from the weights to it, such as "
        "argmax, round or detach, has none."
    )


def _update(
    model: CompiledModel, loss: torch.Tensor | None, gradients: Any, samples: Any, are_scaled: bool = True
) -> Values:
    """An update by gradients, of a scaled loss in float16; `loss`: None where they were made by hand."""
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
    """One update by gradients that a step of the user's own has computed; float16's loss scale is left to it too."""
    if any(gradient is not None for gradient in gradients):
        with torch.no_grad():
            _update(model, None, gradients, samples, are_scaled=False)


def constrain(model: CompiledModel) -> None:
    """Bring the weights back to where their constraints want them."""
    for variable in model.constrained:
        if variable.trains:
            variable.assign(variable.constraint(variable.array))


def predict_step(run: Callable[[Any], Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs for a batch, for a caller that records no gradients; `run`: what calls the model."""
    return as_list(run(inputs[0] if len(inputs) == 1 else inputs))


def losses(model: CompiledModel, batch: Batch) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and the reported numbers: the loss, each output's when there are several, metrics."""
    return score(model, batch, forward(model, batch))


def test_step(model: CompiledModel, batch: Batch) -> Values:
    """Forward and losses; for a caller that records no gradients. Returns what `train_step` does."""
    return losses(model, batch)[1]


class Pass(NamedTuple):
    """What a forward pass gave: outputs, their masks, further losses, what layers added to the metrics by name."""

    outputs: list[Any]
    masks: list[Any]
    losses: list[torch.Tensor]
    metrics: Values


def forward(model: CompiledModel, batch: Batch) -> Pass:
    """A pass over the inputs. Outputs whose activation is left out are marked as logits."""
    tensors = batch.inputs
    if model.fed:
        tensors = [*tensors, *(batch.targets[place] for place in model.fed)]
    run, logits = _way(model, tensors[0])
    by_layers, metrics_of_layers = ADDED.taken = [], {}
    try:
        found = run(tensors[0] if len(tensors) == 1 else tensors, details=model.details, logits=logits)
    finally:
        ADDED.taken = None
    outputs, masks, extra = found if model.details else (found, None, ())
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    in_region = torch.is_autocast_enabled(tensors[0].device.type)  # of the user's own, in which any layer gives 16 bits
    for index in range(len(outputs)) if in_region else model.widened:
        outputs[index] = widened(outputs[index])
    if logits:
        _mark_logits(model, outputs)
    for index in model.exact:
        exactly(outputs[index])
    return Pass(outputs, masks or [None] * len(outputs), [*extra, *by_layers], metrics_of_layers)


def _way(model: CompiledModel, first: torch.Tensor) -> tuple[Callable[..., Any], tuple[int, ...]]:
    """What passes forward over the network, and the outputs of which it gives the logits.

    A hook would see that an activation is left out. So would autocast, which chooses types by it. `first`: an input.
    """
    replicas = model.replicas if torch.is_grad_enabled() else ONE_REPLICA
    # What is traced was looked at before.
    observed = not (compiled_somewhere() and is_compiling()) and model.calls.observed(replicas.hooks)
    run = replicas.passing(partial(call_module, model.network) if observed else model.calls.unobserved)
    if model.exact:
        run = partial(_carrying, run)
    if torch.is_autocast_enabled(first.device.type):
        return run, ()
    if observed and (has_any_global_hook() or any(map(has_hooks, model.ends))):
        return run, ()
    return run, model.logits


def _carrying(run: Callable[..., Any], inputs: Any, **options: Any) -> Any:
    """`run(inputs)`, in which each softmax and sigmoid leaves its input on its result."""
    CARRYING.always = True
    try:
        return run(inputs, **options)
    finally:
        CARRYING.always = False


def _mark_logits(model: CompiledModel, outputs: list[Any]) -> None:
    """Say on each output that is logits which activation was left out."""
    for target in model.targets:
        if target.logits:
            marked = outputs[target.index]
            if len(outputs) > 1 and sum(each is marked for each in outputs) > 1:  # the logits are an output themselves
                marked = outputs[target.index] = marked.view_as(marked)
            marked._keras_activation, marked._keras_logits = target.logits, ITSELF


def score(model: CompiledModel, batch: Batch, passed: Pass) -> tuple[torch.Tensor, Values]:
    """What `losses` gives, of a forward pass."""
    total, found = scored(model, batch, passed.outputs, passed.masks, passed.losses)
    with torch.no_grad() if torch.is_grad_enabled() else AS_IT_IS:
        return total, metrics(model, batch, passed, found)


@lru_cache
def _one(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of a loss by itself, made once: left to autograd it is a kernel every step."""
    with torch.inference_mode(False):
        return torch.ones((), dtype=dtype, device=device)


# --- what outputs are worth ------------------------------------------------------------------------------------------


def scored(
    model: CompiledModel, batch: Batch, outputs: list[torch.Tensor], masks: list[Any], extra: list[torch.Tensor]
) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and it with that of each output as reported numbers."""
    terms: list[Any] = []
    values: Values = {}
    for target, true, weight in zip(model.targets, batch.targets, batch.weights, strict=len(model.targets) > 0):
        loss = _loss_of(target, outputs[target.scored], true, weight, masks[target.index])
        if target.reports_loss:
            values[f"{target.name}_loss"] = loss.detach()
        terms.append(loss if type(target.weight) is float and target.weight == 1.0 else loss * target.weight)
    for variable in model.regularized:
        terms.append(variable.regularizer(variable.array))
        _check_penalty(terms[-1], variable.full_name)
    count = len(outputs) - model.added_losses - len(model.added_metrics)
    extra = [*extra, *map(torch.mean, outputs[count : count + model.added_losses])]
    for loss in extra:
        _check_penalty(loss, "an output")
    terms += extra
    total: Any = None
    if model.own_loss is not None:
        total = model.own_loss(batch, outputs[:count], masks, extra)
    elif terms:
        total = reduce(add, terms)
    if total is None:
        raise RuntimeError(NO_LOSS)
    return total, {"loss": total.detach(), **values}


def _loss_of(target: Target, predicted: torch.Tensor, true: Any, weight: Any, mask: Any) -> torch.Tensor:
    """The loss of an output. Raises ValueError for one that its output has no influence on."""
    objective = target.objective
    if predicted.shape[:1] != true.shape[:1]:
        _check_count(target, predicted, true)
    compute = checked(objective.given, objective) if objective.is_users else objective
    loss = CURRENT.batch.value(objective, compute, true, predicted, weight, mask)
    if predicted.requires_grad and not loss.requires_grad and target.weight:
        raise _no_gradient(name_of(objective.function))
    return loss


def _check_count(target: Target, predicted: torch.Tensor, true: Any) -> None:
    """Raise ValueError for an output of another number of samples than its targets, but for a free loss."""
    if target.scores is None and target.objective.target_kind != FREE:
        raise ValueError(
            f"Output {target.name!r} has the shape {tuple(predicted.shape)} for a batch of {len(true)} samples: "
            "a layer of the model changes their number."
        )


def _check_penalty(penalty: Any, of: str) -> None:
    """Raise TypeError for a regularizer of the user's that gives no number, or several."""
    if not isinstance(penalty, (torch.Tensor, int, float)) or (isinstance(penalty, torch.Tensor) and penalty.dim()):
        several = isinstance(penalty, torch.Tensor)
        found = f"a tensor of shape {tuple(penalty.shape)}" if several else type(penalty).__name__
        raise TypeError(f"The regularizer of {of} must return one number; found {found}.")


def metrics(model: CompiledModel, batch: Batch, passed: Pass, values: Values) -> Values:
    """The reported numbers: `values`, those of losses, in front, then the metrics. No gradients are to be recorded."""
    found, outputs = {**values}, passed.outputs
    for target, true, weight in zip(model.targets, batch.targets, batch.weights, strict=len(model.targets) > 0):
        if target.measures:
            measured(target, true, outputs[target.index], weight, passed.masks[target.index], found, outputs)
    added = outputs[len(outputs) - len(model.added_metrics) :]
    for name, value in zip(model.added_metrics, added, strict=True):
        found[name] = value.detach().mean(dtype=None if value.is_floating_point() else torch.float32)
    for name in passed.metrics:
        if name in found or name in model.kept:
            raise ValueError(
                f"A layer's add_metric has the name {name!r}, which another reported number has: rename it."
            )
    return {**found, **passed.metrics}


def measured(
    target: Target, true: Any, predicted: Any, weight: Any, mask: Any, values: Values, outputs: Sequence[Any] = ()
) -> None:
    """Count a batch in the metrics with a state; put the numbers of the others into `values`.

    For a caller that records no gradients. `outputs`: all, where the graph computes metrics.
    """
    left_out = getattr(predicted, "_keras_logits", None) is ITSELF
    if not left_out:
        predicted = carried(predicted, torch.Tensor.detach)
    probabilities: Any = None
    if target.links and (left_out or not target.logits):
        probabilities = target.link(predicted)  # type: ignore[misc]  # where it links there is one
    for measure in target.measures:
        metric, seen = measure.metric, predicted if measure.scores is None else outputs[measure.scores]
        if measure.of_probabilities:
            seen = seen if probabilities is None else probabilities
        elif left_out and not measure.keeps_state:
            metric = LOGITS[target.logits or ""].get(metric, metric)
        compute = partial(_update_metric if measure.keeps_state else _mean, metric)
        if measure.is_users:
            compute = checked(metric, compute)
        given = true, seen, weight if measure.weighted else None, mask
        if measure.keeps_state:
            CURRENT.batch.count(measure, compute, *given)
        else:
            values[measure.name] = CURRENT.batch.value(measure, compute, *given)


def _update_metric(metric: Metric, true: Any, predicted: Any, weight: Any, mask: Any) -> None:
    metric.update_state(true, predicted, sample_weight=with_mask(weight, mask))


def _mean(function: Score, true: Any, seen: Any, weight: Any, mask: Any) -> torch.Tensor:
    if weight is None and mask is None:
        return mean_of(function, true, seen, by_feature=True)  # as in Keras 2
    return weighted_mean(scores_of(function, true, seen), weight, mask)
