"""Evaluating a model on all batches of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.sources import Source
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.model_data import Intake
from torchkeras.engine.fit.opening import check_unwrapped, hooks_of, source_of
from torchkeras.engine.fit.turns import computing, counted_apart
from torchkeras.engine.step.step import losses

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


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
        training.step("test")  # raises where the class has none
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
