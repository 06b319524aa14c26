"""Batches made ahead by threads and processes: all of them, in order where there is one, and a clean end."""

import itertools
import json
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from torchkeras.keras2.utils import GeneratorEnqueuer, OrderedEnqueuer, Sequence
from torchkeras.keras2.utils.data_utils import SequenceEnqueuer


class Numbers(Sequence):
    def __init__(self, count: int = 12, fault: int | None = None):
        self.count, self.fault, self.epoch = count, fault, 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> np.ndarray:
        if index == self.fault:
            raise IndexError(f"batch {index} is missing")
        return np.array([index, self.epoch])


class Epochs(Numbers):
    def on_epoch_end(self) -> None:
        self.epoch += 1


class Locked:
    """A generator that several threads may use."""

    def __init__(self, items: Iterator[Any]):
        self.items, self.lock = items, threading.Lock()

    def __iter__(self) -> "Locked":
        return self

    def __next__(self) -> Any:
        with self.lock:
            return next(self.items)


@pytest.fixture(autouse=True)
def _clean_end() -> Iterator[None]:
    before = threading.active_count()
    yield
    assert threading.active_count() <= before
    assert multiprocessing.active_children() == []


def taken(enqueuer: SequenceEnqueuer, count: int, workers: int = 2) -> list[Any]:
    enqueuer.start(workers, 4)
    found = list(itertools.islice(enqueuer.get(), count))
    assert enqueuer.is_running()
    enqueuer.stop()
    assert not enqueuer.is_running()
    return [each.tolist() for each in found]


@pytest.mark.parametrize("processes", [False, True])
def test_batches_of_a_sequence_come_in_order_epoch_after_epoch(processes: bool):
    found = taken(OrderedEnqueuer(Numbers(), use_multiprocessing=processes), 30)
    assert found == [[index % 12, 0] for index in range(30)]


def test_an_epoch_s_end_is_told():
    found = taken(OrderedEnqueuer(Epochs(5)), 12)
    assert found == [[index % 5, index // 5] for index in range(12)]


def test_an_epoch_s_end_reaches_the_processes():
    found = taken(OrderedEnqueuer(Epochs(3), use_multiprocessing=True), 5, workers=1)
    assert found == [[index % 3, index // 3] for index in range(5)]


def test_a_shuffled_epoch_has_each_batch_once():
    found = taken(OrderedEnqueuer(Numbers(50), shuffle=True), 50)
    assert found != sorted(found)
    assert sorted(found) == [[index, 0] for index in range(50)]


@pytest.mark.parametrize("processes", [False, True])
def test_a_failing_batch_stops_all(processes: bool):
    enqueuer = OrderedEnqueuer(Numbers(fault=2), use_multiprocessing=processes)
    enqueuer.start(2)
    batches = enqueuer.get()
    assert [next(batches)[0], next(batches)[0]] == [0, 1]
    with pytest.raises(IndexError, match=r"^batch 2 is missing$"):
        next(batches)
    assert not enqueuer.is_running()


def test_a_generator_by_threads():
    found = taken(GeneratorEnqueuer(Locked(np.array([index]) for index in itertools.count())), 20, workers=3)
    assert len({each[0] for each in found}) == 20
    assert taken(GeneratorEnqueuer(np.array([index]) for index in range(100)), 5, workers=1) == [
        [0],
        [1],
        [2],
        [3],
        [4],
    ]


@pytest.mark.parametrize("size", [1, 4])
def test_all_of_a_generator_that_ends(size: int):
    enqueuer = GeneratorEnqueuer(Locked(iter([*range(40), None])))
    enqueuer.start(3, size)
    assert sorted(enqueuer.get()) == list(range(40))
    assert not enqueuer.is_running()


# In a process of its own: a fork is refused where there are threads, and other tests leave some of torch.
FORKED = """
import itertools, json
import numpy as np
from torchkeras.keras2.utils import GeneratorEnqueuer


def drawing():
    while True:
        yield np.random.random()


def drawn(seed):
    enqueuer = GeneratorEnqueuer(drawing(), use_multiprocessing=True, random_seed=seed)
    enqueuer.start(1)
    found = list(itertools.islice(enqueuer.get(), 3))
    enqueuer.stop()
    return found


copied = GeneratorEnqueuer(iter(range(10)), use_multiprocessing=True)
copied.start(1)
print(json.dumps([list(copied.get()), drawn(3)]))
"""


def test_a_generator_by_processes_has_a_copy_in_each_and_processes_are_seeded_for_numpy():
    said = subprocess.run([sys.executable, "-c", FORKED], check=True, capture_output=True, text=True).stdout
    copied, drawn = json.loads(said)
    assert copied == list(range(10))
    assert drawn == np.random.RandomState(3).random_sample(3).tolist()


def test_a_generator_that_threads_share_is_refused():
    def slow() -> Iterator[int]:
        for number in itertools.count():
            threading.Event().wait(0.05)
            yield number

    enqueuer = GeneratorEnqueuer(slow())
    enqueuer.start(4)
    with pytest.raises(RuntimeError, match=r"^Your generator is NOT thread-safe, which several workers "):
        list(itertools.islice(enqueuer.get(), 20))


def test_names_of_keras_1():
    enqueuer = GeneratorEnqueuer(iter(range(3)), pickle_safe=False)  # type: ignore[call-arg]
    enqueuer.start(nb_worker=1, max_q_size=2)  # type: ignore[call-arg]
    assert list(enqueuer.get()) == [0, 1, 2]
    with pytest.warns(DeprecationWarning, match=r"^`wait_time` is not used anymore\.$"):
        GeneratorEnqueuer(iter(()), wait_time=0.1)


def test_an_enqueuer_that_was_not_started_can_be_stopped():
    enqueuer = OrderedEnqueuer(Numbers())
    enqueuer.stop()
    assert list(enqueuer.get()) == []
