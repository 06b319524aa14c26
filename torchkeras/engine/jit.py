"""`compile(jit_compile=...)`: the train step's forward pass, loss, gradients and metrics as one graph of torch.compile.

The optimizer's update stays outside: it is one fused kernel already, and a changed learning rate changes nothing in the
graph. A graph is made for batches of the shapes that come first. Others, such as a smaller last batch, run as they
would without, and so does every batch while a hook observes a layer. What a callback changes in Python
(`layer.rate = 0.3`) torch sees, and compiles anew. Random numbers are drawn in other ways than without.
"""

from __future__ import annotations

import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import torch

from torchkeras.engine.data import Batch
from torchkeras.engine.recipe import Recipe
from torchkeras.engine.steps import Learned, Learner, gradients_of, learn, losses
from torchkeras.engine.tracing import islands

# What is known before anything is compiled: seconds that it takes (two slow cores; for the graph, for each layer), and
# the share of a step's time that it is likely to save.
SECONDS, SECONDS_A_LAYER, LIKELY_GAIN = 20.0, 1.0, 0.3
LOOK_EVERY = 16  # steps
CAPTURED, CAPTURED_AS_IT_IS = {"mode": "reduce-overhead"}, {"backend": "cudagraphs"}  # as torch.compile has them
CAPTURING = ("reduce-overhead", "max-autotune", "cudagraphs")  # its modes and backends that capture CUDA graphs
WINDOWS, WINDOW_SECONDS = 7, 0.1  # of the trial: so many of each, one after the other
WORTH_IT = 0.97  # of the time of an eager step


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for what is no value of `jit_compile` or `cuda_graph`."""
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True and isinstance(setting, Mapping) and setting.keys() & {"mode", "backend"}:
        raise ValueError(
            "compile: cuda_graph=True chooses torch.compile's mode or backend, and so does jit_compile="
            f"{dict(setting)!r}: give one of the two."
        )
    if not (isinstance(setting, (bool, Mapping)) or setting == "auto"):
        raise ValueError(
            "compile: jit_compile must be True, False, 'auto' or a dict of options of torch.compile; "
            f"found {setting!r}."
        )
    known = ("fullgraph", "dynamic", "backend", "mode", "options")
    for name in setting if isinstance(setting, Mapping) else ():
        if name not in known:
            raise ValueError(f"compile: jit_compile: torch.compile's options are {', '.join(known)}; found {name!r}.")


def learner(setting: Any, cuda_graph: Any) -> Learner:
    """`steps.learn`, or what does the same by the values of `jit_compile` and `cuda_graph`."""
    options = dict(setting) if isinstance(setting, Mapping) else {}
    if cuda_graph is True:
        return Captured({**options, **(CAPTURED_AS_IT_IS if setting is False else CAPTURED)})
    if setting == "auto":
        return Auto(captures=cuda_graph == "auto")
    return learn if setting is False else Compiled(options)


class Compiled:
    """`learn` of one recipe, compiled for batches of one kind. Raises RuntimeError where torch cannot compile it."""

    def __init__(self, options: Mapping[str, Any], changes: int = 4):
        self._changes = changes  # after so many the graph is given up
        self._options = {"dynamic": False, **options}
        self._captures = any(self._options.get(name) in CAPTURING for name in ("mode", "backend"))
        self._kind: Any = None
        self._run: Any = None
        self._given_up = False

    def __call__(self, recipe: Recipe, batch: Batch, late: bool = False) -> Learned:
        if not self.takes(recipe, batch):
            return learn(recipe, batch, late)
        if self._run is None:
            return self._first(recipe, batch)
        try:
            if not self._captures:
                return self._run(*_parts(batch))
            # A CUDA graph writes its outputs to one place, step by step; logs are read late.
            torch.compiler.cudagraph_mark_step_begin()
            found = self._run(*_parts(batch))
            return found._replace(values={name: value.clone() for name, value in found.values.items()})
        except _compiler_errors() as error:  # of a graph that was to be made anew: no part of the step was done
            self._given_up = True
            warnings.warn(
                f"jit_compile: torch.compile cannot compile the step anew after a change ({_first_line(error)}): steps "
                "run without from here on. A number that changes often stays in one graph as a tensor.",
                RuntimeWarning,
                stacklevel=2,
            )
            return learn(recipe, batch, late)

    @property
    def ready(self) -> bool:
        """Whether there is a graph."""
        return self._run is not None

    def takes(self, recipe: Recipe, batch: Batch) -> bool:
        """Whether a batch runs by the graph: the second in succession of one kind makes it, the first what it needs."""
        if self._given_up or recipe.direct.observed():
            return False
        kind = () if self._options["dynamic"] else _kind(batch)
        again = kind == self._kind
        if self._run is None:
            self._kind = kind
        return again

    def _first(self, recipe: Recipe, batch: Batch) -> Learned:
        problem: Exception | None = None
        traces_gradients = hasattr(_settings(), "trace_autograd_ops")  # not in torch 2.6
        for make in (_whole, _forward) if traces_gradients else (_forward,):
            run = make(recipe, self._options, self._changes)
            try:
                with warnings.catch_warnings():  # of the compiler, about what it finds between two graphs
                    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not a leaf", UserWarning)
                    found = run(*_parts(batch))
            except _compiler_errors() as error:
                problem = error
                continue
            self._run = run
            return found
        raise RuntimeError(
            f"jit_compile: torch.compile cannot compile the step ({_first_line(problem)}). Compile the model with "
            "jit_compile=False."
        ) from problem


class Captured(Compiled):
    """The same, captured in a CUDA graph. Raises RuntimeError for data that is not on a CUDA device."""

    def takes(self, recipe: Recipe, batch: Batch) -> bool:
        if not batch.inputs[0].is_cuda:
            raise RuntimeError(
                f"compile: cuda_graph=True captures steps on a CUDA device; the model is on {batch.inputs[0].device}."
            )
        return super().takes(recipe, batch)


def _whole(recipe: Recipe, options: Mapping[str, Any], changes: int) -> Callable[..., Learned]:
    """All of `learn` in one graph, gradients included."""

    def run(inputs: Any, targets: Any, weights: Any, size: int) -> Learned:
        return learn(recipe, Batch(inputs, targets, weights, size))

    compiled = torch.compile(_own(run), **{"fullgraph": True, **options})
    graphs = 0

    def traced(*given: Any) -> Learned:
        nonlocal graphs
        if graphs:
            try:
                return compiled(*given)
            except _compiler_errors():  # gradients without the setting below: something has changed
                if graphs > changes:
                    raise
        with _settings().patch(trace_autograd_ops=True), islands():
            found = compiled(*given)
        graphs += 1
        return found

    return traced


def _forward(recipe: Recipe, options: Mapping[str, Any], changes: int) -> Callable[..., Learned]:
    """Forward pass, loss and metrics in as few graphs as can be; their gradients by autograd."""

    def run(inputs: Any, targets: Any, weights: Any, size: int) -> Any:
        return losses(recipe, Batch(inputs, targets, weights, size))

    compiled = torch.compile(_own(run), **options)

    def with_gradients(*given: Any) -> Learned:
        with islands():
            loss, values = compiled(*given)
        return Learned(loss.detach(), gradients_of(recipe, loss), values)

    return with_gradients


def _own(function: Any) -> Any:
    """The function with code of its own: torch counts graphs by the code, and gives up after some."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{id(function)}")
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _settings() -> Any:
    """Those of the compiler, whose import is left to torch: it takes longer than that of all else."""
    return importlib.import_module("torch._dynamo.config")


def _compiler_errors() -> tuple[type[Exception], ...]:
    """What torch.compile raises where it cannot."""
    errors: Any = importlib.import_module("torch._dynamo.exc")
    return errors.TorchDynamoException, getattr(errors, "FailOnRecompileLimitHit", errors.TorchDynamoException)


def _first_line(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).strip().splitlines()[:2])}"


def _kind(batch: Batch) -> Any:
    return [None if tensor is None else (tensor.shape, tensor.dtype) for part in _parts(batch)[:3] for tensor in part]


def _parts(batch: Batch) -> tuple[Any, ...]:
    return batch.inputs, batch.targets, batch.weights, batch.size


class Auto:
    """Steps without a graph, until those that are left make one worth its time; then whichever of the two is faster."""

    def __init__(self, captures: bool) -> None:
        self._captures = captures  # whether a graph is captured, where there is a device for it
        self._step: Learner = self._wait
        self._seconds = 0.0  # of earlier runs: one that comes again and again is likely to go on for as long as it did
        self._looks = 0
        self._allowed = False
        self._say: Callable[[str], Any] | None = None

    def begin(self, steps: int | None, allowed: bool, say: Callable[[str], Any] | None) -> None:
        """A run of `steps` begins; None where that is not known.

        `allowed`: whether it may change its way in the middle, and with it the last digits of its numbers. `say` is
        told, once, what was chosen.
        """
        self._left, self._done, self._allowed, self._say = steps, 0, allowed, say
        self._started = time.perf_counter()

    def end(self) -> None:
        """The run has ended."""
        self._seconds += time.perf_counter() - self._started if self._allowed else 0.0
        self._allowed = False

    @property
    def tries(self) -> bool:
        """Whether the two are being measured."""
        return isinstance(self._step, _Trial)

    def __call__(self, recipe: Recipe, batch: Batch, late: bool = False) -> Learned:
        return self._step(recipe, batch, late)

    def _wait(self, recipe: Recipe, batch: Batch, late: bool) -> Learned:
        if self._allowed:
            self._looks += 1
            if self._looks % LOOK_EVERY == 0 and self._done and self._pays(recipe):
                options = CAPTURED if self._captures and batch.inputs[0].is_cuda else {}
                self._step = _Trial(Compiled(options, changes=1), self._a_step(), self._decide)
            self._done += 1
        return learn(recipe, batch, late)

    def _a_step(self) -> float:
        """Seconds of a step of this run so far."""
        return (time.perf_counter() - self._started) / self._done

    def _pays(self, recipe: Recipe) -> bool:
        """Whether what compiling is likely to save is more than it is likely to cost."""
        left = 0.0 if self._left is None else (self._left - self._done) * self._a_step()
        cost = SECONDS + SECONDS_A_LAYER * len(recipe.network.layers)
        return max(left, self._seconds) * LIKELY_GAIN > cost and not _walks(recipe)

    def _decide(self, chosen: Learner, text: str) -> None:
        self._step = chosen
        if self._say is not None:
            self._say(f"jit_compile='auto': {text}")


class _Trial:
    """Windows of steps with and without a graph in turns; in the end `decide` is told the faster way, and why."""

    def __init__(self, compiled: Compiled, a_step: float, decide: Callable[..., None]):
        self._ways: list[Learner] = [learn, compiled]
        self._length, self._decide = max(1, round(WINDOW_SECONDS / a_step)), decide
        self._times: list[list[float]] = [[], []]
        self._way, self._count, self._since = 1, 0, 0.0

    def __call__(self, recipe: Recipe, batch: Batch, late: bool) -> Learned:
        compiled: Any = self._ways[1]
        if not compiled.ready:
            try:
                return compiled(recipe, batch, late)
            except RuntimeError as error:
                self._decide(learn, f"{error} Steps stay as they are.")
                return learn(recipe, batch, late)
        if self._count == self._length:
            self._times[self._way].append((_now(batch) - self._since) / self._length)
            self._way, self._count = 1 - self._way, 0
        if len(self._times[0]) == WINDOWS:
            return self._end()(recipe, batch, late)
        if self._count == 0:
            self._since = _now(batch)
        self._count += 1
        return self._ways[self._way](recipe, batch, late)

    def _end(self) -> Learner:
        eager, compiled = map(statistics.median, self._times)
        chosen = int(compiled <= WORTH_IT * eager)
        text = f"a step takes {eager * 1e3:.3g} ms, compiled {compiled * 1e3:.3g} ms"
        self._decide(self._ways[chosen], f"{text}; {'compiled' if chosen else 'plain'} ones from here on.")
        return self._ways[chosen]


def _now(batch: Batch) -> float:
    """Seconds, when the device of a batch has done what it was told."""
    if batch.inputs[0].is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()


def _walks(recipe: Recipe) -> bool:
    """Whether a layer walks along time, where a graph would hold little or be large."""
    return any(getattr(module, "walks", False) for module in recipe.network.modules())
