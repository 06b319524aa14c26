"""`Source`, the base of all sources of batches, and `ArraySource`: whole arrays, on the device if they fit."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.data.batch import ArrayData, Batch, check_batch_size
from torchkeras.data.contents import plain
from torchkeras.data.part import SMALL, Part, checksum

if TYPE_CHECKING:
    from torchkeras.data.sources.kinds import Request


Prepare = Callable[..., Batch]  # (x, y, sample_weight, whole=None), as `Intake.batch`
Batches = Generator[Batch, None, None]


class Source:
    """Batches, an epoch at a time.

    samples: the number of samples an epoch; steps: the number of batches an epoch; batch_size: that of all batches but
    the last; each None where it is not known. once: the data can be read only once. ended: it has been read, so that
    there is no next epoch. stays: a batch's memory is not written to when the next is made. kind: the word for the data
    in messages. part: the rows of every batch that this process has, where several share them; samples, steps and
    batch_size are then those of all processes. divided: the user has divided the data between the processes, so that
    the order of the whole is not known here. keeps: random states are stored, since a run may resume in the middle.
    """

    kind = "data"
    part: Part | None = None
    divided = False
    _checksum = 0
    samples: int | None = None
    batch_size: int | None = None
    once = False
    stays = False
    ended = False
    keeps = False
    first: int | None = None  # a checksum of the first item of the pass under way; only where it `keeps`

    @property
    def steps(self) -> int | None:
        """The number of batches an epoch, None where it is not known."""
        return None

    def batches(self, order: str, skip: int = 0) -> Batches:
        """One epoch, in one of the orders of `data.batch`; a source with an order of its own ignores it.

        The first `skip` batches are skipped, as cheaply as the source allows. Random orders are drawn by the call
        itself, not by the first `next`, so that `torch.get_rng_state()` before it decides them.
        """
        raise NotImplementedError

    def checksum(self) -> int:
        """A checksum of the batches and orders so far, which all processes share; 0 without a part.

        Where it differs, processes have shuffled in different orders, or made different batches where each makes whole
        ones: from a generator, a Sequence, an IterableDataset. It is compared every now and then.
        """
        return self._checksum

    def _note_order(self, device: torch.device | None = None) -> None:
        """Called before an order is drawn from the random numbers of a device, by default the CPU."""
        if self.part is not None:
            on_cuda = device is not None and device.type == "cuda"
            state = torch.cuda.get_rng_state(device) if on_cuda else torch.get_rng_state()  # type: ignore[arg-type]
            self._checksum = checksum([state[:SMALL]], self._checksum)

    def on_epoch_end(self) -> None:
        """Called after each epoch."""

    def on_pass_end(self) -> None:
        """Called after each evaluation and prediction, where the model's habits say so."""

    def give_raw(self, prepare: Callable[[Any], Batch]) -> None:
        """From now on make batches of items as they are, if they are made one by one; does nothing for arrays."""

    def see_first(self) -> None:
        """Make the first batch, and go back to the start of the data."""
        with torch.random.fork_rng():
            next(self.batches("sequential"))
        self.close()

    def close(self) -> None:
        """End the epoch under way, and its threads and processes. The next `batches` begins a new one."""

    def split(self, fraction: float) -> tuple[Source, Source]:
        """The first samples and the last `fraction` of them. Raises ValueError where the data cannot be divided."""
        raise ValueError(
            f"validation_split {fraction!r} takes the last samples of arrays; {self.kind} cannot be divided. Give the "
            "data to validate on as validation_data."
        )

    def state_dict(self) -> dict[str, Any]:
        """All that resuming in the middle of an epoch needs, apart from the random state when the epoch began and the
        number of batches since, which is `skip`. Numbers and tensors only.

        Raises ValueError for data that cannot be resumed exactly in another process.
        """
        return {}

    def keep(self) -> None:
        """From now on store the random states that resuming in the middle of an epoch needs."""
        self.keeps = True

    def generators(self) -> dict[str, Any]:
        """The user's random generators that make the data, by their places."""
        return {}

    def drawn(self) -> dict[str, Any]:
        """The random state of a thread that draws ahead, by the parts of `random_state.state`.

        It is the state after the last batch, which a resumed run restores in place of the present one.
        """
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state of `state_dict`; called before `batches`."""

    def contents(self) -> dict[str, Any]:
        """A description that identifies the data, as `contents.plain` makes it; draws and consumes nothing."""
        return {"kind": self.kind, "samples": self.samples, "batch_size": self.batch_size}

    def catch_up(self, order: str) -> None:
        """Move to the position of the restored state now, not when `batches` is called: this restores random states on
        the way, and no other thread may draw meanwhile.
        """


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
