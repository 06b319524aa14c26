"""Data as batches with numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Sequence:
    """Batches by number: `sequence[i]` is batch i, and `len(sequence)` is how many there are.

    A batch is x, (x, y) or (x, y, sample_weight). A subclass defines `__getitem__` and `__len__`. It may define
    `on_epoch_end`, which is called after each run through all batches. Several threads or processes may ask for batches
    at once; they ask for each batch once an epoch.

    Example:
        >>> class Squares(Sequence):
        ...     def __len__(self):
        ...         return 2
        ...     def __getitem__(self, index):
        ...         x = np.arange(3) + 3 * index
        ...         return x, x**2
        >>> [y.tolist() for x, y in Squares()]
        [[0, 1, 4], [9, 16, 25]]

    Source: Keras 2.2.4, https://github.com/keras-team/keras/blob/2.2.4/keras/utils/data_utils.py
    """

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(index), which returns a batch.")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__(), the number of batches.")

    def on_epoch_end(self) -> None:
        """Called after each run through all batches."""

    def __iter__(self) -> Iterator[Any]:
        """The batches in order, once."""
        return (self[index] for index in range(len(self)))
