"""Batches made ahead, by threads and processes: in order, with their errors, and nothing left over."""

import gc
import multiprocessing
import random
import threading
import time
import traceback
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch
from batches_of import CPU, X, Y, opened, rows

from torchkeras.data import device_transfer
from torchkeras.data.batch import Batch
from torchkeras.data.sources import processes
from torchkeras.utils import Sequence


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("torchkeras-data")]


class Slow(Sequence):
    """Batches that take the longer the sooner they are due."""

    def __init__(self, length: int = 12):
        self.length = length
        self.most, self.busy, self.lock = 0, 0, threading.Lock()

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        with self.lock:
            self.busy += 1
            self.most = max(self.most, self.busy)
        time.sleep(random.Random(index).uniform(0, 0.02))
        with self.lock:
            self.busy -= 1
        return np.full((2, 3), index * 3.0, np.float32), np.ones((2, 1), np.float32)


class Fails(Sequence):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> Any:
        if index == 3:
            raise KeyError("the third is missing")
        return X[:2], Y[:2]


def numbered(most: int = 10**9) -> Any:
    for number in range(most):
        yield np.full((1, 3), number * 3.0, np.float32), np.ones((1, 1), np.float32)


def test_threads_keep_the_order_and_work_at_once():
    sequence = Slow()
    source = opened(sequence, workers=4)
    assert rows(source.batches("sequential")) == [[i, i] for i in range(12)]
    assert sequence.most > 1
    assert own_threads() == []


def test_no_more_is_made_ahead_than_asked_for():
    made = []

    def endless():
        for number in range(10**9):
            made.append(number)
            yield X, Y

    source = opened(endless(), steps=5, max_queue_size=3)
    batches = source.batches("sequential")
    next(batches)
    time.sleep(0.05)
    assert len(made) == 4
    source.close()
    assert len(made) <= 5
    assert own_threads() == []


@pytest.mark.parametrize("data", [lambda: Slow(), lambda: numbered()])
@pytest.mark.parametrize("leave", [
    lambda source, batches: source.close(),
    lambda source, batches: batches.close(),
    lambda source, batches: batches.throw(KeyboardInterrupt),
])  # fmt: skip
def test_an_epoch_that_is_left_leaves_no_threads(data, leave):
    source = opened(data(), steps=12)
    batches = source.batches("sequential")
    next(batches)
    assert own_threads() != []
    with suppress(KeyboardInterrupt):
        leave(source, batches)
    source.close()
    assert own_threads() == []


@pytest.mark.parametrize("steps", [None, 12])
def test_an_epoch_that_is_dropped_leaves_no_threads(steps):
    gc.disable()  # nothing may wait for a collection
    try:
        source = opened(Slow(), steps=steps)
        batches = source.batches("sequential")
        next(batches)
        assert own_threads() != []
        del source, batches
        assert own_threads() == []
    finally:
        gc.enable()


def test_an_epoch_that_never_began_leaves_no_threads():
    source = opened(Slow())
    source.batches("sequential")
    source.close()
    assert own_threads() == []


def test_a_users_generator_is_not_closed():
    for workers in (0, 1):
        generator = numbered()
        source = opened(generator, steps=2, workers=workers, max_queue_size=1)
        list(source.batches("sequential"))
        source.close()
        assert int(next(generator)[0][0, 0]) >= 6  # goes on after what was taken


@pytest.mark.parametrize("options", [{"workers": 0}, {"workers": 1}, {"workers": 3}])
def test_errors_of_a_sequence_come_out_in_their_place_with_their_traceback(options):
    batches = opened(Fails(), **options).batches("sequential")
    assert len([next(batches) for _ in range(3)]) == 3
    with pytest.raises(KeyError, match="the third is missing") as found:
        next(batches)
    assert "the third is missing" in "".join(traceback.format_tb(found.value.__traceback__))
    assert own_threads() == []


def test_errors_of_a_process_come_out_with_its_traceback():
    source = opened(Fails(), workers=1, use_multiprocessing=True)
    with pytest.raises(KeyError, match=r"in __getitem__[\s\S]*the third is missing"):
        list(source.batches("sequential"))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [0, 1])
def test_errors_of_a_generator_come_out_with_their_traceback(workers):
    def failing():
        yield X, Y
        raise OSError("the disk is gone")

    source = opened(failing(), steps=4, workers=workers)
    batches = source.batches("sequential")
    next(batches)
    with pytest.raises(OSError, match="the disk is gone") as found:
        next(batches)
    assert traceback.extract_tb(found.value.__traceback__)[-1].name == "failing"
    source.close()
    assert own_threads() == []


class Refilled(Sequence):
    """Batches in one memory, which is filled anew for each."""

    def __init__(self, memory: Any):
        self.memory = memory

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        self.memory[...] = index * 3.0
        return {"x": self.memory}, [self.memory[:, :1]]


@pytest.mark.parametrize("memory", [np.zeros((2, 3), np.float32), torch.zeros(2, 3)], ids=["array", "tensor"])
@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("generated", [False, True])
def test_one_memory_may_be_filled_for_each_batch(memory, workers, generated):
    sequence = Refilled(memory)
    data, options = (map(sequence.__getitem__, range(5)), {"steps": 5}) if generated else (sequence, {})
    found = [
        (batch.inputs[0].tolist(), batch.targets[0].tolist())
        for batch in opened(data, workers=workers, **options).batches("sequential")
    ]
    assert found == [([[k * 3.0] * 3] * 2, [[k * 3.0]] * 2) for k in range(5)]


class Spread(Sequence):
    """Batches of every structure and type, to come back from a process as they went."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        return {"a": np.arange(2.0), "b": np.arange(2, dtype=">f4")}, [np.ones((2, 1)), torch.ones(2, 1)]


def test_structures_come_back_from_processes():
    source = opened(Spread(), workers=1, use_multiprocessing=True)
    (batch,) = source.batches("sequential")
    assert [value.tolist() for value in batch.inputs] == [[0.0, 1.0], [0.0, 1.0]]
    assert [value.dtype for value in (*batch.inputs, *batch.targets)] == [
        torch.float64, torch.float32, torch.float64, torch.float32,
    ]  # fmt: skip


class Draws(Sequence):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return np.full((1, 3), 3.0 * np.random.default_rng(int(torch.randint(2**31, ()))).integers(1000)), Y[:1]


def test_what_processes_draw_goes_on_behind_what_is_passed_over():
    source = opened(Draws(), workers=1, use_multiprocessing=True)
    state = torch.get_rng_state()
    whole = rows(source.batches("batch"))
    torch.set_rng_state(state)
    assert rows(source.batches("batch", skip=2)) == whole[2:]
    assert rows(source.batches("batch")) != whole


@pytest.mark.parametrize(("cuda", "methods", "thread", "expected"), [
    (True, ["fork", "spawn", "forkserver"], False, "spawn"),
    (False, ["fork", "spawn", "forkserver"], False, "fork"),
    (False, ["fork", "spawn", "forkserver"], True, "forkserver"),
    (False, ["spawn"], False, "spawn"),
    (False, ["forkserver", "fork", "spawn"], True, "forkserver"),
    (False, ["forkserver", "fork", "spawn"], False, "fork"),  # Python 3.14
])  # fmt: skip
def test_how_processes_start(monkeypatch, cuda, methods, thread, expected):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: cuda)
    monkeypatch.setattr(processes.multiprocessing, "get_all_start_methods", lambda: methods)
    threads = [threading.current_thread(), *([threading.Thread(name="other")] if thread else [])]
    monkeypatch.setattr(processes.threading, "enumerate", lambda: threads)
    assert processes.start_method() == expected


def test_sleeping_threads_do_not_hinder_a_fork(monkeypatch):
    names = ["QueueFeederThread", "QueueFeederThread-2"]
    threads = [threading.current_thread(), *(threading.Thread(name=name) for name in names)]
    monkeypatch.setattr(processes.threading, "enumerate", lambda: threads)
    monkeypatch.setattr(processes.multiprocessing, "get_all_start_methods", lambda: ["fork", "spawn", "forkserver"])
    assert processes.start_method() == "fork"


# --- to the device ---------------------------------------------------------------------------------------------------


def batch_of(number: float) -> Batch:
    return Batch([torch.full((2, 3), number)], [torch.ones(2, 1)], [None], 2)


def test_on_the_cpu_nothing_is_added():
    batches = (batch_of(number) for number in range(3))
    assert device_transfer.to_device(batches, CPU) is batches


def test_other_devices_get_each_batch():
    (batch,) = device_transfer.to_device((batch_of(number) for number in range(1)), torch.device("meta"))
    assert batch.inputs[0].is_meta
    assert batch.targets[0].is_meta
    assert batch.weights == [None]


def test_one_batch_is_sent_ahead_of_the_step(monkeypatch):
    told = []
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: None)
    monkeypatch.setattr(
        device_transfer, "_send", lambda batch, device, stream: (told.append(f"send {batch.size}"), batch)[::-1]
    )
    monkeypatch.setattr(device_transfer, "_receive", lambda batch, event, device: batch)
    batches = device_transfer.to_device((Batch([], [], [], n) for n in range(4)), torch.device("cuda"))
    told.extend(f"step {batch.size}" for batch in batches)
    assert told == ["send 0", "send 1", "step 0", "send 2", "step 1", "send 3", "step 2", "step 3"]


@pytest.mark.cuda
def test_batches_arrive_on_cuda_as_they_were():
    device = torch.device("cuda")
    weights = torch.arange(3.0)

    def host():
        for number in range(50):
            yield Batch(
                [torch.full((3, 400_000), float(number))], [torch.ones(3, 1, device=device)], [weights, None], 3
            )

    sums = []
    for number, batch in enumerate(device_transfer.to_device(host(), device)):
        assert batch.inputs[0].is_cuda
        torch.mm(torch.ones(2000, 2000, device=device), torch.ones(2000, 2000, device=device))  # the step lags
        first, second = batch.weights
        assert first is not None
        assert second is None
        sums.append((batch.inputs[0] - number).abs().sum() + (first - weights.to(device)).abs().sum())
    assert torch.stack(sums).sum().item() == 0
