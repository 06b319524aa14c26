"""Files read in a process of their own, since a damaged file can crash or hang HDF5, or take all memory.

In `cleaned` a child process reads a file under limits of time and memory, and writes what passed all checks to a new
file. The caller reads that copy. A keeper process, which has read no file, forks the children, one after the other;
loads at the same time have a keeper each.
"""

from __future__ import annotations

import atexit
import contextlib
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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torchkeras import errors
from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.limits import GIB, MIB
from torchkeras.saving.containers.open_file import require_file, shown, shown_as
from torchkeras.saving.containers.shards import size_of

SECONDS = 30.0  # for any file; one more for each 16 MiB
OVERHEAD = 16 * MIB  # of a copy: headers of groups and arrays
KEPT = 4  # keepers that wait for the next file
GRACE = 30.0  # seconds after which a silent keeper is given up

# The errors that a child may report.
KINDS = {cls.__name__: cls for cls in (errors.ModelFileError, *errors.ModelFileError.__subclasses__())}

# The keeper imports only the modules that it needs: the package's `__init__` imports torch, which takes seconds.
BOOT = """
import sys, types
sys.path[:] = {path!r}
package = types.ModuleType("torchkeras")
package.__path__ = [{folder!r}]
sys.modules["torchkeras"] = package
from torchkeras.saving.containers.keeper import serve
serve()
"""


@contextmanager
def cleaned(
    path: str | os.PathLike[str], seconds: float | None = None, memory: int = GIB, kind: str = "model"
) -> Iterator[Path]:
    """The path of a clean copy of a file, which exists inside the `with` block. Errors about it name `path`.

    `seconds`: the time that reading may take (by default 30, plus one for each 16 MiB of the file). `memory`: the bytes
    that it may take, and that may come of it, if the file is smaller. `kind`: a key of `clean_copy.COPIES`.

    Raises FileNotFoundError; the errors of reading the file; UnreadableFileError if the reading process dies of it;
    FileLimitError if it takes too much time or memory; NotImplementedError on Windows, which cannot fork and limit a
    process.
    """
    if not hasattr(os, "fork"):
        raise NotImplementedError("Isolated reading needs processes that fork, with limits; Windows has none.")
    require_file(path)
    size = size_of(path)
    if seconds is None:
        seconds = SECONDS + size / (16 * MIB)
    with tempfile.TemporaryDirectory(prefix="torchkeras-") as folder:
        copy = Path(folder) / Path(path).name
        task = {
            "source": os.path.abspath(path),
            "target": str(copy),
            "kind": kind,
            "folder": folder,
            "shown": shown(path),
            "seconds": seconds,
            "memory": memory,
            "most": max(memory, size) + OVERHEAD,  # bytes of the copy
        }
        _judge(_ask(task), task)
        with shown_as(copy, path):
            yield copy


def _ask(task: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(2):  # the keeper may have been killed since the last file, for another reason
        keeper = _keeper()
        answer = keeper.ask(task)
        if answer is not None:
            _put_back(keeper)
            return answer
    raise UnreadableFileError(f"{task['shown']}: the process that starts the readers does not answer.")


def _judge(answer: Mapping[str, Any], task: Mapping[str, Any]) -> None:
    """Raise the error that the answer names. Only names of our own errors are accepted."""
    name = task["shown"]
    if answer["passed"] == "time":
        raise FileLimitError(f"{name}: reading it takes longer than {task['seconds']:g} seconds.")
    if answer["passed"] == "memory":
        raise FileLimitError(f"{name}: reading it takes more than {task['memory']} bytes of memory.")
    if answer["signal"]:
        number = answer["signal"]
        known = signal.Signals(number).name if number in set(signal.Signals) else "unknown"
        raise UnreadableFileError(f"{name}: the process that read it was killed by signal {number} ({known}).")
    if answer["status"]:
        raise UnreadableFileError(f"{name}: the process that read it ended with status {answer['status']}.")
    doubts, kind, message = _understood(answer["report"], name)
    for each in doubts:
        warnings.warn(each, stacklevel=2)
    if kind:
        raise KINDS.get(kind, UnreadableFileError)(message)


def _understood(text: Any, name: str) -> tuple[list[str], Any, str]:
    """The doubts in a report, and the kind and text of the error that it names, "" for none."""
    try:
        report = json.loads(text)
        doubts = [str(each) for each in report.get("doubts", ())]
        if doubts or not report:
            return doubts, "", ""
        return [], report["kind"], str(report["text"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableFileError(f"{name}: the answer of the process that read it cannot be understood.") from error


class _Keeper:
    """A keeper process, asked by one thread at a time."""

    def __init__(self) -> None:
        folder, path = str(Path(__file__).resolve().parents[2]), [entry for entry in sys.path if entry]
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", BOOT.format(path=path, folder=folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(self, task: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The result of a task; None if the keeper itself is dead or silent. It ends if it has not answered."""
        line = b""
        try:
            line = self._exchange(json.dumps(task).encode("utf-8") + b"\n", task["seconds"] + GRACE)
        finally:
            if not line.endswith(b"\n"):
                self.end()
        return json.loads(line) if line.endswith(b"\n") else None

    def _exchange(self, request: bytes, seconds: float) -> bytes:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        line, deadline = b"", time.monotonic() + seconds
        with contextlib.suppress(BrokenPipeError):
            stdin.write(request)
            stdin.flush()
            while not line.endswith(b"\n"):
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([stdout], [], [], left)[0]:
                    break
                part = os.read(stdout.fileno(), 1 << 16)
                if not part:
                    break
                line += part
        return line

    def end(self) -> None:
        """Kill the process, if it is a child of this one, and close the pipes to it."""
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


_kept: list[_Keeper] = []  # those that nobody asks now; taken and put back in one step each, whichever thread does it


def _keeper() -> _Keeper:
    while True:
        try:
            found = _kept.pop()
        except IndexError:
            return _Keeper()
        if found.alive():
            return found
        found.end()


def _put_back(keeper: _Keeper) -> None:
    if len(_kept) < KEPT:
        _kept.append(keeper)
    else:
        keeper.end()


@atexit.register
def _end() -> None:
    while _kept:
        _kept.pop().end()
