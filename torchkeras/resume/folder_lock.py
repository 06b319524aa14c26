"""A folder that only one run uses: a file in it says which, and the system locks the file while that run lives."""

from __future__ import annotations

import errno
import importlib
import json
import os
import socket
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

NAME = ".lock"
FAR = 1 << 30  # a byte after the text: where locks are mandatory, others can still read that
LONGEST = 4096  # bytes of the text
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

_held: dict[tuple[int, int], tuple[int, str]] = {}  # of this process, which may lock its own file twice
_guard = threading.Lock()


class FolderLock:
    """The lock of a folder, from `acquire` to `release`, or until the process ends.

    The system's lock distinguishes a live run from one that was killed, and only one of two that begin at once gets it.
    The text says who has it; it also keeps out runs on other machines, whose locks not every system knows.
    """

    def __init__(self, folder: Path):
        self._path = folder / NAME
        self._held: tuple[int, tuple[int, int]] | None = None

    def acquire(self, from_others: bool = False) -> None:
        """Take the lock; with `from_others` also from a run on another machine.

        Raises BlockingIOError, whose text names the run that has it.
        """
        with _guard:
            while self._held is None:
                self._take(from_others)

    def release(self) -> None:
        """Release the lock, if it is held, and remove the file."""
        with _guard:
            if self._held is None:
                return
            (descriptor, place), self._held = self._held, None
            del _held[place]
            if _file_id(self._path) == place:
                with suppress(OSError):
                    self._path.unlink()
            os.close(descriptor)

    def _take(self, from_others: bool) -> None:
        process, text = _held.get(_file_id(self._path) or (0, 0), (0, ""))
        if process == os.getpid():  # to open and close the file would give the lock back
            raise _refused(json.loads(text))
        with suppress(FileNotFoundError):
            _check(self._path.stat())  # before a device is opened, which may do anything
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o666)
        try:
            self._fill(descriptor, from_others)
        finally:
            if self._held is None:
                os.close(descriptor)

    def _fill(self, descriptor: int, from_others: bool) -> None:
        _check(os.fstat(descriptor))
        other, host = _who(os.read(descriptor, LONGEST)), socket.gethostname()
        if _is_taken(descriptor, other, host):
            raise _refused(other)
        if other.get("host", host) != host and not from_others:
            raise _refused(other, f'; if that run is over, delete {NAME} in it, or give accept=("lock",)')
        about = os.fstat(descriptor)
        place = (about.st_dev, about.st_ino)
        if _file_id(self._path) != place:  # the run before removed its file meanwhile
            return
        text = json.dumps({"pid": os.getpid(), "host": host, "since": time.strftime("%Y-%m-%d %H:%M:%S %z")})
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text.encode())
        self._held, _held[place] = (descriptor, place), (os.getpid(), text)


def _check(about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, f"{NAME} in it is no file")


def _is_taken(descriptor: int, other: dict[str, Any], host: str) -> bool:
    """Whether another process has the system's lock; if not, this process now has it."""
    try:
        if os.name == "nt":
            system: Any = importlib.import_module("msvcrt")
            os.lseek(descriptor, FAR, os.SEEK_SET)
            system.locking(descriptor, system.LK_NBLCK, 1)
        else:
            system = importlib.import_module("fcntl")
            # Not flock: workers of a DataLoader, which outlive a killed run for some seconds, would inherit that.
            system.lockf(descriptor, system.LOCK_EX | system.LOCK_NB, 1, FAR)
    except OSError as error:
        if error.errno in TAKEN:
            return True
        return other.get("host") == host and _lives(other.get("pid"))  # a file system without locks
    return False


def _lives(process: Any) -> bool:
    if not isinstance(process, int) or process == os.getpid():
        return False
    if os.name == "nt":  # where to ask a process by a signal ends it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _who(text: bytes) -> dict[str, Any]:
    """The content of the file; empty where the run that has it has not written all of it yet."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _refused(other: dict[str, Any], hint: str = "") -> OSError:
    who = f"process {other['pid']} on {other['host']}" if {"pid", "host"} <= other.keys() else "another process"
    since = f" since {other['since']}" if "since" in other else ""
    return OSError(errno.EAGAIN, f"{who} has used it{since}{hint}")
