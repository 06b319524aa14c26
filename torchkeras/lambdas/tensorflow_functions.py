"""`tf.*` and Keras 3's `ops.*`: what the backend, or the list of functions of graphs, has in the place of each."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations, backend
from torchkeras.backend.images import first, in_format
from torchkeras.backend.nodes import pair, sizes, tensor
from torchkeras.engine.graph.functions import FUNCTIONS as GRAPH
from torchkeras.lambdas.keras_functions import FUNCTIONS as KERAS, SCOPED as KERAS_SCOPED, Function, placed
from torchkeras.layers.resize import interpolated_to

# Older names of arguments.
OLDER = {"keep_dims": "keepdims", **dict.fromkeys(("reduction_indices", "dim", "dimension", "squeeze_dims"), "axis")}
LAST = "channels_last"


def named(function: Function, names: str, after: int = 0) -> Function:
    """A function that takes its arguments by `names`: "x axis=None". `name`, of the operation, changes nothing.

    `after`: how many arguments come before them.
    """
    words = [word.partition("=") for word in names.split()]
    keys = [key for key, _, _ in words]
    defaults = {key: ast.literal_eval(default) for key, sign, default in words if sign}

    def apply(*args: Any, name: Any = None, **given: Any) -> Any:
        by_name = {OLDER.get(key, key): value for key, value in given.items() if key in keys or value is not None}
        by_place = dict(zip(keys, args[after:], strict=False))
        values = {**defaults, **by_place, **by_name}
        if len(args) - after > len(keys) or by_place.keys() & by_name.keys() or values.keys() ^ set(keys):
            raise TypeError(f"its arguments are {names}; found {len(args) - after}, and {', '.join(given)}")
        return function(*args[:after], *(values[key] for key in keys))

    return apply


def _on_numbers(function: Callable[[Tensor], Tensor]) -> Function:
    return lambda x: function(tensor(x))


def _on_pairs(function: Callable[..., Tensor]) -> Function:
    return lambda x, y: function(*pair(x, y))


def _where(condition: Tensor, x: Any, y: Any) -> Tensor:
    return torch.where(condition, *pair(x, y))


def _pad(x: Tensor, paddings: Any, mode: str, constant_values: float) -> Tensor:
    if mode.upper() == "CONSTANT":
        return GRAPH["pad"](x, paddings, "constant", constant_values)
    if mode.upper() not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"tf.pad by {mode!r}")
    skip = int(mode.upper() == "REFLECT")
    for axis, (before, after) in enumerate(paddings):
        last = x.shape[axis] - 1 - skip
        back = [*range(before - 1 + skip, skip - 1, -1)], [*range(last, last - after, -1)]
        ends = [x.index_select(axis, torch.tensor(places, device=x.device)) for places in back if places]
        if before or after:
            x = torch.cat([*ends[: before > 0], x, *ends[before > 0 :]], axis)
    return x


def _gather(x: Tensor, indices: Any, validate_indices: Any, axis: int | None) -> Tensor:
    axis = (axis or 0) % x.dim()
    found = KERAS["gather"](x.movedim(axis, 0), indices)
    new = range(found.dim() - x.dim() + 1)
    return found.movedim(tuple(new), tuple(axis + place for place in new))


def _one_hot(indices: Tensor, depth: int, on_value: float, off_value: float) -> Tensor:
    return KERAS["one_hot"](indices, depth) * (on_value - off_value) + off_value


def _nearest(old: int, new: int, aligned: bool, like: Tensor) -> Tensor:
    """The places of the old values for new ones, in TensorFlow's own arithmetic."""
    steps = torch.arange(new, device=like.device, dtype=torch.float32)
    found = (steps * ((old - 1) / (new - 1)) + 0.5 if aligned and new > 1 else steps * (old / new)).floor().long()
    return found.clamp(max=old - 1)


def _resize(how: str) -> Function:
    def resize(images: Tensor, size: Any, align_corners: bool, half_pixel_centers: bool) -> Tensor:
        x, wanted = first(images, LAST), sizes(size)
        if how == "nearest" and half_pixel_centers:
            raise ValueError("half_pixel_centers of the nearest pixel")
        if how == "nearest":
            for axis, new in enumerate(wanted, 2):
                x = x.index_select(axis, _nearest(x.shape[axis], new, align_corners, x))
        elif align_corners or half_pixel_centers:
            x = F.interpolate(x, wanted, mode="bilinear", align_corners=bool(align_corners))
        else:
            x = interpolated_to(x, wanted)
        return in_format(x, LAST)

    return resize


def _resize_images(images: Tensor, size: Any, method: Any, align_corners: bool) -> Tensor:
    ways = {0: "bilinear", 1: "nearest"}
    if method not in ways:
        raise ValueError(f"tf.image.resize_images by method {method!r}")
    return _resize(ways[method])(images, size, align_corners, False)


def _blocks(to_space: bool) -> Function:
    def move(x: Tensor, block_size: int, data_format: str) -> Tensor:
        if data_format != "NHWC":
            raise ValueError(f"data_format {data_format!r}")
        batch, height, width, depth = x.shape
        block = (block_size, block_size)
        if to_space:
            cut = x.reshape(batch, height, width, *block, -1).permute(0, 1, 3, 2, 4, 5)
            return cut.reshape(batch, height * block_size, width * block_size, depth // block_size**2)
        height, width = height // block_size, width // block_size
        cut = x.reshape(batch, height, block_size, width, block_size, depth).permute(0, 1, 3, 2, 4, 5)
        return cut.reshape(batch, height, width, depth * block_size**2)

    return move


def _norm(x: Tensor, ord: Any, axis: Any, keepdims: Any) -> Tensor:
    if ord not in ("euclidean", 2):
        raise ValueError(f"tf.norm of order {ord!r}")
    return GRAPH["norm"](x, axis, keepdims)


def _constant(value: Any, dtype: Any, shape: Any) -> Tensor:
    found = tensor(value)
    return backend.constant(found, dtype or found.dtype, shape)


_NUMBERS = ("abs", "exp", "log", "log1p", "expm1", "square", "sign", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_NUMBERS = (*_NUMBERS, "sigmoid", "floor", "ceil", "round", "rsqrt", "reciprocal", "sqrt", "erf", "logical_not")
_COMPARED = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "pow")
_REDUCED = ("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp")

_UNIT = named(GRAPH["unit"], "x axis=None epsilon=1e-12")
_SOFTPLUS = named(F.softplus, "features")
_LINALG_NORM = named(_norm, "tensor ord='euclidean' axis=None keepdims=False")
_MATH: Mapping[str, Function] = {
    **{name: named(_on_numbers(getattr(torch, name)), "x") for name in _NUMBERS},
    **{f"reduce_{name}": named(KERAS[name], "input_tensor axis=None keepdims=False") for name in _REDUCED},
    **{name: named(KERAS[name], "x y") for name in _COMPARED},
    **{name: named(_on_pairs(getattr(torch, name)), "x y") for name in ("logical_and", "logical_or")},
    **{name: named(lambda x, y: x / y, "x y") for name in ("divide", "truediv")},
    "add": named(lambda x, y: x + y, "x y"),
    "subtract": named(lambda x, y: x - y, "x y"),
    "multiply": named(lambda x, y: x * y, "x y"),
    "floordiv": named(lambda x, y: x // y, "x y"),
    "mod": named(lambda x, y: x % y, "x y"),
    "negative": named(lambda x: -x, "x"),
    "add_n": named(GRAPH["sum_of"], "inputs"),
    "squared_difference": named(GRAPH["squared_difference"], "x y"),
    "cumsum": named(KERAS["cumsum"], "x axis=0"),
    "l2_normalize": _UNIT,
    "argmax": named(KERAS["argmax"], "input axis=0"),
    "argmin": named(KERAS["argmin"], "input axis=0"),
    "softplus": _SOFTPLUS,
}
_NN: Mapping[str, Function] = {
    **{name: named(getattr(F, name), "features") for name in ("relu", "relu6", "elu", "softsign")},
    **{name: _MATH[name] for name in ("sigmoid", "tanh", "softplus", "l2_normalize")},
    "selu": named(activations.selu, "features"),
    "leaky_relu": named(F.leaky_relu, "features alpha=0.2"),
    "softmax": named(KERAS["softmax"], "logits axis=-1"),
}
_IMAGE: Mapping[str, Function] = {
    "resize_bilinear": named(_resize("bilinear"), "images size align_corners=False half_pixel_centers=False"),
    "resize_nearest_neighbor": named(_resize("nearest"), "images size align_corners=False half_pixel_centers=False"),
    "resize_images": named(_resize_images, "images size method=0 align_corners=False"),
}
FUNCTIONS: Mapping[str, Function] = {
    **_MATH,
    **{f"math.{name}": function for name, function in _MATH.items()},
    **{f"nn.{name}": function for name, function in _NN.items()},
    **{f"image.{name}": function for name, function in _IMAGE.items()},
    "cast": named(KERAS["cast"], "x dtype"),
    "clip_by_value": named(KERAS["clip"], "t clip_value_min clip_value_max"),
    "concat": named(KERAS["concatenate"], "values axis"),
    "cond": named(KERAS["switch"], "pred true_fn false_fn"),
    "depth_to_space": named(_blocks(to_space=True), "input block_size data_format='NHWC'"),
    "einsum": lambda equation, *inputs: torch.einsum(equation, *inputs),
    "expand_dims": named(KERAS["expand_dims"], "input axis"),
    "gather": named(_gather, "params indices validate_indices=None axis=0"),
    "identity": named(KERAS["identity"], "input"),
    "linalg.norm": _LINALG_NORM,
    "map_fn": named(lambda fn, elems, dtype: KERAS["map_fn"](fn, elems, dtype=dtype), "fn elems dtype=None"),
    "matmul": named(GRAPH["multiply_matrices"], "a b transpose_a=False transpose_b=False"),
    "norm": _LINALG_NORM,
    "one_hot": named(_one_hot, "indices depth on_value=1.0 off_value=0.0"),
    "ones_like": named(KERAS["ones_like"], "tensor dtype=None"),
    "pad": named(_pad, "tensor paddings mode='CONSTANT' constant_values=0"),
    "rank": named(KERAS["ndim"], "input"),
    "reshape": named(KERAS["reshape"], "tensor shape"),
    "reverse": named(KERAS["reverse"], "tensor axis"),
    "shape": named(KERAS["shape"], "input"),
    "slice": named(KERAS["slice"], "input_ begin size"),
    "space_to_depth": named(_blocks(to_space=False), "input block_size data_format='NHWC'"),
    "split": named(GRAPH["split"], "value num_or_size_splits axis=0"),
    "squeeze": named(GRAPH["squeeze"], "input axis=None"),
    "stack": named(KERAS["stack"], "values axis=0"),
    "stop_gradient": named(KERAS["stop_gradient"], "input"),
    "tile": named(KERAS["tile"], "input multiples"),
    "to_float": named(lambda x: KERAS["cast"](x, "float32"), "x"),
    "to_int32": named(lambda x: KERAS["cast"](x, "int32"), "x"),
    "transpose": named(GRAPH["transpose"], "a perm=None"),
    "unstack": named(lambda value, num, axis: GRAPH["unstack"](value, axis), "value num=None axis=0"),
    "where": named(_where, "condition x y"),
    "zeros_like": named(KERAS["zeros_like"], "tensor dtype=None"),
}
_RANDOM = {
    "random_normal": "shape mean=0.0 stddev=1.0 dtype='float32' seed=None",
    "random_uniform": "shape minval=0.0 maxval=1.0 dtype='float32' seed=None",
}
SCOPED: Mapping[str, Function] = {
    **{name: named(placed(_constant), "value dtype=None shape=None", 1) for name in ("constant", "convert_to_tensor")},
    **{name: named(KERAS_SCOPED[name], "shape dtype='float32'", 1) for name in ("zeros", "ones")},
    **{name: named(KERAS_SCOPED[name], names, 1) for name, names in _RANDOM.items()},
    **{name.replace("_", "."): named(KERAS_SCOPED[name], names, 1) for name, names in _RANDOM.items()},
}

# Types, which are texts in Keras.
TYPES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")

_OF_KERAS = ("sum", "prod", "max", "min", "any", "all", "concatenate", "stack", "cast", "one_hot", "expand_dims")
_OF_TENSORFLOW = ("abs", "exp", "log", "square", "sign", "sin", "cos", "tanh", "sigmoid", "floor", "ceil", "sqrt")
_OF_TENSORFLOW = (*_OF_TENSORFLOW, "rsqrt", "maximum", "minimum", "equal", "greater", "less", "add", "subtract")
_OF_TENSORFLOW = (*_OF_TENSORFLOW, "multiply", "divide", "matmul", "zeros_like", "ones_like", "where")
OPS: Mapping[str, Function] = {
    **{name: KERAS[name] for name in _OF_KERAS},
    **{name: FUNCTIONS[name] for name in _OF_TENSORFLOW},
    **{name: named(GRAPH[name], "x axis=None keepdims=False") for name in ("mean", "std", "var")},
    **{name: named(KERAS[name], "x axis") for name in ("argmax", "argmin")},
    **{name: named(getattr(F, name), "x") for name in ("relu", "softplus", "elu")},
    "clip": named(KERAS["clip"], "x x_min x_max"),
    "flip": named(GRAPH["flip"], "x axis=None"),
    "power": named(KERAS["pow"], "x1 x2"),
    "reshape": named(KERAS["reshape"], "x newshape"),
    "shape": named(KERAS["int_shape"], "x"),
    "softmax": named(KERAS["softmax"], "x axis=-1"),
    "squeeze": named(GRAPH["squeeze"], "x axis=None"),
    "transpose": named(GRAPH["transpose"], "x axes=None"),
}
