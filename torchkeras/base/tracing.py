"""Whether operations run now, or are being recorded to be run later, by other rules."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

import torch
from torch._guards import detect_fake_mode

from torchkeras.base.torch_versions import is_exporting

compiled_somewhere = torch.compiler.is_compiling  # by whichever thread


def is_compiling() -> bool:
    """Whether torch.compile or torch.export follows what this thread runs.

    torch's own `is_compiling` says so in every thread while one of them compiles: the others would leave out what only
    compiled code may leave out. Of this thread Dynamo tells; what else follows the code does so by a mode of dispatch.
    What runs at every call asks `compiled_somewhere` first, which costs less and mostly says no.
    """
    return compiled_somewhere() and (torch.compiler.is_dynamo_compiling() or torch._C._len_torch_dispatch_stack() > 0)


def traced() -> bool:
    """Whether torch.compile, or a transform of torch.func, is what runs this.

    Neither can follow what looks at values or writes by hand into memory: a layer then keeps to plain operations.
    """
    return (compiled_somewhere() and is_compiling()) or torch._C._are_functorch_transforms_active()


def exporting() -> bool:
    """Whether torch.export is what runs this: the operations go into a program that runs elsewhere, on any length."""
    return traced() and is_exporting()


def fold(function: Callable[[Any, Any], Any], values: Iterable[Any]) -> Any:
    """`function(function(a, b), c)` of a, b and c: `functools.reduce`, for what torch.compile follows.

    On Python 3.14 it cannot follow that of `functools`.
    """
    result, *others = values
    for other in others:
        result = function(result, other)
    return result


def made_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes a tensor, once for the same arguments: outside of FakeTensorMode, and in each such mode."""

    @lru_cache
    def in_mode(mode: Any, *arguments: Any) -> Any:
        return function(*arguments)

    @wraps(function)
    def made(*arguments: Any) -> Any:
        if compiled_somewhere() and is_compiling():
            return function(*arguments)
        return in_mode(detect_fake_mode() if torch._C._len_torch_dispatch_stack() else None, *arguments)

    return made


class _Islands:
    wanted = False


@contextmanager
def islands() -> Iterator[None]:
    """Inside, what torch.compile could only write out step by step stays out of its graphs and runs as it is."""
    _Islands.wanted = True
    try:
        yield
    finally:
        _Islands.wanted = False


def is_island() -> bool:
    """Whether such code is to stay out of graphs now."""
    return _Islands.wanted and is_compiling()
