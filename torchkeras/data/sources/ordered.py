"""Work in threads, its results in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any


def in_threads(
    call: Callable[[Any], Any], arguments: Iterable[Any], workers: int, waiting: int
) -> Generator[Any, None, None]:
    """`call` of each argument, by `workers` threads, at most `waiting` of them in advance.

    The threads start at the first `next`, and end when the iterator is exhausted, closed, or has raised. An error of
    `call` is raised here, in the order of the results, with its own traceback.
    """
    pending: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="torchkeras-data")
    try:
        rest = iter(arguments)
        pending.extend(pool.submit(call, argument) for argument in islice(rest, waiting))
        while pending:
            result = pending.popleft().result()
            pending.extend(pool.submit(call, argument) for argument in islice(rest, 1))
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
