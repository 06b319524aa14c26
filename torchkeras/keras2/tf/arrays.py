"""Functions of `tf` that make, take apart and reduce tensors, beside those of `lambdas.tensorflow_functions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2 import backend as K
from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, node, pair, sizes, tensor
from torchkeras.keras2.backend.variables import full
from torchkeras.keras2.lambdas.keras_functions import Function
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.keras2.lambdas.tensorflow_functions import FUNCTIONS


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros, with updates added at places that stand along the last axis of `indices`."""
    updates = tensor(updates)
    return updates.new_zeros(sizes(shape)).index_put(tuple(tensor(indices).long().unbind(-1)), updates, accumulate=True)


def of_unknown_length(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """A function whose result is as long as the values say: of symbolic tensors a node of unknown length."""

    def apply(x: Any, *given: Any, name: Any = None, **options: Any) -> Any:
        if not is_symbolic([x, *given, *options.values()]):
            return function(x, *given, **options)
        keys, taken = list(options), [x, list(given), list(options.values())]

        def compute(values: Any) -> Tensor:
            first, others, named_values = values
            return function(first, *others, **dict(zip(keys, named_values, strict=True)))

        inner = getattr(function, "axes_left_out", lambda *_: 0)(*given)
        shape = (None, *tuple(x.shape)[1 + inner :])
        return as_node(function.__name__, compute, taken, lambda _: shape)

    return apply


def boolean_mask(x: Any, mask: Any, axis: int | None = None) -> Tensor:
    """The parts of `x` for which the mask, over its first axes, holds."""
    x, mask, axis = tensor(x), tensor(mask).bool(), axis or 0
    places = mask.nonzero().unbind(-1)
    return x.movedim(tuple(range(axis, axis + mask.dim())), tuple(range(mask.dim())))[places] if axis else x[places]


boolean_mask.axes_left_out = lambda mask, *_: len(mask.shape) - 1  # type: ignore[attr-defined]


def places_where(condition: Any) -> Any:
    """The places where a condition holds, a row for each."""
    if not is_symbolic(condition):
        return tensor(condition).nonzero()
    rank = len(condition.shape)
    return as_node("where", lambda given: given.nonzero(), condition, lambda _: (None, rank))


def choose(condition: Any, x: Any, y: Any) -> Tensor:
    """`x` or `y` by a condition, which may be one for each row."""
    x, y = pair(x, y)
    condition = tensor(condition).bool()
    return torch.where(condition.reshape(condition.shape + (1,) * (x.dim() - condition.dim())), x, y)


def range_of(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """Numbers from `start`, or 0, up to a limit."""
    start, limit = (0, start) if limit is None else (start, limit)
    if is_symbolic([start, limit, delta]):
        return K.arange(start, limit, delta, dtype or "int32")
    numbers = [each.item() if isinstance(each, Tensor) else each for each in (start, limit, delta)]
    found = torch.arange(*numbers, device=config.device())
    kind = found.dtype if found.is_floating_point() else torch.int32
    return found.to(as_type(dtype) if dtype else kind)


def fill(dims: Any, value: Any) -> Any:
    """A tensor full of a number."""
    kind = "int32" if isinstance(value, int) else "float32"
    return K.zeros(dims, kind) + value if is_symbolic(dims) else full(dims, value, kind)


def _constant_of(number: int) -> Function:
    def filled(shape: Any, dtype: Any = "float32") -> Any:
        made = K.zeros if number == 0 else K.ones
        return made(shape, dtype) if is_symbolic(shape) else full(shape, number, dtype)

    return named(filled, "shape dtype='float32'")


def constant(value: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Any:
    """A tensor of values, of their own type, or of a type and shape."""
    if isinstance(value, (Tensor, KerasTensor)) or is_symbolic(value):
        found = K.stack(list(value)) if isinstance(value, (list, tuple)) else value
        return found if dtype is None else K.cast(found, dtype)
    found = tensor(value)
    return K.constant(found, dtype or found.dtype, shape)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32") -> Tensor:
    """1 on the diagonal, and 0 elsewhere."""
    found = torch.eye(int(num_rows), int(num_columns or num_rows), dtype=as_type(dtype), device=config.device())
    return found.expand(*sizes(batch_shape or ()), *found.shape)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Tensor:
    """True for as many first places as each length says."""
    lengths = tensor(lengths)
    places = torch.arange(int(lengths.max() if maxlen is None else maxlen), device=lengths.device)
    return (places < lengths.unsqueeze(-1)).to(as_type(dtype))


def reverse_sequence(x: Any, seq_lengths: Any, seq_axis: int = 1, batch_axis: int = 0) -> Tensor:
    """Each sequence with its first `length` steps in the opposite order."""
    x = tensor(x).movedim((batch_axis, seq_axis), (0, 1))
    lengths = tensor(seq_lengths).long().unsqueeze(1)
    steps = torch.arange(x.shape[1], device=x.device).unsqueeze(0)
    places = torch.where(steps < lengths, lengths - 1 - steps, steps)
    found = x[torch.arange(x.shape[0], device=x.device).unsqueeze(1), places]
    return found.movedim((0, 1), (batch_axis, seq_axis))


class TopK(NamedTuple):
    """The largest values, and their places."""

    values: Any
    indices: Any


def divide_no_nan(x: Any, y: Any) -> Tensor:
    """x / y, and 0 where y is 0."""
    x, y = pair(x, y)
    return torch.where(y == 0, torch.zeros_like(x / torch.ones_like(y)), x / torch.where(y == 0, torch.ones_like(y), y))


def count_nonzero(x: Any, axis: Any, keepdims: bool, dtype: Any) -> Tensor:
    """How many numbers are not 0."""
    there = (tensor(x) != 0).to(as_type(dtype))
    return there.sum() if axis is None else there.sum(axis, keepdim=bool(keepdims))


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Tensor:
    """The sums of the rows that have the same number."""
    data, ids = tensor(data), tensor(segment_ids).long()
    count = int(ids.max()) + 1 if num_segments is None else int(num_segments)
    return data.new_zeros(count, *data.shape[1:]).index_add(0, ids, data)


def py_func(func: Callable[..., Any], inp: Any, kinds: Any, stateful: bool = True) -> Any:
    """A function of arrays, called with the values of tensors; no gradient goes through it."""
    if is_symbolic(inp):
        return as_node("py_func", lambda values: py_func(func, values, kinds), list(inp))
    found = func(*[to_numpy(each.detach()) if isinstance(each, Tensor) else each for each in inp])
    several = isinstance(kinds, (list, tuple))
    each_kind = kinds if several else [kinds]
    made = [as_tensor(each).to(as_type(kind)) for each, kind in zip(as_list(found), each_kind, strict=True)]
    return made if several else made[0]


# Functions that become nodes of the graph on symbolic tensors, beside those of the shared table.
NODES: Mapping[str, Function] = {
    "scatter_nd": named(scatter_nd, "indices updates shape"),
    "sequence_mask": named(sequence_mask, "lengths maxlen=None dtype='bool'"),
    "reverse_sequence": lambda x, seq_lengths, seq_axis=1, batch_axis=0, seq_dim=None, batch_dim=None, **_: (
        reverse_sequence(x, seq_lengths, seq_axis if seq_dim is None else seq_dim, batch_axis)
    ),
    "segment_sum": named(segment_sum, "data segment_ids"),
    "unsorted_segment_sum": named(segment_sum, "data segment_ids num_segments"),
    "diag_part": named(lambda x: tensor(x).diagonal(dim1=-2, dim2=-1), "input"),
    "matrix_inverse": named(lambda x: torch.linalg.inv(tensor(x)), "input"),
    "matrix_determinant": named(lambda x: torch.linalg.det(tensor(x)), "input"),
    "cholesky": named(lambda x: torch.linalg.cholesky(tensor(x)), "input"),
    "count_nonzero": named(count_nonzero, "input_tensor axis=None keepdims=False dtype='int64'"),
    "argmax": named(lambda x, axis, kind: K.argmax(x, axis).to(as_type(kind)), "input axis=0 output_type='int64'"),
    "argmin": named(lambda x, axis, kind: K.argmin(x, axis).to(as_type(kind)), "input axis=0 output_type='int64'"),
    "realdiv": named(lambda x, y: torch.div(*pair(x, y)), "x y"),
    "floormod": named(lambda x, y: torch.remainder(*pair(x, y)), "x y"),
    "floor_div": named(lambda x, y: torch.floor_divide(*pair(x, y)), "x y"),
    "div_no_nan": named(divide_no_nan, "x y"),
    "scalar_mul": named(lambda scalar, x: scalar * tensor(x), "scalar x"),
    "lgamma": named(lambda x: tensor(x).lgamma(), "x"),
    "digamma": named(lambda x: tensor(x).digamma(), "x"),
    "igamma": named(lambda a, x: torch.special.gammainc(*pair(a, x)), "a x"),
    "logical_xor": named(lambda x, y: torch.logical_xor(*pair(x, y)), "x y"),
    "cross": named(lambda a, b: torch.linalg.cross(*pair(a, b)), "a b"),
    "unique": named(lambda x: torch.unique(tensor(x)), "x"),
}


def published(name: str, function: Function) -> Function:
    """A function as a node of the graph on symbolic tensors."""

    def compute(*args: Any, **given: Any) -> Any:
        found = function(*args, **given)
        return tuple(found) if isinstance(found, list) else found

    compute.__name__ = f"tf.{name}"
    return node(compute)


def on_tensors(function: Function) -> Function:
    """A function of the shared table; its tensors may be arrays and variables here, the first one numbers in a list."""

    def apply(*args: Any, **given: Any) -> Any:
        first = [tensor(each) if _is_numbers(each) else each for each in args[:1]]
        others = [_of_array(each) for each in args[1:]]
        return function(*first, *others, **{name: _of_array(each) for name, each in given.items()})

    return apply


def _of_array(value: Any) -> Any:
    return tensor(value) if isinstance(value, (np.ndarray, Variable)) else value


def _is_numbers(value: Any) -> bool:
    if isinstance(value, (list, tuple)) and value:
        return isinstance(value[0], (bool, int, float)) or _is_numbers(value[0])
    return isinstance(value, (np.ndarray, np.generic, Variable))


_largest = published("nn.top_k", on_tensors(FUNCTIONS["nn.top_k"]))
_choose = published("where", named(choose, "condition x y"))


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """`x` or `y` by a condition; without them the places where it holds."""
    return places_where(condition) if x is None else _choose(condition, x, y)


# Functions that answer by themselves, whatever they are called on.
PLAIN: Mapping[str, Function] = {
    "boolean_mask": lambda tensor, mask, axis=None, name=None: of_unknown_length(boolean_mask)(tensor, mask, axis),
    "where": where,
    "nn.top_k": lambda *args, **given: TopK(*_largest(*args, **given)),
    "math.top_k": lambda *args, **given: TopK(*_largest(*args, **given)),
    "range": named(range_of, "start limit=None delta=1 dtype=None"),
    "fill": named(fill, "dims value"),
    "zeros": _constant_of(0),
    "ones": _constant_of(1),
    "constant": lambda value, dtype=None, shape=None, name=None, verify_shape=False: constant(value, dtype, shape),
    "convert_to_tensor": lambda value, dtype=None, name=None, preferred_dtype=None: constant(value, dtype),
    "eye": named(eye, "num_rows num_columns=None batch_shape=None dtype='float32'"),
    "py_func": named(py_func, "func inp Tout stateful=True"),
}
