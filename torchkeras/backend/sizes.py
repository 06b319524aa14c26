"""`Shape`: what `K.shape` gives."""

from __future__ import annotations

from typing import Any

import torch


class Shape(tuple[Any, ...]):
    """The sizes of a tensor's axes: whole numbers, or sizes that are known when the graph runs.

    A part of it is one, too. Functions of tensors take it as a tensor of int32.
    """

    __slots__ = ()
    dtype = torch.int32

    @property
    def shape(self) -> tuple[int]:
        """That of the sizes as a tensor."""
        return (len(self),)

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return Shape(found) if isinstance(place, slice) else found

    def __add__(self, other: Any) -> Shape:  # type: ignore[override]
        return Shape((*self, *other))

    def __repr__(self) -> str:
        return f"Shape{super().__repr__()}"
