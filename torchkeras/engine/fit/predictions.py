"""The outputs of many batches as one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import to_numpy


class Gathered:
    """One output of all batches, on the host: each batch is written to its place in an array of so many samples.

    Where the number of samples is not known, or the output of a batch has no place there, batches are stored one by one
    and joined at the end. A GPU computes the next batch while the one before is copied.
    """

    def __init__(self, samples: int | None):
        self._samples = samples
        self._whole: Tensor | None = None
        self._filled = 0
        self._parts: list[Tensor] = []
        self._coming: tuple[Tensor, int, Any] | None = None  # an output on its way, of so many samples, and its arrival

    def add(self, output: Tensor, size: int) -> None:
        """Add the output of a batch of `size` samples; it stays on its device until the next one at most."""
        self._arrive()
        if output.is_cuda:
            here = output.to("cpu", non_blocking=True)  # to pinned memory
            self._coming = here, size, torch.cuda.current_stream(output.device).record_event()
        else:
            self._store(output.to("cpu"), size)

    def array(self) -> np.ndarray:
        """All that was added, one after another. Raises as `torch.cat` where sizes differ."""
        return to_numpy(self.tensor())

    def tensor(self) -> Tensor:
        """The same as a tensor."""
        self._arrive()
        if self._whole is None:
            return torch.cat(self._parts)
        return self._whole[: self._filled]

    def _arrive(self) -> None:
        if self._coming is not None:
            (output, size, arrival), self._coming = self._coming, None
            arrival.synchronize()
            self._store(output, size)

    def _store(self, output: Tensor, size: int) -> None:
        if self._samples and not self._filled and output.shape[:1] == (size,):
            self._whole = torch.empty((self._samples, *output.shape[1:]), dtype=output.dtype, device="cpu")
        place = self._place_for(output)
        if place is None:
            self._store_part(output)
        else:
            place.copy_(output)
        self._filled += len(torch.atleast_1d(output))

    def _place_for(self, output: Tensor) -> Tensor | None:
        """The rows of the array for an output; None where it does not fit there."""
        if self._whole is None or not output.dim():
            return None
        place = self._whole[self._filled : self._filled + len(output)]
        if place.shape != output.shape or place.dtype != output.dtype:
            return None
        return place

    def _store_part(self, output: Tensor) -> None:
        if self._whole is not None:
            self._parts, self._whole = [self._whole[: self._filled].clone()], None
        # A view would hold on to all of its memory, and pinned memory is for what is on its way.
        if output.untyped_storage().nbytes() > output.nbytes or output.is_pinned():
            output = output.clone()
        self._parts.append(output)
