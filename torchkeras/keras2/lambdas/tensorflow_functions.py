"""`tf.*` and Keras 3's `ops.*`: what the backend, or the list of functions of graphs, has in the place of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.keras2 import backend
from torchkeras.keras2.backend.nodes import as_type, pair, sizes, tensor
from torchkeras.keras2.lambdas.arithmetic import OPERATORS
from torchkeras.keras2.lambdas.keras_functions import FUNCTIONS as KERAS, SCOPED as KERAS_SCOPED, Function, placed
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.keras2.lambdas.tensorflow_images import IMAGE, blocks, patches
from torchkeras.keras2.lambdas.tensorflow_nn import NN
from torchkeras.tensor_functions.by_name import FUNCTIONS as GRAPH


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
    if any(max(pair) > size - skip for pair, size in zip(paddings, x.shape, strict=True)):
        raise ValueError("tf.pad by more than there is to mirror")
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


def _norm(x: Tensor, ord: Any, axis: Any, keepdims: Any) -> Tensor:
    if ord not in ("euclidean", 2):
        raise ValueError(f"tf.norm of order {ord!r}")
    return GRAPH["norm"](x, axis, keepdims)


def _between(x: Tensor, below: int, above: int) -> Tensor:
    """Matrices with zeros but for so many diagonals below and above the main one; -1 for all of them."""
    rows, columns = (torch.arange(size, device=x.device) for size in x.shape[-2:])
    distance = columns - rows[:, None]
    kept = (distance >= -below if below >= 0 else True) & (distance <= above if above >= 0 else distance == distance)
    return torch.where(kept, x, torch.zeros_like(x))


def _gather_nd(x: Tensor, indices: Tensor) -> Tensor:
    return x[tuple(tensor(indices).to(x.device).long().movedim(-1, 0))]


def _sequence_mask(lengths: Tensor, maxlen: int, dtype: Any) -> Tensor:
    places = torch.arange(int(maxlen), device=lengths.device)
    found = places < lengths.unsqueeze(-1)
    return found if dtype == "bool" else found.to(as_type(dtype))


def _range(start: Any, limit: Any, delta: Any, dtype: Any, *, device: torch.device) -> Tensor:
    found = torch.arange(*((0, start) if limit is None else (start, limit)), delta, device=device)
    kind = torch.int32 if dtype is None and not found.is_floating_point() else as_type(dtype)
    return found.to(kind)


def _eye(rows: int, columns: int | None, batch_shape: Any, dtype: Any, *, device: torch.device) -> Tensor:
    found = torch.eye(rows, columns or rows, dtype=as_type(dtype), device=device)
    return found.expand(*sizes(batch_shape or ()), *found.shape)


def _grid(*values: Any, indexing: str = "xy", name: Any = None) -> list[Tensor]:
    return list(torch.meshgrid(*map(tensor, values), indexing=indexing))


def _square(values: Any) -> Tensor:
    """tf.diag of a vector. Raises ValueError for more axes, of which TensorFlow makes twice as many."""
    found = tensor(values)
    if found.dim() != 1:
        raise ValueError(f"tf.diag of {found.dim()} axes")
    return torch.diag_embed(found)


def _sorted(x: Tensor, axis: int, direction: str) -> Tensor:
    return torch.sort(x, stable=True, dim=axis, descending=direction == "DESCENDING").values


def _order(x: Tensor, axis: int, direction: str, stable: bool) -> Tensor:
    return torch.argsort(x, stable=True, dim=axis, descending=direction == "DESCENDING").int()


def _fill(dims: Any, value: Any) -> Tensor:
    return tensor(value).expand(sizes(dims))


def _strided(x: Tensor, begin: Any, end: Any, strides: Any) -> Tensor:
    cuts = zip(begin, end, strides or [1] * len(begin), strict=True)
    return OPERATORS["[]"](x, tuple(slice(*cut) for cut in cuts))


def _constant(value: Any, dtype: Any, filled: Any) -> Tensor:
    found = tensor(value)
    if filled is not None and not found.dim():
        return found.to(as_type(dtype or found.dtype)).expand(sizes(filled))
    return backend.constant(found, dtype or found.dtype, filled)


def _line(start: float, stop: float, num: int, *, device: torch.device) -> Tensor:
    return torch.linspace(start, stop, num, device=device)


def _caster(kind: str) -> Function:
    return lambda x: KERAS["cast"](x, kind)


_NUMBERS = ("abs", "exp", "log", "log1p", "expm1", "square", "sign", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_NUMBERS = (*_NUMBERS, "sigmoid", "floor", "ceil", "round", "rsqrt", "reciprocal", "sqrt", "erf", "logical_not")
_NUMBERS = (*_NUMBERS, "asin", "acos", "atan", "asinh", "acosh", "atanh")
_COMPARED = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "pow")
_REDUCED = ("sum", "mean", "prod", "max", "min", "any", "all", "logsumexp")

_UNIT = named(GRAPH["unit"], "x axis=None epsilon=1e-12")
_SOFTPLUS = named(F.softplus, "features")
_CASTS = {"float": "float32", "double": "float64", "int32": "int32", "int64": "int64"}
_BLOCKS = "input block_size data_format='NHWC'"
_MATMUL = "a b transpose_a=False transpose_b=False"
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
    **{name: named(OPERATORS["old /"], "x y") for name in ("div",)},
    **{f"is_{name}": named(getattr(torch, f"is{name}"), "x") for name in ("nan", "inf", "finite")},
    "atan2": named(_on_pairs(torch.atan2), "y x"),
    "divide_no_nan": named(lambda x, y: torch.where(y == 0, torch.zeros_like(x / y), x / y), "x y"),
    "log_sigmoid": named(F.logsigmoid, "x"),
    "reduce_std": named(GRAPH["std"], "input_tensor axis=None keepdims=False"),
    "reduce_variance": named(GRAPH["var"], "input_tensor axis=None keepdims=False"),
    "add_n": named(GRAPH["sum_of"], "inputs"),
    "squared_difference": named(GRAPH["squared_difference"], "x y"),
    **{name: named(KERAS[name], "x axis=0") for name in ("cumsum", "cumprod")},
    "l2_normalize": _UNIT,
    "argmax": named(KERAS["argmax"], "input axis=0"),
    "argmin": named(KERAS["argmin"], "input axis=0"),
    "softplus": _SOFTPLUS,
}
FUNCTIONS: Mapping[str, Function] = {
    **_MATH,
    **{f"math.{name}": function for name, function in _MATH.items()},
    **{f"nn.{name}": function for name, function in NN.items()},
    **{f"image.{name}": function for name, function in IMAGE.items()},
    **{f"{name}band_part": named(_between, "input num_lower num_upper") for name in ("matrix_", "linalg.")},
    **{f"{name}matmul": named(GRAPH["multiply_matrices"], _MATMUL) for name in ("", "linalg.")},
    **{name: named(KERAS["cast"], "x dtype") for name in ("cast", "saturate_cast")},
    **{f"to_{name}": named(_caster(kind), "x") for name, kind in _CASTS.items()},
    **{name: named(lambda a: a.mT, "a") for name in ("matrix_transpose", "linalg.transpose")},
    **{name: named(torch.diag_embed, "diagonal") for name in ("matrix_diag", "linalg.diag")},
    "diag": named(_square, "diagonal"),
    **{
        name: named(lambda x: torch.diagonal(x, 0, -2, -1), "input")
        for name in ("matrix_diag_part", "linalg.diag_part")
    },
    **{name: named(lambda x: torch.diagonal(x, 0, -2, -1).sum(-1), "x") for name in ("trace", "linalg.trace")},
    "argsort": named(_order, "values axis=-1 direction='ASCENDING' stable=False"),
    "linalg.l2_normalize": _UNIT,
    "math.top_k": NN["top_k"],
    "meshgrid": _grid,
    "sort": named(_sorted, "values axis=-1 direction='ASCENDING'"),
    "broadcast_to": named(lambda x, shape: x.expand(sizes(shape)), "input shape"),
    "extract_image_patches": named(patches, "images ksizes strides rates padding"),
    "gather_nd": named(_gather_nd, "params indices"),
    "Print": named(lambda x, *_: x, "input_ data message=None first_n=None summarize=None"),
    "roll": named(lambda x, shift, axis: torch.roll(x, shift, axis), "input shift axis"),
    "sequence_mask": named(_sequence_mask, "lengths maxlen dtype='bool'"),
    "size": named(lambda x: x.numel(), "input"),
    "strided_slice": named(_strided, "input_ begin end strides=None"),
    "tensordot": named(lambda a, b, axes: torch.tensordot(a, b, axes), "a b axes"),
    "clip_by_value": named(KERAS["clip"], "t clip_value_min clip_value_max"),
    "concat": named(KERAS["concatenate"], "values axis"),
    "cond": named(KERAS["switch"], "pred true_fn false_fn"),
    **{f"{module}depth_to_space": named(blocks(to_space=True), _BLOCKS) for module in ("", "nn.")},
    **{f"{module}space_to_depth": named(blocks(to_space=False), _BLOCKS) for module in ("", "nn.")},
    "einsum": lambda equation, *inputs: torch.einsum(equation, *inputs),
    "expand_dims": named(KERAS["expand_dims"], "input axis"),
    "gather": named(_gather, "params indices validate_indices=None axis=0"),
    "identity": named(KERAS["identity"], "input"),
    "linalg.norm": _LINALG_NORM,
    "map_fn": named(lambda fn, elems, dtype: KERAS["map_fn"](fn, elems, dtype=dtype), "fn elems dtype=None"),
    "norm": _LINALG_NORM,
    "one_hot": named(_one_hot, "indices depth on_value=1.0 off_value=0.0"),
    "ones_like": named(KERAS["ones_like"], "tensor dtype=None"),
    "pad": named(_pad, "tensor paddings mode='CONSTANT' constant_values=0"),
    "rank": named(KERAS["ndim"], "input"),
    "reshape": named(KERAS["reshape"], "tensor shape"),
    "reverse": named(KERAS["reverse"], "tensor axis"),
    "shape": named(lambda x, _: KERAS["shape"](x), "input out_type=None"),
    "slice": named(KERAS["slice"], "input_ begin size"),
    "split": named(GRAPH["split"], "value num_or_size_splits axis=0"),
    "squeeze": named(GRAPH["squeeze"], "input axis=None"),
    "stack": named(KERAS["stack"], "values axis=0"),
    "stop_gradient": named(KERAS["stop_gradient"], "input"),
    "tile": named(KERAS["tile"], "input multiples"),
    "transpose": named(GRAPH["transpose"], "a perm=None"),
    "unstack": named(lambda value, num, axis: GRAPH["unstack"](value, axis), "value num=None axis=0"),
    "where": named(_where, "condition x y"),
    "zeros_like": named(KERAS["zeros_like"], "tensor dtype=None"),
}
_MADE: Mapping[str, Function] = {
    "eye": named(placed(_eye), "num_rows num_columns=None batch_shape=None dtype='float32'", 1),
    "fill": named(placed(_fill), "dims value", 1),
    "lin_space": named(placed(_line), "start stop num", 1),
    "linspace": named(placed(_line), "start stop num", 1),
    "range": named(placed(_range), "start limit=None delta=1 dtype=None", 1),
}
_RANDOM = {
    "random_normal": "shape mean=0.0 stddev=1.0 dtype='float32' seed=None",
    "random_uniform": "shape minval=0.0 maxval=1.0 dtype='float32' seed=None",
    "truncated_normal": "shape mean=0.0 stddev=1.0 dtype='float32' seed=None",
}
SCOPED: Mapping[str, Function] = {
    **_MADE,
    **{name: named(placed(_constant), "value dtype=None shape=None", 1) for name in ("constant", "convert_to_tensor")},
    **{name: named(KERAS_SCOPED[name], "shape dtype='float32'", 1) for name in ("zeros", "ones")},
    **{name: named(KERAS_SCOPED[name], names, 1) for name, names in _RANDOM.items()},
    **{
        f"random.{name.removeprefix('random_')}": named(KERAS_SCOPED[name], names, 1) for name, names in _RANDOM.items()
    },
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
