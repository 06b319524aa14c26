"""Python's limit of recursion, raised for deep files and deep models.

It is raised where a depth is measured, and never lowered: the limit is one for all threads, and Python 3.11 ends the
process where a thread's stack stands higher than a limit that another thread sets.
"""

from __future__ import annotations

import sys
import threading

CALLERS = 500  # frames that are left to whoever calls: up to here Python's own limit is enough
_raising = threading.Lock()


def at_least(limit: int) -> None:
    """Let the limit be `limit` or more."""
    with _raising:  # else a lower one may be set after a higher one
        if sys.getrecursionlimit() < limit:
            sys.setrecursionlimit(limit)


def leave_room(levels: int) -> None:
    """Leave room for texts, configs or groups of that many levels in one another: each takes up to 3 frames of ours,
    and one more where C counts its own.
    """
    at_least(CALLERS + 5 * levels)
