"""Arrays and tensors to batches on the model's device; a batch in order is a view, a shuffled one is gathered there."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.arrays import as_tensor
from torchkeras.base.rules import is_integer
from torchkeras.data.device_transfer import to_device
from torchkeras.data.part import Part

ORDERS = ("sequential", "shuffled", "batch")


@dataclass(frozen=True, slots=True)
class Batch:
    """The data of one step: a tensor for each input and target, weights for each target (None for all ones).

    `size`: the number of samples. `raw`: for a custom step, the batch as its loader made it, in place of the tensors.
    `others`: the number of samples that other processes have of the batch. Where they have all, `size` is 0, and the
    tensors hold one sample that does not count.
    """

    inputs: list[Tensor]
    targets: list[Tensor]
    weights: list[Tensor | None]
    size: int
    raw: Any = None
    others: int = 0

    @property
    def whole(self) -> int:
        """The number of samples of the batch in all processes."""
        return self.size + self.others

    def mapped(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """The batch with each of its tensors changed; `raw` stays."""
        inputs, targets = list(map(change, self.inputs)), list(map(change, self.targets))
        return replace(self, inputs=inputs, targets=targets, weights=_each(self.weights, change))


class ArrayData:
    """Samples in memory, on `device` (by default that of the configuration).

    Arrays and tensors have passed `data.checks` and have one length, at least one sample. Data on the CPU that would
    take more than half of the free memory of a CUDA device stays there; its batches are copied one ahead of the step.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        targets: Sequence[Any] | None = None,
        weights: Sequence[Any] | None = None,
        device: torch.device | str | None = None,
    ):
        self.device = torch.device(device or config.device())
        targets, weights = targets or (), weights or ()
        given = _each((*inputs, *targets, *weights), as_tensor)
        if not given or given[0] is None:
            raise ValueError("ArrayData needs at least one input.")
        self.resident = _fits_memory(given, self.device)
        # All in one place: one index gathers them.
        where = self.device if self.resident else torch.device("cpu")
        self._values = _each(given, lambda value: value.to(where))
        self._first_target = len(inputs)
        self._first_weight = len(inputs) + len(targets)
        self.size = len(given[0])

    def __len__(self) -> int:
        return self.size

    @property
    def inputs(self) -> list[Tensor]:
        """All samples of each input."""
        return self._values[: self._first_target]  # type: ignore[return-value]

    @property
    def targets(self) -> list[Tensor]:
        """All samples of each target."""
        return self._values[self._first_target : self._first_weight]  # type: ignore[return-value]

    @property
    def weights(self) -> list[Tensor | None]:
        """All weights of each target, None for all ones."""
        return self._values[self._first_weight :]

    def steps(self, batch_size: int) -> int:
        """The number of batches; the last one may be smaller."""
        return -(-self.size // batch_size)

    def batches(
        self, batch_size: int, order: str = "sequential", skip: int = 0, part: Part | None = None
    ) -> Generator[Batch, None, None]:
        """One epoch. Orders: "sequential"; "shuffled", each sample anywhere; "batch", whole batches in another order.

        As in Keras a smaller last batch stays last in "batch". The order is drawn by this call; the first `skip`
        batches of it are left out. `part`: only the rows of one process. Raises ValueError for another order.
        """
        check_order(order)
        check_batch_size(batch_size)
        if order == "shuffled":
            batches = self._gathered(int(batch_size), skip, part)
        else:
            batches = self._views(int(batch_size), order, skip)
            batches = batches if part is None else (part.of(batch) for batch in batches)
        return batches if self.resident else to_device(batches, self.device)

    def _gathered(self, batch_size: int, skip: int, part: Part | None) -> Generator[Batch, None, None]:
        # One permutation an epoch, drawn where the samples lie: no index travels.
        where = self.device if self.resident else torch.device("cpu")
        indices = torch.randperm(self.size, device=where).split(batch_size)[skip:]
        own = indices if part is None else (index[part.rows(len(index))] for index in indices)
        batches = (
            self._batch([None if v is None else v.index_select(0, index) for v in self._values], len(whole))
            for whole, index in zip(indices, own, strict=True)
        )
        return batches if part is None else (part.counted(batch, batch.size) for batch in batches)

    def _views(self, batch_size: int, order: str, skip: int) -> Generator[Batch, None, None]:
        chunks = _each(self._values, lambda value: value.split(batch_size))
        return (
            self._batch(
                [None if chunk is None else chunk[i] for chunk in chunks], min(batch_size, self.size - i * batch_size)
            )
            for i in batch_numbers(self.size, batch_size, order)[skip:]
        )

    def _batch(self, values: list[Any], size: int) -> Batch:
        return Batch(
            values[: self._first_target],
            values[self._first_target : self._first_weight],
            values[self._first_weight :],
            size,
        )

    def split(self, fraction: float) -> tuple["ArrayData", "ArrayData"]:
        """The first samples and the last `fraction` of them, as views: Keras's validation_split.

        Raises ValueError when the fraction is not between 0 and 1, or leaves one part without samples.
        """
        at = split_at(self.size, fraction)
        return self._span(0, at), self._span(at, self.size - at)

    def _span(self, start: int, size: int) -> "ArrayData":
        span = object.__new__(ArrayData)
        span.__dict__.update(self.__dict__)
        span._values = _each(self._values, lambda value: value.narrow(0, start, size))
        span.size = size
        return span


def _each(values: Sequence[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Each value changed, except None, which stands for weights of one."""
    return [None if value is None else change(value) for value in values]


def check_order(order: str) -> None:
    """Raise ValueError for an order that is not one of `ORDERS`."""
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}; found {order!r}.")


def check_batch_size(batch_size: Any) -> None:
    """Raise ValueError for a batch size that is not a positive integer."""
    if not (is_integer(batch_size) and batch_size >= 1):
        raise ValueError(f"batch_size must be an integer of at least 1; found {batch_size!r}.")


def batch_numbers(size: int, batch_size: int, order: str) -> list[int]:
    """The numbers of the batches of `size` samples, in "sequential" order or as "batch" draws it."""
    whole, rest = divmod(size, batch_size)
    numbers = torch.randperm(whole, device="cpu").tolist() if order == "batch" else list(range(whole))
    return numbers + ([whole] if rest else [])


def split_at(size: int, fraction: float) -> int:
    """Where `size` samples are divided so that the last `fraction` of them is one part. Raises as `ArrayData.split`."""
    if not 0.0 < fraction < 1.0:
        raise ValueError(f"validation_split must be between 0 and 1; found {fraction!r}.")
    at = int(size * (1.0 - fraction))
    if at in (0, size):
        raise ValueError(f"validation_split {fraction!r} of {size} samples leaves none to one of the two parts.")
    return at


def _fits_memory(values: list[Tensor | None], device: torch.device) -> bool:
    if device.type != "cuda":
        return True
    needed = sum(v.numel() * v.element_size() for v in values if v is not None and v.device != device)
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # which torch takes first
    return 2 * needed <= torch.cuda.mem_get_info(device)[0] + cached
