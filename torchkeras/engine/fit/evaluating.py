"""Training and testing on one batch, and evaluating on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import ArrayData, Batch
from torchkeras.data.sources import Source
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.model_data import Intake
from torchkeras.engine.fit.opening import check_batches, check_unwrapped, hooks_of, source_of
from torchkeras.engine.fit.sums import ordered
from torchkeras.engine.fit.training import collected
from torchkeras.engine.fit.turns import computing, counted_apart, counting
from torchkeras.engine.step.step import losses

if TYPE_CHECKING:
    from torchkeras.engine.fit.one_process import OneProcess
    from torchkeras.engine.fit.training import Training
    from torchkeras.engine.step.compiled_model import CompiledModel


# --- one batch -------------------------------------------------------------------------------------------------------


def train_on_batch(
    training: Training, x: Any, y: Any, sample_weight: Any, class_weight: Any, reset_metrics: bool
) -> dict[str, Any]:
    """As `Model.train_on_batch`: the numbers by name."""
    batch = _one_batch(training, "train_on_batch", x, y, sample_weight, class_weight)
    processes, compiled = training.processes, training.ready()
    batch = processes.own(batch)
    if compiled.guard is not None:
        compiled.guard.begin()
    with (
        processes.doing("train_on_batch", training.model, once=compiled, samples=batch.whole),
        collected(training, compiled),
        computing(training, True, batch.inputs[0].device),
        counting(training, "train_on_batch", reset_metrics),
    ):
        numbers = _numbers(training, compiled, processes, "train", batch)
    runs.look_at(compiled, training.model, "train_on_batch")
    return numbers


def test_on_batch(training: Training, x: Any, y: Any, sample_weight: Any, reset_metrics: bool) -> dict[str, Any]:
    """As `Model.test_on_batch`: the numbers by name."""
    batch = _one_batch(training, "test_on_batch", x, y, sample_weight)
    processes, compiled = training.processes, training.ready()
    batch = processes.own(batch)
    with (
        processes.doing("test_on_batch", training.model, once=compiled, samples=batch.whole),
        computing(training, False, batch.inputs[0].device),
        torch.no_grad(),
        counting(training, "test_on_batch", reset_metrics),
    ):
        return _numbers(training, compiled, processes, "test", batch)


def _one_batch(training: Training, method: str, x: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> Batch:
    check_unwrapped(training.model, method)
    training.check_compiled()
    arrays = Intake(training, class_weight).arrays(x, y, sample_weight)
    data = ArrayData(*arrays, device=training.model._device)
    check_batches(training, len(data), len(data), method)
    return next(data.batches(len(data), "sequential"))


def _numbers(
    training: Training, compiled: CompiledModel, processes: OneProcess, kind: str, batch: Batch
) -> dict[str, Any]:
    step, owned = training.step(kind), training.has_own(f"{kind}_step")
    found = processes.sums(compiled.kept, owned).of_one(step, batch)
    return Logs(ordered(found, training.model.metrics_names)).copy()


# --- all batches -----------------------------------------------------------------------------------------------------


def evaluate(
    training: Training,
    x: Any,
    y: Any,
    batch_size: int | None,
    verbose: int | str,
    sample_weight: Any,
    steps: int | None,
    callbacks: Any,
    made: dict[str, Any],
) -> dict[str, Any]:
    """As `Model.evaluate`: the numbers by name. `made`: how batches of a `Sequence` or generator are made."""
    check_unwrapped(training.model, "evaluate")
    training.check_compiled()
    if training.is_alone:
        training.step("test")  # which it must have
    source = source_of(
        Intake(training), x, y, sample_weight, batch_size=batch_size, shuffle=None, steps=steps, method="evaluate",
        raw=training.has_own("test_step"), **made,
    )  # fmt: skip
    try:
        with (
            counted_apart(training, "evaluate"),
            training.processes.doing("evaluate", training.model, source),
        ):
            hooks = hooks_of(training, callbacks, source, verbose)
            return Logs(evaluated(training, source, hooks)).copy()
    finally:
        source.close()


def evaluated(training: Training, source: Source, hooks: CallbackList) -> runs.Numbers:
    """The numbers of one pass over a source, on the device."""
    processes = training.processes
    with computing(training, trains=False), torch.no_grad():
        processes.align(training.model)
        owned, compiled = training.has_own("test_step"), training.ready()
        at_once = not owned and compiled.score is losses
        return runs.evaluate(
            compiled, training.step("test"), source, hooks, training.model.metrics_names, owned, at_once,
            training.model.steps_per_execution, processes,
        )  # fmt: skip
