"""The parameters of an optimizer that are whole in this process.

An optimizer reaches the rows of other processes through this object, which returns its arguments, since there are none.
`distribution.optimizer_shards.Shards` stands in its place where processes share the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor

from torchkeras.base.annexes import annex
from torchkeras.world.processes import has_group


class WholeParameters:
    """An optimizer's parameters, each whole. `parameters`: those that steps run on, in their order.

    `parts`: the parts of some tensors that this process has. `arranged`: the arrangements of Keras's arrays for the
    parts, from those for the whole parameters.
    """

    parts: Callable[[Any], list[Any]] = staticmethod(list)  # pyright: ignore[reportAssignmentType]
    arranged: Callable[[Any], list[Any]] = staticmethod(list)  # pyright: ignore[reportAssignmentType]

    def norms(self, norms: list[Tensor], parameters: Sequence[Tensor], places: Sequence[int] | None) -> list[Tensor]:
        """The norms of whole tensors from those of parts, laid out as the parameters at these places; None: all."""
        return norms

    def shared(self, values: Sequence[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values, one a parameter, sharded like the parameters."""
        return list(values)

    def pairs(self, lists: Callable[[], Iterable[list[Tensor]]], parameters: Sequence[Tensor]) -> list[Any]:
        """The values in the lists that processes share, each with its parameter."""
        return []

    def whole(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values, one a parameter, with the rows of all processes."""
        return values

    def own(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """The part of such values that this process has, from shared or whole ones."""
        return values

    def as_parameters(self, gradients: Sequence[Any], parameters: Sequence[Tensor]) -> Sequence[Any]:
        """Gradients sharded like their parameters, for a step of torch's."""
        return gradients

    def explain(self, optimizer: str, error: NotImplementedError) -> None:
        """Raise a clearer error where torch has no step of an optimizer for weights that processes share."""


WHOLE_PARAMETERS = WholeParameters()


def held(parameters: Sequence[Tensor]) -> WholeParameters:
    """The object for some parameters: whole, or shared between processes."""
    return annex("optimizer shards").held(parameters) if has_group() else WHOLE_PARAMETERS
