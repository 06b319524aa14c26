"""`K.*`, the functions of Keras 2.2.4's backend, on torch's tensors; axes are in Keras's order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations, config
from torchkeras.engine.layer.symbolic import dtype_name, dtype_of
from torchkeras.lambdas.arithmetic import BUILTINS, NUMPY, Sizes

Axis = Any  # None, an integer or several


@dataclass(frozen=True)
class Scope:
    """How a layer runs."""

    training: bool
    device: torch.device


def axes_of(x: Tensor, axis: Axis) -> list[int]:
    """The axes that are meant; None means all."""
    return list(range(x.dim())) if axis is None else [axis] if isinstance(axis, int) else list(axis)


def of_tensor(value: Any, like: Tensor) -> Tensor:
    """A number as a tensor of the other's type."""
    return value if isinstance(value, Tensor) else torch.full((), value, dtype=like.dtype, device=like.device)


def unary(function: Callable[[Tensor], Tensor]) -> Callable[[Any], Tensor]:
    """A function of one tensor, and of nothing else."""
    return lambda x: function(x)


def pair(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors, one of which may be a number."""

    def apply(x: Any, y: Any) -> Tensor:
        like = x if isinstance(x, Tensor) else y
        return function(of_tensor(x, like), of_tensor(y, like))

    return apply


def reduction(function: Callable[..., Tensor], floating: bool = False) -> Callable[..., Any]:
    """A reduction over some axes; `floating`: of numbers, which truth values become first."""

    def reduce(x: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
        if floating and not x.is_floating_point():
            x = x.to(dtype_of(config.floatx()))
        return function(x, axes_of(x, axis), keepdim=bool(keepdims))

    return reduce


def _one_by_one(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axes: Sequence[int], keepdim: bool) -> Tensor:
        for axis in sorted((each % x.dim() for each in axes), reverse=True):
            x = function(x, axis, keepdim=keepdim)
        return x

    return reduce


def _variance(x: Tensor, axes: Sequence[int], keepdim: bool) -> Tensor:
    return x.var(list(axes), correction=0, keepdim=keepdim)


def _deviation(x: Tensor, axes: Sequence[int], keepdim: bool) -> Tensor:
    return x.std(list(axes), correction=0, keepdim=keepdim)


_product = reduction(_one_by_one(torch.prod))


def product(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The product over axes, or of the sizes of a tensor."""
    return NUMPY["prod"](x) if isinstance(x, (tuple, list)) else _product(x, axis, keepdims)


def clip(x: Tensor, min_value: Any, max_value: Any) -> Tensor:
    """min(max(x, min_value), max_value)"""
    low: Any = -inf if min_value is None else min_value
    high: Any = inf if max_value is None else max_value
    return x.clamp(low, high if isinstance(low, Tensor) or isinstance(high, Tensor) else max(low, high))


def l2_normalize(x: Tensor, axis: Axis = None, epsilon: float = 1e-12) -> Tensor:
    """x / sqrt(max(sum(x * x), epsilon))"""
    return x * x.square().sum(axes_of(x, axis), keepdim=True).clamp(min=epsilon).rsqrt()


def cast(x: Any, dtype: Any) -> Any:
    """In another type; a number remains one."""
    found = dtype_of(dtype)
    if isinstance(x, Tensor):
        return x.to(found)
    return BUILTINS["float" if found.is_floating_point else "int"](x)


def joined(tensors: Sequence[Any], axis: int = -1) -> Any:
    """One after another; sizes of tensors become sizes."""
    if not any(isinstance(each, Tensor) for each in tensors):
        return Sizes(size for each in tensors for size in each)
    return torch.cat(list(tensors), axis)


def stacked(x: Sequence[Any], axis: int = 0) -> Any:
    """Tensors on a new axis; sizes of tensors become sizes."""
    if not any(isinstance(each, Tensor) for each in x):
        return Sizes(x)
    like = next(each for each in x if isinstance(each, Tensor))
    return torch.stack([of_tensor(each, like) for each in x], axis)


def reshaped(x: Tensor, shape: Sequence[Any]) -> Tensor:
    """In another shape; -1 is what is left."""
    return x.reshape([int(size) if isinstance(size, float) else size for size in shape])


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The sum of products over the last axis of x and the last but one of y."""
    axes: Any = ([x.dim() - 1], [max(y.dim() - 2, 0)])
    return torch.tensordot(x, y, axes)


def batch_dot(x: Tensor, y: Tensor, axes: Any = None) -> Tensor:
    """The sum of products over an axis of each, sample by sample, as 2.2.4 computes it: axes are not counted back."""
    first, second = (x.dim() - 1, y.dim() - 2) if axes is None else (axes, axes) if isinstance(axes, int) else axes
    missing, place = x.dim() - y.dim(), x.dim() + y.dim() - 3 if x.dim() > y.dim() else x.dim() - 1
    x = x.reshape(*x.shape, *[1] * max(-missing, 0))
    y = y.reshape(*y.shape, *[1] * max(missing, 0))
    if x.dim() == 2:
        found = (x * y).sum(first) if first == second else (x.T * y).sum(second)
    else:
        found = (x if first == x.dim() - 1 else x.mT) @ (y.mT if second == y.dim() - 1 else y)
    if missing:
        found = found.squeeze(tuple(range(place, place + abs(missing))))
    return found.unsqueeze(1) if found.dim() == 1 else found


def dropout(x: Tensor, level: float, noise_shape: Any = None, seed: Any = None) -> Tensor:
    """Some values zero, the others larger, whatever the mode."""
    if noise_shape is not None or seed is not None:
        raise ValueError("K.dropout with a noise_shape or a seed")
    return F.dropout(x, level, training=True)


def repeat_elements(x: Tensor, rep: int, axis: int) -> Tensor:
    """Each value `rep` times."""
    return x.repeat_interleave(rep, axis)


def tile(x: Tensor, n: Any) -> Tensor:
    """All of it several times."""
    return x.tile((n,) if isinstance(n, int) else tuple(n))


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One where the condition holds, else the other."""
    if not isinstance(condition, Tensor):
        return then_expression if condition else else_expression
    like = then_expression if isinstance(then_expression, Tensor) else else_expression
    then, otherwise = of_tensor(then_expression, like), of_tensor(else_expression, like)
    while 0 < condition.dim() < max(then.dim(), otherwise.dim()):
        condition = condition.unsqueeze(-1)
    return torch.where(condition.bool(), then, otherwise)


def one_hot(indices: Tensor, num_classes: int) -> Tensor:
    """1 at the index, else 0."""
    places = torch.arange(num_classes, device=indices.device)
    return (indices.unsqueeze(-1) == places).to(dtype_of("float32"))


def padded(x: Tensor, pairs: Sequence[Sequence[int]], value: float = 0.0) -> Tensor:
    """With a constant before and after each axis."""
    return F.pad(x, [end for before_after in reversed(list(pairs)) for end in before_after], value=value)


def _padding_2d(x: Tensor, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    inner, none = [tuple(each) for each in padding], [(0, 0)]
    return padded(x, [*none, *none, *inner] if _is_first(data_format) else [*none, *inner, *none])


def _is_first(data_format: str | None) -> bool:
    return (data_format or config.image_data_format()) == "channels_first"


def resized(x: Tensor, height: int, width: int, how: str, aligned: bool = False, half_pixel: bool = False) -> Tensor:
    """Images, channels last, in another size, as TensorFlow 1 computes it: output i lies at i * old / new."""
    rows, columns = (
        _places(old, new, aligned, half_pixel, x) for old, new in ((x.shape[1], height), (x.shape[2], width))
    )
    if how == "nearest":
        rows, columns = ((each.round() if aligned else each.floor()).long() for each in (rows, columns))
        return x[:, rows.clamp(max=x.shape[1] - 1)][:, :, columns.clamp(max=x.shape[2] - 1)]
    for axis, places in ((1, rows), (2, columns)):
        low = places.floor()
        part = (places - low).to(x.dtype).unsqueeze(-1)
        part = part.unsqueeze(-1) if axis == 1 else part
        first = low.long().clamp(min=0, max=x.shape[axis] - 1)
        after = (low.long() + 1).clamp(min=0, max=x.shape[axis] - 1)
        x = torch.lerp(x.index_select(axis, first), x.index_select(axis, after), part)
    return x


def _places(old: int, new: int, aligned: bool, half_pixel: bool, like: Tensor) -> Tensor:
    steps = torch.arange(new, device=like.device, dtype=torch.float32)
    if aligned and new > 1:
        return steps * ((old - 1) / (new - 1))
    scale = old / new
    return ((steps + 0.5) * scale - 0.5).clamp(min=0) if half_pixel else steps * scale


def _resize_images(
    x: Tensor, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Tensor:
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"K.resize_images by {interpolation!r}")
    x = x.permute(0, 2, 3, 1) if _is_first(data_format) else x
    found = resized(x, x.shape[1] * height_factor, x.shape[2] * width_factor, interpolation)
    return found.permute(0, 3, 1, 2) if _is_first(data_format) else found


def _slice(x: Tensor, start: Sequence[int], size: Sequence[int]) -> Tensor:
    ends = [None if length == -1 else begin + length for begin, length in zip(start, size, strict=True)]
    return x[tuple(slice(begin, end) for begin, end in zip(start, ends, strict=True))]


def _reverse(x: Tensor, axes: Axis) -> Tensor:
    return x.flip(axes_of(x, axes))


def _dtype(x: Any) -> str:
    return dtype_name(x.dtype)


_POINTWISE = ("abs", "square", "exp", "log", "round", "sign", "sin", "cos", "sigmoid", "tanh")

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: unary(getattr(torch, name)) for name in _POINTWISE},
    **{
        name: pair(getattr(torch, function))
        for name, function in (
            *(("equal", "eq"), ("not_equal", "ne"), ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt")),
            *(("less_equal", "le"), ("maximum", "maximum"), ("minimum", "minimum"), ("pow", "pow")),
        )
    },
    "sqrt": lambda x: x.clamp(min=0.0).sqrt(),
    "relu": lambda x, alpha=0.0, max_value=None, threshold=0.0: activations.relu(x, alpha, max_value, threshold),
    "elu": lambda x, alpha=1.0: activations.elu(x, alpha),
    "softmax": lambda x, axis=-1: activations.softmax(x, axis),
    "softplus": lambda x: activations.softplus(x),
    "softsign": lambda x: activations.softsign(x),
    "hard_sigmoid": lambda x: activations.hard_sigmoid(x),
    "clip": clip,
    "cast": cast,
    "cast_to_floatx": lambda x: cast(x, config.floatx()),
    "identity": lambda x: x,
    "stop_gradient": lambda variables: variables.detach(),
    "mean": reduction(lambda x, axes, keepdim: x.mean(axes, keepdim=keepdim), floating=True),
    "sum": reduction(lambda x, axes, keepdim: x.sum(axes, keepdim=keepdim)),
    "prod": product,
    "max": reduction(torch.amax),
    "min": reduction(torch.amin),
    "std": reduction(_deviation, floating=True),
    "var": reduction(_variance, floating=True),
    "any": lambda x, axis=None, keepdims=False: reduction(_one_by_one(torch.any))(x.bool(), axis, keepdims),
    "all": lambda x, axis=None, keepdims=False: reduction(_one_by_one(torch.all))(x.bool(), axis, keepdims),
    "logsumexp": reduction(torch.logsumexp),
    "argmax": lambda x, axis=-1: x.argmax(axis),
    "argmin": lambda x, axis=-1: x.argmin(axis),
    "cumsum": lambda x, axis=0: x.cumsum(axis),
    "cumprod": lambda x, axis=0: x.cumprod(axis),
    "l2_normalize": l2_normalize,
    "dot": dot,
    "batch_dot": batch_dot,
    "dropout": dropout,
    "transpose": lambda x: x.permute(*reversed(range(x.dim()))),
    "gather": lambda reference, indices: reference[indices.long()],
    "concatenate": joined,
    "stack": stacked,
    "reshape": reshaped,
    "permute_dimensions": lambda x, pattern: x.permute(*pattern),
    "flatten": lambda x: x.reshape(-1),
    "batch_flatten": lambda x: x.reshape(x.shape[0], -1),
    "expand_dims": lambda x, axis=-1: x.unsqueeze(axis),
    "squeeze": lambda x, axis: x.squeeze(axis),
    "repeat": lambda x, n: x.unsqueeze(1).expand(-1, n, -1),
    "repeat_elements": repeat_elements,
    "tile": tile,
    "reverse": _reverse,
    "slice": _slice,
    "temporal_padding": lambda x, padding=(1, 1): padded(x, [(0, 0), tuple(padding), (0, 0)]),
    "spatial_2d_padding": _padding_2d,
    "resize_images": _resize_images,
    "one_hot": one_hot,
    "switch": switch,
    "zeros_like": lambda x, dtype=None: torch.zeros_like(x, dtype=dtype and dtype_of(dtype)),
    "ones_like": lambda x, dtype=None: torch.ones_like(x, dtype=dtype and dtype_of(dtype)),
    "shape": lambda x: Sizes(x.shape),
    "int_shape": lambda x: tuple(x.shape),
    "ndim": lambda x: len(x.shape),
    "dtype": _dtype,
}


def _type(dtype: Any) -> torch.dtype:
    return dtype_of(dtype or config.floatx())


def constant(scope: Scope, value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Numbers as a tensor, of Keras's type of numbers with a point unless another is named."""
    found = torch.tensor(value, device=scope.device).to(_type(dtype))
    return found if shape is None else found.expand(tuple(shape)) if found.dim() == 0 else found.reshape(tuple(shape))


def _full(number: float) -> Callable[..., Tensor]:
    return lambda scope, shape, dtype=None: torch.full(tuple(shape), number, dtype=_type(dtype), device=scope.device)


def random_normal(
    scope: Scope, shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Random numbers of a normal distribution, from torch's generator."""
    _no_seed(seed)
    return torch.randn(tuple(shape), dtype=_type(dtype), device=scope.device) * stddev + mean


def random_uniform(
    scope: Scope, shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Random numbers between two, from torch's generator."""
    _no_seed(seed)
    return torch.rand(tuple(shape), dtype=_type(dtype), device=scope.device) * (maxval - minval) + minval


def _no_seed(seed: Any) -> None:
    if seed is not None:
        raise ValueError(f"a seed of TensorFlow's generator; found {seed!r}")


def arange(scope: Scope, start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """The numbers from `start` to before `stop`, or from 0 to before `start`."""
    first, last = (0, start) if stop is None else (start, stop)
    return torch.arange(first, last, step, dtype=dtype_of(dtype), device=scope.device)


SCOPED: Mapping[str, Callable[..., Any]] = {
    "learning_phase": lambda scope: int(scope.training),
    "constant": constant,
    "zeros": _full(0.0),
    "ones": _full(1.0),
    "random_normal": random_normal,
    "random_uniform": random_uniform,
    "arange": arange,
    "eye": lambda scope, size, dtype=None: torch.eye(size, dtype=_type(dtype), device=scope.device),
}
