"""Python generators and iterators: read once, by one thread that works ahead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat, takewhile
from typing import Any

import torch

from torchkeras.data.contents import plain
from torchkeras.data.part import Part
from torchkeras.data.sources.source import Prepare
from torchkeras.data.sources.streamed import Streamed

END = object()


class GeneratorSource(Streamed):
    """The items of an iterator: x, (x,), (x, y) or (x, y, sample_weight).

    ahead: how many items a thread makes in advance; 0 makes each in the thread of the caller. Items made in advance are
    lost to a later user of the iterator. The iterator itself is never closed. Where several processes share the
    batches, each makes whole batches, and takes its rows of them.
    """

    kind = "a generator"
    once = True

    def __init__(
        self,
        iterator: Iterator[Any],
        prepare: Prepare,
        device: torch.device,
        ahead: int = 10,
        part: Part | None = None,
    ):
        super().__init__(prepare, device, part)
        self._iterator, self._ahead = iterator, ahead

    def contents(self) -> dict[str, Any]:
        data = plain(self._iterator, deep=True)
        return {**super().contents(), "generator": data, "workers": int(self._ahead > 0)}

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        self._passed(self._iterator, skip)
        if self._ahead == 0:
            # Not the iterator itself: closing an epoch must not close the user's generator.
            return (item for item in self._iterator)
        made = self._in_threads(lambda _: next(self._iterator, END), repeat(None), 1, self._ahead)
        return _until_end(made)


def _until_end(items: Any) -> Iterator[Any]:
    try:
        yield from takewhile(lambda item: item is not END, items)
    finally:
        items.close()
