"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

from torchkeras.activations import ITSELF
from torchkeras.engine.added import ADDED
from torchkeras.engine.compiled import Target
from torchkeras.engine.data import Batch
from torchkeras.engine.guard import Guard
from torchkeras.engine.measures import LOGITS
from torchkeras.engine.network import Network
from torchkeras.engine.objectives import weighted_mean
from torchkeras.engine.symbol import as_list, unpacked
from torchkeras.engine.weight import Variable
from torchkeras.metrics import Metric

NO_LOSS = "The model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."

Values = dict[str, torch.Tensor]
Step = Callable[[Batch], Values]


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a step needs to know of a compiled model, looked up once.

    `network` computes the model's outputs and, behind them, what the model's `add_loss` (`added_losses`, as many) and
    `add_metric` (`added_metrics`, by name) were given.
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
    own_loss: Callable[..., torch.Tensor] | None = None  # a user's `compute_loss`
    logits: tuple[int, ...] = field(init=False)
    kept: Mapping[str, Metric] = field(init=False)  # the metrics with state, by name

    def __post_init__(self) -> None:
        object.__setattr__(self, "logits", tuple(target.index for target in self.targets if target.logits))
        measures = [measure for target in self.targets for measure in target.measures]
        object.__setattr__(self, "kept", {each.name: each.metric for each in measures if each.keeps_state})


def train_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward, gradients, update. Returns the reported numbers as device scalars, those of metrics with state left out."""
    if recipe.guard is not None:
        return recipe.guard.watched(lambda: _train(recipe, batch), batch.size)
    return _train(recipe, batch)[0]


def _train(recipe: Recipe, batch: Batch) -> tuple[Values, Sequence[torch.Tensor | None]]:
    loss, values = losses(recipe, batch)
    return values, minimize(recipe, loss, batch.size)


def minimize(recipe: Recipe, loss: torch.Tensor, samples: int) -> Sequence[torch.Tensor | None]:
    """One update of the weights against the gradients of a loss over so many samples; returns these."""
    if not recipe.parameters:
        return ()
    gradients = torch.autograd.grad(loss, recipe.parameters, _one(loss.dtype, loss.device), allow_unused=True)
    with torch.no_grad():
        if recipe.optimizer.apply(recipe.parameters, gradients, samples):
            constrain(recipe)
    return gradients


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
    if recipe.details:
        outputs, masks, extra = recipe.network.run(inputs, details=True, logits=recipe.logits)
        return as_list(outputs), masks, extra
    outputs = as_list(recipe.network.run(inputs, logits=recipe.logits))
    return outputs, [None] * len(outputs), []


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
    for target, true, weight in zip(recipe.targets, batch.targets, batch.weights, strict=True):
        predicted, mask = outputs[target.index], masks[target.index]
        if target.logits:
            predicted._keras_activation, predicted._keras_logits = target.logits, ITSELF  # type: ignore[attr-defined]
        loss = target.objective(true, predicted, weight, mask)
        if target.reports_loss:
            values[f"{target.name}_loss"] = loss.detach()
        scaled = loss if target.weight == 1.0 else loss * target.weight
        total = scaled if total is None else total + scaled
        if target.measures:
            _measured(target, true, predicted, weight, mask, metrics)
    for variable in recipe.regularized:
        penalty = variable.regularizer(variable.value)
        total = penalty if total is None else total + penalty
    behind = outputs[len(outputs) - recipe.added_losses - len(recipe.added_metrics) :]
    for loss in (*extra, *(loss.mean() for loss in behind[: recipe.added_losses])):
        total = loss if total is None else total + loss
    for name, value in zip(recipe.added_metrics, behind[recipe.added_losses :], strict=True):
        metrics[name] = value.detach().mean(dtype=None if value.is_floating_point() else torch.float32)
    if recipe.own_loss is not None:
        weights = None if all(weight is None for weight in batch.weights) else unpacked(batch.weights)
        total = recipe.own_loss(unpacked(batch.inputs), unpacked(batch.targets), unpacked(outputs), weights)
    if total is None:
        raise RuntimeError(NO_LOSS)
    return total, {"loss": total.detach(), **values, **metrics, **more}


@torch.no_grad()
def _measured(target: Target, true: Any, predicted: Any, weight: Any, mask: Any, metrics: Values) -> None:
    predicted = predicted.detach() if not target.logits else predicted
    for measure in target.measures:
        used = weight if measure.weighted else None
        if measure.keeps_state:
            measure.metric.update_state(true, predicted, sample_weight=_with_mask(used, mask))
        else:
            function = LOGITS[target.logits][measure.metric] if target.logits else measure.metric
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
