"""`fit`: checks its arguments, opens data and callbacks, and runs the epochs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tqdm import tqdm

from torchkeras.base.arrays import to_numpy
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logging import History
from torchkeras.callbacks.progress import level
from torchkeras.data import checks
from torchkeras.data.sources import Source
from torchkeras.data.sources.source import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.inference import evaluated
from torchkeras.engine.fit.model_data import Intake
from torchkeras.engine.fit.opening import check_unwrapped, hooks_of, source_of, validation_of
from torchkeras.engine.fit.training import collected
from torchkeras.engine.fit.turns import computing, counted_apart
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.speed.choose import Auto
from torchkeras.engine.step.targets import check_units
from torchkeras.resume.run import ResumableRun

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


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
) -> History:
    """As `Model.fit`; `made`: how batches of a `Sequence` or generator are made."""
    model = training.model
    check_unwrapped(model, "fit")
    verbose = level(verbose)
    _check_epochs(epochs, initial_epoch)
    due = runs.due_epochs(validation_freq)
    training.check_compiled()
    if training.is_alone and validation_data is not None:
        training.step("test")  # raises where the class has none: nothing else defines an evaluation
    owns_step = training.has_own("train_step")
    source = source_of(
        Intake(training, class_weight), x, y, sample_weight, batch_size=batch_size, shuffle=shuffle,
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
    compiled, names = training.ready(), training.model.metrics_names
    if compiled.targets:
        check_units(graph_of(compiled.network), compiled.targets)
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
    run = runs.Run(training, source, initial_epoch)
    if any(hasattr(callback, "resume") for callback in hooks):
        arguments = {**given, "sample_weight": sample_weight}
        run = ResumableRun(training, source, hooks, initial_epoch, validation, arguments)
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
            training.validated, training.is_fitting = validation, True
            runs.fit(training, run, plan, hooks)
    except BaseException:
        if training.model.optimizer is not None:
            training.model.optimizer.drop_accumulated()
        raise
    finally:
        for each in (source, validation):
            if each is not None:
                each.close()
        outer.go_on()
        for callback in hooks:
            if hasattr(callback, "abandon"):
                callback.abandon()
    return history


# --- arguments -------------------------------------------------------------------------------------------------------


def _order(shuffle: Any) -> str:
    """The order of a source's batches."""
    if isinstance(shuffle, str):
        return "batch"
    return "shuffled" if shuffle else "sequential"


def _check_epochs(epochs: int, initial_epoch: int) -> None:
    """Raise ValueError for a bad number of epochs; warn where no epoch would run."""
    checks.check_count("fit", "epochs", epochs, least=0)
    checks.check_count("fit", "initial_epoch", initial_epoch, least=0)
    if initial_epoch > epochs:
        warnings.warn(
            f"fit: initial_epoch {initial_epoch} is past epochs {epochs}, and no epoch runs: epochs is the epoch "
            "to stop before.",
            stacklevel=5,
        )


def _refuse_options_of_validation(steps: Any, batch_size: Any, frequency: Any) -> None:
    """Raise ValueError for an option of the validation where there is no data to validate on."""
    for name, value, default in (
        ("validation_steps", steps, None),
        ("validation_batch_size", batch_size, None),
        ("validation_freq", frequency, 1),
    ):
        if value != default:
            raise ValueError(f"fit: {name} goes with validation data; there is none.")


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
