"""Whole arrays and tensors as a source: on the device where they fit."""

from __future__ import annotations

from torchkeras.engine.data.batch import ArrayData, check_batch_size
from torchkeras.engine.data.sources.source import Batches, Source


class ArraySource(Source):
    """The batches of an ArrayData."""

    kind = "arrays"
    stays = True

    def __init__(self, data: ArrayData, batch_size: int):
        check_batch_size(batch_size)
        self.data, self.batch_size, self.samples = data, int(batch_size), len(data)

    @property
    def steps(self) -> int:
        return self.data.steps(self.batch_size or 1)

    def batches(self, order: str, skip: int = 0) -> Batches:
        return self.data.batches(self.batch_size or 1, order, skip)

    def split(self, fraction: float) -> tuple[ArraySource, ArraySource]:
        first, last = self.data.split(fraction)
        return ArraySource(first, self.batch_size or 1), ArraySource(last, self.batch_size or 1)
