"""Data as batches with numbers, as Keras 3 has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchkeras.base.rules import FLAG, integer, read
from torchkeras.utils.sequence import Sequence


class PyDataset(Sequence):
    """Batches by number: `dataset[i]` is batch i, and `len(dataset)` or `num_batches` is how many there are.

    A batch is x, (x,), (x, y) or (x, y, sample_weight). A subclass defines `__getitem__`, and `__len__` or
    `num_batches`. It may define `on_epoch_begin` and `on_epoch_end`.

    Options:
        workers (integer, default 1): how many threads, or processes, `fit` has make the batches; 0 is none.
        use_multiprocessing (bool, default False): whether they are processes.
        max_queue_size (integer, default 10): how many batches are made in advance.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> class Squares(PyDataset):
        ...     def __len__(self):
        ...         return 2
        ...     def __getitem__(self, index):
        ...         x = np.arange(3) + 3 * index
        ...         return x, x**2
        >>> [y.tolist() for x, y in Squares(workers=2)]
        [[0, 1, 4], [9, 16, 25]]

    Source: https://keras.io/api/utils/python_utils/
    """

    # Also of a subclass whose constructor does not call this one.
    workers: int = 1
    use_multiprocessing: bool = False
    max_queue_size: int = 10

    def __init__(self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10):
        self.workers = read("PyDataset", "workers", integer(0), workers)
        self.use_multiprocessing = read("PyDataset", "use_multiprocessing", FLAG, use_multiprocessing)
        self.max_queue_size = read("PyDataset", "max_queue_size", integer(1), max_queue_size)

    @property
    def num_batches(self) -> int | None:
        """How many batches there are."""
        if type(self).__len__ is PyDataset.__len__:
            raise NotImplementedError(f"{type(self).__name__} must define __len__(), or the property num_batches.")
        return len(self)

    def __len__(self) -> int:
        count = self.num_batches
        if count is None:
            raise TypeError(
                f"{type(self).__name__} has no end, since its num_batches is None: give iter(dataset) and "
                "steps_per_epoch."
            )
        return count

    def on_epoch_begin(self) -> None:
        """Called before each run through all batches."""

    def __iter__(self) -> Iterator[Any]:
        """The batches in order; without an end where `num_batches` is None."""
        count, number = self.num_batches, 0
        while count is None or number < count:
            yield self[number]
            number += 1
