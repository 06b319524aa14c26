"""Memory of the CPU: what a step frees is kept for the next step, and weights of a file lie in large pages.

glibc gives the free end of its heap back to the system, and at the next step each page of it is asked for again and
filled with zeros: a third of the time of a small convolutional network's step. With a higher limit the memory stays
with the process: its peak is the same, it only is not given back between steps.

New memory comes in pages of 4 KB, and a process waits for each of them when it first writes to it: 300 of the 400
milliseconds that 550 MB of weights take. Linux has pages of 2 MB for those who ask for them, as NumPy does.
"""

import ctypes
import os
import sys
from functools import cache
from typing import Any

from torch import Tensor

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
MOST_KEPT = 2**30  # bytes at the heap's free end
MAPPED_FROM = 32 * 2**20  # bytes: an array this large gets pages of its own, glibc's own highest limit
MADV_HUGEPAGE, PAGE = 14, 4096  # of Linux's mman.h
LARGE = 2**22  # bytes from which on NumPy asks for large pages, too
OF_THE_USER = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@cache
def keep_freed() -> bool:
    """Set the limits, for the whole process; whether it was done.

    Nothing is done without glibc, or where the environment sets limits of malloc (`OF_THE_USER`).
    """
    if any(name in os.environ for name in OF_THE_USER):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, MAPPED_FROM) and mallopt(M_TRIM_THRESHOLD, MOST_KEPT))


def large_pages(tensor: Tensor) -> None:
    """Ask for large pages for a tensor's memory, to which nothing is written yet. Nothing depends on the answer."""
    size = tensor.numel() * tensor.element_size()
    advise = _madvise() if tensor.device.type == "cpu" and size >= LARGE else None
    if advise is not None:
        begin = -(-tensor.data_ptr() // PAGE) * PAGE
        advise(begin, (tensor.data_ptr() + size - begin) // PAGE * PAGE, MADV_HUGEPAGE)


@cache
def _madvise() -> Any:
    """The function of Linux's C library; None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        found = ctypes.CDLL(None).madvise
    except (AttributeError, OSError):
        return None
    found.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return found
