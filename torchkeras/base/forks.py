"""torch's pool of threads in a forked process.

torch makes a new pool when the process first asks for it. If several threads ask at the same moment, one of them may
find none, and ends with "Invalid thread pool!" (torch 2.13, `caffe2/utils/threadpool/pthreadpool-cpp.cc`). Each thread
asks at its first operation if the program has called `torch.set_num_threads`.
"""

import os
import threading
from functools import cache

import torch

_lock = threading.Lock()
_is_forked = False


@cache  # a run asks at its start: all but the first answer cost nothing
def remake_thread_pool() -> None:
    """In a forked process have one thread make torch's pool, while the others wait. Does nothing in other processes."""
    global _is_forked
    with _lock:
        if _is_forked:
            torch.set_num_threads(torch.get_num_threads())
            _is_forked = False


def _after_fork() -> None:
    global _lock, _is_forked
    _lock, _is_forked = threading.Lock(), True  # a thread of the parent may have held the old lock
    remake_thread_pool.cache_clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
