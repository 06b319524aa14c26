"""Sums, means, extremes and the like along axes: `axis` is an integer, several of them, or None for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.nodes import floating, named_node, node, tensor
from torchkeras.keras2.backend.sizes import Shape
from torchkeras.tensor_functions.by_name import FUNCTIONS

EMPTY = {"amax": float("-inf"), "amin": float("inf")}  # of no numbers, as TensorFlow has it


def _axes(x: Tensor, axis: Any) -> list[int]:
    if axis is None:
        return list(range(x.dim()))
    return [axis] if isinstance(axis, int) else list(axis)


def _counted(x: Any) -> Tensor:
    """A tensor, its True and False as numbers."""
    x = tensor(x)
    return x.to(floating()) if x.dtype is torch.bool else x


def _reduced(name: str, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    if name in EMPTY and not x.numel() and x.is_floating_point():
        return x.new_zeros(x.shape).sum(_axes(x, axis), keepdim=bool(keepdims)) + EMPTY[name]
    function: Callable[..., Tensor] = FUNCTIONS[name]
    return function(x, axis, keepdims).to(x.dtype)  # torch sums up int32 as int64


@node
def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum.

    >>> sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    tensor([3., 7.])
    """
    return _reduced("sum", tensor(x), axis, keepdims)


@named_node("prod")
def _product(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return _reduced("prod", tensor(x), axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product; that of sizes which `K.shape` gave is a size.

    >>> prod(torch.tensor([2.0, 3.0]))
    tensor(6.)
    """
    if isinstance(x, Shape):
        found: Any = 1
        for size in x:
            found = size * found
        return found
    return _product(x, axis, keepdims)


@node
def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean; of True and False a number of type `floatx`, of whole numbers a whole one, as in TensorFlow.

    >>> mean(torch.tensor([1.0, 2.0]))
    tensor(1.5000)
    """
    x = _counted(x)
    if x.is_floating_point():
        return _reduced("mean", x, axis, keepdims)
    total, count = (_reduced("sum", each, axis, keepdims) for each in (x, torch.ones_like(x)))
    return torch.div(total, count, rounding_mode="trunc")


@node
def var(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance, the mean of (x - mean(x)) ** 2.

    >>> var(torch.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return _reduced("var", _counted(x), axis, keepdims)


@node
def std(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation, the square root of `var`.

    >>> std(torch.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return _reduced("std", _counted(x), axis, keepdims)


@node
def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest number.

    >>> max(torch.tensor([1.0, 3.0]))
    tensor(3.)
    """
    return _reduced("amax", tensor(x), axis, keepdims)


@node
def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest number.

    >>> min(torch.tensor([1.0, 3.0]))
    tensor(1.)
    """
    return _reduced("amin", tensor(x), axis, keepdims)


@node
def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether one of the numbers is not 0.

    >>> any(torch.tensor([0.0, 3.0]))
    tensor(True)
    """
    return FUNCTIONS["any"](tensor(x).bool(), axis, keepdims)


@node
def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether none of the numbers is 0.

    >>> all(torch.tensor([0.0, 3.0]))
    tensor(False)
    """
    return FUNCTIONS["all"](tensor(x).bool(), axis, keepdims)


@node
def argmax(x: Any, axis: int = -1) -> Tensor:
    """The place of the largest number, the first of several, as int64.

    >>> argmax(torch.tensor([1.0, 3.0]))
    tensor(1)
    """
    return tensor(x).argmax(axis)


@node
def argmin(x: Any, axis: int = -1) -> Tensor:
    """The place of the smallest number, the first of several, as int64.

    >>> argmin(torch.tensor([1.0, 3.0]))
    tensor(0)
    """
    return tensor(x).argmin(axis)


@node
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))), for large numbers too.

    >>> logsumexp(torch.tensor([1000.0]))
    tensor(1000.)
    """
    return _reduced("logsumexp", tensor(x), axis, keepdims)


@node
def cumsum(x: Any, axis: int = 0) -> Tensor:
    """The sum of the numbers up to each one.

    >>> cumsum(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1., 3., 6.])
    """
    x = tensor(x)
    return x.cumsum(axis, dtype=x.dtype)


@node
def cumprod(x: Any, axis: int = 0) -> Tensor:
    """The product of the numbers up to each one.

    >>> cumprod(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1., 2., 6.])
    """
    x = tensor(x)
    return x.cumprod(axis, dtype=x.dtype)
