"""How a tensor or weight of a model is related to that of the same model in the other data format."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.engine.symbolic.tensor import Shape

Order = tuple[int, ...]  # for each axis of the target's tensor, the source's axis; 0 is the batch axis
Places = tuple[int, ...]  # for each index of the target's last axis, the source's index


def unmoved(ndim: int) -> Order:
    """The order in which every axis stays where it is."""
    return tuple(range(ndim))


def moved(ndim: int, lead: int, data_format: str) -> Order:
    """The order that moves the channels from after `lead` axes to the end, or, for 'channels_first', back."""
    if data_format == "channels_last":
        return (*range(lead), *range(lead + 1, ndim), lead)
    return (*range(lead), ndim - 1, *range(lead, ndim - 1))


def lifted(order: Order, times: int = 1) -> Order:
    """The order with `times` more axes after the batch axis, which do not move."""
    return lifted((0, *(axis + 1 for axis in order)), times - 1) if times else order


def lowered(order: Order, times: int = 1) -> Order | None:
    """The inverse of `lifted`; None if one of these axes moves."""
    if not times:
        return order
    return lowered(tuple(axis - 1 for axis in order[1:]), times - 1) if order[:2] == (0, 1) else None


def arranged(values: Any, order: Order) -> tuple[Any, ...]:
    """A value for each axis of the source, such as a shape, in the target's order."""
    return tuple(values[axis] for axis in order)


@dataclass(frozen=True)
class Relation:
    """The target's tensor is the source's with its axes in `order`, and then its last axis indexed by `places`."""

    order: Order
    places: Places | None = None

    def agrees(self, other: Relation, shape: Shape) -> bool:
        """Whether both give the same for a source of this shape: the place of axes of size 1 does not matter."""
        return self._action(shape) == other._action(shape)

    def _action(self, shape: Shape) -> Any:
        return arranged(shape, self.order), [axis for axis in self.order if shape[axis] != 1], self.places

    def applied(self, array: np.ndarray) -> np.ndarray:
        """The target's array for the source's."""
        turned = array.transpose(self.order)
        return turned if self.places is None else turned[..., list(self.places)]

    def __str__(self) -> str:
        if self.places is not None:
            return "the last axis in another order"
        return "the same axes" if self.order == unmoved(len(self.order)) else f"axes in the order {self.order}"


def orders_of(ndim: int) -> list[Order]:
    """The possible orders between two data formats, the likeliest first."""
    formats = ("channels_last", "channels_first")
    return [unmoved(ndim), *(moved(ndim, lead, to) for lead in range(1, ndim - 1) for to in formats)]


def find(source: np.ndarray, target: np.ndarray, orders: list[Order]) -> Relation | None:
    """The relation between two arrays of distinct numbers, one of `orders` or places along the last axis."""
    for order in orders:
        if len(order) == source.ndim and np.array_equal(source.transpose(order), target):
            return Relation(order)
    if source.shape != target.shape or source.ndim < 2:
        return None
    places = _places(source, target)
    if -1 in places or not np.array_equal(source[..., places], target):
        return None
    return Relation(unmoved(source.ndim), tuple(places))


def _places(source: np.ndarray, target: np.ndarray) -> list[int]:
    """Where along the last axis of the source the target's numbers stand, by the first row; -1 for nowhere."""
    first, second = (array.reshape(-1, array.shape[-1])[0] for array in (source, target))
    index = {int(number): place for place, number in enumerate(first)}
    return [index.get(int(number), -1) for number in second]


# --- what is done to a weight ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Take:
    """The indices of one axis in another order."""

    axis: int
    places: Places

    def __call__(self, array: Tensor) -> Tensor:
        return array.index_select(self.axis, torch.tensor(self.places, device=array.device))

    def __str__(self) -> str:
        return f"axis {self.axis} reordered"


@dataclass(frozen=True)
class Turn:
    """Reshape to `view`, permute the axes, reshape to `result`."""

    view: tuple[int, ...]
    order: tuple[int, ...]
    result: tuple[int, ...]

    def __call__(self, array: Tensor) -> Tensor:
        return array.reshape(self.view).permute(self.order).reshape(self.result)

    def __str__(self) -> str:
        return "axes moved"


@dataclass(frozen=True)
class Reordering:
    """The steps from the source's array, in Keras's layout, to the target's; none if they are equal."""

    steps: tuple[Take | Turn, ...] = ()

    def __call__(self, array: Tensor) -> Tensor:
        for step in self.steps:
            array = step(array)
        return array

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps)) or "as it is"


def along(view: tuple[int, ...], order: tuple[int, ...]) -> list[Take | Turn]:
    """The step that permutes the axes of an array of shape `view`; none if that changes nothing."""
    moving = [axis for axis in order if view[axis] != 1]
    return (
        [Turn(view, order, arranged(view, order))] if moving != sorted(moving) or view != arranged(view, order) else []
    )


def blocks(parts: list[tuple[Places | None, int]]) -> Places | None:
    """The places in a row of parts, each with its own places and size; None if none of them moves."""
    if all(places is None for places, _ in parts):
        return None
    starts = np.cumsum([0, *(size for _, size in parts)]).tolist()
    return tuple(
        chain.from_iterable(
            (start + place for place in places or range(size))
            for start, (places, size) in zip(starts, parts, strict=False)
        )
    )
