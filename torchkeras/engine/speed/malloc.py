"""Memory that a step on the CPU frees is kept for the next step.

glibc gives the free end of its heap back to the system, and at the next step each page of it is asked for anew and
filled with zeros: a third of the time of a small convolutional network's step. With a higher limit the memory stays
with the process: its peak is the same, it only is not given back between steps.
"""

import ctypes
import os
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
MOST_KEPT = 2**30  # bytes at the heap's free end
MAPPED_FROM = 32 * 2**20  # bytes: an array this large gets pages of its own, glibc's own highest limit
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
