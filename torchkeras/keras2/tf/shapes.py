"""`TensorShape`: what `tensor.get_shape()` gives, a tuple whose sizes have a `value`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchkeras.engine.symbolic.tensor import Shape


class Dimension(int):
    """A size that is known."""

    @property
    def value(self) -> int:
        """The size itself."""
        return int(self)


class UnknownDimension:
    """A size that is not known before data comes."""

    value = None

    def __eq__(self, other: Any) -> bool:
        return other is None or isinstance(other, UnknownDimension)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "?"


def dimension(size: int | None) -> Any:
    """A size as TensorFlow 1 gives it."""
    return UnknownDimension() if size is None else Dimension(size)


class TensorShape(tuple[Any, ...]):
    """The sizes of a tensor, None for an unknown one; each of them has the attribute `value`."""

    __slots__ = ()

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return TensorShape(found) if isinstance(place, slice) else dimension(found)

    def __iter__(self) -> Iterator[Any]:
        return map(dimension, super().__iter__())

    def as_list(self) -> list[int | None]:
        """The sizes as whole numbers or None."""
        return [None if size.value is None else int(size) for size in self]

    def is_fully_defined(self) -> bool:
        """Whether all sizes are known."""
        return None not in self.as_list()

    @property
    def ndims(self) -> int:
        """How many axes there are."""
        return len(self)

    rank = ndims

    @property
    def dims(self) -> list[Any]:
        """The sizes as a list."""
        return list(self)


def merged(known: Shape, given: Any) -> Shape:
    """A shape with the sizes that `set_shape` gives beside those known. Raises ValueError where they contradict."""
    sizes = tuple(getattr(size, "value", size) for size in given)
    if len(sizes) != len(known) or any(k is not None and s not in (None, k) for k, s in zip(known, sizes, strict=True)):
        raise ValueError(f"the shape {tuple(known)} cannot be set to {sizes}.")
    return tuple(s if k is None else k for k, s in zip(known, sizes, strict=True))
