"""Batches made in worker processes, by torch's DataLoader."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from tqdm import TMonitor

from torchkeras.base.arrays import as_tensor


def in_processes(made: Any, numbers: Iterable[int], workers: int, waiting: int) -> Iterator[Any]:
    """`made[number]` for each number, by `workers` processes, some `waiting` of them ahead, in order.

    Arrays arrive as tensors, through shared memory. Each pass copies `made` to its processes again. Random numbers of
    torch, NumPy and Python are seeded there by torch's own, each process in another way.
    """
    loader = DataLoader(
        made,
        batch_size=None,
        sampler=numbers,
        num_workers=workers,
        prefetch_factor=max(1, waiting // workers),
        collate_fn=_shareable,
        multiprocessing_context=start_method(),
    )
    return iter(loader)


def start_method() -> str:
    """How worker processes start: by a fork where that is safe, without CUDA, other threads and macOS's libraries; else
    by the platform's way. A process that is not forked imports the main script, which must then guard what it runs.
    """
    if torch.cuda.is_initialized():
        return "spawn"  # a forked process cannot use CUDA, and a fork server would be forked from this one
    methods = multiprocessing.get_all_start_methods()
    if "fork" not in methods or sys.platform == "darwin":
        return methods[0]
    if any(map(_may_hold_locks, threading.enumerate())):
        return "forkserver"
    return "fork"


def _may_hold_locks(thread: threading.Thread) -> bool:
    """Whether a fork could find a lock held by this thread, which the child would wait for without end. tqdm's monitor
    sleeps, and the threads of an earlier pass's queues, which end by and by, wait for work.
    """
    idle = isinstance(thread, TMonitor) or thread.name.startswith("QueueFeederThread")
    return thread is not threading.current_thread() and not idle


def _shareable(item: Any) -> Any:
    """Arrays as tensors, which travel between processes without being written to a pipe."""
    if isinstance(item, dict):
        return {key: _shareable(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)) and not hasattr(item, "_fields"):
        return type(item)([_shareable(value) for value in item])
    if isinstance(item, np.ndarray) and item.dtype.kind in "biuf":
        return as_tensor(item)
    return item
