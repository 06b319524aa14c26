"""A function in several processes of one group, forked from a server that has imported the package: a quick start."""

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from launched import as_torchrun, free_port

from torchkeras.distribution import initialize

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["torch", "torchkeras", "torchkeras.distribution.backups", "torch.distributed.fsdp"])


def together(function: Callable[..., Any], processes: int, *arguments: Any) -> list[Any]:
    """What a function of a test file gives in each process of a group; without a group for one process."""
    port = free_port()
    with SERVER.Pool(processes) as pool:
        tasks = [(function, rank, processes, port, arguments) for rank in range(processes)]
        return pool.starmap(_run, tasks, chunksize=1)


def _run(function: Callable[..., Any], rank: int, processes: int, port: int, arguments: Any) -> Any:
    torch.set_num_threads(1)
    if processes == 1:
        return function(*arguments)
    os.environ.update(as_torchrun(processes, port)[rank])
    initialize(timeout=60)
    try:
        return function(*arguments)
    finally:
        dist.destroy_process_group()
