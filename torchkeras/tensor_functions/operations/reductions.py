"""Operations of Keras 3 over axes: sums, extrema, means, quantiles, running totals (`keras.ops.sum`).

`axis` is None for all axes, a number or several; over none of them a value is reduced by itself. With `keepdims` the
axes stay, of length one. Both hold for every operation, as Keras documents them.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_of
from torchkeras.tensor_functions.by_name import axes_of
from torchkeras.tensor_functions.operations.elementwise import isclose
from torchkeras.tensor_functions.operations.values import as_torch, common_type, floats, in_32_bits, of_any_floats, rows

Axis = Any  # None, a number or several
Reduction = Callable[..., Tensor]  # of a tensor, axes (at least one) and `keepdim`

# Where torch's functions take what Keras's do: one axis of floating-point numbers.
ONE_AXIS = "type(axis) is int and keepdims is False and x.dtype is float32"

# --- axes and types --------------------------------------------------------------------------------------------------


def _over(function: Reduction, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    if type(axis) is int:  # the commonest, in fewer steps
        return function(x, axis, keepdim=bool(keepdims))
    axes = axes_of(x, axis)
    return function(x, axes, keepdim=bool(keepdims)) if axes else function(x.unsqueeze(0), [0], keepdim=False)


def _over_one(function: Callable[[Tensor], Tensor], x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """A function that reduces the last axis, over all `axis` as one.

    Its result may have axes of its own in front of those of `x`. Raises ValueError for an axis that `x` has not.
    """
    for each in axes_of(x, axis):
        if not -x.dim() <= each < x.dim():
            raise ValueError(f"axis {each} is out of range for a tensor of {x.dim()} axes.")
    axes = sorted(each % x.dim() for each in axes_of(x, axis))
    rest = [each for each in range(x.dim()) if each not in axes]
    moved = x.permute([*rest, *axes])
    moved = moved.flatten(len(rest)) if axes else moved.unsqueeze(-1)
    found = function(moved)
    own = found.dim() - len(rest)
    for each in axes if keepdims else ():
        found = found.unsqueeze(own + each)
    return found


def _type_of_product(kind: torch.dtype) -> torch.dtype:
    """The type of a product: of at most 32 bits, and of whole numbers exactly that."""
    return in_32_bits(kind) if kind.is_floating_point or kind.is_complex else torch.int32


def _of_floats(x: Tensor) -> Tensor:
    """The tensor in the type that Keras 3's quotients have."""
    return x.to(of_any_floats(x.dtype))


def _filled(x: Tensor, value: float) -> Tensor:
    """The tensor with a number in place of NaN."""
    return torch.where(torch.isnan(x), value, x) if x.is_floating_point() else x


# --- truth values ----------------------------------------------------------------------------------------------------


def all(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all values are true, that is not zero."""
    return _over(torch.all, x.bool(), axis, keepdims)


def any(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some value is true, that is not zero."""
    return _over(torch.any, x.bool(), axis, keepdims)


def allclose(x1: Tensor, x2: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether all values are close to each other, in the sense of `isclose`."""
    return isclose(x1, x2, rtol, atol, equal_nan).all()


def count_nonzero(x: Tensor, axis: Axis = None) -> Tensor:
    """The number of values that are not zero, in int32."""
    return _sum(x != 0, axis)


# --- sums and products -----------------------------------------------------------------------------------------------


@as_torch(torch.sum, "x, axis", ONE_AXIS)
def _sum(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The sum of the values; of whole numbers shorter than 32 bits in int32."""
    found = _over(torch.sum, x, axis, keepdims)
    return found.to(torch.int32) if found.dtype is not x.dtype else found


def nansum(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The sum of the values that are not NaN."""
    return _sum(_filled(x, 0.0), axis, keepdims)


def prod(x: Tensor, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The product of the values, computed in the type `dtype` if one is given."""
    kind = _type_of_product(x.dtype) if dtype is None else dtype_of(dtype)
    return _over_one(lambda x: torch.prod(x, -1, dtype=kind), x, axis, keepdims)


def nanprod(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The product of the values that are not NaN."""
    return prod(_filled(x, 1.0), axis, keepdims)


def cumsum(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums of the values up to each one along an axis; for None of all values in a row."""
    return _running(torch.cumsum, x, axis, dtype)


def cumprod(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products of the values up to each one along an axis; for None of all values in a row."""
    return _running(torch.cumprod, x, axis, dtype)


def nancumsum(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums up to each value, to which NaN adds nothing."""
    return cumsum(_filled(x, 0.0), axis, dtype)


def nancumprod(x: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products up to each value, which NaN leaves as they are."""
    return cumprod(_filled(x, 1.0), axis, dtype)


def _running(function: Callable[..., Tensor], x: Tensor, axis: int | None, dtype: Any) -> Tensor:
    kind = in_32_bits(x.dtype) if dtype is None else dtype_of(dtype)
    kind = torch.int32 if kind is torch.bool else kind
    return function(x.reshape(-1) if axis is None else x, 0 if axis is None else axis, dtype=kind)


def trapezoid(y: Tensor, x: Tensor | None = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral of the straight lines through the values `y`, which are at the places `x`, or `dx` apart."""
    y = floats(y) if y.dtype is torch.bool else y
    return torch.trapezoid(y, dx=float(dx), dim=axis) if x is None else torch.trapezoid(y, x, dim=axis)


def logsumexp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The logarithm of the sum of the exponentials, without overflow."""
    return _over(torch.logsumexp, floats(x), axis, keepdims)


# --- extrema ---------------------------------------------------------------------------------------------------------


def amax(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest value."""
    return _over(torch.amax, x, axis, keepdims)


def amin(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least value."""
    return _over(torch.amin, x, axis, keepdims)


def max(x: Tensor, axis: Axis = None, keepdims: bool = False, initial: Tensor | None = None) -> Tensor:
    """The greatest value, or `initial` if that is greater or there are no values."""
    return _limit(torch.amax, torch.maximum, x, axis, keepdims, initial)


def min(x: Tensor, axis: Axis = None, keepdims: bool = False, initial: Tensor | None = None) -> Tensor:
    """The least value, or `initial` if that is less or there are no values."""
    return _limit(torch.amin, torch.minimum, x, axis, keepdims, initial)


def _limit(
    reduction: Reduction,
    choose: Callable[[Tensor, Tensor], Tensor],
    x: Tensor,
    axis: Axis,
    keepdims: bool,
    initial: Tensor | None,
) -> Tensor:
    if initial is None:
        return _over(reduction, x, axis, keepdims)
    initial = initial.to(x.dtype)
    if x.numel() == 0:
        return initial.expand(_over(torch.sum, x, axis, keepdims).shape).clone()
    return choose(_over(reduction, x, axis, keepdims), initial)


def ptp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest value less the least one."""
    return amax(x, axis, keepdims) - amin(x, axis, keepdims)


def nanmax(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The greatest value that is not NaN; NaN where there is none."""
    return _without_nan(amax, float("-inf"), float("nan"), x, axis, keepdims)


def nanmin(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The least value that is not NaN; NaN where there is none."""
    return _without_nan(amin, float("inf"), float("nan"), x, axis, keepdims)


def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the greatest value along an axis, the first one of several; for None its place in a row of all."""
    return _place(torch.argmax, x, axis, keepdims)


def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the least value along an axis, the first one of several; for None its place in a row of all."""
    return _place(torch.argmin, x, axis, keepdims)


def nanargmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the greatest value that is not NaN; -1 where there is none."""
    return _without_nan(argmax, float("-inf"), -1, x, axis, keepdims)


def nanargmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the least value that is not NaN; -1 where there is none."""
    return _without_nan(argmin, float("inf"), -1, x, axis, keepdims)


def _place(function: Callable[..., Tensor], x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    x = x.to(torch.uint8) if x.dtype is torch.bool else x
    return function(x, axis, keepdim=bool(keepdims)).to(torch.int32)


def _without_nan(
    function: Callable[..., Tensor], instead: float, nothing: float, x: Tensor, axis: Axis, keepdims: bool
) -> Tensor:
    """An extremum with `instead` for NaN; `nothing` where all is NaN."""
    if not x.is_floating_point():
        return function(x, axis, keepdims)
    is_nan = torch.isnan(x)
    return torch.where(all(is_nan, axis, keepdims), nothing, function(torch.where(is_nan, instead, x), axis, keepdims))


# --- means and what is around them -----------------------------------------------------------------------------------


@as_torch(torch.mean, "x, axis", ONE_AXIS)
def mean(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean of the values."""
    return _over(torch.mean, floats(x), axis, keepdims)


def nanmean(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean of the values that are not NaN."""
    return _over(torch.nanmean, _of_floats(x), axis, keepdims)


def average(x: Tensor, axis: Axis = None, weights: Tensor | None = None) -> Tensor:
    """The mean of the values, each of which counts as much as its weight.

    `weights`: of the shape of `x`, or one for each place along `axis`.
    """
    if weights is None:
        return mean(_of_floats(x), axis)
    kind = of_any_floats(common_type(x, weights))
    if weights.dim() == 1 and x.dim() > 1 and isinstance(axis, int):
        weights = weights.reshape([-1 if each == axis % x.dim() else 1 for each in range(x.dim())])
    weights = weights.to(kind).expand(x.shape)
    return _sum(x.to(kind) * weights, axis) / _sum(weights, axis)


def var(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean of the squared distances from the mean."""
    return _over(partial(torch.var, correction=0), floats(x), axis, keepdims).to(of_any_floats(x.dtype))


def std(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The square root of the mean of the squared distances from the mean."""
    return _over(partial(torch.std, correction=0), floats(x), axis, keepdims)


def nanvar(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The variance of the values that are not NaN."""
    x = _of_floats(x)
    is_number = ~torch.isnan(x)
    distances = torch.where(is_number, x - nanmean(x, axis, keepdims=True), 0).abs()
    return _sum(distances.square(), axis, keepdims) / _sum(is_number, axis, keepdims)


def nanstd(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The standard deviation of the values that are not NaN."""
    return nanvar(x, axis, keepdims).sqrt()


def corrcoef(x: Tensor) -> Tensor:
    """The correlation of each row with each other one; of a single row 1."""
    x = x.double() if x.dtype is torch.int64 else floats(x)
    x = x - x.mean(-1, keepdim=True)
    x = x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    found = (torch.atleast_2d(x) @ torch.atleast_2d(x).mH).squeeze()
    return found if found.is_complex() else found.clamp(-1, 1)


# --- quantiles -------------------------------------------------------------------------------------------------------


def quantile(x: Tensor, q: Tensor, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The values below which the parts `q` of all values lie, along a first axis if there are several.

    `method` says how to take one between two values: "linear", "lower", "higher", "midpoint" or "nearest".
    """
    return _quantile(torch.quantile, x, q, axis, method, keepdims)


def nanquantile(x: Tensor, q: Tensor, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The quantiles of the values that are not NaN."""
    return _quantile(torch.nanquantile, x, q, axis, method, keepdims)


def percentile(x: Tensor, q: Tensor, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The quantiles of parts that are given in hundredths."""
    return quantile(x, floats(q) / 100, axis, method, keepdims)


def nanpercentile(x: Tensor, q: Tensor, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The quantiles of the values that are not NaN, of parts that are given in hundredths."""
    return nanquantile(x, floats(q) / 100, axis, method, keepdims)


def median(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle value, or the mean of the two in the middle."""
    return quantile(x, torch.tensor(0.5), axis, keepdims=keepdims)


def nanmedian(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle one of the values that are not NaN, or the mean of the two in the middle."""
    if axis is not None and not axes_of(x, axis):  # each value is its own, infinity too
        return _of_floats(x)
    return nanquantile(x, torch.tensor(0.5), axis, keepdims=keepdims)


def _quantile(function: Callable[..., Tensor], x: Tensor, q: Tensor, axis: Axis, method: str, keepdims: bool) -> Tensor:
    numbers = floats(x)
    numbers = numbers.float() if numbers.dtype.itemsize < 4 else numbers
    found = _over_one(lambda x: function(x, q.to(x.device, x.dtype), -1, interpolation=method), numbers, axis, keepdims)
    return found.to(of_any_floats(x.dtype))


# --- counts ----------------------------------------------------------------------------------------------------------


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0, sparse: bool = False) -> Tensor:
    """How often each whole number from 0 occurs, or the sum of the weights where it does; for two axes in each row.

    `minlength`: the least length of the result. Raises ValueError for negative numbers and for `sparse`,
    TypeError for others than whole numbers.
    """
    if sparse:
        raise ValueError("bincount: sparse=True is not supported; tensors are dense.")
    if x.is_floating_point() or x.is_complex():
        raise TypeError(f"bincount: x must be of whole numbers; found values of {x.dtype}.")
    if x.numel() and int(x.min()) < 0:
        raise ValueError("bincount: x has negative numbers.")
    count = builtins.max(int(x.max()) + 1 if x.numel() else 0, minlength)
    lines = x.reshape(math.prod(x.shape[:-1]), x.shape[-1]).long()
    starts = count * torch.arange(len(lines), device=x.device).unsqueeze(-1)
    flat = None if weights is None else weights.reshape(-1)
    found = torch.bincount((lines + starts).reshape(-1), flat, count * len(lines)).reshape(*x.shape[:-1], count)
    return found.to(torch.int32 if weights is None else in_32_bits(common_type(x, weights)))


OPERATIONS = rows(
    functions={
        "all": all,
        "allclose": allclose,
        "amax": amax,
        "amin": amin,
        "any": any,
        "argmax": argmax,
        "argmin": argmin,
        "average": average,
        "bincount": bincount,
        "corrcoef": corrcoef,
        "count_nonzero": count_nonzero,
        "cumprod": cumprod,
        "cumsum": cumsum,
        "logsumexp": logsumexp,
        "max": max,
        "mean": mean,
        "median": median,
        "min": min,
        "nanargmax": nanargmax,
        "nanargmin": nanargmin,
        "nancumprod": nancumprod,
        "nancumsum": nancumsum,
        "nanmax": nanmax,
        "nanmean": nanmean,
        "nanmedian": nanmedian,
        "nanmin": nanmin,
        "nanpercentile": nanpercentile,
        "nanprod": nanprod,
        "nanquantile": nanquantile,
        "nanstd": nanstd,
        "nansum": nansum,
        "nanvar": nanvar,
        "percentile": percentile,
        "prod": prod,
        "ptp": ptp,
        "quantile": quantile,
        "std": std,
        "sum": _sum,
        "trapezoid": trapezoid,
        "var": var,
    },
)
