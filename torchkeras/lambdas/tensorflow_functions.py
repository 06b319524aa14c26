"""`tf.*`, the functions of TensorFlow of which Keras's backend has the same, and Keras 3's `ops.*`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations
from torchkeras.lambdas.keras_functions import (
    FUNCTIONS as KERAS,
    SCOPED as KERAS_SCOPED,
    axes_of,
    constant,
    joined,
    l2_normalize,
    of_tensor,
    padded,
    pair,
    random_normal,
    random_uniform,
    resized,
    stacked,
    tile,
    unary,
)

Function = Callable[..., Any]


def _reduction(name: str) -> Function:
    function = KERAS[name]

    def reduce(
        input_tensor: Tensor,
        axis: Any = None,
        keepdims: Any = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        found = reduction_indices if axis is None else axis
        if name == "mean" and not input_tensor.is_floating_point():
            raise TypeError("tf.reduce_mean of whole numbers")
        return function(input_tensor, found, bool(keepdims or keep_dims))

    return reduce


def _concat(values: Sequence[Any], axis: int) -> Any:
    return joined(values, axis)


def _split(value: Tensor, num_or_size_splits: Any, axis: int = 0) -> list[Tensor]:
    parts = num_or_size_splits
    if isinstance(parts, int):
        if value.shape[axis] % parts:
            raise ValueError(f"{value.shape[axis]} values in {parts} equal parts")
        parts = [value.shape[axis] // parts] * parts
    return list(value.split(list(parts), axis))


def _unstack(value: Tensor, num: Any = None, axis: int = 0) -> list[Tensor]:
    return list(value.unbind(axis))


def _transpose(a: Tensor, perm: Any = None) -> Tensor:
    return a.permute(*(reversed(range(a.dim())) if perm is None else perm))


def _squeeze(input: Tensor, axis: Any = None, squeeze_dims: Any = None) -> Tensor:
    found = squeeze_dims if axis is None else axis
    return input.squeeze() if found is None else input.squeeze(tuple(axes_of(input, found)))


def _pad(tensor: Tensor, paddings: Any, mode: str = "CONSTANT", constant_values: float = 0) -> Tensor:
    if mode.upper() == "CONSTANT":
        return padded(tensor, paddings, constant_values)
    if mode.upper() not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"tf.pad by {mode!r}")
    for axis, (before, after) in enumerate(paddings):
        size, skip = tensor.shape[axis], int(mode.upper() == "REFLECT")
        places = [
            *range(before - 1 + skip, skip - 1, -1),
            *range(size),
            *range(size - 1 - skip, size - 1 - skip - after, -1),
        ]
        if before or after:
            tensor = tensor.index_select(axis, torch.tensor(places, device=tensor.device))
    return tensor


def _matmul(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    return (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)


def _where(condition: Tensor, x: Any, y: Any) -> Tensor:
    like = x if isinstance(x, Tensor) else y
    return torch.where(condition, of_tensor(x, like), of_tensor(y, like))


def _gather(params: Tensor, indices: Any, axis: int = 0) -> Tensor:
    found = indices if isinstance(indices, Tensor) else torch.tensor(indices, device=params.device)
    if found.dim() > 1 and axis:
        raise ValueError("tf.gather of indices with axes along an axis")
    return (
        params[found.long()]
        if not axis
        else params.index_select(axis, found.long().reshape(-1)).squeeze(() if found.dim() else axis)
    )


def _one_hot(indices: Tensor, depth: int, on_value: float = 1.0, off_value: float = 0.0) -> Tensor:
    return KERAS["one_hot"](indices, depth) * (on_value - off_value) + off_value


def _resize(how: str) -> Function:
    def resize(images: Tensor, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
        height, width = size
        if half_pixel_centers and how == "nearest":
            raise ValueError("half_pixel_centers of the nearest pixel")
        return resized(images, height, width, how, bool(align_corners), bool(half_pixel_centers))

    return resize


def _resize_images(images: Tensor, size: Any, method: Any = 0, align_corners: bool = False) -> Tensor:
    ways = {0: "bilinear", 1: "nearest"}
    if method not in ways:
        raise ValueError(f"tf.image.resize_images by method {method!r}")
    return _resize(ways[method])(images, size, align_corners)


def _depth_to_space(input: Tensor, block_size: int, data_format: str = "NHWC") -> Tensor:
    if data_format != "NHWC":
        raise ValueError(f"data_format {data_format!r}")
    batch, height, width, depth = input.shape
    cut = input.reshape(batch, height, width, block_size, block_size, depth // block_size**2)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(batch, height * block_size, width * block_size, -1)


def _space_to_depth(input: Tensor, block_size: int, data_format: str = "NHWC") -> Tensor:
    if data_format != "NHWC":
        raise ValueError(f"data_format {data_format!r}")
    batch, height, width, depth = input.shape
    cut = input.reshape(batch, height // block_size, block_size, width // block_size, block_size, depth)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(batch, height // block_size, width // block_size, -1)


def _norm(
    tensor: Tensor, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, keep_dims: Any = None
) -> Tensor:
    if ord not in ("euclidean", 2):
        raise ValueError(f"tf.norm of order {ord!r}")
    return tensor.square().sum(axes_of(tensor, axis), keepdim=bool(keepdims or keep_dims)).sqrt()


def _normalized(x: Tensor, axis: Any = None, epsilon: float = 1e-12, dim: Any = None) -> Tensor:
    return l2_normalize(x, dim if axis is None else axis, epsilon)


def _slice(input_: Tensor, begin: Any, size: Any) -> Tensor:
    return KERAS["slice"](input_, begin, size)


def _argmax(name: str) -> Function:
    def reduce(input: Tensor, axis: Any = None, dimension: Any = None) -> Tensor:
        found = dimension if axis is None else axis
        return KERAS[name](input, 0 if found is None else found)

    return reduce


def _softmax(logits: Tensor, axis: Any = None, dim: Any = None) -> Tensor:
    found = dim if axis is None else axis
    return activations.softmax(logits, -1 if found is None else found)


def _expand_dims(input: Tensor, axis: Any = None, dim: Any = None) -> Tensor:
    return input.unsqueeze(dim if axis is None else axis)


def _identity(input: Any) -> Any:
    return input


def _rank(input: Tensor) -> int:
    return input.dim()


def _shape(input: Tensor) -> Any:
    return KERAS["shape"](input)


def _stop_gradient(input: Tensor) -> Tensor:
    return input.detach()


def _tile(input: Tensor, multiples: Any) -> Tensor:
    return tile(input, multiples)


def _add_n(inputs: Sequence[Tensor]) -> Tensor:
    return sum(inputs[1:], inputs[0])


_UNARY = ("abs", "exp", "log", "log1p", "expm1", "square", "sign", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_UNARY = (*_UNARY, "sigmoid", "floor", "ceil", "round", "rsqrt", "reciprocal", "sqrt", "erf", "logical_not")
_MATH: Mapping[str, Function] = {
    **{name: unary(getattr(torch, name)) for name in _UNARY},
    **{f"reduce_{name}": _reduction(name) for name in ("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp")},
    **{name: KERAS[name] for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")},
    **{name: pair(getattr(torch, name)) for name in ("maximum", "minimum", "pow", "logical_and", "logical_or")},
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "truediv": lambda x, y: x / y,
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: torch.remainder(x, y),
    "negative": lambda x: -x,
    "add_n": _add_n,
    "squared_difference": lambda x, y: (x - y) ** 2,
    "cumsum": lambda x, axis=0: x.cumsum(axis),
    "l2_normalize": _normalized,
    "argmax": _argmax("argmax"),
    "argmin": _argmax("argmin"),
    "softplus": lambda features: F.softplus(features),
    "to_float": lambda x: KERAS["cast"](x, "float32"),
    "to_int32": lambda x: KERAS["cast"](x, "int32"),
}
_NN: Mapping[str, Function] = {
    "relu": lambda features: torch.relu(features),
    "relu6": lambda features: F.relu6(features),
    "elu": lambda features: F.elu(features),
    "selu": lambda features: activations.selu(features),
    "leaky_relu": lambda features, alpha=0.2: F.leaky_relu(features, alpha),
    "softmax": _softmax,
    "softplus": lambda features: F.softplus(features),
    "softsign": lambda features: F.softsign(features),
    "sigmoid": lambda x: torch.sigmoid(x),
    "tanh": lambda x: torch.tanh(x),
    "l2_normalize": _normalized,
}
_IMAGE: Mapping[str, Function] = {
    "resize_bilinear": _resize("bilinear"),
    "resize_nearest_neighbor": _resize("nearest"),
    "resize_images": _resize_images,
}


def _named(function: Function) -> Function:
    """TensorFlow's functions take the name of the operation, which changes nothing."""

    @wraps(function)
    def apply(*args: Any, name: Any = None, **named: Any) -> Any:
        return function(*args, **named)

    return apply


_ALL: Mapping[str, Function] = {
    **_MATH,
    **{f"math.{name}": function for name, function in _MATH.items() if not name.startswith("to_")},
    **{f"nn.{name}": function for name, function in _NN.items()},
    **{f"image.{name}": function for name, function in _IMAGE.items()},
    "cast": lambda x, dtype: KERAS["cast"](x, dtype),
    "clip_by_value": lambda t, clip_value_min, clip_value_max: KERAS["clip"](t, clip_value_min, clip_value_max),
    "concat": _concat,
    "depth_to_space": _depth_to_space,
    "einsum": lambda equation, *inputs: torch.einsum(equation, *inputs),
    "expand_dims": _expand_dims,
    "gather": _gather,
    "identity": _identity,
    "linalg.norm": _norm,
    "matmul": _matmul,
    "norm": _norm,
    "one_hot": _one_hot,
    "ones_like": lambda tensor, dtype=None: KERAS["ones_like"](tensor, dtype),
    "pad": _pad,
    "rank": _rank,
    "reshape": lambda tensor, shape: KERAS["reshape"](tensor, shape),
    "reverse": lambda tensor, axis: KERAS["reverse"](tensor, axis),
    "shape": _shape,
    "slice": _slice,
    "space_to_depth": _space_to_depth,
    "split": _split,
    "squeeze": _squeeze,
    "stack": lambda values, axis=0: stacked(values, axis),
    "stop_gradient": _stop_gradient,
    "tile": _tile,
    "transpose": _transpose,
    "unstack": _unstack,
    "where": _where,
    "zeros_like": lambda tensor, dtype=None: KERAS["zeros_like"](tensor, dtype),
}
FUNCTIONS: Mapping[str, Function] = {name: _named(function) for name, function in _ALL.items()}
SCOPED: Mapping[str, Function] = {
    name: _named(function)
    for name, function in {
        "constant": constant,
        "convert_to_tensor": constant,
        "zeros": lambda scope, shape, dtype="float32": KERAS_SCOPED["zeros"](scope, shape, dtype),
        "ones": lambda scope, shape, dtype="float32": KERAS_SCOPED["ones"](scope, shape, dtype),
        "random_normal": random_normal,
        "random.normal": random_normal,
        "random_uniform": random_uniform,
        "random.uniform": random_uniform,
    }.items()
}

# Types, which are texts in Keras.
TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")

_SAME = ("mean", "sum", "prod", "max", "min", "std", "var", "any", "all", "concatenate", "stack", "cast", "one_hot")
_SAME = (*_SAME, "expand_dims", "clip", "argmax", "argmin", "shape")
_MATHS = ("abs", "exp", "log", "square", "sign", "sin", "cos", "tanh", "sigmoid", "floor", "ceil", "sqrt", "rsqrt")
_MATHS = (*_MATHS, "maximum", "minimum", "equal", "greater", "less", "add", "subtract", "multiply", "divide", "matmul")
OPS: Mapping[str, Function] = {
    **{name: KERAS[name] for name in _SAME},
    **{name: _ALL[name] for name in _MATHS},
    **{name: _NN[name] for name in ("relu", "softplus", "elu")},
    "softmax": lambda x, axis=-1: activations.softmax(x, axis),
    "power": _MATH["pow"],
    "reshape": lambda x, newshape: KERAS["reshape"](x, newshape),
    "transpose": lambda x, axes=None: _transpose(x, axes),
    "squeeze": lambda x, axis=None: _squeeze(x, axis),
    "where": _where,
    "flip": lambda x, axis=None: KERAS["reverse"](x, axis),
    "zeros_like": lambda x, dtype=None: KERAS["zeros_like"](x, dtype),
    "ones_like": lambda x, dtype=None: KERAS["ones_like"](x, dtype),
}
