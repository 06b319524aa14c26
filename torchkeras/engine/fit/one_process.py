"""One process: what `compile`, `fit` and the like ask of those that train a model together, where there are no others.

None of them asks how many processes there are. They call `training.processes`, which is `ONE_PROCESS` or, where several
train the model, a `distribution.training.Processes`. What a step asks is in `world.one_process`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from torchkeras.base.sharing import sharing
from torchkeras.callbacks.base import CallbackList
from torchkeras.data.batch import Batch
from torchkeras.data.part import Part
from torchkeras.data.sources import Source
from torchkeras.engine.fit.predictions import Gathered
from torchkeras.engine.fit.sums import Sums
from torchkeras.engine.speed.choose import learner
from torchkeras.engine.step.compiled_model import CompiledModel
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.optimizer_reach import warn_of_hooks
from torchkeras.engine.step.step import Learner
from torchkeras.metrics import Metric
from torchkeras.resume.backup_files import Backups
from torchkeras.world.one_process import ONE_REPLICA, OneReplica

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Value = TypeVar("Value")


@dataclass
class Pace:
    """`interval`: how many batches there are between two calls of the hooks of batches."""

    interval: int


class OneProcess:
    """The processes that train a model together, seen from one of them; here there is no other.

    `looks_at_each_batch`: whether the guard of `on_nonfinite` looks at the numbers of each batch, rather than from time
    to time: all processes must look after the same batch. `learner`: what computes the loss and the gradients of a
    batch, by the values of `jit_compile` and `cuda_graph`.
    """

    looks_at_each_batch = False
    learner: Callable[[Any, Any], Learner] = staticmethod(learner)  # pyright: ignore[reportAssignmentType]

    @property
    def part(self) -> Part | None:
        """The rows that this process has of each batch; None where it has all."""
        return None

    @property
    def dividing(self) -> OneProcess:
        """Those of which each has its own rows of a batch: of a group of one process that process alone."""
        return self

    # --- compile -----------------------------------------------------------------------------------------------------

    def prepare(self, model: Model) -> None:
        """Share the weights of a model among the processes, where `compile` said so; before they are collected.

        Raises ValueError where processes share them that do not train together.
        """
        sharing().refuse(model.parameters(), "compile without other processes")

    def replicas(self, compiled: CompiledModel, by_hand: bool) -> OneReplica:
        """How a step passes forward and gets its gradients. `by_hand`: in a step of the user's own."""
        return ONE_REPLICA

    def warn_of_hooks(self, model: Model, parameters: list[torch.Tensor]) -> None:
        """Warn of hooks on what trains that the built-in step does not call."""
        warn_of_hooks(model, parameters)

    # --- what all do together ----------------------------------------------------------------------------------------

    def doing(
        self, method: str, model: Model, *sources: Source | None, once: Any = None, **given: Any
    ) -> AbstractContextManager[object]:
        """A block that all processes run with a model; they compare before what they are about to do.

        Arguments:
            method: what the user has called.
            model: the model.
            *sources: of the batches, and of those to validate on.
            once: compare no more what has been compared with it.
            **given: what else must be equal, by the names that an error is to use.

        Errors:
            ProcessesDifferError: they would not do the same, or have other batches.
            ProcessLostError: one does not answer.
        """
        return nullcontext()

    def running(self, callbacks: CallbackList) -> AbstractContextManager[object]:
        """A block in which a `fit` runs. Ctrl-C ends it in all processes after the same batch."""
        return nullcontext()

    def sharing(self, step: Callable[[Batch], Value]) -> AbstractContextManager[Callable[[Batch], Value]]:
        """A pass over batches of which each process has a part: inside the block, the step that runs on them."""
        return nullcontext(step)

    def note_place(self, place: str) -> None:
        """Say what the process does now, for messages."""

    def align(self, model: Model) -> None:
        """Where each process normalizes by its own part, give all the moving statistics of the main one."""

    # --- batches and numbers -----------------------------------------------------------------------------------------

    def own(self, batch: Batch) -> Batch:
        """What this process has of a batch that is whole."""
        return batch

    def sums(self, kept: Mapping[str, Metric], named_alone: bool = False, guard: Guard | None = None) -> Sums:
        """What the numbers of an epoch are added up in."""
        return Sums(kept, named_alone, guard=guard)

    def pace(self, every: int, takes_means: bool) -> Pace:
        """How often hooks of batches are called that are wanted every so many batches.

        `takes_means`: whether they may be called less often, with the mean numbers of more batches.
        """
        return Pace(every)

    def output(self, source: Source) -> Gathered:
        """What one output of all batches of a source is gathered in."""
        return Gathered(source.samples)

    def arrays(self, outputs: list[Any], sizes: list[int], source: Source, gather: bool) -> list[np.ndarray]:
        """What was gathered, as arrays. `gather`: in each process the rows of all, else its own. `sizes`: of batches.

        Raises ValueError where the rows cannot be joined.
        """
        return [each.array() for each in outputs]

    # --- where training ends -----------------------------------------------------------------------------------------

    def stopping(self, ends: Callable[[bool], bool], model: Model) -> Callable[[bool], bool]:
        """Whether an epoch ends after a batch, in all processes after the same; `ends`: whether it does in this one.

        Both receive whether callbacks were just called.
        """
        return ends

    def agree_on_end(self, model: Model) -> None:
        """After an epoch: set `stop_training` in all processes where it is set in one."""

    # --- checkpoints and files ---------------------------------------------------------------------------------------

    def call_within(self, batches: int) -> None:
        """Have the hooks of batches called within so many batches."""

    def backups(self, folder: Path, run: Any, accept: Any) -> Backups:
        """The checkpoints in a folder, of a run."""
        return Backups(folder, run, accept)

    def step_random(self) -> dict[str, list[torch.Tensor]]:
        """The random numbers of steps, where they are not those that order the data."""
        return {}

    def restore_step_random(self, state: Mapping[str, list[torch.Tensor]]) -> None:
        """Go on from such a state."""

    def of_main(self, value: Value) -> Value:
        """What the main process has as this value."""
        return value

    def writes_files_of(self, model: Model) -> bool:
        """Whether this process has a part in writing a file of a model; else another writes it."""
        return True


ONE_PROCESS = OneProcess()
