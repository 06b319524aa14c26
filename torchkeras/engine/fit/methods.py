"""What `Model.fit`, `evaluate` and `predict` do: check their arguments, open data and callbacks, and run the epochs.

Besides, what predicts without them: a single sample, and a copy of a model that only predicts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tqdm import tqdm

from torchkeras import config
from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.base.rules import integer, is_integer, read, rule
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import History, Logs
from torchkeras.callbacks.progress import level
from torchkeras.data import checks
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.data.sources.source import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.doubts import doubt_activations, doubt_losses
from torchkeras.engine.fit.one_process import check_unwrapped
from torchkeras.engine.fit.opening import Intake, as_callbacks, first_batches, hooks_of, source_of, validation_of
from torchkeras.engine.fit.training import collected
from torchkeras.engine.fit.turns import computing, counted_apart
from torchkeras.engine.graph.fold_batch_norm import Merged, frozen
from torchkeras.engine.graph.layer_calls import HookFreeCalls, may_infer
from torchkeras.engine.graph.network import Network, float_type, in_form, parameters_of
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.modes import call_module
from torchkeras.engine.speed.choose import Auto, compile_options
from torchkeras.engine.speed.compiled_steps import Running
from torchkeras.engine.step.step import losses, predict_step
from torchkeras.engine.step.targets import check_units
from torchkeras.engine.symbolic.tensor import as_list, fits_shape, unpacked
from torchkeras.resume.run import ResumableRun
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
    processes, model = training.processes, training.model
    model.stop_evaluating = False
    with computing(training, trains=False), torch.no_grad():
        processes.align(training.model)
        owned, compiled = training.has_own("test_step"), training.ready()
        at_once = not owned and compiled.score is losses
        numbers = runs.evaluate(
            compiled, training.step("test"), source, hooks, training.model._reported_names, training.new_sums(owned),
            at_once, training.model.steps_per_execution, processes,
            lambda called: model.stop_evaluating,
        )  # fmt: skip
        if model._habits.ends_each_pass:
            source.on_pass_end()
        return numbers


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
    check_unwrapped(model, "predict", trains=False)
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
    model.stop_predicting = False
    try:
        with processes.doing("predict", model, source, gather=gather), computing(training, trains=False):
            step, is_safe = _step(training, source, callbacks)
            with torch.inference_mode() if is_safe else torch.no_grad():
                hooks = hooks_of(training, callbacks, source, verbose)
                outputs = runs.predict(
                    step, source, hooks, model.steps_per_execution, processes.dividing, gather,
                    lambda called: model.stop_predicting,
                )  # fmt: skip
                if model._habits.ends_each_pass:
                    source.on_pass_end()
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
    return lambda batch: predict_step(run.run, batch.inputs), is_alone and is_long and may_infer(run)


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


def takes_at_once(training: Training, x: np.ndarray, samples: int = 1) -> bool:
    """Whether an array has so many samples for a plain graph, with nothing else to check or convert."""
    model, given = training.model, training.options
    if model._graph is None or training.own_code is not None:
        return False
    one = model._graph.one_sample
    if one is None or x.dtype not in FLOATS:
        return False
    shape = (samples, *one[1:])
    return (
        (x.shape == shape or fits_shape(x.shape, shape))
        and model._input_form is None
        and not training.has_own("predict_step")
        and not has_group()
        and compile_options(given.jit_compile, given.cuda_graph) is None
    )


def predict_at_once(training: Training, x: np.ndarray) -> Any:
    """The outputs for such samples, without all else that `predict` does, which would take longer than the model."""
    model = training.model
    first = next(parameters_of(model), None)  # of whose type the inputs become
    if first is not None and first.is_floating_point():
        device, dtype = first.device, first.dtype
    else:
        device, dtype = model._weights_device, float_type(model, torch.float32)
    with computing(training, False, device):
        inputs = as_tensor(x).to(device, dtype)
        direct = model._generated.direct_now((inputs,))
        is_safe = direct is not None and direct.keeps_no_tensor and not torch.is_autocast_enabled(device.type)
        with torch.inference_mode() if is_safe else torch.set_grad_enabled(False):
            outputs = call_module(model, inputs) if direct is None else model._generated.run(direct, inputs)
            found = [np.array(to_numpy(each)) for each in as_list(outputs)]  # not in memory of the model's own
    return in_form(model._output_form, unpacked(found))


def frozen_copy(training: Training) -> Network:
    """As `Model.freeze_for_inference`."""
    with computing(training, trains=False), torch.no_grad():
        made = frozen(training.model)
    return made.eval()


# --- fit --------------------------------------------------------------------------------------------------------------

FLAG_OR_COUNT = rule(
    "must be True, False or an integer of at least 0",
    lambda v: isinstance(v, (bool, np.bool_)) or (is_integer(v) and v >= 0),
    int,
)


def fit(
    training: Training,
    x: Any,
    y: Any,
    batch_size: int | None,
    epochs: int,
    verbose: int | str,
    callbacks: Any,
    validation_split: float,
    validation_data: Any,
    shuffle: Any,
    class_weight: Any,
    sample_weight: Any,
    initial_epoch: int,
    steps_per_epoch: int | None,
    validation_steps: int | None,
    validation_batch_size: int | None,
    validation_freq: Any,
    made: dict[str, Any],
    fast_dev_run: bool | int,
) -> History:
    """As `Model.fit`; `made`: how batches of a `Sequence` or generator are made."""
    model = training.model
    check_unwrapped(model, "fit")
    dev_run = read("fit", "fast_dev_run", FLAG_OR_COUNT, fast_dev_run)
    verbose = level(verbose)
    _check_epochs(epochs, initial_epoch)
    epochs = _limited(epochs)
    due = runs.due_epochs(validation_freq)
    training.check_compiled()
    if training.is_alone and validation_data is not None:
        training.step("test")  # raises where the class has none: nothing else defines an evaluation
    owns_step = training.has_own("train_step")
    source = source_of(
        Intake(training, class_weight, trains=True), x, y, sample_weight, batch_size=batch_size, shuffle=shuffle,
        steps=steps_per_epoch, method="fit", raw=owns_step, shuffles=True, **made,
    )  # fmt: skip
    size = validation_batch_size
    if size is None:
        size = source.batch_size
    if validation_data is None and not validation_split:
        _refuse_options_of_validation(validation_steps, validation_batch_size, validation_freq)
    source, validation = validation_of(
        training, source, validation_split, validation_data, size, validation_batch_size, validation_steps, made
    )
    compiled, names = training.ready(), training.model._reported_names
    if compiled.targets:
        check_units(graph_of(compiled.network), compiled.targets)
        doubt_activations(compiled)
    validated = validation  # all of it, for callbacks
    if dev_run:
        source, validation = first_batches(source, dev_run), first_batches(validation, dev_run)
        epochs, due = min(epochs, initial_epoch + 1), runs.due_epochs(1)
        callbacks = [each for each in as_callbacks(callbacks) if not getattr(each, "keeps_records", False)]
    outer = _Outer(training)
    history = model.history = History()
    hooks = hooks_of(training, callbacks, source, verbose, epochs, validation is not None, history)
    checks.check_executions(training.model.steps_per_execution, hooks)
    model.stop_training = False
    if validation is not None:
        training.step("test")  # a model that cannot be evaluated is refused before the first epoch
    if shuffle is None:
        shuffle = True
    given = {
        "shuffle": shuffle,
        "class_weight": class_weight,
        "validation_freq": validation_freq,
        "initial_epoch": initial_epoch,
    }
    run = _run_of(training, source, hooks, initial_epoch, validation, {**given, "sample_weight": sample_weight})
    plan = runs.Plan(
        epochs,
        _order(shuffle),
        names,
        partial(training.step, "train"),
        partial(_validate, training, source, validation, size is None),
        due,
        owns_step,
        training.model.steps_per_execution,
    )
    processes = training.processes
    try:
        with (
            counted_apart(training, "fit"),
            processes.doing(
                "fit", model, source, validation, **_to_agree_on(given, epochs, verbose, hooks, validation)
            ),
            collected(training, compiled),
            computing(training, trains=True),
            _choosing(training, run, epochs, verbose),
            processes.running(hooks),
        ):
            training.validated, training.is_fitting = validated, True
            runs.fit(training, run, plan, hooks)
            doubt_losses(training, source, validation, history.history)
    except BaseException:
        if training.model.optimizer is not None:
            training.model.optimizer.drop_accumulated()
        raise
    finally:
        _close(source, validation)
        outer.go_on()
        _abandon(hooks)
    return history


def _run_of(
    training: Training,
    source: Source,
    hooks: CallbackList,
    initial_epoch: int,
    validation: Source | None,
    arguments: dict[str, Any],
) -> runs.Run:
    """The run of a `fit`, which has a state to store where a callback resumes runs."""
    if any(hasattr(callback, "resume") for callback in hooks):
        return ResumableRun(training, source, hooks, initial_epoch, validation, arguments)
    return runs.Run(training, source, initial_epoch)


def _close(*sources: Source | None) -> None:
    """Close the sources of a `fit`."""
    for source in sources:
        if source is not None:
            source.close()


def _abandon(hooks: CallbackList) -> None:
    """Tell the callbacks that the `fit` is over, however it ended."""
    for callback in hooks:
        if hasattr(callback, "abandon"):
            callback.abandon()


# --- arguments -------------------------------------------------------------------------------------------------------


def _order(shuffle: Any) -> str:
    """The order of a source's batches."""
    if isinstance(shuffle, str):
        return "batch"
    return "shuffled" if shuffle else "sequential"


def _limited(epochs: int) -> int:
    """The number of epochs, no more than the configuration allows, with a warning."""
    most = config.max_epochs()
    if most is None or epochs <= most:
        return epochs
    warnings.warn(f"fit: epochs is limited to {most} by config.set_max_epochs.", stacklevel=4)
    return most


def _check_epochs(epochs: int, initial_epoch: int) -> None:
    """Raise ValueError for a bad number of epochs; warn where no epoch would run."""
    read("fit", "epochs", integer(0), epochs)
    read("fit", "initial_epoch", integer(0), initial_epoch)
    if initial_epoch > epochs:
        warnings.warn(
            f"fit: initial_epoch {initial_epoch} is past epochs {epochs}, and no epoch runs: epochs is the epoch "
            "to stop before.",
            stacklevel=5,
        )


def _refuse_options_of_validation(steps: Any, batch_size: Any, frequency: Any) -> None:
    """Raise ValueError for an option of the validation where there is no data to validate on."""
    for name in options_of_validation(steps, batch_size, frequency):
        raise ValueError(f"fit: {name} goes with validation data; there is none.")


def options_of_validation(steps: Any, batch_size: Any, frequency: Any) -> list[str]:
    """The names of the options of a validation that were given."""
    options = {
        "validation_steps": (steps, None),
        "validation_batch_size": (batch_size, None),
        "validation_freq": (frequency, 1),
    }
    return [name for name, (value, default) in options.items() if value != default]


def _to_agree_on(
    given: dict[str, Any], epochs: int, verbose: int, hooks: CallbackList, validation: Source | None
) -> dict[str, Any]:
    """The arguments that must be equal in all processes that train together."""
    sizes = None if validation is None else [validation.samples, validation.batch_size, validation.steps]
    callbacks = [type(each).__name__ for each in hooks]
    return {**given, "epochs": epochs, "verbose": verbose, "callbacks": callbacks, "validation": sizes}


# --- the run ---------------------------------------------------------------------------------------------------------


class _Outer:
    """The state of the `fit` whose callback calls this one, if any, to restore it at the end."""

    def __init__(self, training: Training):
        self._training = training
        self._was_fitting, self._validated = training.is_fitting, training.validated
        self._of_model = {"history": training.model.history, "stop_training": training.model.stop_training}

    def go_on(self) -> None:
        """This `fit` has ended."""
        self._training.is_fitting, self._training.validated = self._was_fitting, None
        if self._was_fitting:
            self._training.validated = self._validated
            self._training.model.__dict__.update(self._of_model)


def _validate(
    training: Training, trained: Source, source: Source | None, by_last_batch: bool, hooks: CallbackList, run: runs.Run
) -> runs.Numbers:
    """The numbers of the validation after an epoch; as in Keras 2.2.4 none when a batch ended the training.

    `by_last_batch`: validate in batches of the size of the last training batch, as there, where no size is known.
    """
    if source is None:
        return {}
    whole = trained.samples is None and run.sums.batches == trained.steps
    if training.model.stop_training and not whole:
        return {}
    if by_last_batch and isinstance(source, ArraySource):
        source.batch_size = run.sums.last_size
    return evaluated(training, source, hooks)


@contextmanager
def _choosing(training: Training, run: runs.Run, epochs: int, verbose: int) -> Iterator[None]:
    """The run inside may change to a compiled step, unless its results must be the same bit by bit."""
    auto = training.ready().train_pass
    if not isinstance(auto, Auto):
        yield
        return
    steps, report = run.source.steps, None
    if steps is not None:
        steps *= epochs - run.epoch
    if verbose == 1:
        report = tqdm.write
    exact = torch.are_deterministic_algorithms_enabled() or isinstance(run, ResumableRun)
    auto.begin(steps, not exact, report)
    try:
        yield
    finally:
        auto.end()


def validation_arrays(training: Training) -> list[np.ndarray] | None:
    """Inputs, targets and weights of the validation, while `fit` validates on arrays."""
    if not isinstance(training.validated, ArraySource):
        return None
    data = training.validated.data
    weights = [torch.ones(len(data), device="cpu") if weight is None else weight for weight in data.weights]
    return list(map(to_numpy, (*data.inputs, *data.targets, *weights)))
