"""Runs calls as one graph of torch.compile, for tensors of one kind; other calls run as they would without it.

A graph is made for tensors of the shapes that come first. Others, such as those of a smaller last batch, go without it,
and so does every call while a hook observes a layer. What a callback changes in Python (`layer.rate = 0.3`) is seen by
torch, which makes another graph. A graph draws random numbers in other ways than operations by themselves.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Generic, TypeVar

import torch

from torchkeras.base.interrupts import imported, whole_imports
from torchkeras.base.tracing import islands
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.modes import MODE, locked_mode

CAPTURED = {"mode": "reduce-overhead"}  # the options of torch.compile by which it captures a CUDA graph
CAPTURING = ("reduce-overhead", "max-autotune", "cudagraphs")  # the modes and backends that do

Tensors = Sequence["torch.Tensor | None"]
Result = TypeVar("Result")
Options = Mapping[str, Any]  # of torch.compile
Make = Callable[[Options, int], "Callable[..., Any] | None"]  # (options, changes)


class OneGraph(Generic[Result]):
    """The graph of one function of lists of tensors.

    `options`: those of torch.compile. `changes`: how many further graphs changes in Python may lead to; after
    these none is made. `on_cuda`: whether the tensors must lie on a CUDA device.
    """

    does = "run"  # for messages

    def __init__(self, options: Options, changes: int = 4, on_cuda: bool = False):
        self._changes, self._on_cuda = changes, on_cuda
        self._options = {"dynamic": False, **options}
        self._captures = captures(options)
        self._kind: Any = None
        self._run: Callable[..., Any] | None = None
        self._given_up = False
        self._lock = threading.RLock()  # one thread at a time makes it, and uses the memory that it captures

    @property
    def ready(self) -> bool:
        """Whether there is a graph."""
        return self._run is not None

    def kept(self, found: Any) -> Any:
        """A result with memory of its own: the next run of a captured graph writes over this one's."""
        raise NotImplementedError

    def call(
        self, calls: HookFreeCalls, given: Sequence[Tensors], plain: Callable[[], Result], *makers: Make, more: Any = ()
    ) -> Result:
        """What `plain()` gives, by the graph where it is one for what is `given`.

        The graph is the first of what `makers` make that torch can compile, called with `given` and, after them,
        `more`; one makes None where this torch has not what it needs. Raises RuntimeError where torch compiles none of
        them, and for tensors that must lie on a CUDA device and do not.
        """
        if self._on_cuda and not is_on_cuda(given[0]):
            raise RuntimeError(
                "compile: cuda_graph=True captures steps on a CUDA device; the model is on "
                f"{next(tensor.device for tensor in given[0] if tensor is not None)}."
            )
        with self._lock:
            if self._takes(calls, given):
                with locked_mode(calls.minding, MODE.training):
                    return self._by_graph(plain, makers, (*given, *more))
        return plain()

    def _by_graph(self, plain: Callable[[], Result], makers: Sequence[Make], given: Sequence[Any]) -> Result:
        if self._run is None:
            return self._first(makers, given)  # type: ignore[no-any-return]
        try:
            return self._result(self._run, given)  # type: ignore[no-any-return]
        except _compiler_errors() as error:  # of a graph that was to be made again: nothing of it was done
            self._given_up = True
            warnings.warn(
                f"jit_compile: torch.compile cannot compile the {self.does} anew after a change "
                f"({_first_line(error)}): all run without from here on. A number that changes often stays in one graph "
                "as a tensor.",
                RuntimeWarning,
                stacklevel=2,
            )
            return plain()

    def _takes(self, calls: HookFreeCalls, given: Sequence[Tensors]) -> bool:
        """Whether a call goes by the graph: the second in succession of one kind makes it, the first what it needs."""
        if self._given_up or calls.observed():
            return False
        kind = () if self._options["dynamic"] else _kind_of(given)
        again = kind == self._kind
        if self._run is None:
            self._kind = kind
        return again

    def _result(self, run: Callable[..., Any], given: Sequence[Any]) -> Any:
        if not self._captures:
            return run(*given)
        torch.compiler.cudagraph_mark_step_begin()  # what the runs before gave may be written over
        return self.kept(run(*given))

    def _first(self, makers: Sequence[Make], given: Sequence[Any]) -> Any:
        problem: Exception | None = None
        for make in makers:
            run = make(self._options, self._changes)
            if run is None:
                continue
            try:
                # Warnings of the compiler about what it finds between two graphs; its imports.
                with warnings.catch_warnings(), whole_imports():
                    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not a leaf", UserWarning)
                    found = self._result(run, given)
            except _compiler_errors() as error:
                problem = error
                continue
            self._run = run
            return found
        raise RuntimeError(
            f"jit_compile: torch.compile cannot compile the {self.does} ({_first_line(problem)}). Compile the model "
            "with jit_compile=False, and without cuda_graph=True."
        ) from problem


def captures(options: Options) -> bool:
    """Whether torch.compile captures CUDA graphs by these options."""
    chosen = options.get("options") or {}
    return chosen.get("triton.cudagraphs", False) or any(options.get(name) in CAPTURING for name in ("mode", "backend"))


def is_on_cuda(tensors: Tensors) -> bool:
    """Whether all of these lie on a CUDA device."""
    return all(tensor is None or tensor.is_cuda for tensor in tensors)


def stays_in_place(tensor: torch.Tensor) -> None:
    """Tell torch that a tensor stays where it lies: it captures no graph that writes to inputs that may move."""
    imported("torch._dynamo").mark_static_address(tensor, guard=False)


def in_parts(function: Any, options: Options) -> Callable[..., Any]:
    """The function in as few graphs as can be."""
    compiled = torch.compile(_with_own_code(function), **options)

    def run(*given: Any) -> Any:
        with islands():
            return compiled(*given)

    return run


def with_gradients(function: Any, options: Options, changes: int) -> Callable[..., Any] | None:
    """The function in one graph, the gradients that it asks autograd for included; None where torch (2.6) cannot."""
    if not hasattr(_settings(), "trace_autograd_ops"):
        return None
    compiled = torch.compile(_with_own_code(function), **{"fullgraph": True, **options})
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


def _kind_of(given: Sequence[Tensors]) -> list[Any]:
    """Shapes and types of the tensors in lists."""
    return [None if tensor is None else (tensor.shape, tensor.dtype) for part in given for tensor in part]


def _with_own_code(function: Any) -> Any:
    """The function with code of its own: torch counts graphs by the code, and gives up after some."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{id(function)}")
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _settings() -> Any:
    """Those of the compiler, whose import is left to torch: it takes longer than that of all else."""
    return imported("torch._dynamo.config")


def _compiler_errors() -> tuple[type[Exception], ...]:
    """What torch.compile raises where it cannot."""
    errors: Any = imported("torch._dynamo.exc")
    return errors.TorchDynamoException, getattr(errors, "FailOnRecompileLimitHit", errors.TorchDynamoException)


def _first_line(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).strip().splitlines()[:2])}"
