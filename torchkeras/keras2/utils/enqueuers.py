"""Batches made ahead by threads or processes: `OrderedEnqueuer` of a Sequence, `GeneratorEnqueuer` of a generator."""

from __future__ import annotations

import multiprocessing
import random
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from queue import Empty, Full, Queue
from typing import Any

import numpy as np

from torchkeras.data.sources.processes import start_method
from torchkeras.keras2.renamed import renamed
from torchkeras.utils import Sequence

PAUSE = 0.1  # seconds until a waiting thread looks whether it has to stop
END = "the generator has ended"

_in_process: dict[str, Any] = {}  # of a worker process: its copy of the data


class SequenceEnqueuer:
    """The base of the two: a thread that puts promises of batches into a queue, and workers that keep them.

    A subclass says what is computed next (`_run`). When a worker fails, `get` raises its error, after all has stopped.

    Options:
        sequence (Sequence or generator): where the batches come from.
        use_multiprocessing (bool, default False): whether the workers are processes; else they are threads.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False):
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.workers = 0
        self.queue: Queue[Future[Any]] = Queue()
        self.run_thread: threading.Thread | None = None
        self.stop_signal: threading.Event | None = None
        self._ended = threading.Event()

    def is_running(self) -> bool:
        """Whether it was started and not stopped."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    @renamed(nb_worker="workers", max_q_size="max_queue_size")
    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Start the workers; `max_queue_size`: how many batches may wait."""
        self.workers, self.queue, self.stop_signal = workers, Queue(max_queue_size), threading.Event()
        self._ended.clear()
        executor = self._executor()
        self.run_thread = threading.Thread(target=self._feed, args=(executor,), daemon=True)
        self.run_thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stop the workers, and wait for them, for `timeout` seconds at most."""
        if self.stop_signal is not None and self.run_thread is not None:
            self.stop_signal.set()
            self.run_thread.join(timeout)
            with self.queue.mutex:
                self.queue.queue.clear()

    def get(self) -> Iterator[Any]:
        """The batches, without end unless the generator ends; those that are None are left out."""
        while self.is_running():
            try:
                promise = self.queue.get(timeout=PAUSE)
            except Empty:
                continue
            try:
                batch = promise.result()
            except Exception:
                self.stop()
                raise
            self.queue.task_done()
            if _is_end(batch):
                yield from self._last()
                return
            if batch is not None:
                yield batch

    def _last(self) -> Iterator[Any]:
        """The batches that other workers have taken from a generator that has ended."""
        self._ended.set()
        while not self.queue.empty() or (self.run_thread is not None and self.run_thread.is_alive()):
            try:
                batch = self.queue.get(timeout=PAUSE).result()
            except Empty:
                continue
            if batch is not None and not _is_end(batch):
                yield batch
        self.stop()

    def _executor(self) -> Executor:
        if not self.use_multiprocessing:
            return ThreadPoolExecutor(self.workers, "torchkeras-data")
        context = multiprocessing.get_context(self._start_method())
        executor = ProcessPoolExecutor(self.workers, context, _begin, (self._sent(), context.Value("i", 0)))
        executor.submit(int)  # the processes start here, in the caller's thread
        return executor

    def _start_method(self) -> str:
        return start_method()

    def _sent(self) -> tuple[Any, int | None]:
        """What each process gets a copy of: the data, and a seed for NumPy."""
        return self.sequence, None

    def _feed(self, executor: Executor) -> None:
        try:
            self._run(executor)
        except Exception as error:  # noqa: BLE001 - it is raised where the batches are asked for
            failed: Future[Any] = Future()
            failed.set_exception(error)
            self._put(failed)

    def _run(self, executor: Executor) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _run(executor).")

    def _put(self, promise: Future[Any]) -> bool:
        """Put a promise into the queue when there is room; False when all has stopped before."""
        while self.is_running():
            try:
                self.queue.put(promise, timeout=PAUSE)
                return True
            except Full:
                continue
        return False

    def _ask(self, executor: Executor, function: Callable[..., Any], *arguments: Any) -> bool:
        return self.is_running() and self._put(executor.submit(function, *arguments))


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a Sequence in order, epoch after epoch.

    Options:
        sequence (Sequence): the batches. Its `on_epoch_end` is called when all of an epoch's batches were taken.
        use_multiprocessing (bool, default False): whether the workers are processes; else they are threads.
        shuffle (bool, default False): whether each epoch has another order.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self, executor: Executor) -> None:
        try:
            while self.is_running():
                order = list(range(len(self.sequence)))
                if self.shuffle:
                    random.shuffle(order)
                for index in order:
                    function = _item if self.use_multiprocessing else self.sequence.__getitem__
                    if not self._ask(executor, function, index):
                        return
                if not self._all_taken():
                    return
                self.sequence.on_epoch_end()
                if self.use_multiprocessing and type(self.sequence).on_epoch_end is not Sequence.on_epoch_end:
                    executor.shutdown()
                    executor = self._executor()  # of processes that have the sequence as it is now
        finally:
            executor.shutdown(cancel_futures=True)

    def _all_taken(self) -> bool:
        """Wait until the batches in the queue are taken; False when all has stopped before."""
        assert self.stop_signal is not None
        while self.queue.unfinished_tasks and not self.stop_signal.wait(PAUSE / 10):
            pass
        return self.is_running()


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator. Several threads need one that is safe for them; each process has its own copy.

    Options:
        sequence (generator): the batches; it may end.
        use_multiprocessing (bool, default False): whether the workers are processes; else they are threads.
        wait_time (seconds or None, default None): not used; a warning says so.
        random_seed (integer or None, default None): seeds NumPy in the first process, plus one in each further one.

    Errors:
        RuntimeError: several threads use a generator that is not safe for them, or the platform cannot copy a generator
            to a process.
    """

    @renamed(pickle_safe="use_multiprocessing", generator="sequence")
    def __init__(
        self,
        sequence: Any,
        use_multiprocessing: bool = False,
        wait_time: float | None = None,
        random_seed: int | None = None,
    ):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed
        if wait_time is not None:
            warnings.warn("`wait_time` is not used anymore.", DeprecationWarning, stacklevel=2)

    def get(self) -> Iterator[Any]:
        """The batches, until the generator ends; those that are None are left out."""
        try:
            yield from super().get()
        except ValueError as error:
            if "generator already executing" in str(error):
                raise RuntimeError(
                    "Your generator is NOT thread-safe, which several workers without use_multiprocessing need: guard "
                    "its `next` by a lock, use one worker, or give a Sequence."
                ) from error
            raise

    def _start_method(self) -> str:
        method = start_method()
        if method != "fork":
            raise RuntimeError(
                f"GeneratorEnqueuer: worker processes start by {method!r} here, and only a fork can copy a generator. "
                "Use threads (use_multiprocessing=False) or a Sequence."
            )
        return method

    def _sent(self) -> tuple[Any, int | None]:
        return self.sequence, self.random_seed

    def _run(self, executor: Executor) -> None:
        function, arguments = (_next, ()) if self.use_multiprocessing else (next, (self.sequence, END))
        try:
            while not self._ended.is_set() and self._ask(executor, function, *arguments):
                pass
        finally:
            executor.shutdown(cancel_futures=not self._ended.is_set())


def _is_end(batch: Any) -> bool:
    return isinstance(batch, str) and batch == END


def _begin(sent: tuple[Any, int | None], counter: Any) -> None:
    """In a process that starts: keep the data, and seed NumPy by the number of the process."""
    _in_process["data"], seed = sent
    with counter.get_lock():
        number, counter.value = counter.value, counter.value + 1
    if seed is not None:
        np.random.seed(seed + number)  # noqa: NPY002 - the state that users' generators draw from


def _item(index: int) -> Any:
    return _in_process["data"][index]


def _next() -> Any:
    return next(_in_process["data"], END)
