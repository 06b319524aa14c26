"""Processes that stay up for a file of tests, as ranks of one gloo group."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SECONDS = 60  # for one call


class Pool:
    """So many processes, which run what they are given, each with its own rank."""

    def __init__(self, processes: int, folder: Path):
        context = mp.get_context("spawn")
        store, self._ends, self._processes = str(folder / f"store-{processes}"), [], []
        for rank in range(processes):
            end, other = context.Pipe()
            started = context.Process(target=_serve, args=(other, rank, processes, store), daemon=True)
            started.start()
            self._ends.append(end)
            self._processes.append(started)

    def run(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """What `function(*args)` gave in each process; an AssertionError with the traceback where it raised."""
        for end in self._ends:
            end.send((function, args))
        answers = []
        for rank, end in enumerate(self._ends):
            assert end.poll(SECONDS), f"rank {rank} did not answer within {SECONDS} s"
            answers.append(end.recv())
        for rank, (failed, found) in enumerate(answers):
            assert not failed, f"rank {rank}: {found}"
        return [found for _, found in answers]

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()


class Pools:
    """Pools by their number of processes, made when they are asked for."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._made: dict[int, Pool] = {}

    def run(self, function: Callable[..., Any], processes: int, *args: Any) -> list[Any]:
        """`Pool.run` in so many processes."""
        if processes not in self._made:
            self._made[processes] = Pool(processes, self._folder)
        return self._made[processes].run(function, *args)

    def close(self) -> None:
        for pool in self._made.values():
            pool.close()


def _serve(end: Connection, rank: int, processes: int, store: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=processes)
    while True:
        function, args = end.recv()
        try:
            end.send((False, function(*args)))
        except Exception:  # noqa: BLE001 - it is told to the test
            end.send((True, traceback.format_exc()))
