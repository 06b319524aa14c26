"""`compile(jit_compile="auto")`: whether steps by a graph of torch.compile pay, found by measuring."""

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
from torchkeras.engine.speed.compiled_steps import Learning
from torchkeras.engine.step.compiled_model import CompiledModel
from torchkeras.engine.step.step import Learned, Learner, learn

# What is known before anything is compiled: seconds that it takes (two slow cores; for the graph, for each layer), and
# the share of a step's time that it is likely to save.
SECONDS, SECONDS_A_LAYER, LIKELY_GAIN = 20.0, 1.0, 0.3
LOOK_EVERY = 16  # steps
# Kernels called from C++: from Python each call takes some 10 microseconds more, which short steps are full of, but the
# compiler takes twice as long.
FROM_CPP, SHORT = {"options": {"cpp_wrapper": True}}, 0.005  # seconds
WINDOWS, WINDOW_SECONDS = 7, 0.1  # of the trial: so many of each, one after the other
WORTH_IT = 0.97  # of the time of an eager step


class Auto:
    """Steps without a graph, until those that are left make one worth its time; then whichever of the two is faster.

    `captures`: whether torch captures what it compiles as a CUDA graph, where there is a device for it.
    """

    def __init__(self, captures: bool) -> None:
        self._captures = captures
        self._step: Learner = learn
        self._seconds = 0.0  # of earlier runs: one that comes again and again is likely to go on for as long as it did
        self._looks = 0
        self._allowed = self._tried = False
        self._say: Callable[[str], Any] | None = None

    def begin(self, steps: int | None, allowed: bool, say: Callable[[str], Any] | None) -> None:
        """A run of `steps` begins; None where that is not known.

        `allowed`: whether it may change its way in the middle, and with it the last digits of its numbers. `say`
        receives, once, a text that says what was chosen.
        """
        self._left, self._done, self._allowed, self._say = steps, 0, allowed, say
        self._started = time.perf_counter()
        self._looked: float | None = None
        self._a_step, self._timed = math.inf, 0  # seconds, where steps between two looks were fastest; how often timed

    def end(self) -> None:
        """The run has ended."""
        self._seconds += time.perf_counter() - self._started if self._allowed else 0.0
        self._allowed = False

    @property
    def present(self) -> Learner:
        """What steps go by now: outside of runs nothing is measured."""
        return self if self._allowed else self._step

    def __call__(self, model: CompiledModel, batch: Batch, late: bool = False) -> Learned:
        if self._allowed and not self._tried:
            self._looks += 1
            if self._looks % LOOK_EVERY == 0 and self._done:
                self._look(model, batch)
            self._done += 1
        return self._step(model, batch, late)

    def _look(self, model: CompiledModel, batch: Batch) -> None:
        now = time.perf_counter()
        if self._looked is not None:
            self._a_step, self._timed = min(self._a_step, (now - self._looked) / LOOK_EVERY), self._timed + 1
        self._looked = now
        if self._pays(model):
            a_step = self._a_step if self._timed else (now - self._started) / self._done
            self._tried = True
            self._step = _Trial(Learning(self._options(batch, a_step), changes=1), a_step, self._decide)

    def _options(self, batch: Batch, a_step: float) -> Options:
        """Those of torch.compile for steps that take so many seconds."""
        if is_on_cuda(batch.inputs):
            return CAPTURED if self._captures else {}
        return FROM_CPP if a_step < SHORT else {}

    def _pays(self, model: CompiledModel) -> bool:
        """Whether what compiling is likely to save is more than it is likely to cost."""
        # Timed once, a pause may be in it.
        left = 0.0 if self._left is None or self._timed < 2 else (self._left - self._done) * self._a_step
        cost = SECONDS + SECONDS_A_LAYER * len(model.network.layers)
        return max(left, self._seconds) * LIKELY_GAIN > cost and not _walks(model)

    def _decide(self, chosen: Learner, text: str) -> None:
        self._step = chosen
        if self._say is not None:
            self._say(f"jit_compile='auto': {text}")


class _Trial:
    """Windows of steps with and without a graph in turns; in the end `decide` receives the faster way, and why."""

    def __init__(self, compiled: Learning, a_step: float, decide: Callable[..., None]):
        self._ways: list[Learner] = [learn, compiled]
        self._length, self._decide = max(1, round(WINDOW_SECONDS / a_step)), decide
        self._times: list[list[float]] = [[], []]
        self._way, self._count, self._since = 1, 0, 0.0

    def __call__(self, model: CompiledModel, batch: Batch, late: bool) -> Learned:
        compiled: Any = self._ways[1]
        if not compiled.ready:
            try:
                return compiled(model, batch, late)
            except RuntimeError as error:
                self._decide(learn, f"{error} Steps stay as they are.")
                return learn(model, batch, late)
        if self._count == self._length:
            self._times[self._way].append((_now(batch) - self._since) / self._length)
            self._way, self._count = 1 - self._way, 0
        if len(self._times[0]) == WINDOWS:
            return self._end()(model, batch, late)
        if self._count == 0:
            self._since = _now(batch)
        self._count += 1
        return self._ways[self._way](model, batch, late)

    def _end(self) -> Learner:
        eager, compiled = map(float, np.median(self._times, axis=1))
        chosen = int(compiled <= WORTH_IT * eager)
        text = f"a step takes {eager * 1e3:.3g} ms, compiled {compiled * 1e3:.3g} ms"
        self._decide(self._ways[chosen], f"{text}; {'compiled' if chosen else 'plain'} ones from here on.")
        return self._ways[chosen]


def _now(batch: Batch) -> float:
    """Seconds, when the device of a batch has finished its work."""
    if batch.inputs[0].is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


def _walks(model: CompiledModel) -> bool:
    """Whether a layer walks along time, where a graph would hold little or be large."""
    return any(facts_of(module).walks for module in model.network.modules() if isinstance(module, Layer))
