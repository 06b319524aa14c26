"""Which samples of a batch each of several processes has."""

from __future__ import annotations

from typing import Any


def bounds(samples: Any, rank: int, processes: int) -> tuple[Any, Any]:
    """The first of the samples of a batch that the process `rank` has, and the one after its last."""
    return samples * rank // processes, samples * (rank + 1) // processes


def taken(samples: int, rank: int, processes: int) -> slice:
    """The samples of a batch that the process `rank` takes: its own, or the first one where it has none."""
    first, last = bounds(samples, rank, processes)
    return slice(first, last) if first < last else slice(0, 1)
