"""A function captured as a CUDA graph: one call queues all of its kernels, each time over the same memory.

Inputs are copied to where those lay that the graph was captured with, and results lie where they lay. What the function
does in place, to the statistics of a batch normalization or the counts of a metric, each replay does, and random
numbers go on. What it read of Python it does not read again: that is watched (`PythonState`), and after a change the
graph is captured anew.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.python_state import PythonState

MOST_PLAIN = 8  # calls in succession, each of them since something had changed


class CaptureError(RuntimeError):
    """What was to be captured cannot be; nothing of it was done."""


class CudaGraph:
    """What is queued inside `capture`, to be queued again by `replay`. `generators`: those whose numbers it draws."""

    def __init__(self, generators: Sequence[torch.Generator]):
        self._graph = torch.cuda.CUDAGraph()
        for generator in generators:
            if generator.device.type == "cuda":
                self._graph.register_generator_state(generator)

    def capture(self, call: Callable[[], Any]) -> Any:
        """The results of a call, whose memory holds them after a replay. Nothing of it is done now."""
        # Threads that prepare data may go on using the device meanwhile.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            return call()

    def replay(self) -> None:
        """Queue it."""
        self._graph.replay()


class Captured:
    """`run`, a function of lists of tensors and of numbers, plainly at first, then by a graph.

    `does`: what it is, for messages. `roots`: what it reads of Python beside its arguments. Calls with other shapes or
    types than the graph's are plain, and so are all, with a warning, when what it reads changes all the time.
    """

    def __init__(self, run: Callable[..., Any], does: str, roots: Sequence[Any]):
        self._run, self._does, self._roots = run, does, roots
        self._state: PythonState | None = None  # which the last plain call left as it was
        self._graph: CudaGraph | None = None
        self._kind: Any = None
        self._places: list[Tensor] = []  # of the inputs
        self._found: Any = None
        self._plain = 0

    @property
    def ready(self) -> bool:
        """Whether calls go the way they will go from here on."""
        return self._graph is not None or self._plain >= MOST_PLAIN

    def __call__(self, *given: Any, unwatched: bool = False) -> Any:
        """What `run` gives, which holds until the next call. `unwatched`: since the last one only such calls have run.

        Raises CaptureError for a function that waits for the device, and the like.
        """
        if self._plain >= MOST_PLAIN:
            return self._run(*given)
        if not (unwatched and self._graph) and self._changed():
            return self._anew(given)
        kind = kind_of(given)
        if self._graph is None:
            self._capture(given, kind)
        elif kind != self._kind:
            return self._run(*given)
        else:
            torch._foreach_copy_(self._places, _tensors(given))
        self._graph.replay()  # type: ignore[union-attr]
        self._plain = 0
        return self._found

    def _changed(self) -> bool:
        return self._state is None or self._state.change() is not None

    def _anew(self, given: Sequence[Any]) -> Any:
        """A plain call, with which is seen whether it leaves as it was what the next one reads."""
        self._graph = self._found = None  # before another one takes as much memory
        self._state = PythonState(_tensors(given)[0].device, *self._roots)
        found = self._run(*given)
        self._plain += 1
        if self._plain == MOST_PLAIN:
            place = self._state.change()
            warnings.warn(
                f"cuda_graph: calls of the {self._does} are not captured, since what they read of Python changes all "
                f"the time{f' ({place})' if place else ''}. A number that is to change can be a tensor on the device.",
                RuntimeWarning,
                stacklevel=2,
            )
        return found

    def _capture(self, given: Sequence[Any], kind: Any) -> None:
        assert self._state is not None
        with torch.inference_mode(False):  # so that the inputs of any call may be copied there
            placed = [_cloned(part) for part in given]
        graph = CudaGraph(self._state.generators)
        try:
            self._found = graph.capture(lambda: self._run(*placed))
        except RuntimeError as error:
            cause = error.__context__ or error  # the end of a capture that has failed raises an error of its own
            raise CaptureError(
                f"cuda_graph: the {self._does} cannot be captured ({str(cause).strip().splitlines()[0]}). Compile the "
                "model with cuda_graph=False."
            ) from error
        self._graph, self._kind, self._places = graph, kind, _tensors(placed)


def _cloned(part: Any) -> Any:
    return [None if tensor is None else tensor.clone() for tensor in part] if isinstance(part, list) else part


def _tensors(given: Sequence[Any]) -> list[Tensor]:
    return [tensor for part in given if isinstance(part, list) for tensor in part if tensor is not None]


def kind_of(given: Sequence[Any]) -> list[Any]:
    """Shapes and types of the tensors in lists."""
    parts = (part for part in given if isinstance(part, list))
    return [None if tensor is None else (tensor.shape, tensor.dtype) for part in parts for tensor in part]
