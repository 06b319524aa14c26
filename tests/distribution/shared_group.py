"""Functions run in several processes of a gloo group."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing


def run_in_group(function: Callable[..., Any], processes: int, *arguments: Any) -> list[Any]:
    """What `function(*arguments)` gives in each of the processes of a group, in the order of their ranks."""
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(_run, (function, processes, folder, arguments), nprocs=processes)
        return [torch.load(Path(folder) / f"result{rank}", weights_only=False) for rank in range(processes)]


def _run(rank: int, function: Callable[..., Any], processes: int, folder: str, arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(processes), LOCAL_RANK=str(rank))
    store = dist.FileStore(f"{folder}/store", processes)
    limit = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=processes, timeout=limit)
    try:
        torch.save(function(*arguments), f"{folder}/result{rank}")
        dist.barrier()
    finally:
        dist.destroy_process_group()
