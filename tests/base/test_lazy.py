"""Properties that are computed when they are first asked for, by one thread or several."""

import threading

from torchkeras.base.python import lazy_property


class Counted:
    def __init__(self, work=lambda: None):
        self.work, self.calls = work, 0

    @lazy_property
    def value(self):
        """What it is."""
        self.calls += 1
        self.work()
        return object()


def test_it_is_computed_once():
    counted = Counted()
    assert counted.value is counted.value
    assert counted.calls == 1
    del counted.value
    counted.value  # noqa: B018  # it is asked for
    assert counted.calls == 2
    assert Counted.value.__doc__ == "What it is."


def test_a_thread_that_computes_it_stops_none_that_asks_another_object():
    """Or two threads would wait for each other, if one has a lock for which the other waits while it computes."""
    lock, begun = threading.Lock(), threading.Event()

    def work():
        begun.set()
        assert lock.acquire(timeout=20)

    waiting, other = Counted(work), Counted()
    thread = threading.Thread(target=lambda: waiting.value)
    with lock:
        thread.start()
        assert begun.wait(20)
        asking = threading.Thread(target=lambda: other.value)
        asking.start()
        asking.join(10)
        assert "value" in vars(other)
    thread.join(20)
    assert "value" in vars(waiting)


def test_threads_that_compute_it_at_once_get_one_value():
    together = threading.Barrier(4, timeout=20)
    counted, found = Counted(together.wait), []
    threads = [threading.Thread(target=lambda: found.append(counted.value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 4
    assert len(set(map(id, found))) == 1
