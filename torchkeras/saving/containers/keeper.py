"""The process that has untrusted files read: it forks a child for each, with limits, and reports the result.

It runs without torch, and never opens a file itself. Requests and answers are lines of JSON.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from torchkeras.base.atomic_file import NUMBER
from torchkeras.errors import FileLimitError, ModelFileError
from torchkeras.saving.containers.clean_copy import COPIES
from torchkeras.saving.containers.hdf5_rules import tells_of_memory
from torchkeras.saving.containers.open_file import shown_as

with contextlib.suppress(ImportError):  # Windows has no such module; `isolated` raises an error there
    import resource

LONGEST_REPORT = 1 << 16
OPEN_FILES = 64
STEP = 0.05  # seconds between looks at a child


def serve() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(supervise(json.loads(line))) + "\n")
        sys.stdout.flush()


def supervise(task: Mapping[str, Any]) -> dict[str, Any]:
    """Do a task in a child; returns its `report`, the `signal` or `status` that ended it, and a limit it `passed`."""
    reading_end, writing_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading_end)
        _work(task, writing_end)
    os.close(writing_end)
    report, passed, status = _watched(pid, reading_end, task)
    os.close(reading_end)
    killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if killed_by == signal.SIGXCPU:
        passed = "time"
    return {
        "report": report.decode("utf-8", "replace"),
        "signal": killed_by,
        "status": None if killed_by else os.WEXITSTATUS(status),
        "passed": passed,
    }


def _passed_limit(pid: int, left: float, memory: int) -> str | None:
    """The limit that a child has passed, which has so many seconds left; None while it keeps to both."""
    if left <= 0:
        return "time"
    return "memory" if _resident(pid) > memory else None


def _watched(pid: int, reading_end: int, task: Mapping[str, Any]) -> tuple[bytes, str | None, int]:
    """What a child reports until it ends, the limit that it passed, for which it is killed, and its status."""
    report, ended = b"", False
    deadline = time.monotonic() + task["seconds"]
    while True:
        left = deadline - time.monotonic()
        passed = _passed_limit(pid, left, task["memory"])
        if passed is not None:
            os.kill(pid, signal.SIGKILL)
            return report, passed, os.waitpid(pid, 0)[1]
        if not ended and select.select([reading_end], [], [], min(left, STEP))[0]:
            part = os.read(reading_end, LONGEST_REPORT)
            ended = not part or len(report) > LONGEST_REPORT
            report += part
        if ended:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return report, None, status
            time.sleep(0.001)


def _work(task: Mapping[str, Any], writing_end: int) -> NoReturn:
    """The code of the child, which always ends here."""
    status = 70
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        tempfile.tempdir = task["folder"]
        _limit(task)
        os.write(writing_end, json.dumps(_attempt(task)).encode("utf-8")[:LONGEST_REPORT])
        status = 0
    finally:
        os._exit(status)


def _attempt(task: Mapping[str, Any]) -> dict[str, Any]:
    try:
        with shown_as(task["source"], task["shown"]), warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always", UserWarning)
            COPIES[task["kind"]](task["source"], task["target"])
    except (ModelFileError, MemoryError, OSError, RuntimeError) as error:
        causes = list(_causes(error))
        if any(map(tells_of_memory, causes)):
            text = f"{task['shown']}: reading it takes more than {task['memory']} bytes of memory."
        elif any(map(_is_too_large, causes)):
            text = f"{task['shown']}: unpacked, it has more than {task['most']} bytes."
        elif isinstance(error, ModelFileError):
            return {"kind": type(error).__name__, "text": str(error)}
        else:
            text = f"{task['shown']}: a clean copy of it cannot be written ({error})."
        return {"kind": FileLimitError.__name__, "text": text}
    return {"doubts": [str(each.message) for each in doubts if each.category is UserWarning]} if doubts else {}


def _limit(task: Mapping[str, Any]) -> None:
    seconds = int(task["seconds"]) + 1
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_CPU, seconds)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    _lower(resource.RLIMIT_FSIZE, task["most"])
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, taken + task["memory"])


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what caused it, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_too_large(error: BaseException) -> bool:
    """Whether an error is that a copy grows over its limit."""
    number = NUMBER.search(str(error))
    return errno.EFBIG in (getattr(error, "errno", None), int(number[1] or number[2]) if number else None)


def _lower(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value))


def _resident(pid: int) -> int:
    """The memory of a child, where the system sets it no limit (macOS); elsewhere 0."""
    if sys.platform == "linux":
        return 0
    answer = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return int(answer or 0) * 1024
