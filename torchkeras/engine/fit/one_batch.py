"""Training and testing on one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import ArrayData, Batch
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.one_process import check_unwrapped
from torchkeras.engine.fit.opening import Intake, check_batches
from torchkeras.engine.fit.results import ordered
from torchkeras.engine.fit.training import collected
from torchkeras.engine.fit.turns import computing, counting
from torchkeras.engine.graph.network import device_of

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


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
        numbers = _numbers(training, "train", batch)
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
        return _numbers(training, "test", batch)


def _one_batch(training: Training, method: str, x: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> Batch:
    check_unwrapped(training.model, method)
    training.check_compiled()
    arrays = Intake(training, class_weight).arrays(x, y, sample_weight)
    data = ArrayData(*arrays, device=device_of(training.model))
    check_batches(training, len(data), len(data), method)
    return next(data.batches(len(data), "sequential"))


def _numbers(training: Training, kind: str, batch: Batch) -> dict[str, Any]:
    step, owned = training.step(kind), training.has_own(f"{kind}_step")
    found = training.new_sums(owned).of_one(step, batch)
    return Logs(ordered(found, training.model._reported_names)).copy()
