"""One process: the interface of `compile`, `fit` and the like to the processes that train a model, with no others.

They never ask how many processes there are. They call `training.processes`, which is `ONE_PROCESS` or, where several
train the model, a `distribution.training.Processes`. The interface of a step is in `world.one_process`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import nn

from torchkeras.callbacks.base import CallbackList
from torchkeras.data.batch import Batch
from torchkeras.data.part import Part
from torchkeras.data.sources import Source
from torchkeras.engine.fit.results import Gathered, Sums
from torchkeras.engine.speed.choose import train_function
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.optimizer_reach import warn_of_hooks
from torchkeras.engine.step.step import CompiledModel, TrainFunction
from torchkeras.metrics import Metric
from torchkeras.resume.backup_files import Backups
from torchkeras.world.one_process import ONE_REPLICA, OneReplica, has_group, sharing

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Value = TypeVar("Value")


@dataclass
class Pace:
    """`interval`: the number of batches between two calls of the hooks of batches."""

    interval: int


class OneProcess:
    """The processes that train a model together, seen from one of them; here there is no other.

    `looks_by_batches`: whether the guard of `on_nonfinite` looks after a number of batches, rather than by the clock:
    all processes must look after the same batch. `train_function`: makes the function that computes the loss
    and the gradients of a batch, from the values of `jit_compile` and `cuda_graph`.
    """

    looks_by_batches = False
    train_function: Callable[[Any, Any], TrainFunction] = staticmethod(train_function)  # pyright: ignore[reportAssignmentType]

    @property
    def part(self) -> Part | None:
        """The rows that this process has of each batch; None where it has all."""
        return None

    @property
    def dividing(self) -> OneProcess:
        """The processes that divide the rows of a batch: `ONE_PROCESS` for a group of one process."""
        return self

    # --- compile -----------------------------------------------------------------------------------------------------

    def prepare(self, model: Model) -> None:
        """Share the weights of a model among the processes, where `compile` asks for it; before they are collected.

        Raises ValueError where the weights are shared by processes that do not train together.
        """
        sharing().refuse(model.parameters(), "compile without other processes")

    def replicas(self, compiled: CompiledModel, by_hand: bool) -> OneReplica:
        """How a step runs the forward pass and gets its gradients. `by_hand`: in a custom step."""
        return ONE_REPLICA

    def warn_of_hooks(self, model: Model, parameters: list[torch.Tensor]) -> None:
        """Warn of hooks on what trains that the built-in step does not call."""
        warn_of_hooks(model, parameters)

    # --- blocks that all processes run -------------------------------------------------------------------------------

    def doing(
        self, method: str, model: Model, *sources: Source | None, once: Any = None, **given: Any
    ) -> AbstractContextManager[object]:
        """A block that all processes run with a model; first they compare their arguments.

        Arguments:
            method: the method that the user has called.
            model: the model.
            *sources: the source of the batches, and the one to validate on.
            once: do not compare again what was compared with this object.
            **given: further values that must be equal, by their names in an error.

        Errors:
            ProcessesDifferError: the arguments or batches differ.
            ProcessLostError: one does not answer.
        """
        return nullcontext()

    def running(self, callbacks: CallbackList) -> AbstractContextManager[object]:
        """A block in which a `fit` runs. Ctrl-C ends it in all processes after the same batch."""
        return nullcontext()

    def sharing(self, step: Callable[[Batch], Value]) -> AbstractContextManager[Callable[[Batch], Value]]:
        """A pass over batches of which each process has a part; the block receives the step to run on them."""
        return nullcontext(step)

    def note_place(self, place: str) -> None:
        """Note where the process is, for messages."""

    def align(self, model: Model) -> None:
        """Where each process normalizes by its own part, copy the moving statistics of the main process to all."""

    # --- batches and numbers -----------------------------------------------------------------------------------------

    def own(self, batch: Batch) -> Batch:
        """The part of a whole batch that this process has."""
        return batch

    def sums(self, kept: Mapping[str, Metric], named_alone: bool = False, guard: Guard | None = None) -> Sums:
        """The sums of the numbers of an epoch."""
        return Sums(kept, named_alone, guard=guard)

    def pace(self, every: int, takes_means: bool) -> Pace:
        """The pace of hooks that are to be called every so many batches.

        `takes_means`: whether they may be called less often, with the mean numbers of more batches.
        """
        return Pace(every)

    def output(self, source: Source) -> Gathered:
        """Where one output of all batches of a source is gathered."""
        return Gathered(source.samples)

    def arrays(self, outputs: list[Any], sizes: list[int], source: Source, gather: bool) -> list[np.ndarray]:
        """The gathered outputs as arrays. `gather`: the rows of all processes, else only its own. `sizes`: of batches.

        Raises ValueError where the rows cannot be joined.
        """
        return [each.array() for each in outputs]

    # --- where training ends -----------------------------------------------------------------------------------------

    def stopping(self, ends: Callable[[bool], bool], model: Model) -> Callable[[bool], bool]:
        """The function that says whether an epoch ends, in all processes after the same batch; `ends`: in this one.

        Both receive whether callbacks were just called.
        """
        return ends

    def agree_on_end(self, model: Model) -> None:
        """After an epoch: set `stop_training` in all processes where it is set in one."""

    # --- checkpoints and files ---------------------------------------------------------------------------------------

    def call_within(self, batches: int) -> None:
        """Have the hooks of batches called within so many batches."""

    def backups(self, folder: Path, run: Any, accept: Any) -> Backups:
        """The checkpoints of a run in a folder."""
        return Backups(folder, run, accept)

    def step_random(self) -> dict[str, list[torch.Tensor]]:
        """The random state of steps, where it is not the one that orders the data."""
        return {}

    def restore_step_random(self, state: Mapping[str, list[torch.Tensor]]) -> None:
        """Go on from such a state."""

    def of_main(self, value: Value) -> Value:
        """The value in the main process."""
        return value

    def writes_files_of(self, model: Model) -> bool:
        """Whether this process takes part in writing a file of a model."""
        return True


ONE_PROCESS = OneProcess()


# --- models that the user has wrapped: torch's wrappers, which a run of ours would not see ----------------------------

FSDP1, FSDP2 = "FullyShardedDataParallel", "FSDPModule"  # a base of the classes that `fully_shard` gives


def check_unwrapped(model: nn.Module, method: str, trains: bool = True) -> None:
    """Raise RuntimeError for a model in which the user has wrapped a module for several processes.

    `trains`: whether the method needs the optimizer or the numbers of a step; FSDP2's modules compute without.
    """
    if not has_group():  # without which torch does not wrap
        return
    for name, module in model.named_modules():
        bases = {base.__name__ for base in type(module).__mro__}
        if isinstance(module, nn.parallel.DistributedDataParallel) or FSDP1 in bases or (trains and FSDP2 in bases):
            where = f"the module {name!r}" if name else "the model"
            raise RuntimeError(
                f"{method}: {where} is wrapped for several processes ({type(module).__name__}), and {method} would "
                "not see that. Give the model itself to compile and fit, which wrap it; or train it by a loop of your "
                "own."
            )
