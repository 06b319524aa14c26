"""`evaluate`, `predict`, and what predicts without them: a single sample, and a copy of a model that only predicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.data.sources.source import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.model_data import Intake
from torchkeras.engine.fit.opening import as_callbacks, check_unwrapped, hooks_of, source_of
from torchkeras.engine.fit.turns import computing, counted_apart
from torchkeras.engine.graph.call_forms import float_type, in_form, parameters_of
from torchkeras.engine.graph.fold_batch_norm import Merged, frozen, keeps_no_tensor
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.modes import call_module
from torchkeras.engine.speed.choose import compile_options
from torchkeras.engine.speed.compiled_steps import Running
from torchkeras.engine.step.step import losses, predict_step
from torchkeras.engine.symbolic.tensor import as_list, fits_shape, unpacked
from torchkeras.world.processes import has_group

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


# --- evaluate ---------------------------------------------------------------------------------------------------------


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


# --- predict ----------------------------------------------------------------------------------------------------------


WORTH_A_LOOK = 32  # batches, of each of which inference_mode takes a few percent off: from there on a look pays
FLOATS = (np.dtype("float32"), np.dtype("float64"))


def predict(
    training: Training,
    x: Any,
    batch_size: int | None,
    verbose: int | str,
    steps: int | None,
    callbacks: Any,
    gather: bool,
    made: dict[str, Any],
) -> Any:
    """As `Model.predict`; `made`: how batches of a `Sequence` or generator are made."""
    model = training.model
    check_unwrapped(model, "predict")
    source = source_of(
        Intake(training, has_targets=False), x, batch_size=batch_size, shuffle=None, steps=steps, method="predict",
        raw=training.has_own("predict_step"), **made,
    )  # fmt: skip
    if gather and source.divided:
        raise ValueError(
            "predict: a DataLoader with a DistributedSampler gives each process samples of which the order is not "
            "known. Give the DataLoader without it, which is divided here, or gather=False."
        )
    processes = training.processes
    try:
        with processes.doing("predict", model, source, gather=gather), computing(training, trains=False):
            step, is_safe = _step(training, source, callbacks)
            with torch.inference_mode() if is_safe else torch.no_grad():
                hooks = hooks_of(training, callbacks, source, verbose)
                outputs = runs.predict(
                    step, source, hooks, training.model.steps_per_execution, processes.dividing, gather
                )
                return in_form(model._output_form, unpacked(outputs))
    finally:
        source.close()


def _step(training: Training, source: Source, callbacks: Any) -> tuple[Callable[[Batch], list[Any]], bool]:
    """The step that predicts a batch, and whether to run it in `inference_mode`, which pays only in a long run."""
    if training.has_own("predict_step"):
        return training.own_steps.prediction, False
    run: Any = _compiled(training)
    # A callback may change weights between two batches: what was folded before them would be out of date.
    is_alone = run is None and not as_callbacks(callbacks)
    if is_alone:
        run = Merged(training.network, source.samples)
    elif run is None:
        run = HookFreeCalls(training.network)
    is_long = isinstance(source, ArraySource) and source.steps >= WORTH_A_LOOK
    return lambda batch: predict_step(run.run, batch.inputs), is_alone and is_long and keeps_no_tensor(run)


def _compiled(training: Training) -> Running | None:
    """The prediction compiled by torch, where `compile` asked for it; the modules are read again."""
    given = training.options
    options = compile_options(given.jit_compile, given.cuda_graph)
    if options is None:
        return None
    compiled = training.ready()
    if compiled.predicting is None:
        compiled.predicting = Running(options, on_cuda=given.cuda_graph is True)
    compiled.predicting.calls = HookFreeCalls(training.network)
    return compiled.predicting


def takes_at_once(training: Training, x: np.ndarray) -> bool:
    """Whether an array is a single sample for a plain graph, with nothing else to check or convert."""
    model, given = training.model, training.options
    if model._graph is None or training.own_code is not None:
        return False
    shape = model._graph.one_sample
    return (
        shape is not None
        and x.dtype in FLOATS
        and (x.shape == shape or fits_shape(x.shape, shape))
        and model._input_form is None
        and not training.has_own("predict_step")
        and not has_group()
        and compile_options(given.jit_compile, given.cuda_graph) is None
    )


def predict_at_once(training: Training, x: np.ndarray) -> Any:
    """The outputs for one sample, without all else that `predict` does, which would take longer than the model."""
    model = training.model
    first = next(parameters_of(model), None)  # of whose type the inputs become
    if first is not None and first.is_floating_point():
        device, dtype = first.device, first.dtype
    else:
        device, dtype = model._device, float_type(model, torch.float32)
    with computing(training, False, device), torch.set_grad_enabled(False):
        outputs = call_module(model, as_tensor(x).to(device, dtype))
        found = [np.array(to_numpy(each)) for each in as_list(outputs)]  # not in memory of the model's own
    return in_form(model._output_form, unpacked(found))


def frozen_copy(training: Training) -> Network:
    """As `Model.freeze_for_inference`."""
    with computing(training, trains=False), torch.no_grad():
        made = frozen(training.model)
    return made.eval()
