"""`compile(jit_compile="auto")`: measure whether steps compiled by torch.compile pay."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from torchkeras.data.batch import Batch
from torchkeras.engine.facts import facts_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.speed.compiled_call import CAPTURED, Options, is_on_cuda
from torchkeras.engine.speed.compiled_steps import CompiledTraining
from torchkeras.engine.step.compiled_model import CompiledModel
from torchkeras.engine.step.step import TrainFunction, TrainPass, train_pass

# Estimates before anything is compiled: the seconds that it takes (on two slow cores; for the graph, and for each
# layer), and the share of a step's time that it is likely to save.
SECONDS, SECONDS_A_LAYER, LIKELY_GAIN = 20.0, 1.0, 0.3
LOOK_EVERY = 16  # steps
# Kernels called from C++: from Python each call takes some 10 microseconds more, which counts in short steps, but the
# compiler takes twice as long.
FROM_CPP, SHORT = {"options": {"cpp_wrapper": True}}, 0.005  # seconds
WINDOWS, WINDOW_SECONDS = 7, 0.1  # of the trial: so many for each way, in turns
WORTH_IT = 0.97  # of the time of an eager step


class Auto:
    """Plain steps, until enough are left to make compiling worth its time; then the faster of the two ways.

    `captures`: whether torch captures what it compiles as a CUDA graph, if there is a device for it.
    """

    def __init__(self, captures: bool) -> None:
        self._captures = captures
        self._step: TrainFunction = train_pass
        self._seconds = 0.0  # of earlier runs: repeated runs are likely to go on for as long as they took so far
        self._looks = 0
        self._allowed = self._tried = False
        self._say: Callable[[str], Any] | None = None

    def begin(self, steps: int | None, allowed: bool, say: Callable[[str], Any] | None) -> None:
        """A run of `steps` begins; None if their number is not known.

        `allowed`: whether steps may be compiled in the middle of the run, which changes the last digits of its numbers.
        `say` is called once, with a text that says what was chosen.
        """
        self._left, self._done, self._allowed, self._say = steps, 0, allowed, say
        self._started = time.perf_counter()
        self._looked: float | None = None
        self._a_step, self._timed = math.inf, 0  # seconds of a step between two looks, at best; how often it was timed

    def end(self) -> None:
        """The run has ended."""
        if self._allowed:
            self._seconds += time.perf_counter() - self._started
        self._allowed = False

    @property
    def present(self) -> TrainFunction:
        """The way of steps now: outside of runs nothing is measured."""
        return self if self._allowed else self._step

    def __call__(self, model: CompiledModel, batch: Batch, defer_metrics: bool = False) -> TrainPass:
        if self._allowed and not self._tried:
            self._looks += 1
            if self._looks % LOOK_EVERY == 0 and self._done:
                self._look(model, batch)
            self._done += 1
        return self._step(model, batch, defer_metrics)

    def _look(self, model: CompiledModel, batch: Batch) -> None:
        now = time.perf_counter()
        if self._looked is not None:
            self._a_step, self._timed = min(self._a_step, (now - self._looked) / LOOK_EVERY), self._timed + 1
        self._looked = now
        if self._pays(model):
            a_step = self._a_step if self._timed else (now - self._started) / self._done
            self._tried = True
            self._step = _Trial(CompiledTraining(self._options(batch, a_step), changes=1), a_step, self._decide)

    def _options(self, batch: Batch, a_step: float) -> Options:
        """The options of torch.compile for steps that take so many seconds."""
        on_cuda = is_on_cuda(batch.inputs)
        if on_cuda and self._captures:
            return CAPTURED
        if a_step < SHORT and not on_cuda:
            return FROM_CPP
        return {}

    def _pays(self, model: CompiledModel) -> bool:
        """Whether compiling is likely to save more time than it costs."""
        left = 0.0
        if self._left is not None and self._timed > 1:  # a single time may include a pause
            left = (self._left - self._done) * self._a_step
        cost = SECONDS + SECONDS_A_LAYER * len(model.network.layers)
        return max(left, self._seconds) * LIKELY_GAIN > cost and not _walks(model)

    def _decide(self, chosen: TrainFunction, text: str) -> None:
        self._step = chosen
        if self._say is not None:
            self._say(f"jit_compile='auto': {text}")


class _Trial:
    """Windows of plain and of compiled steps in turns; in the end `decide` is called with the faster way, and why."""

    def __init__(self, compiled: CompiledTraining, a_step: float, decide: Callable[..., None]):
        self._ways: list[tuple[str, TrainFunction]] = [("plain", train_pass), ("compiled", compiled)]
        self._length, self._decide = max(1, round(WINDOW_SECONDS / a_step)), decide
        self._times: list[list[float]] = [[], []]
        self._way, self._count, self._since = 1, 0, 0.0

    def __call__(self, model: CompiledModel, batch: Batch, defer_metrics: bool) -> TrainPass:
        compiled: Any = self._ways[1][1]
        if not compiled.ready:
            try:
                return compiled(model, batch, defer_metrics)
            except RuntimeError as error:
                self._decide(train_pass, f"{error} Steps stay as they are.")
                return train_pass(model, batch, defer_metrics)
        if self._count == self._length:
            self._times[self._way].append((_now(batch) - self._since) / self._length)
            self._way, self._count = 1 - self._way, 0
        if len(self._times[0]) == WINDOWS:
            return self._end()(model, batch, defer_metrics)
        if self._count == 0:
            self._since = _now(batch)
        self._count += 1
        return self._ways[self._way][1](model, batch, defer_metrics)

    def _end(self) -> TrainFunction:
        eager, compiled = map(float, np.median(self._times, axis=1))
        name, chosen = self._ways[int(compiled <= WORTH_IT * eager)]
        text = f"a step takes {eager * 1e3:.3g} ms, compiled {compiled * 1e3:.3g} ms"
        self._decide(chosen, f"{text}; {name} ones from here on.")
        return chosen


def _now(batch: Batch) -> float:
    """The time in seconds, after the device of a batch has finished its work."""
    if batch.inputs[0].is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


def _walks(model: CompiledModel) -> bool:
    """Whether a layer loops over time: its graph would have little in it, or be large."""
    return any(facts_of(module).walks for module in model.network.modules() if isinstance(module, Layer))
