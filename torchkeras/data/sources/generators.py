"""Python generators and iterators: read once, by one thread that works ahead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat, takewhile
from typing import Any

import torch

from torchkeras.data.contents import plain
from torchkeras.data.part import Part
from torchkeras.data.raw_batch import copied
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
        self._seen: list[Any] = []  # the first item, where it was made before the first epoch

    def see_first(self) -> None:
        """Make the first batch; its item stays, and is the first one of the first epoch."""
        item = next(self._iterator, END)
        if item is END:
            raise ValueError(f"No batches came from {self.kind}.")
        self._seen.append(copied(item))
        self._batch(self._seen[0])

    def _next(self) -> Any:
        """The next item, or END."""
        if self._seen:
            return self._seen.pop()
        return next(self._iterator, END)

    def _rest(self) -> Iterator[Any]:
        # Not the iterator itself: closing an epoch must not close the user's generator.
        while (item := self._next()) is not END:
            yield item
        self.ended = True

    def contents(self) -> dict[str, Any]:
        data = plain(self._iterator, deep=True)
        return {**super().contents(), "generator": data, "workers": int(self._ahead > 0)}

    def _items(self, order: str, skip: int) -> Iterator[Any]:
        rest = self._passed(self._rest(), skip)
        if self._ahead == 0:
            return rest
        return self._until_end(self._in_threads(lambda _: self._next(), repeat(None), 1, self._ahead))

    def _until_end(self, items: Any) -> Iterator[Any]:
        try:
            yield from takewhile(lambda item: item is not END, items)
            self.ended = True
        finally:
            items.close()
