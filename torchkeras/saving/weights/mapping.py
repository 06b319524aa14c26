"""Weights that lie in their file: a page is read when it is first needed, and copied when it is first written to."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import torch
from torch import Tensor

from torchkeras.errors import UnreadableFileError
from torchkeras.saving.containers.parts import Part, Stretch


def adopt(jobs: Sequence[tuple[Tensor, Stretch]]) -> list[tuple[Tensor, Stretch]]:
    """Give tensors the memory of the file in place of their own; returns those that must have their own.

    These have another type, order of axes or device than the numbers in the file, or lie there at a byte that is no
    multiple of the size of a number. Raises UnreadableFileError if the file ends before an array does.
    """
    mapped: dict[Part, mmap.mmap] = {}
    left = []
    for target, stretch in jobs:
        if not _fits(target, stretch):
            left.append((target, stretch))
            continue
        part = stretch.part
        if part not in mapped:
            mapped[part] = mmap.mmap(part.descriptor, 0, access=mmap.ACCESS_COPY)
        try:
            flat = torch.frombuffer(
                mapped[part], dtype=target.dtype, count=target.numel(), offset=part.begin + stretch.begin
            )
        except ValueError as error:
            raise UnreadableFileError(f"{stretch.name}: the file ends before its numbers do.") from error
        target.data = flat.view(target.shape)
    return left


def _fits(target: Tensor, stretch: Stretch) -> bool:
    in_order = stretch.axes is None or stretch.axes == tuple(range(target.dim()))
    same_type = torch.bfloat16 if stretch.bfloat16 else getattr(torch, stretch.dtype.name)
    return (
        in_order
        and target.numel() > 0
        and target.device.type == "cpu"
        and target.is_contiguous()
        and target.dtype == same_type
        and (stretch.part.begin + stretch.begin) % target.element_size() == 0
    )
