"""Whole runs: the epochs of `fit`, an evaluation, a prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from torchkeras.arrays import to_numpy
from torchkeras.callbacks.base import CallbackList, Logs
from torchkeras.engine.loop import Sums, run_epoch
from torchkeras.engine.run import Run
from torchkeras.engine.sources import Source
from torchkeras.engine.steps import Recipe, Step, constrain
from torchkeras.engine.symbol import as_list


@dataclass(frozen=True, eq=False)
class Plan:
    """What `fit` does beside its data.

    `step` gives the train step, asked for in each epoch, since a callback may change what trains. `validate` runs a
    validation and gives its sums; `due` says after which epochs. `named_alone`: see `Sums`.
    """

    epochs: int
    order: str
    names: list[str]
    step: Callable[[], Step]
    validate: Callable[[CallbackList], Sums] | None
    due: Callable[[int], bool]
    named_alone: bool = False


def fit(network: Any, run: Run, plan: Plan, hooks: CallbackList) -> None:
    """Run the epochs, from that of `run` on."""
    hooks.on_train_begin({})
    for callback in hooks:
        if hasattr(callback, "resume"):
            callback.resume(run)
    while run.epoch < plan.epochs and not network.stop_training:
        hooks.on_epoch_begin(run.epoch, {})
        stopped = partial(_stopped, network, run)
        batches = run.opened(plan.order)
        run.sums.named_alone = plan.named_alone
        run_epoch(plan.step(), batches, run.sums, hooks, "train", stopped)
        if run.interrupted:
            break
        _end_epoch(network, run, plan, hooks)
        run.epoch += 1
        if run.source.ended:
            break
    hooks.on_train_end({})


def _stopped(network: Any, run: Run) -> bool:
    guard = run.recipe.guard
    return network.stop_training or run.interrupted or (guard is not None and guard.tripped())


def _end_epoch(network: Any, run: Run, plan: Plan, hooks: CallbackList) -> None:
    recipe = run.recipe
    with torch.no_grad():
        if recipe.parameters and recipe.optimizer.flush():  # gradients that wait for more batches
            constrain(recipe)
    _look_at(recipe, run, network)
    logs = run.sums.logs(plan.names)
    if plan.validate is not None and plan.due(run.epoch):
        logs.update(plan.validate(hooks).logs(plan.names, "val_"))
    run.source.on_epoch_end()
    hooks.on_epoch_end(run.epoch, logs)


def _look_at(recipe: Recipe, run: Run, network: Any) -> None:
    """Stop or raise, if the policy is to, after a number that is not finite."""
    if recipe.guard is None or not recipe.guard.tripped(now=True):
        return
    text = (
        f"The loss or a gradient was not a finite number in epoch {run.epoch + 1}, batch "
        f"{int(recipe.guard.good_steps) + 1}; the weights are those of the step before."
    )
    if recipe.guard.policy == "raise":
        raise FloatingPointError(text)
    warnings.warn(text, stacklevel=2)
    network.stop_training = True


def evaluate(
    recipe: Recipe, step: Step, source: Source, hooks: CallbackList, names: list[str], named_alone: bool = False
) -> Sums:
    """Run the batches of a source through a test step."""
    sums = Sums(recipe.kept, named_alone)
    for metric in recipe.kept.values():
        metric.reset_state()
    hooks.on_test_begin({})
    run_epoch(step, source.batches("sequential"), sums, hooks, "test")
    hooks.on_test_end(sums.logs(names))
    return sums


def predict(step: Any, source: Source, hooks: CallbackList) -> list[np.ndarray]:
    """The outputs for all samples of a source; nothing is kept on the device."""
    hooks.on_predict_begin({})
    parts: list[list[torch.Tensor]] = []
    for index, batch in enumerate(source.batches("sequential")):
        hooks.on_predict_batch_begin(index, Logs(batch=index, size=batch.size))
        outputs = as_list(step(batch.inputs))
        parts.append([output.to("cpu") for output in outputs])
        hooks.on_predict_batch_end(index, Logs(batch=index, size=batch.size))
    hooks.on_predict_end({})
    if not parts:
        raise ValueError("predict: the data has no batches.")
    return [to_numpy(torch.cat(outputs)) for outputs in zip(*parts, strict=True)]


def due_epochs(frequency: Any) -> Callable[[int], bool]:
    """After which epochs, counted from 0, to validate: every `frequency`-th, or those listed, counted from 1.

    Raises ValueError for neither a positive integer nor a list of them.
    """
    listed = isinstance(frequency, Sequence) and not isinstance(frequency, str)
    due: list[Any] = list(frequency) if listed else [frequency]
    if not all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) and each > 0 for each in due):
        raise ValueError(f"fit: validation_freq must be a positive integer or a list of them; found {frequency!r}.")
    if listed:
        return lambda epoch: epoch + 1 in due
    return lambda epoch: (epoch + 1) % due[0] == 0
