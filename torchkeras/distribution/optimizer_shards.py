"""Parameters of which every process has a part of the rows, as an optimizer sees them.

Steps run on the parts, as plain tensors. What is of a whole weight, such as its norm or Keras's array, asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from torchkeras.base.keras_axes import Arrangement
from torchkeras.distribution.shared_tensors import group_of, is_sharded, joined, part, parts, rows, sharded_as
from torchkeras.optimizers.whole_parameters import WHOLE_PARAMETERS, WholeParameters


class Shards(WholeParameters):
    """The shared ones among some parameters, by the identity of the part that this process has."""

    parts = staticmethod(parts)

    def __init__(self, parameters: Sequence[Tensor]):
        self._parameters = parameters
        self._shared = {id(part(each)): each for each in parameters if is_sharded(each)}
        self._group = group_of(next(iter(self._shared.values())))
        self._is_first = dist.get_rank(self._group) == 0

    def norms(self, norms: list[Tensor], parameters: Sequence[Tensor], places: Sequence[int] | None) -> list[Tensor]:
        """The norms of whole tensors from those of parts, each laid out as the part of a parameter."""
        laid_out_as = [parameters[k] for k in places or range(len(norms))]
        counts = [id(parameter) in self._shared or self._is_first for parameter in laid_out_as]
        squares = torch.stack(norms).square() * torch.tensor(counts, device=norms[0].device)
        dist.all_reduce(squares, group=self._group)
        return list(squares.sqrt().unbind())

    def arranged(self, arrangements: Sequence[Arrangement]) -> list[Arrangement]:  # type: ignore[override]
        """How the parts of parameters make Keras's arrays, of how whole ones make them."""
        each = iter(self._parameters)
        return [Whole(made.pieces, made.count, list(islice(each, made.count))) for made in arrangements]

    def shared(self, values: Sequence[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values of this process as shared tensors, where they are laid out as the part of a shared parameter."""
        likes = [self._like(value, each) for value, each in zip(values, parameters, strict=True)]
        return [v if like is None else sharded_as(v, like) for v, like in zip(values, likes, strict=True)]

    def pairs(
        self, lists: Callable[[], Iterable[list[Tensor]]], parameters: Sequence[Tensor]
    ) -> list[tuple[Tensor, Any]]:
        """Those values in the lists that are shared, each with the parameter that it is shared as."""
        found = [
            (value, self._like(value, parameter))
            for values in lists()
            for value, parameter in zip(values, parameters, strict=bool(values))
        ]
        return [(value, like) for value, like in found if like is not None]

    def whole(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """Values with the rows of all processes, where they share them."""
        return [self._whole(value, parameter) for value, parameter in zip(values, parameters, strict=True)]

    def _whole(self, value: Tensor, parameter: Tensor) -> Tensor:
        like = self._like(value, parameter)
        return value if like is None else joined(value, like)

    def as_parameters(self, gradients: Sequence[Any], parameters: Sequence[Tensor]) -> list[Any]:
        """Gradients as processes share them: each as its parameter, where they share that."""
        found: list[Any] = []
        for gradient, parameter in zip(gradients, parameters, strict=True):
            if gradient is not None and is_sharded(parameter) and not is_sharded(gradient):
                found.append(sharded_as(gradient, parameter))
            else:
                found.append(gradient)
        return found

    def explain(self, optimizer: str, error: NotImplementedError) -> None:
        """Raise NotImplementedError: torch has no such step for weights that processes share."""
        raise NotImplementedError(
            f"{optimizer}, of torch.optim, has a step that torch cannot do on weights that processes share "
            f"({error}). Use an optimizer of torchkeras.optimizers, or distribute='ddp'."
        ) from error

    def _like(self, value: Tensor, parameter: Tensor) -> Any:
        """The shared parameter as whose part a value is laid out; None where there is none."""
        return self._shared.get(id(parameter)) if value.shape == parameter.shape else None

    def own(self, values: list[Tensor], parameters: Sequence[Tensor]) -> list[Tensor]:
        """What this process has of values: of a shared one its part, of one as whole as its parameter its rows."""
        return [self._own(value, parameter) for value, parameter in zip(values, parameters, strict=True)]

    def _own(self, value: Tensor, parameter: Tensor) -> Tensor:
        like = self._shared.get(id(parameter))
        if is_sharded(value):
            return part(value)  # type: ignore[no-any-return]
        return value[rows(like)] if like is not None and value.shape == like.shape != parameter.shape else value


def held(parameters: Sequence[Tensor]) -> WholeParameters:
    """How this process holds some parameters: whole, or a part of the rows."""
    return Shards(parameters) if any(map(is_sharded, parameters)) else WHOLE_PARAMETERS


@dataclass(frozen=True, eq=False)
class Whole(Arrangement):
    """The arrangement of whole tensors, for parts of them: they are gathered, and set, as a whole."""

    like: Sequence[Any] = ()

    def array(self, tensors: Sequence[Tensor]) -> Tensor:
        """Keras's array, of the parts of all processes."""
        return super().array(self._joined(tensors))

    def shape(self, tensors: Sequence[Tensor]) -> tuple[int, ...]:
        """The shape of that array."""
        return super().shape([torch.empty(each.shape, device="meta") for each in self.like])

    def assign(self, tensors: Sequence[Tensor], values: Tensor) -> None:
        """Set the parts, each process those that it has."""
        found = self._joined(tensors)
        super().assign(found, values)
        for own, now, each in zip(tensors, found, self.like, strict=True):
            if now is not own:
                own.copy_(now[rows(each)])

    def _joined(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [joined(own, each) if is_sharded(each) else own for own, each in zip(tensors, self.like, strict=True)]
