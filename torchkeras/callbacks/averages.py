"""Means of the numbers of batches, weighted by batch size, summed on the device and read when somebody asks."""

from collections.abc import Mapping
from typing import Any

import torch

from torchkeras.callbacks.logs import Logs

KEPT = 256  # values of each name that wait to be summed together


class Averages:
    """Means of the numbers of batches: `add` takes the logs of a batch, `values()` returns the means so far.

    The means are tensors or numbers that are not read yet. Values that are functions (what a metric with a state has so
    far), and those whose names are in `as_they_are`, are not averaged: their last value counts.
    """

    def __init__(self, names: Any, as_they_are: Any = ()):
        self.names = tuple(names)
        self.as_they_are = frozenset(as_they_are)
        self._waiting: dict[str, list[tuple[Any, int]]] = {}
        self._totals: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._last: dict[str, Any] = {}

    def add(self, logs: Mapping[str, Any], size: int) -> None:
        """Take the numbers of a batch. Nothing is computed on the device until many wait or somebody asks."""
        names = set(logs)
        for name in self.names:
            if name not in names:
                continue
            value = logs.unread(name) if isinstance(logs, Logs) else logs[name]
            if name in self.as_they_are or callable(value):
                self._last[name] = value
                continue
            waiting = self._waiting.setdefault(name, [])
            waiting.append((value, size))
            if len(waiting) >= KEPT:
                self._sum(name)

    def values(self) -> Logs:
        """The means by name, and the last values of what is not averaged."""
        for name, waiting in self._waiting.items():
            if waiting:
                self._sum(name)
        means = {name: total / max(self._sizes[name], 1) for name, total in self._totals.items()}
        found = {**means, **self._last}
        return Logs({name: found[name] for name in self.names if name in found})

    def _sum(self, name: str) -> None:
        waiting, self._waiting[name] = self._waiting[name], []
        values = [value for value, _ in waiting]
        if all(isinstance(value, torch.Tensor) for value in values):
            # All batches but the last have one size: a sum for each size needs no tensor of sizes.
            sizes = dict.fromkeys(size for _, size in waiting)
            total: Any = sum(torch.stack([v for v, size in waiting if size == each]).sum(0) * each for each in sizes)
        else:
            total = sum(value * size for value, size in waiting)
        self._totals[name] = self._totals[name] + total if name in self._totals else total
        self._sizes[name] = self._sizes.get(name, 0) + sum(size for _, size in waiting)
