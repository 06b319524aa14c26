"""Processes that stay up for the tests of this folder, as ranks of gloo groups of one, two, three or four."""

from __future__ import annotations

import random
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from torchkeras import clear_session, config

SECONDS = 60  # for one call
IMPORTED = ["torch", "torchkeras", "torchkeras.distribution.training"]  # once, by the server that forks them


class Pool:
    """So many processes, which run what they are given, each with its own rank."""

    def __init__(self, processes: int):
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        self._ends, self._processes = [], []
        self._folder = tempfile.TemporaryDirectory()
        store = str(Path(self._folder.name) / "store")
        for rank in range(processes):
            end, other = context.Pipe()
            started = context.Process(target=_serve, args=(other, rank, processes, store), daemon=True)
            started.start()
            self._ends.append(end)
            self._processes.append(started)

    @property
    def is_up(self) -> bool:
        return bool(self._processes)

    def run(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """What `function(*args)` gave in each process; an AssertionError with the traceback where it raised."""
        for end in self._ends:
            end.send((function, args))
        answers = []
        for rank, end in enumerate(self._ends):
            if not end.poll(SECONDS):
                self.close()
                told = [text for failed, text in answers if failed]
                raise AssertionError(f"rank {rank} did not answer within {SECONDS} s; the others: {told}")
            answers.append(end.recv())
        for rank, (failed, found) in enumerate(answers):
            if failed:
                self.close()  # others may wait for it
                raise AssertionError(f"rank {rank}: {found}")
        return [found for _, found in answers]

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()
        self._processes = []
        self._folder.cleanup()


class Pools:
    """Pools by their number of processes, made when they are asked for, and anew after an error."""

    def __init__(self) -> None:
        self._made: dict[int, Pool] = {}

    def __call__(self, processes: int) -> Pool:
        if processes not in self._made or not self._made[processes].is_up:
            self._made[processes] = Pool(processes)
        return self._made[processes]

    def run(self, function: Callable[..., Any], processes: int, *args: Any) -> list[Any]:
        """`Pool.run` in so many processes."""
        return self(processes).run(function, *args)

    def close(self) -> None:
        for pool in self._made.values():
            pool.close()


POOLS = Pools()


def _serve(end: Connection, rank: int, processes: int, store: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=processes)
    settings = config.SETTINGS
    while True:
        try:
            function, args = end.recv()
        except EOFError:  # the tests have ended
            return
        config.SETTINGS = replace(settings)
        clear_session()
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - the state that Keras's users share
        torch.manual_seed(0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with warnings.catch_warnings():
            try:
                end.send((False, function(*args)))
            except BaseException:  # noqa: BLE001 - it is told to the test
                end.send((True, traceback.format_exc()))
