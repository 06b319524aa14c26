"""Epochs with a set number of batches, whatever the length of the source."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torchkeras.data import random_state
from torchkeras.data.batch import Batch
from torchkeras.data.sources.source import Batches, Source
from torchkeras.data.sources.streamed import passed_over


class Limited(Source):
    """`steps` batches an epoch: each epoch continues where the last one stopped, and starts over at the source's end.

    The source's own `on_epoch_end` is called at the end of the source, not after `steps`. If the source can be read
    only once and ends early, there is a warning, `ended` becomes True, and this is the last epoch. `option`: the user's
    name for `steps`. `at_most`: whether a part of it that is shorter has shorter epochs. `to_its_end`: whether an epoch
    ends where the source ends, with fewer batches. `close` begins again at the start of the source.
    """

    def __init__(
        self,
        source: Source,
        steps: int,
        option: str = "steps_per_epoch",
        at_most: bool = False,
        to_its_end: bool = False,
    ):
        self.source, self._steps, self._option, self._at_most = source, steps, option, at_most
        self._to_its_end = to_its_end
        self.kind, self.batch_size, self.once = source.kind, source.batch_size, source.once
        self.stays, self.part, self.divided = source.stays, source.part, source.divided
        self._pass: Batches | None = None
        self._taken = 0  # batches of the pass under way
        self._began: dict[str, Any] = {}  # the random numbers and the source when it began
        self._restored: dict[str, Any] | None = None

    @property
    def steps(self) -> int:
        return self._steps

    def batches(self, order: str, skip: int = 0) -> Batches:
        """As `Source.batches`. After `load_state_dict` the source continues at the position of that state; then `skip`
        only says how many batches of this epoch are done.
        """
        if self._restored is not None:
            self.catch_up(order)
        elif skip and self._pass is None:
            self._begin(order, skip % self.source.steps if self.source.steps else skip)
        elif skip:
            passed_over(iter(lambda: self._next(order), None), skip)
        return self._epoch(order, skip)

    def _epoch(self, order: str, done: int) -> Batches:
        for number in range(done, self._steps):
            batch = self._next(order, number == done or not self._to_its_end)
            if batch is None:
                self._warn(number)
                return
            yield batch

    def _next(self, order: str, renews: bool = True) -> Batch | None:
        """The next batch, from a new pass if the old one has ended and it `renews`; None if there is no new pass."""
        if self.ended:
            return None
        self.on_epoch_end()
        if self._pass is None:
            if not renews:
                return None
            self._begin(order, 0)
        batch = next(self._pass, None)  # type: ignore[arg-type]
        if batch is None and self.source.once:
            self.ended = True
            return None
        if batch is None:
            self._end_of_source()
            return self._next(order) if renews else None
        self._taken += 1
        return batch

    def on_epoch_end(self) -> None:
        # Not as soon as its last batch is consumed: a Sequence may shuffle the memory that this batch is a view of.
        if self._pass is not None and self._taken == self.source.steps:
            self._end_of_source()

    def _begin(self, order: str, skip: int) -> None:
        self._began = {"random": random_state.state(self.generators()), "source": self.source.state_dict()}
        self._pass = self.source.batches(order, skip)
        self._taken = skip

    def _end_of_source(self) -> None:
        self.close()
        self.source.on_epoch_end()

    def _warn(self, number: int) -> None:
        warnings.warn(
            f"The data ran out after {number} of {self._steps} batches of an epoch, and the epoch ends here: "
            f"{self.kind} must give {self._option} * epochs batches in all.",
            stacklevel=2,
        )

    def see_first(self) -> None:
        self.source.see_first()

    def checksum(self) -> int:
        return self.source.checksum()

    def close(self) -> None:
        self._pass, self._taken = None, 0
        self.source.close()

    def give_raw(self, prepare: Callable[[Any], Batch]) -> None:
        self.source.give_raw(prepare)

    def split(self, fraction: float) -> tuple[Source, Source]:
        """The first part in epochs of `steps` batches, the last one whole."""
        first, last = self.source.split(fraction)
        steps = min(self._steps, first.steps or self._steps) if self._at_most else self._steps
        return Limited(first, steps, self._option, self._at_most, self._to_its_end), last

    def keep(self) -> None:
        super().keep()
        self.source.keep()

    def generators(self) -> dict[str, Any]:
        return self.source.generators()

    def drawn(self) -> dict[str, Any]:
        return self.source.drawn()

    @property
    def first(self) -> int | None:
        """That of the source, whose pass may be of several epochs."""
        return self.source.first

    @first.setter
    def first(self, value: int | None) -> None:
        """That of the source, whose pass may be of several epochs."""
        self.source.first = value

    def contents(self) -> dict[str, Any]:
        return {**self.source.contents(), "limit": self._steps}

    def state_dict(self) -> dict[str, Any]:
        """The position in the source, with its state and the random state when this pass began."""
        began = self._began if self._pass is not None else {"source": self.source.state_dict()}
        return {"taken": self._taken, **began}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._restored = dict(state)

    def catch_up(self, order: str) -> None:
        if self._restored is None:
            return
        state, self._restored = self._restored, None
        self.close()
        own = self.generators()
        now = random_state.state(own)
        self.source.load_state_dict(state["source"])
        if state["taken"]:
            random_state.restore(state["random"], own)
            self._begin(order, state["taken"])
        random_state.restore(now, own)
