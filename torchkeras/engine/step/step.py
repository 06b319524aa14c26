"""Train, test and predict steps: what happens to one batch. Nothing here waits for the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from torchkeras.activations import ITSELF
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.graph.hook_free_calls import has_any_global_hook, has_hooks
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.layer.dtypes import widened
from torchkeras.engine.layer.symbolic import as_list
from torchkeras.engine.layer.tracing import traced
from torchkeras.engine.step.compiled_model import Recipe, Values
from torchkeras.engine.step.scores import metrics, scored
from torchkeras.losses.shared import carried

AS_IT_IS = nullcontext()


class Learned(NamedTuple):
    """What a batch tells an optimizer: the loss, its gradients by the recipe's parameters; and the reported numbers.

    `outputs`: those whose metrics are left to the caller and are not among the numbers; None where they are.
    """

    loss: torch.Tensor
    gradients: Sequence[torch.Tensor | None]
    values: Values
    outputs: list[torch.Tensor] | None = None


Learner = Callable[..., Learned]  # (recipe, batch, late=False), as `learn`
Scorer = Callable[[Recipe, Batch], "tuple[torch.Tensor, Values]"]  # as `losses`


def learn(recipe: Recipe, batch: Batch, late: bool = False) -> Learned:
    """Forward, loss, gradients, metrics; with `late`, for a recipe that is `by_sample`, without those that can wait."""
    passed = forward(recipe, batch.inputs)
    loss, values = scored(recipe, batch, passed.outputs, passed.masks, passed.losses)
    gradients = gradients_of(recipe, loss)
    with torch.no_grad():
        if late and can_wait(batch, passed):
            return Learned(
                loss.detach(), gradients, values, [carried(each, torch.Tensor.detach) for each in passed.outputs]
            )
        return Learned(loss.detach(), gradients, _with_metrics(recipe, batch, passed, values))


def can_wait(batch: Batch, passed: Pass) -> bool:
    """Whether numbers of a batch may be computed with those of others, for a recipe that is `by_sample`."""
    return not (passed.losses or passed.metrics or any(weight is not None for weight in batch.weights))


def train_step(recipe: Recipe, batch: Batch, learn: Learner = learn) -> Values:
    """What is learned, and the update. Returns the reported numbers as device scalars, without metrics with state."""
    if recipe.guard is not None:
        return recipe.guard.watched(lambda: _train(recipe, batch, learn), batch.size)
    return _train(recipe, batch, learn)


def _train(recipe: Recipe, batch: Batch, learn: Learner) -> Values:
    learned = learn(recipe, batch)
    with torch.no_grad():
        _update(recipe, learned.loss, learned.gradients, batch.size)
    return learned.values


def minimize(recipe: Recipe, loss: torch.Tensor, samples: Any) -> None:
    """One update of the weights against the gradients of a loss over so many samples."""
    gradients = gradients_of(recipe, loss)
    with torch.no_grad():
        _update(recipe, loss.detach(), gradients, samples)


def gradients_of(recipe: Recipe, loss: torch.Tensor) -> Any:
    """The gradients of a loss, of its scaled one in float16, by the recipe's parameters."""
    if not recipe.parameters:
        return ()
    if recipe.scaling is not None:
        one = recipe.scaling.for_loss(loss)
    else:
        one = None if traced() else _one(loss.dtype, loss.device)
    parameters = recipe.parameters
    if all([parameter.requires_grad for parameter in parameters]):  # noqa: C419  # what torch.compile follows
        return torch.autograd.grad(loss, parameters, one, allow_unused=True)
    # Some were frozen since `compile`, by `requires_grad_(False)`: without a gradient they stay as they are.
    training = [parameter for parameter in parameters if parameter.requires_grad]
    found = iter(torch.autograd.grad(loss, training, one, allow_unused=True) if training else ())
    return tuple(next(found) if parameter.requires_grad else None for parameter in parameters)


def _update(recipe: Recipe, loss: torch.Tensor, gradients: Any, samples: Any) -> None:
    if not recipe.parameters:
        return
    scaling = recipe.scaling
    if scaling is None:
        _apply(recipe, loss, gradients, samples)
    else:
        scaling.watched(lambda: _apply(recipe, loss, *scaling.judged(loss, gradients, samples, recipe.optimizer)), 0)


def update_by_hand(recipe: Recipe, gradients: Sequence[torch.Tensor | None], samples: Any) -> None:
    """One update by gradients that a step of the user's own has computed; float16's loss scale is left to it too."""
    if any(gradient is not None for gradient in gradients):
        with torch.no_grad():
            _apply(recipe, None, gradients, samples)


def _apply(recipe: Recipe, loss: torch.Tensor | None, gradients: Any, samples: Any) -> Values:
    guard, optimizer = recipe.guard, recipe.optimizer
    if guard is not None:
        gradients, samples = guard.judged(loss, gradients, samples, optimizer)
    updated = optimizer.update(recipe.parameters, gradients, samples)
    for each in (guard, recipe.scaling):
        if each is not None:
            each.applied(updated)
    if updated:
        constrain(recipe)
    return {}


def constrain(recipe: Recipe) -> None:
    """Bring the weights back to where their constraints want them."""
    for variable in recipe.constrained:
        if variable.trains:
            variable.assign(variable.constraint(variable.value))


def predict_step(run: Callable[[Any], Any], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The outputs for a batch, for a caller that records no gradients; `run`: what calls the model."""
    return as_list(run(inputs[0] if len(inputs) == 1 else inputs))


def losses(recipe: Recipe, batch: Batch) -> tuple[torch.Tensor, Values]:
    """The loss to be minimized, and the reported numbers: the loss, each output's when there are several, metrics."""
    return score(recipe, batch, forward(recipe, batch.inputs))


def test_step(recipe: Recipe, batch: Batch) -> Values:
    """Forward and losses; for a caller that records no gradients. Returns what `train_step` does."""
    return losses(recipe, batch)[1]


class Pass(NamedTuple):
    """What a forward pass gave: outputs, their masks, further losses, what layers added to the metrics by name."""

    outputs: list[Any]
    masks: list[Any]
    losses: list[torch.Tensor]
    metrics: Values


def forward(recipe: Recipe, tensors: list[torch.Tensor]) -> Pass:
    """A pass over the inputs. Outputs whose activation is left out are marked as logits."""
    inputs = tensors[0] if len(tensors) == 1 else tensors
    observed = not traced() and recipe.direct.observed()  # what is traced was looked at before
    run = recipe.network._call_module if observed else recipe.direct.unobserved
    logits = () if recipe.logits and _activation_observed(recipe, tensors[0], observed) else recipe.logits
    ADDED.begin()
    try:
        if recipe.details:
            outputs, masks, extra = run(inputs, details=True, logits=logits)
            outputs = as_list(outputs)
        else:
            outputs = as_list(run(inputs, logits=logits))
            masks, extra = [None] * len(outputs), []
    finally:
        by_layers, metrics_of_layers = ADDED.end()
    for index in recipe.widened:
        outputs[index] = widened(outputs[index])
    for target in recipe.targets if logits else ():
        if target.logits:
            outputs[target.index]._keras_activation = target.logits
            outputs[target.index]._keras_logits = ITSELF
    return Pass(outputs, masks, [*extra, *by_layers], metrics_of_layers)


def score(recipe: Recipe, batch: Batch, passed: Pass) -> tuple[torch.Tensor, Values]:
    """What `losses` gives, of a forward pass."""
    total, found = scored(recipe, batch, passed.outputs, passed.masks, passed.losses)
    with torch.no_grad() if torch.is_grad_enabled() else AS_IT_IS:
        return total, _with_metrics(recipe, batch, passed, found)


def _with_metrics(recipe: Recipe, batch: Batch, passed: Pass, values: Values) -> Values:
    """The reported numbers, those of losses in front. For a caller that records no gradients."""
    found = {**values, **metrics(recipe, batch, passed.outputs, passed.masks)}
    for name in passed.metrics:
        if name in found or name in recipe.kept:
            raise ValueError(
                f"A layer's add_metric has the name {name!r}, which another reported number has: rename it."
            )
    return {**found, **passed.metrics}


def _activation_observed(recipe: Recipe, first: torch.Tensor, observed: bool) -> bool:
    """Whether something would see that an activation is left out: a hook, or autocast, which chooses types by it."""
    if torch.is_autocast_enabled(first.device.type):
        return True
    return observed and (bool(has_any_global_hook()) or any(map(has_hooks, recipe.ends)))


@lru_cache
def _one(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The gradient of a loss by itself, made once: left to autograd it is a kernel every step."""
    with torch.inference_mode(False):
        return torch.ones((), dtype=dtype, device=device)
