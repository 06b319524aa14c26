"""Parameters that are whole in this process, as an optimizer sees them.

What an optimizer needs of the rows that other processes have it asks of this object, which gives back what it is given.
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

    `parts`: what this process has of some tensors. `arranged`: how the parts make Keras's arrays, of how the whole
    parameters make them.
    """

    parts: Callable[[Any], list[Any]] = staticmethod(list)  # pyright: ignore[reportAssignmentType]
    arranged: Callable[[Any], list[Any]] = staticmethod(list)  # pyright: ignore[reportAssignmentType]

    def norms(self, norms: list[Tensor], parameters: Sequence[Tensor], places: Sequence[int] | None) -> list[Tensor]:
        """The norms of whole tensors from those of parts, laid out as the parameters at these places; None: as all."""
        return norms

    def shared(self, values: Sequence[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values, one a parameter, as processes share the parameters."""
        return list(values)

    def pairs(self, lists: Callable[[], Iterable[list[Tensor]]], parameters: Sequence[Tensor]) -> list[Any]:
        """Those values in the lists that processes share, each with the parameter that it is shared as."""
        return []

    def whole(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values, one a parameter, with the rows of all processes."""
        return values

    def own(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """What this process has of such values, shared or whole."""
        return values

    def as_parameters(self, gradients: Sequence[Any], parameters: Sequence[Tensor]) -> Sequence[Any]:
        """Gradients as processes share them: each as its parameter. For a step of torch's."""
        return gradients

    def explain(self, optimizer: str, error: NotImplementedError) -> None:
        """Raise a clearer error where torch has no step of an optimizer for weights that processes share."""


WHOLE_PARAMETERS = WholeParameters()


def held(parameters: Sequence[Tensor]) -> WholeParameters:
    """How this process holds some parameters."""
    return annex("optimizer shards").held(parameters) if has_group() else WHOLE_PARAMETERS
