"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from torchkeras.engine.compiled import Target
from torchkeras.engine.data import Batch
from torchkeras.engine.network import Network
from torchkeras.engine.symbol import as_list
from torchkeras.engine.weight import Variable

Values = list[torch.Tensor]
Step = Callable[[Batch], Values]


@dataclass(frozen=True, eq=False)
class Recipe:
    """All that a step needs to know of a compiled model, looked up once."""

    network: Network
    targets: Sequence[Target]
    optimizer: Any
    parameters: list[torch.Tensor]
    regularized: list[Variable]
    constrained: list[Variable]
    details: bool  # some output has a mask, or some layer an activity regularizer


def train_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward, gradients, update. Returns the reported numbers as device scalars."""
    loss, values = _losses(recipe, batch)
    if recipe.parameters:
        gradients = torch.autograd.grad(loss, recipe.parameters, _one(loss.dtype, loss.device), allow_unused=True)
        with torch.no_grad():
            recipe.optimizer.apply(recipe.parameters, gradients)
            for variable in recipe.constrained:
                variable.assign(variable.constraint(variable.value))
    return values


@torch.no_grad()
def test_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward and losses. Returns the reported numbers as device scalars."""
    return _losses(recipe, batch)[1]


@torch.no_grad()
def predict_step(network: Network, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs for a batch."""
    return as_list(network.run(inputs[0] if len(inputs) == 1 else inputs))


def _losses(recipe: Recipe, batch: Batch) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and the reported numbers: the loss, each output's when there are several, metrics."""
    inputs = batch.inputs[0] if len(batch.inputs) == 1 else batch.inputs
    if recipe.details:
        outputs, masks, extra = recipe.network.run(inputs, details=True)
        outputs = as_list(outputs)
    else:
        outputs, extra = as_list(recipe.network.run(inputs)), []
        masks = [None] * len(outputs)
    total: Any = None
    each: Values = []
    metrics: Values = []
    for target, true, weight in zip(recipe.targets, batch.targets, batch.weights, strict=True):
        predicted, mask = outputs[target.index], masks[target.index]
        loss = weighted_mean(target.loss(true, predicted), weight, mask)
        if target.reports_loss:
            each.append(loss.detach())
        scaled = loss if target.weight == 1.0 else loss * target.weight
        total = scaled if total is None else total + scaled
        if target.metrics:
            with torch.no_grad():
                metrics += [
                    weighted_mean(metric.function(true, predicted), weight if metric.weighted else None, mask)
                    for metric in target.metrics
                ]
    for variable in recipe.regularized:
        total = total + variable.regularizer(variable.value)
    for loss in extra:
        total = total + loss
    return total, [total.detach(), *each, *metrics]


@lru_cache
def _one(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of a loss by itself, made once: left to autograd it is a kernel every step."""
    with torch.inference_mode(False):
        return torch.ones((), dtype=dtype, device=device)


def weighted_mean(scores: torch.Tensor, weight: torch.Tensor | None, mask: torch.Tensor | None) -> torch.Tensor:
    """Keras's mean over samples: masked scores count 0 in a mean over the unmasked, weights of 0 are left out of it.

    scores: (batch, ...), True counted as 1; weight: (batch,) or (batch, time); mask: (batch, time).
    """
    if scores.dtype == torch.bool:
        if mask is None and weight is None:
            return scores.mean(dtype=torch.float32)
        scores = scores.float()
    if mask is not None:
        mask = mask.to(scores.dtype)
        scores = scores * mask / mask.mean()
    if weight is not None:
        if scores.dim() > weight.dim():
            scores = scores.flatten(weight.dim()).mean(-1)
        weight = weight.to(scores.dtype)
        scores = scores * weight / (weight != 0).to(scores.dtype).mean()
    return scores.mean()
