"""A process that died or hangs: found out by the others, and named in their errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch.distributed as dist

PATIENCE = 3.0  # seconds in which the others tell that they have noticed
EVERY = 1.0  # seconds between two notes of where a process is
TEXTS = ("gloo", "nccl", "connection closed", "connection reset", "timed out", "timeout", "broken pipe", "socket")


class ProcessLostError(RuntimeError):
    """Another process has died, or does not answer within the timeout. The text says which, and where it was last."""


class Whereabouts:
    """Where each process is, noted in the store of their group."""

    def __init__(self, group: Any):
        self._rank, self._processes = dist.get_rank(group), dist.get_world_size(group)
        self._store: Any = dist.distributed_c10d._get_default_store()  # pyright: ignore[reportPrivateImportUsage]
        self._next = 0.0

    def note(self, place: Callable[[], str]) -> None:
        """Note from time to time where this process is."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            self._store.set(f"torchkeras/at/{self._rank}", place())

    @contextmanager
    def watching(self, method: str, place: Callable[[], str]) -> Iterator[None]:
        """Raise an error of communication inside the block again as a ProcessLostError."""
        try:
            yield
        except RuntimeError as error:
            text = str(error).lower()
            if isinstance(error, dist.DistError) or any(word in text for word in TEXTS):
                raise ProcessLostError(f"{method}: {self._told(method, place())}") from error
            raise

    def _told(self, method: str, place: str) -> str:
        try:
            self._store.set_timeout(timedelta(seconds=PATIENCE))
            self._store.set(f"torchkeras/noticed/{self._rank}", place)
            missing = self._missing("noticed", range(self._processes))
            where = {rank: self._last(rank) for rank in missing}
            self._store.set(f"torchkeras/told/{self._rank}", place)
            if self._rank == 0:  # which may keep the store: it ends when the others have read
                self._missing("told", [rank for rank in range(self._processes) if rank not in missing])
        except RuntimeError:  # with the process that keeps it
            return (
                f"the processes cannot reach each other any more, nor the store that one of them, or the launcher, "
                f"keeps; process {self._rank} was in {place}. The output of the process that ended first says why."
            )
        if not missing:
            return f"the processes lost each other in {place}; all of them are alive. Their network, or a timeout?"
        named = " and ".join(f"process {rank}, last seen {seen}," for rank, seen in where.items())
        return (
            f"{named} died, or does not answer within the timeout; process {self._rank} was in {place}. The output of "
            f"the lost process says why. If it says nothing, it did not call {method}: all processes have to."
        )

    def _missing(self, what: str, ranks: Iterable[int]) -> list[int]:
        """Those of the processes that have not said so after some seconds."""
        end, missing = time.monotonic() + PATIENCE, list(ranks)
        while missing and time.monotonic() < end:
            missing = [rank for rank in missing if not self._store.check([f"torchkeras/{what}/{rank}"])]
            time.sleep(0.05)
        return missing

    def _last(self, rank: int) -> str:
        key = f"torchkeras/at/{rank}"
        return f"in {self._store.get(key).decode()}" if self._store.check([key]) else "at the start"
