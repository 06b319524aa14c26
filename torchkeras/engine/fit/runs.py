"""Whole runs: the epochs of `fit`, an evaluation, a prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchkeras.base.extensions import replaceable_in
from torchkeras.base.rules import is_integer
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.data.batch import Batch
from torchkeras.data.sources import Source
from torchkeras.engine.fit.epoch import BatchedScores, Executions, may_wait, run_epoch
from torchkeras.engine.fit.one_process import ONE_PROCESS, OneProcess
from torchkeras.engine.fit.results import Sums, ordered
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.step import BatchStep, CompiledModel, constrain

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training
    from torchkeras.models.model import Model

replaceable_in(__name__, "may_wait")

Numbers = dict[str, torch.Tensor]  # device scalars by name


@dataclass(frozen=True, eq=False)
class Plan:
    """The options of a `fit`.

    `step` returns the train step, in each epoch, since a callback may change what trains. `validate` runs a validation
    and returns its numbers, none where there is no data for it; `due` says after which epochs. `named_alone`: see
    `Sums`. `together`: see `Executions`.
    """

    epochs: int
    order: str
    names: list[str]
    step: Callable[[], BatchStep]
    validate: Callable[[CallbackList, Run], Numbers]
    due: Callable[[int], bool]
    named_alone: bool = False
    together: int = 1


class Run:
    """One call of `fit`: the epoch, its batches and sums, and whether it was interrupted.

    `interrupted`: set by a callback that has written a checkpoint in the middle of an epoch and wants the end. Where
    a callback may ask for the state of the run, `resume.run.ResumableRun` stands in its place.
    """

    def __init__(self, training: Training, source: Source, epoch: int):
        self.network: Model = training.model
        self._training, self.source, self.epoch = training, source, epoch
        self.sums = Sums()
        self.interrupted = False

    @property
    def compiled(self) -> CompiledModel:
        """The compiled model as it is now: a callback may have changed what trains."""
        return self._training.ready()

    @property
    def processes(self) -> OneProcess:
        """The processes that train together."""
        return self._training.processes

    @property
    def midway(self) -> bool:
        """Whether the next epoch is one that an earlier run has begun."""
        return False

    def opened(self, order: str) -> Iterator[Batch]:
        """The batches of the epoch."""
        self.begin_epoch()
        return self.source.batches(order)

    def begin_epoch(self) -> None:
        """Reset the sums, the guard and the metrics."""
        compiled = self.compiled
        self.sums = self._training.new_sums(guard=compiled.guard)
        if compiled.guard is not None:
            compiled.guard.begin()
        for metric in compiled.kept.values():
            metric.reset_state()


def fit(training: Training, run: Run, plan: Plan, hooks: CallbackList) -> None:
    """Run the epochs, from `run.epoch` on."""
    model = training.model
    hooks.on_train_begin({})
    model.stop_training = False  # whatever a callback said before there was anything to stop, as in Keras
    _resume(run, hooks)
    while run.epoch < plan.epochs and (run.midway or not model.stop_training):
        has_batches = not model.stop_training  # else the run before stopped at the last batch of this epoch
        hooks.on_epoch_begin(run.epoch, {})
        batches = run.opened(plan.order)
        run.sums.named_alone = plan.named_alone
        if has_batches:
            _train(training, run, plan, batches, hooks)
        if run.interrupted or not run.sums.batches:  # the data has ended
            break
        _end_epoch(training, run, plan, hooks)
        run.epoch += 1
        if run.source.ended or run.interrupted:
            break
    hooks.on_train_end({})
    if getattr(model.optimizer, "use_ema", False):
        model.optimizer.overwrite_with_ema()  # as in Keras 3, when training ends


def _resume(run: Run, hooks: CallbackList) -> None:
    """Let the callbacks that store runs bring this one to where an earlier one stopped."""
    for callback in hooks:
        if hasattr(callback, "resume"):
            callback.resume(run)


def _train(training: Training, run: Run, plan: Plan, batches: Iterable[Batch], hooks: CallbackList) -> None:
    step, compiled = plan.step(), run.compiled  # the step is made in any case: with it the modules are looked at again
    processes = training.processes
    processes.note_place(f"epoch {run.epoch + 1}")
    stopped = processes.stopping(partial(_ends, training.model, run, compiled.guard), training.model)
    executions = Executions(hooks, "train", plan.together, run.sums, processes)
    if compiled.guard is None and may_wait(compiled, run.source, hooks, "train") and not plan.named_alone:
        scores = BatchedScores(compiled, run.sums, compiled.train_pass)
        run_epoch(scores.train_step, batches, run.sums, executions, stopped, processes)
        scores.finish()
    else:
        run_epoch(step, batches, run.sums, executions, stopped, processes)


def _ends(model: Model, run: Run, guard: Guard | None, called: bool) -> bool:
    """Whether the epoch ends here, as far as this process knows."""
    return model.stop_training or run.interrupted or (guard is not None and guard.tripped())


def _end_epoch(training: Training, run: Run, plan: Plan, hooks: CallbackList) -> None:
    compiled, model, optimizer = run.compiled, training.model, training.model.optimizer
    if not look_at(compiled, model, f"epoch {run.epoch + 1}, batch {{}}"):
        with torch.no_grad():
            if compiled.parameters and optimizer is not None and optimizer.flush():
                constrain(compiled)  # after gradients that waited for more batches
    numbers = ordered(run.sums.means(), plan.names)  # before the validation, which counts with the same metrics
    ends_first = model._habits.ends_each_pass
    if ends_first:
        run.source.on_epoch_end()
    validated: Numbers = {}
    if plan.due(run.epoch):
        validated = plan.validate(hooks, run)
    named = {f"val_{name}": value for name, value in validated.items()}
    logs = Logs({**named, **numbers})  # in the order of Keras 2.2.4
    if not ends_first:
        run.source.on_epoch_end()
    hooks.on_epoch_end(run.epoch, logs)
    training.processes.agree_on_end(model)


def look_at(compiled: CompiledModel, model: Model, place: str) -> bool:
    """Whether a number was not finite, so that training ends: with a warning or, by the policy "raise", an error.

    `place`: where in the run, with a gap for the number of the batch.
    """
    if compiled.guard is None or not compiled.guard.tripped(now=True):
        return False
    place = place.format(int(compiled.guard.good_steps) + 1)
    text = f"The loss or a gradient was not a finite number in {place}; the weights are those of the step before."
    if compiled.guard.policy == "raise":
        raise FloatingPointError(text)
    warnings.warn(text, RuntimeWarning, stacklevel=2)
    model.stop_training = True
    return True


def evaluate(
    compiled: CompiledModel,
    step: BatchStep,
    source: Source,
    hooks: CallbackList,
    names: list[str],
    sums: Sums,
    late: bool = True,
    together: int = 1,
    processes: OneProcess = ONE_PROCESS,
    stopped: Callable[[bool], Any] = lambda called: False,
) -> Numbers:
    """Run the batches of a source through a test step; the means in the order of `names`.

    `sums`: where the numbers are added up. `late`: whether several batches may be scored at once, without the step,
    where no hook needs the numbers of one. `together`: see `Executions`. `processes`: those that share the batches.
    `stopped`: whether it ends after a batch.
    """
    for metric in compiled.kept.values():
        metric.reset_state()
    if not source.once:
        source.close()  # each evaluation begins at the start of the data
    hooks.on_test_begin({})
    batches = source.batches("sequential")
    executions = Executions(hooks, "test", together, sums, processes)
    if late and may_wait(compiled, source, hooks, "test"):
        scores = BatchedScores(compiled, sums)
        run_epoch(scores.test_step, batches, sums, executions, stopped, processes)
        scores.finish()
    else:
        run_epoch(step, batches, sums, executions, stopped, processes)
    numbers = ordered(sums.means(), names)
    hooks.on_test_end(Logs(numbers))
    return numbers


def predict(
    step: Callable[[Batch], list[torch.Tensor]],
    source: Source,
    hooks: CallbackList,
    together: int = 1,
    processes: OneProcess = ONE_PROCESS,
    gather: bool = True,
    stopped: Callable[[bool], Any] = lambda called: False,
) -> list[np.ndarray]:
    """The outputs for all samples of a source, in host memory. `together`: see `Executions`.

    `processes`: those that share the batches, `gather`: whether each of them gets the outputs of all. `stopped`:
    whether it ends after a batch.
    """
    hooks.on_predict_begin({})
    gathered: list[Any] = []
    sizes: list[int] = []
    executions = Executions(hooks, "predict", together)
    seen = hooks.take_outputs if hooks.wants("on_predict_batch_end") else None
    with processes.sharing(step) as run:
        for index, batch in enumerate(source.batches("sequential")):
            executions.begin(index, batch.whole)
            outputs = run(batch)
            gathered = gathered or [processes.output(source) for _ in outputs]
            for each, output in zip(gathered, outputs, strict=True):
                each.add(output, batch.size)
            if seen is not None:
                seen(outputs)
            sizes.append(batch.whole)
            if stopped(executions.end(index, batch.size, {}, batch.whole)):
                break
    executions.finish()
    hooks.on_predict_end({})
    if not gathered:
        raise ValueError("predict: the data has no batches.")
    return processes.arrays(gathered, sizes, source, gather)


def due_epochs(frequency: Any) -> Callable[[int], bool]:
    """After which epochs, counted from 0, to validate: every `frequency`-th, or those listed, counted from 1.

    Raises ValueError for neither a positive integer nor a list of them.
    """
    if is_integer(frequency) and frequency > 0:
        return lambda epoch: (epoch + 1) % frequency == 0
    if isinstance(frequency, Sequence) and frequency and all(is_integer(each) and each > 0 for each in frequency):
        due = list(frequency)
        return lambda epoch: epoch + 1 in due
    raise ValueError(f"fit: validation_freq must be a positive integer or a list of them; found {frequency!r}.")
