"""A folder of checkpoints is of one run alone, and what is no checkpoint there is refused without waiting for it."""

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from callback_models import X, Y, small

from torchkeras.callbacks import BackupAndRestore, Callback
from torchkeras.resume.folder_lock import NAME

ROOT = Path(__file__).resolve().parent.parent.parent
HOST = re.escape(socket.gethostname())
SINCE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}"


def fitted(*callbacks: Callback, epochs: int = 2) -> None:
    small("adam").fit(X, Y, 4, epochs, verbose=0, callbacks=list(callbacks))


class Second(Callback):
    """Begins another run in the same folder, in the same process."""

    needed_to_resume = False

    def __init__(self, folder: Path):
        self.folder, self.error = folder, ""

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        with pytest.raises(BlockingIOError) as error:
            fitted(BackupAndRestore(self.folder))
        self.error = str(error.value)


def test_a_second_run_names_the_first(tmp_path):
    second = Second(tmp_path)
    fitted(second, BackupAndRestore(tmp_path))
    assert re.fullmatch(
        rf"\[Errno {errno.EAGAIN}\] BackupAndRestore: no checkpoint can be written to this folder \(process "
        rf"{os.getpid()} on {HOST} has used it since {SINCE}\): '{tmp_path}'",
        second.error,
    )
    assert list(tmp_path.iterdir()) == []  # the first went on, wrote and deleted, and gave the folder back
    fitted(BackupAndRestore(tmp_path))


HOLDS = """
import sys, time
from pathlib import Path
from torchkeras.resume.folder_lock import FolderLock
FolderLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def other(folder: Path) -> Iterator[int]:
    """Another process that has the folder until the end of the block, in which it is killed."""
    command = [sys.executable, "-c", HOLDS, str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process.pid
        finally:
            process.kill()


def test_another_process_is_named_and_its_lock_falls_with_it(tmp_path):
    with (
        other(tmp_path) as number,
        pytest.raises(BlockingIOError, match=f"process {number} on {HOST} has used it since"),
    ):
        fitted(BackupAndRestore(tmp_path))
    assert (tmp_path / NAME).exists()
    fitted(BackupAndRestore(tmp_path))
    assert list(tmp_path.iterdir()) == []


# Many processes at once, forked where nothing else runs: 12 that begin together, then 4 that come and go. One that has
# the lock makes a file, which must not be there yet, and takes it away before it gives the lock back.
RACES = """
import os, sys, time
from pathlib import Path
from torchkeras.resume.folder_lock import FolderLock

folder = Path(sys.argv[1])

def once(until):
    time.sleep(max(0.0, until - 0.5 - time.time()))
    try:
        FolderLock(folder).acquire()
    except BlockingIOError:
        (folder / f"refused {os.getpid()}").touch()
        return 8
    late = time.time() + 40
    while len(list(folder.glob("refused *"))) < 11 and time.time() < late:
        time.sleep(0.01)
    return 7

def again(until):
    wrong, lock = 0, FolderLock(folder)
    while time.time() < until:
        try:
            lock.acquire()
        except BlockingIOError:
            continue
        try:
            os.close(os.open(folder / "mark", os.O_CREAT | os.O_EXCL))
            (folder / "mark").unlink()
        except OSError:
            wrong += 1
        lock.release()
    return wrong

def ends(work, count):
    until, children = time.time() + 1.0, []
    for _ in range(count):
        child = os.fork()
        if not child:
            status = 99
            try:
                status = work(until)
            finally:
                os._exit(status)
        children.append(child)
    return sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)

print(ends(once, 12), ends(again, 4))
"""


def test_of_many_that_begin_at_once_or_come_and_go_one_has_the_folder(tmp_path):
    (tmp_path / NAME).write_text(json.dumps({"pid": 1 << 22, "host": socket.gethostname(), "since": "long ago"}))
    command = [sys.executable, "-c", RACES, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.stdout.strip() == f"{[7, *[8] * 11]} {[0] * 4}", done.stderr


def test_a_lock_of_another_machine_says_what_to_do(tmp_path):
    lock = tmp_path / NAME
    lock.write_text(json.dumps({"pid": 12, "host": "elsewhere", "since": "2026-01-02 03:04:05 +0000"}))
    with pytest.raises(BlockingIOError) as error:
        fitted(BackupAndRestore(tmp_path))
    assert str(error.value) == (
        f"[Errno {errno.EAGAIN}] BackupAndRestore: no checkpoint can be written to this folder (process 12 on "
        f"elsewhere has used it since 2026-01-02 03:04:05 +0000; if that run is over, delete {NAME} in it, or give "
        f"accept=(\"lock\",)): '{tmp_path}'"
    )
    fitted(BackupAndRestore(tmp_path, accept=["lock"]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[1]", '"text"', "\0" * 100])
def test_a_lock_that_says_nothing_is_of_a_run_that_was_killed(text, tmp_path):
    (tmp_path / NAME).write_text(text)
    fitted(BackupAndRestore(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_goes_by_the_process(tmp_path, monkeypatch):
    def unable(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.lockf", unable)
    with other(tmp_path) as number, pytest.raises(BlockingIOError, match=f"process {number} on {HOST}"):
        fitted(BackupAndRestore(tmp_path))
    fitted(BackupAndRestore(tmp_path))


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_gives_the_folder_back(error, tmp_path):
    class Fails(Callback):
        needed_to_resume = False

        def on_train_batch_end(self, batch, logs=None):
            raise error

    with pytest.raises(error):
        fitted(Fails(), BackupAndRestore(tmp_path))
    assert not (tmp_path / NAME).exists()
    fitted(BackupAndRestore(tmp_path))


def test_a_refused_run_gives_the_folder_back(tmp_path):
    fitted(BackupAndRestore(tmp_path, delete_checkpoint=False))
    with pytest.raises(ValueError, match="batch_size: 4 in the checkpoint, 5 here"):
        small("adam").fit(X, Y, 5, 2, verbose=0, callbacks=[BackupAndRestore(tmp_path)])
    assert not (tmp_path / NAME).exists()


# --- what is no checkpoint -------------------------------------------------------------------------------------------

NEWEST = f"00000009-000000000000-{'0' * 24}.checkpoint"


def make_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


THINGS = {
    "a fifo": os.mkfifo,
    "a socket": make_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder of something else": lambda path: (path.mkdir(), (path / "notes").write_text("mine")),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


def late(number, frame):
    raise TimeoutError("it waits")


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("what", THINGS)
def test_what_is_no_checkpoint_is_refused_at_once(what, tmp_path):
    fitted(BackupAndRestore(tmp_path, delete_checkpoint=False))
    kept = sorted(tmp_path.iterdir())
    THINGS[what](tmp_path / NEWEST)
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    try:
        with pytest.raises(OSError, match="BackupAndRestore") as error:
            fitted(BackupAndRestore(tmp_path))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert str(error.value) == (
        f"[Errno {errno.EINVAL}] BackupAndRestore: no checkpoint can be read from this folder ({NEWEST} in it is "
        f"{what}, and no checkpoint: take it away): '{tmp_path}'"
    )
    assert sorted(tmp_path.iterdir()) == [*kept, tmp_path / NEWEST]


@pytest.mark.parametrize("what", ["a fifo", "a folder of something else", "a device"])
def test_a_lock_that_is_no_file_is_refused(what, tmp_path):
    THINGS[what](tmp_path / NAME)
    with pytest.raises(OSError, match="BackupAndRestore") as error:
        fitted(BackupAndRestore(tmp_path))
    assert str(error.value) == (
        f"[Errno {errno.EINVAL}] BackupAndRestore: no checkpoint can be written to this folder ({NAME} in it is no "
        f"file): '{tmp_path}'"
    )


@pytest.mark.parametrize("what", ["a fifo", "a device"])
def test_a_folder_that_is_none_is_refused(what, tmp_path):
    path = tmp_path / "backup"
    THINGS[what](path)
    with pytest.raises(OSError, match="no checkpoint can be written to this folder \\(File exists\\)"):
        fitted(BackupAndRestore(path))
