"""`compile(jit_compile=..., cuda_graph=...)`: the values of the two options, and the steps that they choose.

Under "auto", `Auto` measures whether steps compiled by torch.compile pay.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from torchkeras.base.torch_versions import COMPILES
from torchkeras.data.batch import Batch
from torchkeras.engine.facts import facts_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.speed.compiled_call import CAPTURED, Options, captures, is_on_cuda
from torchkeras.engine.speed.compiled_steps import CompiledScoring, CompiledTraining
from torchkeras.engine.step.step import CompiledModel, Scorer, TrainFunction, TrainPass, losses, train_pass

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
        if not self._pays(model):
            return
        self._tried = True
        if COMPILES:
            a_step = self._a_step if self._timed else (now - self._started) / self._done
            self._step = _Trial(CompiledTraining(self._options(batch, a_step), changes=1), a_step, self._decide)
        else:
            self._decide(train_pass, f"torch {torch.__version__} compiles no steps, 2.8 does; they stay as they are.")

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
    first = batch.inputs[0]
    if first.is_cuda:
        torch.cuda.synchronize(first.device)  # the current device may be another
    return time.perf_counter()


def _walks(model: CompiledModel) -> bool:
    """Whether a layer loops over time: its graph would have little in it, or be large."""
    return any(facts_of(module).walks for module in model.network.modules() if isinstance(module, Layer))


KNOWN = ("fullgraph", "dynamic", "backend", "mode", "options")  # of torch.compile


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for a bad value of `jit_compile` or `cuda_graph`, and for two that exclude each other."""
    options = _checked_options(setting)
    if not COMPILES and (setting not in (False, "auto") or cuda_graph is True):
        option = "cuda_graph" if cuda_graph is True else "jit_compile"
        raise ValueError(
            f"compile: {option} needs torch 2.8 or newer, whose compiler can follow a step; this is torch "
            f"{torch.__version__}. Leave {option} at 'auto': then steps run as they are."
        )
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True:
        _check_captured(setting, options)
    elif cuda_graph is False and captures(options):
        raise ValueError(
            f"compile: jit_compile={dict(options)!r} captures CUDA graphs, and cuda_graph=False says not to: give one "
            "of the two."
        )


def _checked_options(setting: Any) -> Mapping[str, Any]:
    """The options of torch.compile in `jit_compile`. Raises ValueError for a bad value of it."""
    if not isinstance(setting, Mapping):
        if not (isinstance(setting, bool) or setting == "auto"):
            raise ValueError(
                "compile: jit_compile must be True, False, 'auto' or a dict of options of torch.compile; "
                f"found {setting!r}."
            )
        return {}
    for name in setting:
        if name not in KNOWN:
            raise ValueError(f"compile: jit_compile: torch.compile's options are {', '.join(KNOWN)}; found {name!r}.")
    return setting


def _check_captured(setting: Any, options: Mapping[str, Any]) -> None:
    """Raise ValueError for a `jit_compile` that excludes `cuda_graph=True`; `options`: those that it has."""
    if setting is False:
        raise ValueError(
            "compile: a CUDA graph is captured by torch.compile: cuda_graph=True and jit_compile=False exclude each "
            "other; give one of the two."
        )
    if options.get("options") is not None:
        raise ValueError(
            f"compile: cuda_graph=True is torch.compile's mode {CAPTURED['mode']!r}, and torch.compile takes a mode or "
            "options, not both: in place of cuda_graph=True have 'triton.cudagraphs': True among the options."
        )
    for name, expected in (*CAPTURED.items(), ("backend", "inductor")):
        if options.get(name) not in (None, expected):
            raise ValueError(
                f"compile: cuda_graph=True captures by torch.compile's {name} {expected!r}; jit_compile has "
                f"{options[name]!r}: give one of the two."
            )


def train_function(setting: Any, cuda_graph: Any) -> TrainFunction:
    """`step.train_pass`, or its compiled form, as `jit_compile` and `cuda_graph` say."""
    if setting == "auto" and cuda_graph is not True:
        return Auto(captures=cuda_graph == "auto")
    options = compile_options(setting, cuda_graph)
    if options is None:
        return train_pass
    return CompiledTraining(options, on_cuda=cuda_graph is True)


def scorer(setting: Any, cuda_graph: Any) -> Scorer:
    """`step.losses`, or its compiled form; "auto" compiles no evaluations."""
    options = compile_options(setting, cuda_graph)
    if options is None:
        return losses
    return CompiledScoring(options, on_cuda=cuda_graph is True)


def compile_options(setting: Any, cuda_graph: Any) -> Options | None:
    """The options of torch.compile; None if it is not used, or "auto" decides."""
    if cuda_graph is not True and setting in (False, "auto"):
        return None
    options = dict(setting) if isinstance(setting, Mapping) else {}
    if cuda_graph is True:
        options.update(CAPTURED)
    return options
