"""Whole arrays and tensors as a source: on the device if they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchkeras.data.batch import ArrayData, check_batch_size
from torchkeras.data.contents import plain
from torchkeras.data.part import Part, checksum
from torchkeras.data.sources.source import Batches, Source

if TYPE_CHECKING:
    from torchkeras.data.sources.kinds import Request


class ArraySource(Source):
    """The batches of an ArrayData."""

    kind = "arrays"
    stays = True
    samples: int
    batch_size: int

    def __init__(self, data: ArrayData, batch_size: int, part: Part | None = None):
        check_batch_size(batch_size)
        self.data, self.batch_size, self.samples, self.part = data, int(batch_size), len(data), part
        if part is not None:  # detects a process that has other arrays, such as only its own rows
            self._checksum = checksum([*data.inputs, *data.targets])

    @property
    def steps(self) -> int:
        return self.data.steps(self.batch_size)

    def batches(self, order: str, skip: int = 0) -> Batches:
        if order != "sequential":
            self._note_order(self.data.device if self.data.resident and order == "shuffled" else None)
        return self.data.batches(self.batch_size, order, skip, self.part)

    def contents(self) -> dict[str, Any]:
        found = {"inputs": self.data.inputs, "targets": self.data.targets, "weights": self.data.weights}
        return {**super().contents(), **plain(found, deep=True)}

    def split(self, fraction: float) -> tuple[ArraySource, ArraySource]:
        first, last = self.data.split(fraction)
        return ArraySource(first, self.batch_size, self.part), ArraySource(last, self.batch_size, self.part)


def open_arrays(request: Request) -> ArraySource:
    """A source of the arrays of a request, checked."""
    checked = request.check_arrays(request.x, request.y, request.sample_weight)
    return ArraySource(ArrayData(*checked, request.device), request.size, request.part)
