"""Calls as one graph of torch.compile, for tensors of one kind; other calls run uncompiled.

The graph is made for the shapes that come first. Other shapes, such as those of a smaller last batch, run without it,
and so does every call while a hook observes a layer. torch sees what a callback changes in Python (`layer.rate = 0.3`),
and makes another graph. A graph draws other random numbers than the same operations without one.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any, Generic, TypeVar

import torch

from torchkeras.base.interrupts import imported, whole_imports
from torchkeras.base.torch_versions import WARNS_OF_CACHES, compiled, compiler_settings
from torchkeras.base.tracing import islands
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.modes import MODE, locked_mode

CAPTURED = {"mode": "reduce-overhead"}  # the options of torch.compile for a CUDA graph
CAPTURING = ("reduce-overhead", "max-autotune", "cudagraphs")  # the modes and backends that capture one

Tensors = Sequence["torch.Tensor | None"]
Result = TypeVar("Result")
Options = Mapping[str, Any]  # of torch.compile
Make = Callable[[Options, int], "Callable[..., Any] | None"]  # (options, changes)


class OneGraph(Generic[Result]):
    """The graph of one function of lists of tensors.

    `options`: those of torch.compile. `changes`: how many further graphs may be made after changes in Python.
    `on_cuda`: whether the tensors must lie on a CUDA device.
    """

    does = "run"  # for messages

    def __init__(self, options: Options, changes: int = 4, on_cuda: bool = False):
        self._changes, self._on_cuda = changes, on_cuda
        self._options = {"dynamic": False, **options}
        self._captures = captures(options)
        self._kind: Any = None
        self._run: Callable[..., Any] | None = None
        self._given_up = False
        self._lock = threading.RLock()  # one thread at a time makes the graph, and uses the memory that it captures

    @property
    def ready(self) -> bool:
        """Whether there is a graph."""
        return self._run is not None

    def copied(self, found: Any) -> Any:
        """A result in its own memory: the next run of a captured graph overwrites that of this run."""
        raise NotImplementedError

    def call(
        self, calls: HookFreeCalls, lists: Sequence[Tensors], plain: Callable[[], Result], *makers: Make, more: Any = ()
    ) -> Result:
        """The result of `plain()`, by the graph if that is for tensors like those in `lists`.

        The graph is the first one from `makers` that torch can compile, called with `lists` and then `more`. A maker
        returns None if this version of torch lacks what it needs. Raises RuntimeError if torch can compile none of
        them, and for tensors that must lie on a CUDA device and do not.
        """
        inputs: Sequence[Any] = lists[0]
        if self._on_cuda and not is_on_cuda(inputs):
            raise RuntimeError(
                f"compile: cuda_graph=True captures steps on a CUDA device; the model is on {inputs[0].device}."
            )
        with self._lock:
            if self._takes(calls, lists):
                with locked_mode(calls.mode_dependent, MODE.training):
                    return self._by_graph(plain, makers, (*lists, *more))
        return plain()

    def _by_graph(self, plain: Callable[[], Result], makers: Sequence[Make], arguments: Sequence[Any]) -> Result:
        if self._run is None:
            return self._first(makers, arguments)  # type: ignore[no-any-return]
        try:
            return self._result(self._run, arguments)  # type: ignore[no-any-return]
        except _compiler_errors() as error:  # while the graph was made again: it has computed nothing
            self._given_up = True
            warnings.warn(
                f"jit_compile: torch.compile cannot compile the {self.does} again after a change "
                f"({_first_line(error)}): all run without from here on. A number that changes often stays in one graph "
                "as a tensor.",
                RuntimeWarning,
                stacklevel=2,
            )
            return plain()

    def _takes(self, calls: HookFreeCalls, lists: Sequence[Tensors]) -> bool:
        """Whether a call uses the graph: the second call in a row of one kind makes it, after the first ran without."""
        if self._given_up or calls.observed():
            return False
        kind = () if self._options["dynamic"] else _kind_of(lists)
        again = kind == self._kind
        if self._run is None:
            self._kind = kind
        return again

    def _result(self, run: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        if not self._captures:
            return run(*arguments)
        torch.compiler.cudagraph_mark_step_begin()  # the results of earlier runs may be overwritten
        return self.copied(run(*arguments))

    def _first(self, makers: Sequence[Make], arguments: Sequence[Any]) -> Any:
        problem: Exception | None = None
        for make in makers:
            run = make(self._options, self._changes)
            if run is None:
                continue
            try:
                # Ignore a warning of the compiler about code between two graphs.
                with warnings.catch_warnings(), whole_imports():
                    warnings.filterwarnings("ignore", "The .grad attribute of a Tensor that is not a leaf", UserWarning)
                    if WARNS_OF_CACHES:
                        warnings.filterwarnings("ignore", "Dynamo detected a call to a `functools.lru_cache`")
                    found = self._result(run, arguments)
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
    """Whether torch.compile captures CUDA graphs with these options."""
    chosen = options.get("options") or {}
    return chosen.get("triton.cudagraphs", False) or any(options.get(name) in CAPTURING for name in ("mode", "backend"))


def is_on_cuda(inputs: Sequence[Any]) -> bool:
    """Whether all inputs lie on a CUDA device."""
    return all(tensor.is_cuda for tensor in inputs)


def stays_in_place(tensor: torch.Tensor) -> None:
    """Tell torch that a tensor keeps its address: it captures no graph that writes to inputs that may move."""
    imported("torch._dynamo").mark_static_address(tensor, guard=False)


def in_parts(function: Any, options: Options) -> Callable[..., Any]:
    """The function in as few graphs as possible."""
    call = compiled(_with_own_code(function), options)

    def run(*arguments: Any) -> Any:
        with islands():
            return call(*arguments)

    return run


def with_gradients(function: Any, options: Options, changes: int) -> Callable[..., Any] | None:
    """The function in one graph, with the gradients that it asks autograd for; None if torch (before 2.12) cannot."""
    if not hasattr(compiler_settings(), "trace_autograd_ops"):
        return None
    call = compiled(_with_own_code(function), {"fullgraph": True, **options})
    graphs = 0

    def run(*arguments: Any) -> Any:
        nonlocal graphs
        if graphs:
            try:
                return call(*arguments)
            except _compiler_errors():  # the graph is made again, without the setting below: something has changed
                if graphs > changes:
                    raise
        with compiler_settings().patch(trace_autograd_ops=True), islands():
            found = call(*arguments)
        graphs += 1
        return found

    return run


def _kind_of(lists: Sequence[Tensors]) -> list[Any]:
    """Shapes and types of the tensors in lists."""
    return [None if tensor is None else (tensor.shape, tensor.dtype) for tensor in chain.from_iterable(lists)]


def _with_own_code(function: Any) -> Any:
    """The function with its own code object: torch counts graphs by code, and gives up after some."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{id(function)}")
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _compiler_errors() -> tuple[type[Exception], ...]:
    """The exceptions of torch.compile for code that it cannot compile."""
    errors: Any = imported("torch._dynamo.exc")
    return errors.TorchDynamoException, getattr(errors, "FailOnRecompileLimitHit", errors.TorchDynamoException)


def _first_line(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).strip().splitlines()[:2])}"
