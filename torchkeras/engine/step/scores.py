"""What a batch's outputs are worth: the loss to be minimized, and the numbers that are reported."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras.activations import ITSELF
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.step.compiled_model import NO_LOSS, Recipe, Values
from torchkeras.engine.step.output_loss import mean_of, weighted_mean
from torchkeras.engine.step.output_metric import LOGITS
from torchkeras.engine.step.targets import Target
from torchkeras.losses.shared import carried


def scored(
    recipe: Recipe, batch: Batch, outputs: list[torch.Tensor], masks: list[Any], extra: list[torch.Tensor]
) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and it with that of each output as reported numbers."""
    total: Any = None
    values: Values = {}
    for target, true, weight in zip(recipe.targets, batch.targets, batch.weights, strict=bool(recipe.targets)):
        loss = target.objective(true, outputs[target.index], weight, masks[target.index])
        if target.reports_loss:
            values[f"{target.name}_loss"] = loss.detach()
        scaled = loss if target.weight == 1.0 else loss * target.weight
        total = scaled if total is None else total + scaled
    for variable in recipe.regularized:
        penalty = variable.regularizer(variable.value)
        total = penalty if total is None else total + penalty
    count = len(outputs) - recipe.added_losses - len(recipe.added_metrics)
    extra = [*extra, *(loss.mean() for loss in outputs[count : count + recipe.added_losses])]
    for loss in extra:
        total = loss if total is None else total + loss
    if recipe.own_loss is not None:
        total = recipe.own_loss(batch, outputs[:count], masks, extra)
    if total is None:
        raise RuntimeError(NO_LOSS)
    return total, {"loss": total.detach(), **values}


def metrics(recipe: Recipe, batch: Batch, outputs: list[torch.Tensor], masks: list[Any]) -> Values:
    """The metrics of a batch."""
    values: Values = {}
    for target, true, weight in zip(recipe.targets, batch.targets, batch.weights, strict=bool(recipe.targets)):
        if target.measures:
            measured(target, true, outputs[target.index], weight, masks[target.index], values)
    behind = outputs[len(outputs) - len(recipe.added_metrics) :]
    for name, value in zip(recipe.added_metrics, behind, strict=True):
        values[name] = value.detach().mean(dtype=None if value.is_floating_point() else torch.float32)
    return values


def measured(target: Target, true: Any, predicted: Any, weight: Any, mask: Any, values: Values) -> None:
    """Count a batch in the metrics with a state; put the numbers of the others into `values`.

    For a caller that records no gradients.
    """
    left_out = getattr(predicted, "_keras_logits", None) is ITSELF
    predicted = predicted if left_out else carried(predicted, torch.Tensor.detach)
    for measure in target.measures:
        used = weight if measure.weighted else None
        if measure.keeps_state:
            measure.metric.update_state(true, predicted, sample_weight=_with_mask(used, mask))
        else:
            function = LOGITS[target.logits or ""][measure.metric] if left_out else measure.metric
            if used is None and mask is None:
                values[measure.name] = mean_of(function, true, predicted)
            else:
                values[measure.name] = weighted_mean(function(true, predicted), used, mask)


def _with_mask(weight: Any, mask: Any) -> Any:
    """Weights of which the masked ones are 0; weight: (batch,) or (batch, time), mask: (batch, time)."""
    if mask is None or weight is None:
        return mask if weight is None else weight
    return weight.reshape(*weight.shape, *(1,) * (mask.dim() - weight.dim())) * mask
