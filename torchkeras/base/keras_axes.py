"""How an array of Keras is stored in torch's tensors: as a view of one tensor, or as pieces of one or more.

Pieces are nested as in `numpy.block`: a list of views is joined along the last axis; a list of such lists is stacked
along a new first axis. Example: from the gates of torch's GRU (r, z, n), `[z, r, n]` makes Keras's kernel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchkeras.world.one_process import sharing

Pieces = Any  # a view, a list of views, or a list of lists of views


@dataclass(frozen=True, eq=False)
class Arrangement:
    """`pieces(*tensors)` returns the pieces of Keras's array, views of `count` tensors in torch's layout.

    It is pickled with an optimizer, so `pieces` is a function of a module, or a `partial` of one.
    """

    pieces: Callable[..., Pieces]
    count: int = 1

    def array(self, tensors: Sequence[Tensor]) -> Tensor:
        """The array, with gradients; it is a view if it has one piece of a single tensor that is whole here."""
        return _joined(self.pieces(*sharing().wholes(tensors)))

    def shape(self, tensors: Sequence[Tensor]) -> tuple[int, ...]:
        """The shape of the array."""
        return _shape_of_pieces(self.pieces(*tensors))

    def assign(self, tensors: Sequence[Tensor], values: Tensor) -> None:
        """Set the tensors in place, so that the array is `values`."""
        found = sharing().wholes(tensors)
        _spread(self.pieces(*found), values)
        for tensor, now in zip(tensors, found, strict=True):
            sharing().keep(tensor, now)


def permuted(order: Sequence[int]) -> Arrangement:
    """The arrangement of one tensor. `order`: for each of Keras's axes, its place in torch's tensor."""
    return Arrangement(partial(_permute, tuple(order)))


def _permute(order: tuple[int, ...], tensor: Tensor) -> Tensor:
    return tensor.permute(order)


def _whole(tensor: Tensor) -> Tensor:
    return tensor


IN_ORDER = Arrangement(_whole)


def _shape_of_pieces(pieces: Pieces) -> tuple[int, ...]:
    if isinstance(pieces, Tensor):
        return tuple(pieces.shape)
    shapes = [_shape_of_pieces(piece) for piece in pieces]
    if isinstance(pieces[0], Tensor):
        return (*shapes[0][:-1], sum(shape[-1] for shape in shapes))
    return (len(shapes), *shapes[0])


def _joined(pieces: Pieces) -> Tensor:
    if isinstance(pieces, Tensor):
        return pieces
    if isinstance(pieces[0], Tensor):
        return torch.cat(pieces, -1)
    return torch.stack([_joined(row) for row in pieces])


def _spread(pieces: Pieces, values: Tensor) -> None:
    if isinstance(pieces, Tensor):
        pieces.copy_(values)
        return
    if isinstance(pieces[0], Tensor):
        parts = values.split([piece.shape[-1] for piece in pieces], -1)
    else:
        parts = values.unbind(0)
    for piece, part in zip(pieces, parts, strict=True):
        _spread(piece, part)
