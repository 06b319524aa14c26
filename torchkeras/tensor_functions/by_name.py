"""Functions of tensors that a config may name besides operators: those that other versions of Keras write as layers.

Arguments are by position. An `axis` is an integer, several, or None for all; `keepdims` is as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations
from torchkeras.base.dtypes import dtype_of

Axis = Any  # None, an integer or several


def axes_of(x: Tensor, axis: Axis) -> list[int]:
    if axis is None:
        return list(range(x.dim()))
    return [axis] if isinstance(axis, int) else list(axis)


def _reduction(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, axis=None, keepdims=False: function(x, axes_of(x, axis), keepdim=bool(keepdims))


def _each(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reduction of torch that takes one axis, over several, the last first."""

    def reduce(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
        for one in sorted((a % x.dim() for a in axes_of(x, axis)), reverse=True):
            x = function(x, one, keepdim=bool(keepdims))
        return x

    return reduce


def mean(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    return x.mean(axes_of(x, axis), keepdim=bool(keepdims))


def _argmax(x: Tensor, axis: int = -1, dtype: str = "int64") -> Tensor:
    return x.argmax(axis).to(dtype_of(dtype))


def _argmin(x: Tensor, axis: int = -1, dtype: str = "int64") -> Tensor:
    return x.argmin(axis).to(dtype_of(dtype))


def _norm(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    return x.square().sum(axes_of(x, axis), keepdim=bool(keepdims)).sqrt()


def _unit(x: Tensor, axis: Axis = -1, epsilon: float = 1e-12) -> Tensor:
    return x * x.square().sum(axes_of(x, axis), keepdim=True).clamp(min=epsilon).rsqrt()


def _squeeze(x: Tensor, axis: Axis = None) -> Tensor:
    return x.squeeze() if axis is None else x.squeeze(tuple(axes_of(x, axis)))


def _transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    return x.permute(*(reversed(range(x.dim())) if axes is None else axes))


def pad(x: Tensor, widths: Sequence[Sequence[int]], mode: str = "constant", value: float = 0.0) -> Tensor:
    if mode.lower() == "constant":  # TensorFlow's names are upper case
        return F.pad(x, [end for pair in reversed(widths) for end in pair], value=value)
    for axis, pair in enumerate(widths):
        if any(pair):
            places = np.pad(np.arange(x.shape[axis]), tuple(pair), mode.lower())  # type: ignore[call-overload]
            x = x.index_select(axis, torch.from_numpy(places).to(x.device))
    return x


def take(x: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    if axis is None:
        return x.reshape(-1)[indices]
    return x[(slice(None),) * (axis % x.dim()) + (indices,)]


def one_hot(x: Tensor, count: int, axis: int = -1, dtype: str = "float32") -> Tensor:
    """Zeros for what is no index, as in Keras."""
    hot = (x.unsqueeze(-1) == torch.arange(count, device=x.device)).to(dtype_of(dtype))
    return hot.movedim(-1, axis)


def _quantile(x: Tensor, q: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    axes = [one % x.dim() for one in axes_of(x, axis)]
    moved = x.movedim(axes, list(range(-len(axes), 0))).flatten(-len(axes))
    q = q.to(x) if isinstance(q, Tensor) else torch.tensor(q, dtype=x.dtype, device=x.device)
    found = torch.quantile(moved, q, -1)
    for one in sorted(axes) if keepdims else ():
        found = found.unsqueeze(one + q.dim())
    return found


def _tensordot(x: Tensor, y: Tensor, axes: Any = 2) -> Tensor:
    dims: Any = axes if isinstance(axes, int) else [[a] if isinstance(a, int) else list(a) for a in axes]
    return torch.tensordot(x, y, dims)


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return _tensordot(x, y, [-1, -min(y.dim(), 2)]) if x.dim() and y.dim() else x * y


def _select(conditions: Sequence[Tensor], choices: Sequence[Any], default: Any = 0) -> Tensor:
    found = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = torch.where(condition, choice, found)
    return found


def _digitize(x: Tensor, bins: Any) -> Tensor:
    """The number of bins that begin at or before each value."""
    return torch.bucketize(x, torch.as_tensor(bins, device=x.device), right=True)


def _divide_no_nan(x: Any, y: Any) -> Tensor:
    zero = y == 0
    return torch.where(zero, 0.0, x / torch.where(zero, 1.0, y))


def split(x: Tensor, parts: Any, axis: int = 0) -> list[Tensor]:
    """In as many equal `parts`, or in parts of these sizes."""
    if isinstance(parts, int) and x.shape[axis] % parts:
        raise ValueError(f"{x.shape[axis]} values in {parts} equal parts")
    return list(x.split(x.shape[axis] // parts if isinstance(parts, int) else list(parts), axis))


def _matmul(x: Tensor, y: Tensor, swap_x: bool = False, swap_y: bool = False) -> Tensor:
    return (x.mT if swap_x else x) @ (y.mT if swap_y else y)


def _sum_of(tensors: Sequence[Tensor]) -> Tensor:
    return sum(tensors[1:], tensors[0])


def _clip(x: Tensor, low: Any, high: Any) -> Tensor:
    return x.clamp(low, high)


def tensor_like(value: Any, like: Tensor) -> Tensor:
    """A number as a tensor, in the type that both have together; nested lists of numbers in the same way."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)):
        given = torch.tensor(value, device=like.device)
        return given.to(like.dtype) if like.is_floating_point() else given
    return torch.full((), value, dtype=torch.result_type(like, value), device=like.device)


def _pair(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors, one of which may be a number."""

    def apply(x: Any, y: Any) -> Tensor:
        like = x if isinstance(x, Tensor) else y
        return function(tensor_like(x, like), tensor_like(y, like))

    return apply


def _where(condition: Tensor, x: Any, y: Any) -> Tensor:
    return torch.where(condition, x, y)


# Functions of each number by itself: any order of axes will do.
POINTWISE: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(torch, name) for name in ("exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "square", "reciprocal")
    },
    **{name: getattr(torch, name) for name in ("sin", "cos", "tan", "tanh", "sinh", "cosh", "erf", "isnan")},
    **{name: getattr(torch, name) for name in ("floor", "ceil", "round", "sign", "logical_not")},
    **{function.__name__: function for function in activations.POINTWISE if function.__name__ != "linear"},
    "cast": lambda x, dtype: x.to(dtype_of(dtype)),
    "clip": _clip,
    "identity": activations.linear,
    "without_mask": activations.linear,
    "stop_gradient": Tensor.detach,
}

# Functions that tell the axes apart, or of several tensors, which must be in one order.
BY_AXES: Mapping[str, Callable[..., Any]] = {
    "all": _reduction(torch.all),
    "amax": _reduction(torch.amax),
    "amin": _reduction(torch.amin),
    "any": _reduction(torch.any),
    "argmax": _argmax,
    "argmin": _argmin,
    "concatenate": lambda tensors, axis=-1: torch.cat(tensors, axis),
    "cumsum": lambda x, axis: x.cumsum(axis),
    "digitize": _digitize,
    "divide_no_nan": _pair(_divide_no_nan),
    "dot": _dot,
    "einsum": torch.einsum,
    "expand_dims": lambda x, axis: x.unsqueeze(axis),
    "flip": lambda x, axis=None: x.flip(axes_of(x, axis)),
    "log_softmax": activations.log_softmax,
    "logical_and": _pair(torch.logical_and),
    "logical_or": _pair(torch.logical_or),
    "logsumexp": _reduction(torch.logsumexp),
    "maximum": _pair(torch.maximum),
    "mean": mean,
    "median": lambda x, axis=None, keepdims=False: _quantile(x, 0.5, axis, keepdims),
    "minimum": _pair(torch.minimum),
    "multiply_matrices": _matmul,
    "norm": _norm,
    "one_hot": one_hot,
    "pad": pad,
    "prod": _each(torch.prod),
    "quantile": _quantile,
    "repeat": lambda x, count, axis: x.repeat_interleave(count, axis),
    "reshape": lambda x, shape: x.reshape(tuple(shape)),
    "select": _select,
    "softmax": activations.softmax,
    "sort": lambda x, axis=-1: x.sort(axis).values,
    "split": split,
    "squared_difference": lambda x, y: (x - y) ** 2,
    "squeeze": _squeeze,
    "stack": lambda tensors, axis=0: torch.stack(tensors, axis),
    "std": lambda x, axis=None, keepdims=False: x.std(axes_of(x, axis), correction=0, keepdim=bool(keepdims)),
    "sum": _reduction(torch.sum),
    "sum_of": _sum_of,
    "swapaxes": torch.swapaxes,
    "take": take,
    "tensordot": _tensordot,
    "tile": lambda x, counts: x.tile(tuple(counts)),
    "transpose": _transpose,
    "unit": _unit,
    "unstack": lambda x, axis=0: list(x.unbind(axis)),
    "var": lambda x, axis=None, keepdims=False: x.var(axes_of(x, axis), correction=0, keepdim=bool(keepdims)),
    "where": _where,
}

FUNCTIONS: Mapping[str, Callable[..., Any]] = {**POINTWISE, **BY_AXES}
