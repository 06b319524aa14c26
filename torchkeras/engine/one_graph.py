"""Calls by one graph, of torch.compile, captured, or both, for tensors of one kind; others as they would be without it.

A graph is made for tensors of the shapes that come first. Others, such as those of a smaller last batch, go without it,
and so does every call while a hook observes a layer. What a callback changes in Python (`layer.rate = 0.3`) is seen,
and the graph is made anew. A compiled graph draws random numbers in other ways than operations by themselves.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Generic, TypeVar

import torch

from torchkeras.engine.captured import Captured, kind_of
from torchkeras.engine.direct import Direct
from torchkeras.engine.tracing import islands

CAPTURING = ("reduce-overhead", "max-autotune", "cudagraphs")  # modes and backends of torch that capture CUDA graphs

Tensors = Sequence["torch.Tensor | None"]
Result = TypeVar("Result")
Options = Mapping[str, Any] | None  # of torch.compile
Make = Callable[[Options, int], "Callable[..., Any] | None"]  # (options, changes)


class OneGraph(Generic[Result]):
    """The graph of one function of lists of tensors.

    `options`: those of torch.compile; None for operations as they are, which only pays where they are captured.
    `changes`: after so many further graphs, as changes in Python make them, there are no more. `captures`: whether what
    runs is captured as a CUDA graph.
    """

    does = "run"  # for messages

    def __init__(self, options: Options, changes: int = 4, captures: bool = False):
        self._changes, self._captures = changes, captures
        self._options = None if options is None else {"dynamic": False, **options}
        self._overwrites = captures or has_capture(options or {})
        self._kind: Any = None
        self._looked: Any = None  # what `direct` ran when it was last renewed
        self._run: Callable[..., Any] | None = None
        self._given_up = False

    @property
    def ready(self) -> bool:
        """Whether there is a graph."""
        return self._run.ready if isinstance(self._run, Captured) else self._run is not None

    def kept(self, found: Any) -> Any:
        """A result with memory of its own, where a captured graph writes all of its results to one place."""
        raise NotImplementedError

    def call(
        self,
        direct: Direct,
        given: Sequence[Tensors],
        plain: Callable[[], Result],
        *makers: Make,
        more: Any = (),
        roots: Sequence[Any] = (),
        alone: bool = False,
    ) -> Result:
        """What `plain()` gives, by the graph where it is one for what is `given`.

        The graph is the first of what `makers` make that torch can compile, called with `given` and, behind them,
        `more`; one makes None where this torch has not what it needs. `roots`: what they read of Python beside that.
        `alone`: until `direct` is renewed there are only such calls, each done with the results of the one before.
        Raises RuntimeError where torch compiles none of them, and where it is to capture for data that is not on a CUDA
        device, or what cannot be captured.
        """
        if self._captures and not _is_on_cuda(given):
            raise RuntimeError(
                "compile: cuda_graph=True captures steps on a CUDA device; the model is on "
                f"{next(tensor.device for tensor in given[0] if tensor is not None)}."
            )
        if not self._takes(direct, given):
            return plain()
        if self._run is None:
            return self._first(makers, (*given, *more), roots)
        unwatched = alone and self._looked is direct.unobserved
        self._looked = direct.unobserved
        try:
            if not self._overwrites:
                return self._run(*given, *more)
            if not isinstance(self._run, Captured):
                torch.compiler.cudagraph_mark_step_begin()
                return self.kept(self._run(*given, *more))
            found = self._run(*given, *more, unwatched=unwatched)
            return found if unwatched else self.kept(found)
        except _compiler_errors() as error:  # of a graph that was to be made anew: nothing of it was done
            self._given_up = True
            warnings.warn(
                f"jit_compile: torch.compile cannot compile the {self.does} anew after a change "
                f"({_first_line(error)}): all run without from here on. A number that changes often stays in one graph "
                "as a tensor.",
                RuntimeWarning,
                stacklevel=2,
            )
            return plain()

    def _takes(self, direct: Direct, given: Sequence[Tensors]) -> bool:
        """Whether a call goes by the graph: the second in succession of one kind makes it, the first what it needs."""
        if self._given_up or direct.observed():
            return False
        kind = () if self._options and self._options["dynamic"] else kind_of(given)
        again = kind == self._kind
        if self._run is None:
            self._kind = kind
        return again

    def _first(self, makers: Sequence[Make], given: Sequence[Any], roots: Sequence[Any]) -> Any:
        problem: Exception | None = None
        for make in makers:
            run = make(self._options, self._changes)
            if run is None:
                continue
            if self._captures:
                run = Captured(run, self.does, roots)
            try:
                with warnings.catch_warnings():  # of the compiler, about what it finds between two graphs
                    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not a leaf", UserWarning)
                    found = run(*given)
            except _compiler_errors() as error:
                problem = error
                continue
            self._run = run
            return found
        raise RuntimeError(
            f"jit_compile: torch.compile cannot compile the {self.does} ({_first_line(problem)}). Compile the model "
            "with jit_compile=False."
        ) from problem


def has_capture(options: Mapping[str, Any]) -> bool:
    """Whether torch.compile captures CUDA graphs by these options."""
    return any(options.get(name) in CAPTURING for name in ("mode", "backend"))


def in_parts(function: Any, options: Options) -> Callable[..., Any]:
    """The function in as few graphs as can be; as it is without options."""
    if options is None:
        return function
    compiled = torch.compile(_own(function), **options)

    def run(*given: Any) -> Any:
        with islands():
            return compiled(*given)

    return run


def with_gradients(function: Any, options: Options, changes: int) -> Callable[..., Any] | None:
    """The function in one graph, the gradients that it asks autograd for included; None where torch (2.6) cannot.

    Without options it is as it is.
    """
    if options is None:
        return function
    if not hasattr(_settings(), "trace_autograd_ops"):
        return None
    compiled = torch.compile(_own(function), **{"fullgraph": True, **options})
    graphs = 0

    def run(*given: Any) -> Any:
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

    return run


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


def _is_on_cuda(given: Sequence[Tensors]) -> bool:
    return all(tensor is None or tensor.is_cuda for tensor in given[0])
