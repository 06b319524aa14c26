"""Properties that are computed when they are first asked for."""

from __future__ import annotations

from functools import cached_property  # noqa: TID251  # the base of what is used instead
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")


class lazy_property(cached_property[T]):  # noqa: N801  # used as a decorator
    """As `functools.cached_property`, without a lock; all threads get the value that was stored first.

    Until Python 3.11 that one holds a lock while it computes, one for all objects. A thread that holds it, and waits
    for another lock such as HDF5's, waits for ever if the thread that has the other asks for the property too.
    """

    if not TYPE_CHECKING:  # the types are those of the base

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
