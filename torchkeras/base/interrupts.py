"""Ctrl-C does not stop an import halfway: torch, once imported in part, can never be imported whole in that process."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


@contextmanager
def whole_imports() -> Iterator[None]:
    """Inside the block a Ctrl-C that comes during an import is heard when the block ends; any other at once.

    It is heard again at the end where code of others, such as torch's compiler, has made an error of its own of it.
    Python takes signals in its main thread alone; elsewhere, and where Ctrl-C does nothing, so does this.
    """
    heard = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(heard):
        yield
        return
    came: list[tuple[int, Any]] = []
    outside = sys._getframe(2)  # the code with the block

    def hear(number: int, frame: Any) -> None:
        came.append((number, frame))
        if not _imports(frame, outside):
            heard(number, frame)
            came.pop()  # a handler that raises nothing has done all

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception):  # KeyboardInterrupt, on its way
            came.clear()
        raise
    finally:
        if signal.getsignal(signal.SIGINT) is hear:
            signal.signal(signal.SIGINT, heard)
        if came:
            heard(*came[0])


@lru_cache
def imported(module: str) -> Any:
    """A module that torch imports when it first needs it, imported whole."""
    with whole_imports():
        return importlib.import_module(module)


def _imports(frame: Any, outside: Any) -> bool:
    """Whether code runs that an import has called, which began after the code `outside`."""
    while frame not in (outside, None):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
