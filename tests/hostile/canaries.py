"""A file that must stay unread. On Linux the kernel tells when it is opened, whoever does it."""

import contextlib
import ctypes
import os
import sys
from pathlib import Path

OPENED, READ = 0x20, 0x1


class Canary:
    """`watch()` begins to look; `events()` counts what happened to the file since. Elsewhere than on Linux it is 0."""

    def __init__(self, path: Path):
        self.path = path
        self._descriptor = -1

    def watch(self) -> None:
        if sys.platform != "linux":
            return
        library = ctypes.CDLL(None)
        self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        library.inotify_add_watch(self._descriptor, os.fsencode(self.path), OPENED | READ)

    def events(self) -> int:
        if sys.platform != "linux":
            return 0
        found = b""
        with contextlib.suppress(BlockingIOError):
            found = os.read(self._descriptor, 4096)
        os.close(self._descriptor)
        return len(found)
