"""The outputs of many batches as one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import to_numpy


class Gathered:
    """One output of all batches, on the host: each batch is written to its place in an array of so many samples.

    Where the number of samples is not known, or what a batch gives has no place there, batches are kept one by one and
    joined at the end. A GPU computes the next batch while the one before is copied.
    """

    def __init__(self, samples: int | None):
        self._samples = samples
        self._whole: Tensor | None = None
        self._filled = 0
        self._parts: list[Tensor] = []
        self._coming: tuple[Tensor, int, Any] | None = None  # an output on its way, of so many samples, and its arrival

    def add(self, output: Tensor, size: int) -> None:
        """Take the output of a batch of `size` samples; nothing of it stays on its device but till the next one."""
        self._arrive()
        if output.is_cuda:
            here = output.to("cpu", non_blocking=True)  # to pinned memory
            self._coming = here, size, torch.cuda.current_stream(output.device).record_event()
        else:
            self._keep(output.to("cpu"), size)

    def array(self) -> np.ndarray:
        """All that was added, one after another. Raises as `torch.cat` where sizes differ."""
        return to_numpy(self.tensor())

    def tensor(self) -> Tensor:
        """The same as a tensor."""
        self._arrive()
        return torch.cat(self._parts) if self._whole is None else self._whole[: self._filled]

    def _arrive(self) -> None:
        if self._coming is not None:
            (output, size, arrival), self._coming = self._coming, None
            arrival.synchronize()
            self._keep(output, size)

    def _keep(self, output: Tensor, size: int) -> None:
        if self._samples and not self._filled and output.shape[:1] == (size,):
            self._whole = torch.empty((self._samples, *output.shape[1:]), dtype=output.dtype, device="cpu")
        if self._has_place_for(output):
            self._whole[self._filled : self._filled + len(output)] = output  # type: ignore[index]
        else:
            self._keep_apart(output)
        self._filled += len(output) if output.dim() else 1

    def _has_place_for(self, output: Tensor) -> bool:
        whole = self._whole
        if whole is None or not output.dim() or len(output) > len(whole) - self._filled:
            return False
        return output.dtype == whole.dtype and output.shape[1:] == whole.shape[1:]

    def _keep_apart(self, output: Tensor) -> None:
        if self._whole is not None:
            self._parts, self._whole = [self._whole[: self._filled].clone()], None
        # A view would keep all that it was taken of, and pinned memory is for what is on its way.
        own = output.untyped_storage().nbytes() <= output.nbytes and not output.is_pinned()
        self._parts.append(output if own else output.clone())
