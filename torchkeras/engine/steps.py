"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch
from torch.nn.modules.module import _has_any_global_hook as has_any_global_hook

from torchkeras.activations import ITSELF
from torchkeras.engine.added import ADDED
from torchkeras.engine.compiled import Target
from torchkeras.engine.data import Batch
from torchkeras.engine.guard import Guard
from torchkeras.engine.measures import LOGITS
from torchkeras.engine.network import Network
from torchkeras.engine.objectives import mean_of, weighted_mean
from torchkeras.engine.symbol import as_list
from torchkeras.engine.weight import Variable
from torchkeras.losses.shared import carried
from torchkeras.metrics import Metric

NO_LOSS = "The model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."

Values = dict[str, torch.Tensor]
Step = Callable[[Batch], Values]


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a step needs to know of a compiled model, looked up once.

    `network` computes the model's outputs and, behind them, what the model's `add_loss` (`added_losses`, as many) and
    `add_metric` (`added_metrics`, by name) were given. `ends`: the modules whose hooks would see that an output's
    activation is left out. `own_loss`: a user's `compute_loss`, given batch, outputs, masks and all other losses.
    """

    network: Network
    targets: Sequence[Target]
    optimizer: Any
    parameters: list[torch.Tensor]
    regularized: list[Variable]
    constrained: list[Variable]
    details: bool  # some output has a mask, or some layer an activity regularizer
    added_losses: int = 0
    added_metrics: Sequence[str] = ()
    guard: Guard | None = None
    own_loss: Callable[..., torch.Tensor] | None = None
    ends: tuple[torch.nn.Module, ...] = ()
    logits: tuple[int, ...] = field(init=False)
    kept: Mapping[str, Metric] = field(init=False)  # the metrics with state, by name

    def __post_init__(self) -> None:
        object.__setattr__(self, "logits", tuple(target.index for target in self.targets if target.logits))
        measures = [measure for target in self.targets for measure in target.measures]
        object.__setattr__(self, "kept", {each.name: each.metric for each in measures if each.keeps_state})


def train_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward, gradients, update. Returns the reported numbers as device scalars, without metrics with state."""
    if recipe.guard is not None:
        return recipe.guard.watched(lambda: _train(recipe, batch), batch.size)
    return _train(recipe, batch)


def _train(recipe: Recipe, batch: Batch) -> Values:
    loss, values = losses(recipe, batch)
    minimize(recipe, loss, batch.size)
    return values


def minimize(recipe: Recipe, loss: torch.Tensor, samples: Any) -> None:
    """One update of the weights against the gradients of a loss over so many samples."""
    if not recipe.parameters:
        return
    guard, optimizer = recipe.guard, recipe.optimizer
    gradients: Any = torch.autograd.grad(loss, recipe.parameters, _one(loss.dtype, loss.device), allow_unused=True)
    with torch.no_grad():
        if guard is not None:
            gradients, samples = guard.judged(loss.detach(), gradients, samples, optimizer)
        updated = optimizer.apply(recipe.parameters, gradients, samples)
        if guard is not None:
            guard.applied(updated)
        if updated:
            constrain(recipe)


def constrain(recipe: Recipe) -> None:
    """Bring the weights back to where their constraints want them."""
    for variable in recipe.constrained:
        variable.assign(variable.constraint(variable.value))


@torch.no_grad()
def test_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward and losses. Returns what `train_step` does."""
    return losses(recipe, batch)[1]


@torch.no_grad()
def predict_step(network: Network, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs for a batch."""
    return as_list(network.run(inputs[0] if len(inputs) == 1 else inputs))


def losses(recipe: Recipe, batch: Batch) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and the reported numbers: the loss, each output's when there are several, metrics."""
    inputs = batch.inputs[0] if len(batch.inputs) == 1 else batch.inputs
    ADDED.begin()
    try:
        outputs, masks, extra = _forward(recipe, inputs)
    finally:
        by_layers, metrics_of_layers = ADDED.end()
    return _scored(recipe, batch, outputs, masks, [*extra, *by_layers], metrics_of_layers)


def _forward(recipe: Recipe, inputs: Any) -> tuple[list[Any], list[Any], list[torch.Tensor]]:
    logits = recipe.logits
    if logits and _observed(recipe.ends, inputs):
        logits = ()
    if recipe.details:
        outputs, masks, extra = recipe.network.run(inputs, details=True, logits=logits)
        outputs = as_list(outputs)
    else:
        outputs = as_list(recipe.network.run(inputs, logits=logits))
        masks, extra = [None] * len(outputs), []
    for target in recipe.targets if logits else ():
        if target.logits:
            outputs[target.index]._keras_activation = target.logits
            outputs[target.index]._keras_logits = ITSELF
    return outputs, masks, extra


def _observed(ends: Sequence[torch.nn.Module], inputs: Any) -> bool:
    """Whether something would see that an activation is left out: a hook, or autocast, which chooses types by it."""
    device = (inputs[0] if isinstance(inputs, list) else inputs).device.type
    if has_any_global_hook() or torch.is_autocast_enabled(device):
        return True
    for m in ends:
        if m._forward_hooks or m._forward_pre_hooks or m._backward_hooks or m._backward_pre_hooks:
            return True
        if "forward" in m.__dict__:
            return True
    return False


def _scored(
    recipe: Recipe,
    batch: Batch,
    outputs: list[torch.Tensor],
    masks: list[Any],
    extra: list[torch.Tensor],
    more: Mapping[str, torch.Tensor],
) -> tuple[torch.Tensor, Values]:
    total: Any = None
    values: Values = {}
    metrics: Values = {}
    given = zip(recipe.targets, batch.targets, batch.weights, strict=True) if recipe.targets else ()
    for target, true, weight in given:
        predicted, mask = outputs[target.index], masks[target.index]
        loss = target.objective(true, predicted, weight, mask)
        if target.reports_loss:
            values[f"{target.name}_loss"] = loss.detach()
        scaled = loss if target.weight == 1.0 else loss * target.weight
        total = scaled if total is None else total + scaled
        if target.measures:
            measured(target, true, predicted, weight, mask, metrics)
    for variable in recipe.regularized:
        penalty = variable.regularizer(variable.value)
        total = penalty if total is None else total + penalty
    count = len(outputs) - recipe.added_losses - len(recipe.added_metrics)
    behind = outputs[count:]
    extra = [*extra, *(loss.mean() for loss in behind[: recipe.added_losses])]
    for loss in extra:
        total = loss if total is None else total + loss
    for name, value in zip(recipe.added_metrics, behind[recipe.added_losses :], strict=True):
        metrics[name] = value.detach().mean(dtype=None if value.is_floating_point() else torch.float32)
    if recipe.own_loss is not None:
        total = recipe.own_loss(batch, outputs[:count], masks, extra)
    if total is None:
        raise RuntimeError(NO_LOSS)
    found = {"loss": total.detach(), **values, **metrics}
    for name in more:
        if name in found or name in recipe.kept:
            raise ValueError(
                f"A layer's add_metric has the name {name!r}, which another reported number has: rename it."
            )
    return total, {**found, **more}


@torch.no_grad()
def measured(target: Target, true: Any, predicted: Any, weight: Any, mask: Any, metrics: Values) -> None:
    """Count a batch in the metrics with a state; put the numbers of the others into `metrics`."""
    left_out = getattr(predicted, "_keras_logits", None) is ITSELF
    predicted = predicted if left_out else carried(predicted, torch.Tensor.detach)
    for measure in target.measures:
        used = weight if measure.weighted else None
        if measure.keeps_state:
            measure.metric.update_state(true, predicted, sample_weight=_with_mask(used, mask))
        else:
            function = LOGITS[target.logits or ""][measure.metric] if left_out else measure.metric
            if used is None and mask is None:
                metrics[measure.name] = mean_of(function, true, predicted)
            else:
                metrics[measure.name] = weighted_mean(function(true, predicted), used, mask)


def _with_mask(weight: Any, mask: Any) -> Any:
    """Weights of which the masked ones are 0; weight: (batch,) or (batch, time), mask: (batch, time)."""
    if mask is None or weight is None:
        return mask if weight is None else weight
    return weight.reshape(*weight.shape, *(1,) * (mask.dim() - weight.dim())) * mask


@lru_cache
def _one(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of a loss by itself, made once: left to autograd it is a kernel every step."""
    with torch.inference_mode(False):
        return torch.ones((), dtype=dtype, device=device)
