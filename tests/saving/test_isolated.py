"""Reading in a process of its own: what it gives, what it survives, and 200 mutated files."""

import importlib.util
import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest

from torchkeras.errors import FileLimitError, ModelFileError, UnreadableFileError
from torchkeras.saving.containers import hdf5, isolated, keeper
from torchkeras.saving.containers.limits import MIB

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
GENUINE = [
    GOLDEN / folder / "model.h5"
    for folder in (
        "keras-1.2.2-theano/core_02",
        "keras-2.2.4-tensorflow/conv1d_00",
        "keras-2.2.4-theano/conv1d_00",
        "tf_keras-2.21/conv_bn",
        "keras-3.15/conv_bn",
    )
]
GENUINE += [GOLDEN / "keras-3.15/conv_bn" / name for name in ("model.keras", "model.weights.h5")]

_spec = importlib.util.spec_from_file_location("mutate_files", ROOT / "scripts" / "mutate_files.py")
assert _spec is not None
assert _spec.loader is not None
mutate_files = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutate_files)


def small(path):
    with h5py.File(path, "w") as file:
        file["a/x"] = np.arange(6.0).reshape(2, 3)
        file.attrs["names"] = [b"one", b"two"]
    return path


@pytest.mark.parametrize("path", GENUINE, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_clean_copy_has_all_that_the_file_has(path):
    genuine = mutate_files.contents(path)
    with isolated.cleaned(path) as copy:
        assert copy.name == path.name
        found = mutate_files.contents(copy)
    assert not copy.exists()
    assert found.keys() == genuine.keys()
    for key in genuine:
        assert mutate_files.same(genuine[key], found[key]), key


def test_errors_about_the_copy_name_the_file(tmp_path):
    path = small(tmp_path / "model.h5")
    with (
        isolated.cleaned(path) as copy,
        hdf5.reading(copy) as file,
        pytest.raises(UnreadableFileError) as error,
    ):
        hdf5.group_in(file, "b")
    assert str(error.value) == f"{path}: / has no group 'b'."


def test_an_array_larger_than_a_piece_is_copied_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("torchkeras.saving.containers.clean_copy.PIECE", 100)
    values = np.arange(7 * 5 * 3.0).reshape(7, 5, 3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = values
    task = {"source": str(tmp_path / "a.h5"), "target": str(tmp_path / "b.h5"), "shown": "a.h5", "kind": "model"}
    assert keeper._attempt(task) == {}
    with h5py.File(tmp_path / "b.h5") as file:
        np.testing.assert_array_equal(hdf5.values(hdf5.dataset_in(file, "x")), values)


# --- children that do not come back ----------------------------------------------------------------------------------


def spin(*args):
    while True:
        pass


def sleep(*args):
    time.sleep(60)


def die(*args):
    os.kill(os.getpid(), signal.SIGUSR1)  # pytest tells of worse ones at length


def swallow(*args):
    kept = []
    while True:
        kept.append(bytearray(16 * MIB))


def fail(*args):
    raise AssertionError


def leave(*args):
    os._exit(3)


TASK = {"source": "a", "target": "b", "kind": "model", "shown": "m.h5", "memory": 64 * MIB, "most": 64 * MIB}
# Python 3.12 warns of forking where torch has threads; the keeper itself has none.
FORKS_HERE = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@FORKS_HERE
@pytest.mark.parametrize(
    ("reads", "ending"),
    [
        (spin, {"passed": "time"}),
        (sleep, {"passed": "time"}),
        (die, {"signal": signal.SIGUSR1}),
        (fail, {"status": 70}),
        (leave, {"status": 3}),
    ],
)
def test_what_becomes_of_a_child(reads, ending, tmp_path, monkeypatch):
    monkeypatch.setitem(keeper.COPIES, "model", reads)
    task = {**TASK, "folder": str(tmp_path), "seconds": 0.5}
    begun = time.monotonic()
    answer = keeper.supervise(task)
    assert ending.items() <= answer.items()
    assert time.monotonic() - begun < 10


@FORKS_HERE
def test_a_child_that_takes_too_much_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(keeper.COPIES, "model", swallow)
    task = {**TASK, "folder": str(tmp_path), "seconds": 20}
    answer = keeper.supervise(task)
    report = {"kind": "FileLimitError", "text": "m.h5: reading it takes more than 67108864 bytes of memory."}
    assert json.loads(answer["report"]) == report


ANSWER = {"report": "{}", "signal": None, "status": 0, "passed": None}


@pytest.mark.parametrize(
    ("told", "kind", "text"),
    [
        ({"passed": "time", "signal": 9}, FileLimitError, "m.h5: reading it takes longer than 2.5 seconds."),
        ({"passed": "memory", "signal": 9}, FileLimitError, "m.h5: reading it takes more than 7 bytes of memory."),
        ({"signal": 11}, UnreadableFileError, "m.h5: the process that read it was killed by signal 11 (SIGSEGV)."),
        ({"status": 70}, UnreadableFileError, "m.h5: the process that read it ended with status 70."),
        ({"report": '{"kind": "FileLimitError", "text": "much"}'}, FileLimitError, "much"),
        ({"report": '{"kind": "SystemExit", "text": "no"}'}, UnreadableFileError, "no"),
        ({"report": "x"}, UnreadableFileError, "m.h5: the answer of the process that read it cannot be understood."),
    ],
)
def test_what_a_child_did_is_told_by_an_error(told, kind, text):
    with pytest.raises(ModelFileError) as error:
        isolated._judge({**ANSWER, **told}, {"shown": "m.h5", "seconds": 2.5, "memory": 7})
    assert (type(error.value), str(error.value)) == (kind, text)


def test_limits_of_time_and_memory_are_told(tmp_path):
    path = small(tmp_path / "model.h5")
    with (
        pytest.raises(FileLimitError, match=r"reading it takes longer than 0\.0001 seconds"),
        isolated.cleaned(path, seconds=0.0001),
    ):
        pass


def test_a_load_that_hangs_delays_no_other(tmp_path):
    """Four loads side by side, while a keeper that is stopped holds one up."""
    path, found = small(tmp_path / "model.h5"), []
    with isolated.cleaned(path):
        pass
    stopped = isolated._kept[-1].process
    os.kill(stopped.pid, signal.SIGSTOP)

    def load(name):
        with isolated.cleaned(path):
            found.append(name)

    hanging = threading.Thread(target=load, args=("hanging",))
    hanging.start()
    while any(each.process is stopped for each in isolated._kept):  # until it has taken the keeper
        time.sleep(0.001)
    others = [threading.Thread(target=load, args=(k,)) for k in range(4)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(60)
    assert sorted(found) == [0, 1, 2, 3]
    os.kill(stopped.pid, signal.SIGCONT)
    hanging.join(60)
    assert found[-1] == "hanging"
    assert len(isolated._kept) <= isolated.KEPT


def closed(process):
    return all(pipe is not None and pipe.closed for pipe in (process.stdin, process.stdout))


def test_a_keeper_that_was_killed_is_replaced(tmp_path):
    path = small(tmp_path / "model.h5")
    with isolated.cleaned(path):
        pass
    killed = isolated._kept[-1].process
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    with isolated.cleaned(path) as copy:
        assert copy.exists()
    assert closed(killed)


def test_a_keeper_that_dies_while_asked_leaves_no_pipe_open(tmp_path):
    path = small(tmp_path / "model.h5")
    with isolated.cleaned(path):
        pass
    killed = isolated._kept[-1].process
    os.kill(killed.pid, signal.SIGSTOP)  # takes the request and does not answer
    threading.Timer(0.2, os.kill, (killed.pid, signal.SIGKILL)).start()
    with isolated.cleaned(path) as copy:
        assert copy.exists()
    assert closed(killed)


def test_a_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as error, isolated.cleaned("model.h5"):
        pass
    assert str(error.value) == "model.h5: there is no such file."


def test_where_processes_do_not_fork_it_says_so(tmp_path, monkeypatch):
    path = small(tmp_path / "model.h5")
    monkeypatch.delattr(os, "fork")
    with pytest.raises(NotImplementedError) as error, isolated.cleaned(path):
        pass
    assert str(error.value) == "Isolated reading needs processes that fork, with limits; Windows has none."


def test_mutated_files():
    found = [*mutate_files.readings(mutate_files.files([path.parent for path in GENUINE]), range(200), seed=1)]
    counts = Counter(each.outcome for each in found)
    assert counts["refused"] + counts["same"] + counts["data"] == 200
    assert counts["wrong"] == 0
    assert all(each.seconds < mutate_files.SECONDS + 5 for each in found)
    assert min(counts["refused"], counts["same"]) > 20
