"""Functions of `keras.ops` whose arguments or types differ from those of `by_name.py`: `keras3.mean`, `keras3.split`.

Arguments are by position, in the order and with the meaning that Keras 3 documents. Where its backends differ (`pad`
with "symmetric", `dot` of more than two axes, `count_nonzero`, reductions over all axes with `keepdims`), these follow
the documentation.

Source: https://keras.io/api/ops/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras import activations, config
from torchkeras.base.dtypes import dtype_of
from torchkeras.tensor_functions import by_name as functions

Axis = Any  # None, an integer or several


def _floats(x: Any) -> Any:
    """Whole numbers and truth values as numbers of `config.floatx()`, as Keras 3 has them for what divides."""
    is_whole = isinstance(x, Tensor) and not (x.is_floating_point() or x.is_complex())
    return x.to(dtype_of(config.floatx())) if is_whole else x


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *options: function(_floats(x), *options)


def _pair_of_floats(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def apply(x: Any, y: Any) -> Tensor:
        x, y = _tensors(_floats(x), _floats(y))
        kind = torch.promote_types(x.dtype, y.dtype)
        return function(x.to(kind), y.to(kind))

    return apply


def _tensors(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    like = x if isinstance(x, Tensor) else y
    return functions.tensor_like(x, like), functions.tensor_like(y, like)


def _indices(value: Any, device: torch.device) -> Tensor:
    """Places along an axis: a tensor, a whole number or lists of them."""
    found = value if isinstance(value, Tensor) else torch.tensor(value, device=device)
    if found.is_floating_point() or found.is_complex():
        raise ValueError(f"indices must be whole numbers; found values of {found.dtype}.")
    return found.long()


def _take(x: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    if isinstance(indices, int):
        return x.reshape(-1)[indices] if axis is None else x.select(axis, indices)
    return functions.take(x, _indices(indices, x.device), axis)


def _take_along_axis(x: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    found = _indices(indices, x.device)
    return x.reshape(-1)[found.reshape(-1)] if axis is None else torch.take_along_dim(x, found, axis)


def _extremum(name: str) -> Callable[..., Tensor]:
    def find(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
        found = x.to(torch.uint8) if x.dtype is torch.bool else x
        if axis is not None:
            return getattr(found, name)(axis, bool(keepdims))
        flat = getattr(found.reshape(-1), name)(0, bool(keepdims))
        return flat.reshape((1,) * x.dim() if keepdims else ())

    return find


def _limit(name: str, bound: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Tensor:
        found = functions.BY_AXES[name](x, axis, keepdims)
        return found if initial is None else bound(found, functions.tensor_like(initial, found))

    return reduce


def _total(name: str) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axis: Axis = None, keepdims: bool = False, dtype: str | None = None) -> Tensor:
        x = _cast(x, dtype)
        return _narrow(functions.BY_AXES[name](x, axis, keepdims), x)

    return reduce


def _narrow(total: Tensor, x: Tensor) -> Tensor:
    """Whole numbers in 32 bits where those that were added have no more: torch takes 64, and Keras 3 does not."""
    is_short = x.dtype is not torch.int64 and not total.is_floating_point() and not total.is_complex()
    return total.to(torch.int32) if is_short else total


def _cast(x: Tensor, dtype: str | None) -> Tensor:
    return x if dtype is None else x.to(dtype_of(dtype))


def _running(name: str) -> Callable[..., Tensor]:
    def add(x: Tensor, axis: int | None = None, dtype: str | None = None) -> Tensor:
        x = _cast(x.reshape(-1) if axis is None else x, dtype)
        return _narrow(getattr(x, name)(0 if axis is None else axis), x)

    return add


def _argsort(x: Tensor, axis: int | None = -1) -> Tensor:
    return torch.argsort(x.reshape(-1), stable=True) if axis is None else torch.argsort(x, dim=axis, stable=True)


def _flat_softmax(name: str) -> Callable[..., Tensor]:
    function = getattr(torch, name)

    def compute(x: Tensor, axis: Axis = -1) -> Tensor:
        if axis is not None and not isinstance(axis, (list, tuple)):
            return getattr(activations, name)(x, axis)
        axes = [a % x.dim() for a in functions.axes_of(x, axis)]
        rest = [a for a in range(x.dim()) if a not in axes]
        order = [*rest, *axes]
        moved = x.permute(order)
        found = function(moved.reshape(*moved.shape[: len(rest)], -1), -1).reshape(moved.shape)
        return found.permute([order.index(a) for a in range(x.dim())])

    return compute


def _split(x: Tensor, where: Any, axis: int = 0) -> list[Tensor]:
    """In as many equal parts, or before each of these places."""
    if isinstance(where, int):
        return functions.split(x, where, axis)
    return list(torch.tensor_split(x, [int(place) for place in where], axis))


def _unstack(x: Tensor, num: int | None = None, axis: int = 0) -> list[Tensor]:
    if num is not None and num != x.shape[axis]:
        raise ValueError(f"num is {num}, and axis {axis} is {x.shape[axis]} long.")
    return list(x.unbind(axis))


def _pad(x: Tensor, widths: Any, mode: str = "constant", value: Any = None) -> Tensor:
    if isinstance(widths, int):
        widths = [widths, widths]
    pairs = [widths] if isinstance(widths[0], int) else list(widths)
    pairs = [[pair[0], pair[-1]] for pair in pairs]
    return functions.pad(x, pairs * x.dim() if len(pairs) == 1 else pairs, mode, 0.0 if value is None else value)


def _expand_dims(x: Tensor, axis: Any) -> Tensor:
    axes = [axis] if isinstance(axis, int) else axis
    rank = x.dim() + len(axes)
    for place in sorted(a % rank for a in axes):
        x = x.unsqueeze(place)
    return x


def _tile(x: Tensor, repeats: Any) -> Tensor:
    return x.tile((repeats,) if isinstance(repeats, int) else tuple(repeats))


def _repeat(x: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    counts = repeats if isinstance(repeats, int) else _indices(repeats, x.device)
    return x.repeat_interleave(counts, axis)


def _roll(x: Tensor, shift: Any, axis: Any = None) -> Tensor:
    return torch.roll(x, shift, axis)


def _round(x: Tensor, decimals: int = 0) -> Tensor:
    if not x.is_floating_point():
        return x
    return torch.round(x) if decimals == 0 else torch.round(x, decimals=decimals)


def _norm(x: Tensor, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    order = float(ord) if ord in ("inf", "-inf") else ord
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return torch.linalg.norm(_floats(x), order, axes, bool(keepdims))


def _normalize(x: Tensor, axis: Axis = -1, order: Any = 2, epsilon: float | None = None) -> Tensor:
    x, least = _floats(x), config.epsilon() if epsilon is None else epsilon
    if order == 2:
        return x * x.square().sum(functions.axes_of(x, axis), keepdim=True).rsqrt().clamp(max=1.0 / least)
    return x / torch.linalg.norm(x, order, axis, True).clamp(min=least)


def _average(x: Tensor, axis: Axis = None, weights: Any = None) -> Tensor:
    x = _floats(x)
    if weights is None:
        return functions.mean(x, axis)
    weights = _floats(functions.tensor_like(weights, x) if not isinstance(weights, Tensor) else weights)
    if weights.dim() == 1 and x.dim() > 1 and isinstance(axis, int):
        weights = weights.reshape([-1 if k == axis % x.dim() else 1 for k in range(x.dim())])
    weights = weights.expand(x.shape)
    return (x * weights).sum(functions.axes_of(x, axis)) / weights.sum(functions.axes_of(x, axis))


def _peak_to_peak(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    axes = functions.axes_of(x, axis)
    return x.amax(axes, bool(keepdims)) - x.amin(axes, bool(keepdims))


def _count_nonzero(x: Tensor, axis: Axis = None) -> Tensor:
    return (x != 0).sum(functions.axes_of(x, axis))


def _full_like(x: Tensor, value: Any, dtype: str | None = None) -> Tensor:
    found = torch.zeros_like(_cast(x, dtype))
    return found + torch.as_tensor(value, dtype=found.dtype, device=found.device)


def _where(condition: Any, x: Any, y: Any) -> Tensor:
    device = next(v.device for v in (condition, x, y) if isinstance(v, Tensor))
    chosen = condition if isinstance(condition, Tensor) else torch.tensor(condition, device=device)
    x, y = (v if isinstance(v, (Tensor, bool, int, float)) else torch.tensor(v, device=device) for v in (x, y))
    return torch.where(chosen.bool(), x, y)


def _clip(x: Tensor, low: Any, high: Any) -> Tensor:
    low, high = (v if isinstance(v, Tensor) else functions.tensor_like(v, x) for v in (low, high))
    return torch.minimum(torch.maximum(x, low), high)


def _top_k(x: Tensor, k: int, sorted: bool = True) -> list[Tensor]:
    return list(torch.topk(x, k, sorted=bool(sorted)))


def _append(x: Tensor, y: Tensor, axis: int | None = None) -> Tensor:
    return torch.cat([x.reshape(-1), y.reshape(-1)]) if axis is None else torch.cat([x, y], axis)


def _cube_root(x: Tensor) -> Tensor:
    x = _floats(x)
    return x.sign() * x.abs() ** (1 / 3)


def _solve(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1) if b.dim() == a.dim() - 1 else torch.linalg.solve(a, b)


def _numbered(x: Tensor, classes: int, axis: int = -1, dtype: str | None = None) -> Tensor:
    return functions.one_hot(x, classes, axis, dtype or config.floatx())


def _digitize(x: Tensor, bins: Any) -> Tensor:
    return torch.bucketize(x, torch.as_tensor(bins, device=x.device), right=True)


def _arrays(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of a list of tensors, in the type that they have together, as Keras 3 computes it."""

    def compute(tensors: Sequence[Tensor], *options: Any) -> Tensor:
        kind = tensors[0].dtype
        for tensor in tensors[1:]:
            kind = torch.promote_types(kind, tensor.dtype)
        return function([tensor.to(kind) for tensor in tensors], *options)

    return compute


PAIRS_OF_FLOATS = ("heaviside", "hypot", "logaddexp", "logaddexp2", "nextafter")

KERAS3: Mapping[str, Callable[..., Any]] = {
    f"keras3.{name}": function
    for name, function in {
        **{name: _of_floats(functions.BY_AXES[name]) for name in ("logsumexp", "mean", "quantile", "std", "var")},
        **{name: _of_floats(getattr(torch, name)) for name in ("ceil", "floor")},
        **{name: _pair_of_floats(getattr(torch, name)) for name in PAIRS_OF_FLOATS},
        "amax": _limit("amax", torch.maximum),
        "amin": _limit("amin", torch.minimum),
        "append": _append,
        "argmax": _extremum("argmax"),
        "argmin": _extremum("argmin"),
        "argsort": _argsort,
        "average": _average,
        "cbrt": _cube_root,
        "clip": _clip,
        "count_nonzero": _count_nonzero,
        "cumprod": _running("cumprod"),
        "cumsum": _running("cumsum"),
        "digitize": _digitize,
        "dstack": _arrays(torch.dstack),
        "expand_dims": _expand_dims,
        "fliplr": lambda x: x.flip(1),
        "flipud": lambda x: x.flip(0),
        "full_like": _full_like,
        "isclose": lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: torch.isclose(
            *_promoted(x, y), rtol, atol, equal_nan
        ),
        "log_softmax": _flat_softmax("log_softmax"),
        "median": _of_floats(functions.BY_AXES["median"]),
        "norm": _norm,
        "normalize": _normalize,
        "one_hot": _numbered,
        "ones_like": lambda x, dtype=None: torch.ones_like(_cast(x, dtype)),
        "outer": lambda x, y: torch.outer(x.reshape(-1), y.reshape(-1)),
        "pad": _pad,
        "prod": _total("prod"),
        "ptp": _peak_to_peak,
        "repeat": _repeat,
        "roll": _roll,
        "rot90": lambda x, k=1, axes=None: torch.rot90(x, k, list(axes or (0, 1))),
        "round": _round,
        "softmax": _flat_softmax("softmax"),
        "solve": _solve,
        "split": _split,
        "sum": _total("sum"),
        "take": _take,
        "take_along_axis": _take_along_axis,
        "tile": _tile,
        "top_k": _top_k,
        "trace": lambda x, offset=0, axis1=0, axis2=1: x.diagonal(offset, axis1, axis2).sum(-1),
        "unstack": _unstack,
        "where": _where,
        "zeros_like": lambda x, dtype=None: torch.zeros_like(_cast(x, dtype)),
    }.items()
}


def _promoted(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    x, y = _tensors(x, y)
    kind = torch.promote_types(x.dtype, y.dtype)
    return x.to(kind), y.to(kind)
