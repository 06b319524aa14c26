"""Variables of code that runs in each step, and made them once in Keras: an optimizer's `get_updates`.

Within `again()` the first variable that is made is the first one of the first time, and so on, with the value that it
has now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Variables:
    """The variables that some code made, in the order in which it made them."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.next = 0

    @contextmanager
    def again(self) -> Iterator[None]:
        """Inside the block the code runs once more."""
        self.next = 0
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def take(self, make: Callable[[], Any]) -> Any:
        """The next variable: that of the first time, or a new one."""
        if self.next == len(self.made):
            self.made.append(make())
        self.next += 1
        return self.made[self.next - 1]


_current: ContextVar[Variables | None] = ContextVar("remembered variables", default=None)


def made(make: Callable[[], Any]) -> Any:
    """A variable, by `make` unless the code that asks has made it before."""
    current = _current.get()
    return make() if current is None else current.take(make)
