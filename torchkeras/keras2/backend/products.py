"""Products of matrices and tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.nodes import node, tensor
from torchkeras.tensor_functions.by_name import FUNCTIONS


@node
def dot(x: Any, y: Any) -> Tensor:
    """The sum over the last axis of `x` and the last but one of `y`.

    Shapes:
        (..., n), (n, m) -> (..., m); (a, b, n), (c, n, m) -> (a, b, c, m)

    >>> dot(torch.ones(2, 3), torch.ones(3, 4)).shape
    torch.Size([2, 4])
    """
    x = tensor(x)
    y = tensor(y, x)
    if x.is_sparse:
        return torch.sparse.mm(x, y)
    return torch.tensordot(x, y, dims=([x.dim() - 1], [max(y.dim() - 2, 0)]))  # type: ignore[arg-type]


@node
def batch_dot(x: Any, y: Any, axes: Any = None) -> Tensor:
    """For each sample the sum over `axes[0]` of `x` and `axes[1]` of `y`; an integer stands for both.

    Without `axes` it is over the last axis of `x` and the last but one of `y`, the only one of a matrix beside another
    tensor. Of two matrices it may be over the first axis too. The tensor with fewer axes gets new ones of size 1 at its
    end, which the result loses again; a result of one axis gets a second one.

    Raises ValueError for a tensor of one axis, a sum over the batch axis, and a negative axis of tensors with more
    than two: Keras 2.2.4 took that for another axis.

    Shapes:
        (batch, n), (batch, n), axes=1 -> (batch, 1); (batch, k, n), (batch, n, m) -> (batch, k, m);
        (batch, k, n), (batch, n) -> (batch, k)

    >>> batch_dot(torch.ones(2, 3), torch.ones(2, 3), axes=1).shape
    torch.Size([2, 1])
    """
    x = tensor(x)
    y = tensor(y, x)
    ranks = x.dim(), y.dim()
    first, second = _axes_of_batch_dot(ranks, axes)
    missing = ranks[0] - ranks[1]
    x = x.reshape(*x.shape, *[1] * -missing)
    y = y.reshape(*y.shape, *[1] * missing)
    if x.dim() == 2:
        found = (x * y).sum(first) if first == second else (x.t() * y).sum(second)
    else:
        found = (x if first == x.dim() - 1 else x.mT) @ (y.mT if second == y.dim() - 1 else y)
    if missing:
        start = ranks[0] + ranks[1] - 3 if missing > 0 else ranks[0] - 1
        found = found.squeeze(tuple(range(start, start + abs(missing))))
    return found.unsqueeze(1) if found.dim() == 1 else found


def _axes_of_batch_dot(ranks: tuple[int, int], axes: Any) -> tuple[int, int]:
    """The axes to sum over, counted from 0. Raises ValueError for what `batch_dot` does not take."""
    first, second = (axes, axes) if isinstance(axes, int) else axes or (ranks[0] - 1, ranks[1] - 2)
    if min(ranks) < 2:
        raise ValueError(f"batch_dot takes tensors of two axes or more; found {ranks[0]} and {ranks[1]}.")
    if max(ranks) > 2 and min(first, second) < 0:
        raise ValueError(f"batch_dot counts axes from 0; found axes {axes!r}.")
    first, second = first % ranks[0], second % ranks[1]
    if not (first and second) and max(ranks) > 2 and axes is not None:
        raise ValueError(f"batch_dot sums over no batch axis; found axes {axes!r}.")
    return first, second


@node
def transpose(x: Any) -> Tensor:
    """The axes in reverse order.

    >>> transpose(torch.zeros(2, 3)).shape
    torch.Size([3, 2])
    """
    return FUNCTIONS["transpose"](tensor(x))


@node
def permute_dimensions(x: Any, pattern: Any) -> Tensor:
    """The axes in the order `pattern`.

    >>> permute_dimensions(torch.zeros(2, 3, 4), (0, 2, 1)).shape
    torch.Size([2, 4, 3])
    """
    return FUNCTIONS["transpose"](tensor(x), tuple(pattern))


@node
def gather(reference: Any, indices: Any) -> Tensor:
    """The rows of `reference` with these numbers.

    Shapes:
        (rows, ...), indices of any shape -> (*shape of indices, ...)

    >>> gather(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([2, 0]))
    tensor([[3.],
            [1.]])
    """
    reference = tensor(reference)
    return reference[tensor(indices).to(reference.device).long()]
