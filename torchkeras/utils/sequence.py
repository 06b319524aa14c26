"""Data as numbered batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Sequence:
    """Batches by number: `sequence[i]` is x, (x, y) or (x, y, sample_weight) of batch i, `len(sequence)` their number.

    A subclass defines `__getitem__` and `__len__`, and may define `on_epoch_end`, which is called after each run
    through all batches. Several threads or processes may ask for batches at once, each batch once an epoch.
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
