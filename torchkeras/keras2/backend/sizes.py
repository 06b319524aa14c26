"""`Shape`: what `K.shape` gives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch


def _each(compute: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Shape, Any], Shape]:
    """An operator between sizes and numbers, or one number for all."""

    def apply(own: Shape, other: Any) -> Shape:
        others = other if isinstance(other, (tuple, list)) else [other] * len(own)
        pairs = zip(others, own, strict=True) if swapped else zip(own, others, strict=True)
        return Shape(compute(first, second) for first, second in pairs)

    return apply


class Shape(tuple[Any, ...]):
    """The sizes of a tensor's axes: whole numbers, or sizes that are known when the graph runs.

    A part of it is one, too. Functions of tensors take it as a tensor of int32, and operators take its numbers one by
    one, as those of a tensor; `K.concatenate` joins shapes.
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

    __add__, __radd__ = _each(operator.add), _each(operator.add, swapped=True)  # type: ignore[assignment]
    __sub__, __rsub__ = _each(operator.sub), _each(operator.sub, swapped=True)
    __mul__, __rmul__ = _each(operator.mul), _each(operator.mul, swapped=True)  # type: ignore[assignment]
    __floordiv__, __rfloordiv__ = _each(operator.floordiv), _each(operator.floordiv, swapped=True)
    __truediv__, __rtruediv__ = _each(operator.truediv), _each(operator.truediv, swapped=True)

    def __repr__(self) -> str:
        return f"Shape{super().__repr__()}"
