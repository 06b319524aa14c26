"""What `fit` and the like ask of the processes that train a model together."""

from __future__ import annotations

import hashlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from torchkeras.base.annexes import annex
from torchkeras.data.batch import Batch
from torchkeras.data.part import Part
from torchkeras.data.sources import Source
from torchkeras.distribution.agreement import ProcessesDifferError, agree
from torchkeras.distribution.batch_statistics import normalizing
from torchkeras.distribution.group import take_first
from torchkeras.distribution.lost import Whereabouts
from torchkeras.distribution.replicas import Averaged, Replicas
from torchkeras.distribution.sharding import Sharded, group_of_mesh, mesh_of, shard, shared_mesh
from torchkeras.distribution.shared_batch import SharedBatch
from torchkeras.distribution.shared_predictions import OwnOutput, joined
from torchkeras.distribution.shared_sums import SharedSums
from torchkeras.distribution.shared_tensors import shared_in
from torchkeras.engine.fit.distributing import refuse_compiling
from torchkeras.engine.fit.one_process import ONE_PROCESS, OneProcess, Pace, Value
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.fit.training import CompileOptions
from torchkeras.engine.step.nonfinite import Guard
from torchkeras.engine.step.step import CompiledModel, TrainFunction, train_pass
from torchkeras.metrics import Metric
from torchkeras.resume.backup_files import Backups
from torchkeras.world.one_process import CURRENT
from torchkeras.world.processes import gathered, is_main

EVERY = 0.5  # seconds between two exchanges of numbers within an epoch, unless a callback wants each batch's
LONGEST = 10_000  # batches between two
OF_ONE_PROCESS = "is of one process, and several train here: leave it out, or give distribute=None."
CHECKSUMS = 2**20  # as many as have squares of which float64 holds the sums


class Processes(OneProcess):
    """The processes of a group that share each batch, seen from one of them.

    `sync_batch_norm`: whether batch statistics are those of the whole batch. The methods are those of `OneProcess`,
    which says what each is for.
    """

    looks_by_batches = True

    def __init__(self, device: torch.device, given: CompileOptions):
        self.device, self.sync_batch_norm = device, given.sync_batch_norm
        self._mesh = mesh_of(given.distribute, device)
        self.group = group = None if self._mesh is None else group_of_mesh(self._mesh)
        self._part = Part(dist.get_rank(group), dist.get_world_size(group))
        self._model: Any = None  # that of `prepare`
        self._pace, self._most = Pace(1), LONGEST  # which is equal in all processes
        self._may_differ = False
        self._place = ""
        self._passed = 0
        self._agreed: set[Any] = set()
        self._sources: Sequence[Source] = ()
        self._whereabouts = Whereabouts(self.group)
        self._since, self._began = 0, time.perf_counter()
        self._signals = 0
        self._normalizing: AbstractContextManager[object] = nullcontext()
        self._averaging: Callable[[Any], AbstractContextManager[object]] = nullcontext  # of a step of the user's own
        self._random = RandomNumbers(self._part, device)

    @property
    def part(self) -> Part:
        """The rows that this process has of each batch."""
        return self._part

    @property
    def dividing(self) -> OneProcess:
        return ONE_PROCESS if self._part.processes == 1 else self

    # --- compile -----------------------------------------------------------------------------------------------------

    def prepare(self, model: Any) -> None:
        if self._mesh is not None:
            shard(model, self._mesh)
        self._mesh, self._model = self._mesh or shared_mesh(model), model  # it may have been loaded shared

    def train_function(self, jit_compile: Any, cuda_graph: Any) -> TrainFunction:  # type: ignore[override]
        refuse_compiling(jit_compile, cuda_graph, OF_ONE_PROCESS)
        return train_pass

    def replicas(self, compiled: CompiledModel, by_hand: bool) -> Replicas | Averaged | Sharded:
        self._normalizing = normalizing(compiled.network)
        if self._mesh is not None:
            if compiled.optimizer is None:
                raise RuntimeError(
                    "A train_step with an optimizer of its own does not train weights that processes share: give "
                    "compile the optimizer, and call self.minimize(loss)."
                )
            return Sharded(self._model, compiled.network, self._mesh)
        if not by_hand:
            return Replicas(compiled, self.group)
        replicas = Averaged(self.group)
        self._averaging = replicas.averaging
        return replicas

    def warn_of_hooks(self, model: Any, parameters: list[Tensor]) -> None:
        """Nothing: here the backward pass calls them."""

    # --- what all do together ----------------------------------------------------------------------------------------

    @contextmanager
    def doing(self, method: str, model: Any, *sources: Source | None, once: Any = None, **given: Any) -> Iterator[None]:
        self._place, self._passed = method, 0
        outer, self._sources = self._sources, [source for source in sources if source is not None]
        for source in self._sources[:1]:
            given |= {"samples": source.samples, "batch_size": source.batch_size, "steps": source.steps}
        try:
            with self._whereabouts.watching(method, self._where):
                if once is None or (method, once) not in self._agreed:
                    agree(method, model, given, self.group)
                    self._agreed.add((method, once))
                yield
        finally:
            self._sources = outer

    def _where(self) -> str:
        return f"{self._place}, batch {self._passed}"

    @contextmanager
    def running(self, callbacks: Any) -> Iterator[None]:
        self._may_differ, self._most = callbacks.may_differ, LONGEST
        self._since, self._began = 0, time.perf_counter()
        before = signal.getsignal(signal.SIGINT)
        listens = before is signal.default_int_handler and threading.current_thread() is threading.main_thread()
        if listens:
            self._signals = 0
            signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            if listens and signal.getsignal(signal.SIGINT) == self._note:
                signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: Any) -> None:
        self._signals += 1
        if self._signals > 1:
            raise KeyboardInterrupt

    @contextmanager
    def sharing(self, step: Callable[[Batch], Any]) -> Iterator[Callable[[Batch], Any]]:
        self._passed = 0
        with self._random.apart() as own:

            def run(batch: Batch) -> Any:
                self._passed, self._since = self._passed + 1, self._since + 1
                size, processes = batch.size, self._part.processes
                shared = SharedBatch(size, size + batch.others, self.group, self.sync_batch_norm, processes)
                with CURRENT.on(shared), own(), self._normalizing, self._averaging(self._model):
                    return step(batch)

            yield run

    def note_place(self, place: str) -> None:
        self._place = place

    def align(self, model: Any) -> None:
        if not self.sync_batch_norm:
            take_first((buffer for buffer in model.buffers() if buffer.is_floating_point()), self.group)

    # --- batches and numbers -----------------------------------------------------------------------------------------

    def own(self, batch: Batch) -> Batch:
        return self._part.of(batch)

    def sums(self, kept: Mapping[str, Metric], named_alone: bool = False, guard: Guard | None = None) -> Sums:
        return SharedSums(self, kept, named_alone, guard)

    def pace(self, every: int, takes_means: bool) -> Pace:
        """That of the exchanges of numbers, unless some callback needs the numbers of each batch."""
        return self._pace if takes_means else super().pace(every, takes_means)

    def output(self, source: Source) -> OwnOutput:
        return OwnOutput(source)

    def arrays(self, outputs: list[Any], sizes: list[int], source: Source, gather: bool) -> list[np.ndarray]:
        if gather:
            return joined(outputs, sizes, self, source.checksum())
        return super().arrays(outputs, sizes, source, gather)

    @contextmanager
    def added_up(
        self, totals: Mapping[str, Tensor], seen: Any, kept: Mapping[str, Metric]
    ) -> Iterator[tuple[dict[str, Tensor], Any]]:
        """The totals and the samples seen, of all processes; inside the block the metrics have counted all, too."""
        adding = [metric for metric in kept.values() if metric.adds_up]
        states = [state for metric in adding for state in metric.variables]
        own = [state.detach().clone() for state in states]
        seen = torch.as_tensor(seen, device=self.device)
        summed = self._exchanged([*totals.values(), seen, *states])
        for state, value in zip(states, summed[len(totals) + 1 :], strict=True):
            state.copy_(value)
        try:
            yield dict(zip(totals, summed, strict=False)), summed[len(totals)].clamp(min=1)
        finally:
            for state, value in zip(states, own, strict=True):
                state.copy_(value)

    def agreed(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        (found,) = self._exchanged([torch.tensor(float(flag), device=self.device)])
        return bool(found > 0)

    def _exchanged(self, values: list[Tensor]) -> list[Tensor]:
        """The sums over all processes. Raises KeyboardInterrupt in all where one has noted Ctrl-C."""
        self._whereabouts.note(self._where)
        now = time.perf_counter()
        seconds = (now - self._began) / max(self._since, 1)
        checksum = sum(source.checksum() for source in self._sources) % CHECKSUMS
        header = torch.tensor(
            [seconds, float(self._signals), checksum, checksum**2], dtype=torch.float64, device=self.device
        )
        flat = torch.cat([header, *(value.detach().double().reshape(-1) for value in values)])
        dist.all_reduce(flat, group=self.group)
        seconds, signals, total, squares = flat[:4].tolist()
        if self._since:
            self._pace.interval = int(min(max(EVERY * self._part.processes / max(seconds, 1e-9), 1), self._most))
        self._since, self._began = 0, time.perf_counter()
        if signals:
            self._signals = 0
            raise KeyboardInterrupt
        if self._part.processes * int(squares) != int(total) ** 2:  # equal where all are
            raise ProcessesDifferError(
                f"{self._where()}: the processes had different data or batches, or shuffled them in other orders. "
                "Give every process the whole data, and seed all alike, so that each makes the same batches, or give a "
                "DataLoader with a DistributedSampler."
            )
        parts = flat[4:].split([value.numel() for value in values])
        return [part.view_as(value).to(value.dtype) for part, value in zip(parts, values, strict=True)]

    # --- where training ends -----------------------------------------------------------------------------------------

    def stopping(self, ends: Callable[[bool], bool], model: Any) -> Callable[[bool], bool]:
        def stopped(called: bool) -> bool:
            flag = ends(called)
            found = self._stopped(flag, called)
            if found and not flag:  # to set an attribute of a module takes longer than to ask
                model.stop_training = True
            return found

        return stopped

    def _stopped(self, flag: bool, called: bool) -> bool:
        """Whether to stop after this batch, in all processes alike. `called`: whether callbacks just had their say."""
        if called and self._may_differ:
            return self.agreed(flag)
        if self._since >= self._pace.interval:
            self._exchanged([])
        return flag

    def agree_on_end(self, model: Any) -> None:
        if self._may_differ:
            model.stop_training = self.agreed(model.stop_training)

    # --- checkpoints and files ---------------------------------------------------------------------------------------

    def call_within(self, batches: int) -> None:
        """Exchange numbers within so many batches, and call the callbacks then. All processes must say the same."""
        self._most = batches
        self._pace.interval = min(self._pace.interval, batches)

    def backups(self, folder: Path, run: Any, accept: Any) -> Backups:
        return annex("backups").SharedBackups(folder, run, accept)  # type: ignore[no-any-return]

    def step_random(self) -> dict[str, list[Tensor]]:
        return self._random.state_dict()

    def restore_step_random(self, state: Mapping[str, list[Tensor]]) -> None:
        self._random.load_state_dict(state)

    def of_main(self, value: Value) -> Value:
        return gathered(value, self.group)[0]  # type: ignore[no-any-return]

    def writes_files_of(self, model: Any) -> bool:
        """Whether this is the main process, or the processes share the weights, so that all must give theirs."""
        return is_main() or bool(shared_in(model.parameters()))


class RandomNumbers:
    """The random numbers of steps, apart from those that order the data: other ones in each process.

    Those that order the data are torch's own, which are the same in all processes. Those of the steps begin from them
    and the rank. Where steps have drawn any, torch's own move on by one, so that the next steps draw others.
    """

    def __init__(self, part: Part, device: torch.device):
        self._part = part
        self._generators = [torch.default_generator]
        if device.type == "cuda":
            index = torch.cuda.current_device() if device.index is None else device.index
            self._generators.append(torch.cuda.default_generators[index])
        self.states: list[Tensor] = []  # of the pass under way
        self._first: list[Tensor] = []  # those that it began with
        self._saved: Mapping[str, list[Tensor]] = {}

    def state_dict(self) -> dict[str, list[Tensor]]:
        """The numbers of the pass under way: those that it began with, and those now."""
        return {"first": list(self._first), "now": list(self.states)}

    def load_state_dict(self, state: Mapping[str, list[Tensor]]) -> None:
        """The next pass goes on where another was; nothing where none was under way."""
        self._saved = state if state.get("now") else {}

    @contextmanager
    def apart(self) -> Iterator[Callable[[], Any]]:
        """A pass over batches: inside the blocks that the result opens, this process's own numbers are drawn."""
        if self._part.processes == 1:
            yield nullcontext
            return
        outer, saved, self._saved = (self._first, self.states), self._saved, {}
        begun = saved.get("first") or [self._begun(generator) for generator in self._generators]
        self._first, self.states = begun, list(saved.get("now") or begun)
        try:
            yield self._own
        finally:
            if any(not torch.equal(now, before) for now, before in zip(self.states, begun, strict=True)):
                for generator in self._generators:
                    torch.empty((), device=generator.device).uniform_(generator=generator)
            self._first, self.states = outer

    def _begun(self, generator: torch.Generator) -> Tensor:
        seed_bytes = generator.get_state().numpy().tobytes() + self._part.rank.to_bytes(8, "big")
        seed = int.from_bytes(hashlib.sha256(seed_bytes).digest()[:8], "big")
        return torch.Generator(generator.device).manual_seed(seed).get_state()

    @contextmanager
    def _own(self) -> Iterator[None]:
        before = [generator.get_state() for generator in self._generators]
        for generator, state in zip(self._generators, self.states, strict=True):
            generator.set_state(state)
        try:
            yield
        finally:
            self.states = [generator.get_state() for generator in self._generators]
            for generator, state in zip(self._generators, before, strict=True):
                generator.set_state(state)
