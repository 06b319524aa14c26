"""Functions of tensors under TensorFlow's names: one table onto `keras.ops`, then those of another form there."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2.lambdas.tensorflow_functions import FUNCTIONS as OLDER
from torchkeras.keras2.tf import arrays
from torchkeras.keras2.tf.modules import OF_BACKEND
from torchkeras.keras3 import ops, tree
from torchkeras.keras3.operations import FUNCTIONS as OPERATIONS
from torchkeras.tensorflow2.elements import StringTensor
from torchkeras.tensorflow2.signatures import Function, taking
from torchkeras.tensorflow2.tensors import TensorShape, as_value, constant, converted, operands, shape_of, sizes_in

# TensorFlow's names; their arguments; the function of `ops` that gets them in this order.
TABLE = """
abs math.abs                           | x                                       | abs
acos math.acos                         | x                                       | arccos
acosh math.acosh                       | x                                       | arccosh
add math.add                           | x y                                     | add
asin math.asin                         | x                                       | arcsin
asinh math.asinh                       | x                                       | arcsinh
atan math.atan                         | x                                       | arctan
atan2 math.atan2                       | y x                                     | arctan2
atanh math.atanh                       | x                                       | arctanh
bitwise.bitwise_and                    | x y                                     | bitwise_and
bitwise.bitwise_or                     | x y                                     | bitwise_or
bitwise.bitwise_xor                    | x y                                     | bitwise_xor
cos math.cos                           | x                                       | cos
cosh math.cosh                         | x                                       | cosh
cumprod math.cumprod                   | x axis=0                                | cumprod
divide truediv math.divide math.truediv | x y                            | true_divide
equal math.equal                       | x y                                     | equal
exp math.exp                           | x                                       | exp
expand_dims                            | input axis                              | expand_dims
floor math.floor                       | x                                       | floor
floordiv math.floordiv                 | x y                                     | floor_divide
greater math.greater                   | x y                                     | greater
greater_equal math.greater_equal       | x y                                     | greater_equal
is_tensor                              | x                                       | is_tensor
less math.less                         | x y                                     | less
less_equal math.less_equal             | x y                                     | less_equal
linalg.cholesky                        | input                                   | cholesky
linalg.det                             | input                                   | det
linalg.eigh                            | tensor                                  | eigh
linalg.inv                             | input                                   | inv
linalg.pinv                            | a                                       | pinv
linalg.solve                           | matrix rhs                              | solve
linalg.trace                           | x                                       | trace
logical_and math.logical_and           | x y                                     | logical_and
logical_not math.logical_not           | x                                       | logical_not
logical_or math.logical_or             | x y                                     | logical_or
math.angle                             | input                                   | angle
math.ceil                              | x                                       | ceil
math.conj                              | x                                       | conj
math.erf                               | x                                       | erf
math.erfinv                            | x                                       | erfinv
math.expm1                             | x                                       | expm1
math.imag                              | input                                   | imag
math.is_finite                         | x                                       | isfinite
math.is_inf                            | x                                       | isinf
math.is_nan                            | x                                       | isnan
math.log                               | x                                       | log
math.log1p                             | x                                       | log1p
math.logical_xor                       | x y                                     | logical_xor
math.mod math.floormod                 | x y                                     | mod
math.real                              | input                                   | real
math.reciprocal                        | x                                       | reciprocal
math.rsqrt                             | x                                       | rsqrt
maximum math.maximum                   | x y                                     | maximum
minimum math.minimum                   | x y                                     | minimum
multiply math.multiply                 | x y                                     | multiply
negative math.negative                 | x                                       | negative
not_equal math.not_equal               | x y                                     | not_equal
pow math.pow                           | x y                                     | power
reduce_all math.reduce_all             | input_tensor axis=None keepdims=False   | all
reduce_any math.reduce_any             | input_tensor axis=None keepdims=False   | any
reduce_logsumexp math.reduce_logsumexp | input_tensor axis=None keepdims=False   | logsumexp
reduce_max math.reduce_max             | input_tensor axis=None keepdims=False   | max
reduce_mean math.reduce_mean           | input_tensor axis=None keepdims=False   | mean
reduce_min math.reduce_min             | input_tensor axis=None keepdims=False   | min
reduce_prod math.reduce_prod           | input_tensor axis=None keepdims=False   | prod
reduce_sum math.reduce_sum             | input_tensor axis=None keepdims=False   | sum
math.reduce_std                        | input_tensor axis=None keepdims=False   | std
math.reduce_variance                   | input_tensor axis=None keepdims=False   | var
repeat                                 | input repeats axis=None                 | repeat
reverse                                | tensor axis                             | flip
roll                                   | input shift axis                        | roll
round math.round                       | x                                       | round
searchsorted                           | sorted_sequence values side=left        | searchsorted
sigmoid math.sigmoid                   | x                                       | sigmoid
sign math.sign                         | x                                       | sign
signal.fft                             | input                                   | fft
sin math.sin                           | x                                       | sin
sinh math.sinh                         | x                                       | sinh
sqrt math.sqrt                         | x                                       | sqrt
square math.square                     | x                                       | square
squeeze                                | input axis=None                         | squeeze
stack                                  | values axis=0                           | stack
stop_gradient                          | input                                   | stop_gradient
subtract math.subtract                 | x y                                     | subtract
tan math.tan                           | x                                       | tan
tanh math.tanh                         | x                                       | tanh
tensordot                              | a b axes                                | tensordot
unstack                                | value num=None axis=0                   | unstack
math.softplus                          | features                                | softplus
math.log_sigmoid                       | x                                       | log_sigmoid
math.segment_max                       | data segment_ids                        | segment_max
math.segment_sum                       | data segment_ids                        | segment_sum
math.unsorted_segment_max              | data segment_ids num_segments           | segment_max
math.unsorted_segment_sum              | data segment_ids num_segments           | segment_sum
"""

# Functions of TensorFlow 1 that 2 has under the same names.
SAME_AS_BEFORE = """
boolean_mask gather_nd linalg.band_part linalg.diag linalg.diag_part math.digamma math.igamma math.lgamma
math.divide_no_nan math.count_nonzero math.squared_difference meshgrid reverse_sequence scatter_nd sequence_mask
strided_slice
"""


OF_STRINGS = ("concatenate", "expand_dims", "repeat", "squeeze", "stack")  # which NumPy computes


def _prepared(value: Any) -> Any:
    """An argument for `ops`: a list of axes as a tuple of numbers."""
    if isinstance(value, list) and all(isinstance(each, (int, Tensor)) and np.ndim(each) == 0 for each in value):
        return sizes_in(value)
    return value


def _of_ops(arguments: str, name: str) -> Function:
    function, first = OPERATIONS[name], arguments.split(maxsplit=1)[0] == "values"

    def call(value: Any, *others: Any) -> Any:
        kept: Any = [as_value(each) for each in value] if first else as_value(value)
        if name in OF_STRINGS and isinstance(kept[0] if first else kept, StringTensor):
            return getattr(np, name)(kept, *map(_prepared, others)).view(StringTensor)
        return function(kept, *map(_prepared, others))

    call.__doc__ = f"`keras.ops.{name}`."
    return taking(arguments, call)


def _on_pairs(arguments: str, name: str) -> Function:
    function = OPERATIONS[name]

    def call(x: Any, y: Any) -> Any:
        return function(*operands(x, y))

    call.__doc__ = f"`keras.ops.{name}`."
    return taking(arguments, call)


def _from_table() -> dict[str, Function]:
    found = {}
    for line in TABLE.strip().splitlines():
        names, arguments, name = (part.strip() for part in line.split("|"))
        make = _on_pairs if arguments in ("x y", "y x") else _of_ops
        found |= dict.fromkeys(names.split(), make(arguments, name))
    return found


def _from_before() -> dict[str, Function]:
    found = {}
    for name in SAME_AS_BEFORE.split():
        older = name.removeprefix("math.")
        if name in arrays.PLAIN:
            found[name] = arrays.PLAIN[name]
        elif older in arrays.NODES:
            found[name] = arrays.published(name, arrays.on_tensors(arrays.NODES[older]))
        else:
            found[name] = arrays.published(name, arrays.on_tensors(OLDER[name]))
    return found


# --- made in another form ---------------------------------------------------------------------------------------------


def cast(x: Any, dtype: Any) -> Any:
    """A tensor of another type; a fraction is cut off for whole numbers."""
    return x if isinstance(x, StringTensor) else ops.cast(as_value(x), dtype)


def reshape(tensor: Any, shape: Any) -> Any:
    """A tensor of another shape; one size may be -1."""
    return ops.reshape(as_value(tensor), sizes_in(shape))


def ensure_shape(x: Any, shape: Any) -> Any:
    """The tensor. Raises ValueError where it cannot have this shape, in which None is any size."""
    found = as_value(x)
    if shape is not None:
        TensorShape(found.shape).assert_is_compatible_with(TensorShape(shape))
    return found


def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    """The axes in another order, by default the opposite one."""
    found = ops.transpose(as_value(a), None if perm is None else tuple(sizes_in(perm)))
    return ops.conj(found) if conjugate else found


def concat(values: Any, axis: Any) -> Any:
    """Tensors one after another along an axis."""
    found = [as_value(each) for each in values] if isinstance(values, (list, tuple)) else [as_value(values)]
    if found and isinstance(found[0], StringTensor):
        return StringTensor.of(np.concatenate(found, int(axis)))
    return ops.concatenate(found, int(axis))


def split(value: Any, num_or_size_splits: Any, axis: int = 0, num: Any = None) -> Any:
    """Parts along an axis, of one size or of sizes in a list, of which one may be -1."""
    found, parts = as_value(value), num_or_size_splits
    if isinstance(parts, int):
        return list(ops.split(found, parts, axis))
    sizes = list(sizes_in(parts))
    if -1 in sizes:
        sizes[sizes.index(-1)] = found.shape[axis] - sum(sizes) - 1
    return list(ops.split(found, tuple(accumulate(sizes[:-1])), axis))


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0) -> Any:
    """The parts of a tensor along an axis, at places."""
    x, places = as_value(params), as_value(indices)
    if isinstance(x, StringTensor):
        return StringTensor.of(np.take(np.asarray(x), np.asarray(places), 0 if axis is None else int(axis)))
    if not batch_dims:
        return ops.take(x, ops.cast(places, "int64"), 0 if axis is None else int(axis))
    if isinstance(x, KerasTensor) or isinstance(places, KerasTensor):
        raise NotImplementedError("tf.gather: batch_dims must be 0 on symbolic tensors; use tf.keras.layers.Lambda.")
    inner = None if axis is None else int(axis) - (1 if int(axis) > 0 else 0)
    pairs = zip(x, places, strict=True)
    return torch.stack([gather(one, there, None, inner, batch_dims - 1) for one, there in pairs])


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None
) -> Any:
    """1 at the place that each number says, and 0 at others."""
    kind = dtype or "float32"
    found = ops.one_hot(as_value(indices), int(depth), -1 if axis is None else axis, kind)
    if on_value is None and off_value is None:
        return found
    on, off = (1 if on_value is None else on_value), (0 if off_value is None else off_value)
    return ops.cast(found * (on - off) + off, kind)


def _place(name: str) -> Function:
    def find(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
        return ops.cast(OPERATIONS[name](as_value(input), 0 if axis is None else int(axis)), output_type)

    find.__doc__ = "The places along an axis, by default the first."
    return taking("input axis=None output_type=int64", find)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """The product of matrices, each of which may be transposed."""
    first, second = as_value(a), as_value(b)
    first = ops.swapaxes(first, -1, -2) if transpose_a or adjoint_a else first
    second = ops.swapaxes(second, -1, -2) if transpose_b or adjoint_b else second
    return ops.matmul(first, second)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    """A tensor with more numbers before and after, for each axis a pair."""
    widths = tuple(tuple(sizes_in(each)) for each in paddings)
    kind = mode.lower()
    return ops.pad(as_value(tensor), widths, kind, constant_values if kind == "constant" else None)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where a condition holds, else `y`; without them the places where it holds."""
    if x is None and y is None:
        return arrays.places_where(as_value(condition))
    return ops.where(as_value(condition), *operands(x, y))


def _filled(number: int) -> Function:
    make = ops.ones if number else ops.zeros

    def fill(shape: Any, dtype: Any = "float32") -> Any:
        sizes = sizes_in(shape)
        if any(isinstance(each, (KerasTensor,)) or not isinstance(each, int) for each in sizes):
            return ops.broadcast_to(ops.cast(float(number), dtype), sizes)
        return make(sizes, dtype)

    fill.__doc__ = f"A tensor full of {number}."
    return taking("shape dtype=float32", fill)


def _like(number: int) -> Function:
    make = ops.ones_like if number else ops.zeros_like
    return taking("input dtype=None", lambda value, dtype: make(as_value(value), dtype))


def fill(dims: Any, value: Any) -> Any:
    """A tensor full of a number."""
    return ops.broadcast_to(as_value(value), sizes_in(dims))


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32") -> Any:
    """1 on the diagonal, and 0 elsewhere."""
    found = ops.eye(int(num_rows), None if num_columns is None else int(num_columns), dtype=dtype)
    return found if batch_shape is None else ops.broadcast_to(found, (*sizes_in(batch_shape), *found.shape))


def linspace(start: Any, stop: Any, num: Any, axis: int = 0) -> Any:
    """So many numbers from the first to the last, at equal distances."""
    return ops.linspace(as_value(start), as_value(stop), int(num), axis=axis)


def cumsum(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """The sums of all numbers up to each along an axis."""
    values = as_value(x)
    turned = ops.flip(values, axis) if reverse else values
    found = ops.cumsum(turned, axis)
    found = found - turned if exclusive else found
    return ops.flip(found, axis) if reverse else found


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of all numbers, or along axes."""
    x, axis = as_value(tensor), tuple(axis) if isinstance(axis, list) else axis
    if ord in ("euclidean", "fro") or (ord == 2 and not isinstance(axis, tuple)):
        return ops.sqrt(ops.sum(ops.square(ops.abs(x)), axis, keepdims))
    return ops.norm(ops.reshape(x, (-1,)) if axis is None else x, ord, axis, keepdims)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    """x / sqrt(max(sum(x ** 2), epsilon))"""
    values, axis = as_value(x), tuple(axis) if isinstance(axis, list) else axis
    return values * ops.rsqrt(ops.maximum(ops.sum(ops.square(values), axis, True), epsilon))


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Numbers below the least and above the greatest set to these."""
    return ops.minimum(ops.maximum(as_value(t), clip_value_min), clip_value_max)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """t scaled down to a norm where its own is greater."""
    values = as_value(t)
    found = norm(values, axis=axes, keepdims=True)
    return values * (clip_norm / ops.maximum(found, clip_norm))


def global_norm(t_list: Sequence[Any]) -> Any:
    """The norm of all numbers of tensors together."""
    return ops.sqrt(sum(ops.sum(ops.square(as_value(each))) for each in t_list if each is not None))


def clip_by_global_norm(t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None) -> Any:
    """Tensors scaled down so that their norm together is at most this, and what it was."""
    found = global_norm(t_list) if use_norm is None else use_norm
    scale = clip_norm / ops.maximum(found, clip_norm)
    return [None if each is None else as_value(each) * scale for each in t_list], found


TopK = namedtuple("TopK", "values indices")  # names without types, as in TensorFlow
UniqueOf = namedtuple("Unique", "y idx")
UniqueWithCounts = namedtuple("UniqueWithCounts", "y idx count")
Moments = namedtuple("Moments", "mean variance")


def top_k(input: Any, k: Any = 1, sorted: bool = True) -> TopK:
    """The largest numbers along the last axis, and their places."""
    values, places = ops.top_k(as_value(input), int(k), sorted)
    return TopK(values, ops.cast(places, "int32"))


def unique_with_counts(x: Any) -> UniqueWithCounts:
    """The different numbers in the order in which they come, where each stands among them, and how often it comes."""
    array = np.asarray(as_value(x))
    _, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    found = as_value(array[np.sort(first)]), as_value(places[inverse].astype("int32"))
    return UniqueWithCounts(*found, as_value(counts[order].astype("int32")))


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any) -> Any:
    """A tensor with other numbers at places that stand along the last axis."""
    return ops.scatter_update(as_value(tensor), as_value(indices), as_value(updates))


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any) -> Any:
    """A tensor with numbers added at places that stand along the last axis."""
    values = as_value(tensor)
    return values + arrays.scatter_nd(as_value(indices), as_value(updates), values.shape).to(values.dtype)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = "int32"
) -> Any:
    """How often each class (a row) was found as each class (a column)."""
    rows, columns = (as_value(each).long().reshape(-1) for each in (labels, predictions))
    count = int(max(rows.max(), columns.max())) + 1 if num_classes is None else int(num_classes)
    each = torch.ones_like(rows) if weights is None else as_value(weights).reshape(-1)
    found = each.new_zeros(count * count).index_add(0, rows * count + columns, each)
    return ops.cast(found.reshape(count, count), dtype)


def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = "int32") -> Any:
    """How often each whole number comes."""
    found = ops.bincount(as_value(arr), weights, 0 if minlength is None else int(minlength))
    return ops.cast(found if maxlength is None else found[: int(maxlength)], dtype)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular values of matrices; with `compute_uv` the matrices u and v beside them: u s v'."""
    if not compute_uv:
        return ops.svd(as_value(tensor), full_matrices, False)
    u, s, v = ops.svd(as_value(tensor), full_matrices)
    return s, u, ops.swapaxes(v, -1, -2)


def slice_of(input_: Any, begin: Any, size: Any) -> Any:
    """A part of a tensor from a place on; a size of -1 takes what is left."""
    x, starts = as_value(input_), sizes_in(begin)
    cuts = zip(starts, sizes_in(size), strict=True)
    return x[tuple(slice(at, None if length == -1 else at + length) for at, length in cuts)]


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING") -> Any:
    """The numbers in order along an axis."""
    found = ops.sort(as_value(values), axis)
    return ops.flip(found, axis) if direction == "DESCENDING" else found


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False) -> Any:
    """The places of the numbers in order along an axis."""
    found = as_value(values)
    return ops.cast(ops.argsort(-found if direction == "DESCENDING" else found, axis), "int32")


def einsum(equation: str, *inputs: Any, **options: Any) -> Any:
    """Sums of products by a formula: "ij,jk->ik"."""
    return ops.einsum(equation, *map(as_value, inputs))


def add_n(inputs: Sequence[Any]) -> Any:
    """The sum of tensors."""
    first, *others = map(as_value, inputs)
    for each in others:
        first = first + each
    return first


# --- control ----------------------------------------------------------------------------------------------------------


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None) -> Any:
    """The result of one function or another."""
    if isinstance(pred, KerasTensor):
        return OF_BACKEND["cond"](pred, true_fn, false_fn)
    return true_fn() if bool(pred) else false_fn()


def case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False) -> Any:
    """The result of the first function whose condition holds."""
    pairs = pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs
    found = next((function for holds, function in pairs if bool(holds)), default)
    if found is None:
        raise ValueError("tf.case: no condition holds and there is no default.")
    return found()


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None) -> Any:
    """The result of the function of a number, else of the default or the last."""
    known = dict(enumerate(branch_fns)) if not hasattr(branch_fns, "items") else dict(branch_fns)
    known = dict(known.values()) if known and isinstance(next(iter(known.values())), tuple) else known
    return known.get(int(branch_index), default or known[max(known)])()


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
) -> Any:
    """Values changed by a function while a condition holds of them."""
    values = tree.map_structure(as_value, list(loop_vars))
    left = float("inf") if maximum_iterations is None else int(maximum_iterations)
    while left > 0 and bool(cond(*values)):
        found = body(*values)
        values = list(found) if isinstance(found, (list, tuple)) else [found]
        left -= 1
    return values


def map_fn(fn: Any, elems: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """A function of each part along the first axis, and the results stacked."""
    parts = tree.map_structure(as_value, elems)
    if any(isinstance(each, KerasTensor) for each in tree.flatten(parts)):
        return ops.map(fn, parts)
    count = len(tree.flatten(parts)[0])
    found = [fn(tree.map_structure(lambda each, at=at: each[at], parts)) for at in range(count)]
    columns = iter([_stacked(rows) for rows in zip(*map(tree.flatten, found), strict=True)])
    return tree.map_structure(lambda _: next(columns), found[0])


def _stacked(rows: Sequence[Any]) -> Any:
    return (
        StringTensor.of(np.stack(rows))
        if isinstance(rows[0], StringTensor)
        else torch.stack([as_value(each) for each in rows])
    )


def _folded(fn: Any, elems: Any, initializer: Any, reverse: bool) -> list[Any]:
    parts = tree.map_structure(as_value, elems)
    numbers = range(len(tree.flatten(parts)[0]))
    rows = [
        tree.map_structure(lambda each, at=at: each[at], parts) for at in (reversed(numbers) if reverse else numbers)
    ]
    found = [rows.pop(0) if initializer is None else tree.map_structure(as_value, initializer)]
    for row in rows:
        found.append(fn(found[-1], row))
    return found if initializer is None else found[1:]


def scan(fn: Any, elems: Any, initializer: Any = None, *args: Any, reverse: bool = False, **options: Any) -> Any:
    """A function of the result so far and each part along the first axis: all results, stacked."""
    found = _folded(fn, elems, initializer, reverse)
    columns = iter([torch.stack(list(rows)) for rows in zip(*map(tree.flatten, found), strict=True)])
    return tree.map_structure(lambda _: next(columns), found[0])


def foldl(fn: Any, elems: Any, initializer: Any = None, *args: Any, **options: Any) -> Any:
    """A function of the result so far and each part along the first axis: the last result."""
    return _folded(fn, elems, initializer, False)[-1]


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, **options: Any) -> Any:  # noqa: N803
    """A function of tensors, called with them."""
    return _as_types(func(*map(as_value, inp)), Tout)


def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, **options: Any) -> Any:  # noqa: N803
    """A function of arrays, called with the values of tensors; no gradient goes through it."""
    values = [each.numpy() if isinstance(each, StringTensor) else _array(each) for each in map(as_value, inp)]
    return _as_types(func(*values), Tout)


def _array(value: Tensor) -> Any:
    return value.detach().cpu().numpy()[()]


def _as_types(found: Any, types: Any) -> Any:
    if isinstance(types, (list, tuple)):
        results = found if isinstance(found, (list, tuple)) else [found]
        return [converted(each, kind) for each, kind in zip(results, types, strict=True)]
    return found if types is None or found is None else converted(found, types)


class TensorArray:
    """Tensors by numbers: `write(index, value)` returns the array, `stack()` all as one tensor."""

    def __init__(self, dtype: Any = None, size: Any = 0, dynamic_size: Any = None, **options: Any) -> None:
        self.dtype = dtype
        self._values: list[Any] = [None] * int(size or 0)

    def write(self, index: Any, value: Any) -> TensorArray:
        """Set one of them."""
        at = int(index)
        self._values += [None] * (at + 1 - len(self._values))
        self._values[at] = converted(value, self.dtype)
        return self

    def read(self, index: Any) -> Any:
        """One of them."""
        return self._values[int(index)]

    def stack(self) -> Any:
        """All of them along a new first axis; those that were not written are 0."""
        like = next(each for each in self._values if each is not None)
        return ops.stack([torch.zeros_like(like) if each is None else each for each in self._values])

    def concat(self) -> Any:
        """All of them one after another."""
        return ops.concatenate([each for each in self._values if each is not None])

    def unstack(self, value: Any) -> TensorArray:
        """Set all of them to the parts of a tensor."""
        self._values = list(as_value(value))
        return self

    def gather(self, indices: Any) -> Any:
        """Some of them along a new first axis."""
        return ops.stack([self._values[at] for at in sizes_in(indices)])

    def size(self) -> Any:
        """How many there are."""
        return torch.tensor(len(self._values), dtype=torch.int32)


_RANGE = taking("start limit=None delta=1 dtype=None", arrays.range_of)
_MATMUL = taking(
    "a b transpose_a=False transpose_b=False adjoint_a=False adjoint_b=False a_is_sparse=False b_is_sparse=False "
    "output_type=None",
    lambda *given: matmul(*given[:6]) if given[8] is None else ops.cast(matmul(*given[:6]), given[8]),
)
_NORM = taking("tensor ord=euclidean axis=None keepdims=False", norm)
_UNIT = taking("x axis=None epsilon=1e-12", l2_normalize)
_UNIQUE = taking("x out_idx=int32", lambda x, _: UniqueOf(*unique_with_counts(x)[:2]))
_ADDED = taking("inputs", add_n)
_CUMSUM = taking("x axis=0 exclusive=False reverse=False", cumsum)

NAMES: dict[str, Any] = {
    **_from_table(),
    **_from_before(),
    **dict.fromkeys(("add_n", "math.add_n", "math.accumulate_n"), _ADDED),
    **dict.fromkeys(("argmax", "math.argmax"), _place("argmax")),
    **dict.fromkeys(("argmin", "math.argmin"), _place("argmin")),
    **dict.fromkeys(("cumsum", "math.cumsum"), _CUMSUM),
    **dict.fromkeys(("linspace", "lin_space"), taking("start stop num axis=0", linspace)),
    **dict.fromkeys(("matmul", "linalg.matmul"), _MATMUL),
    **dict.fromkeys(("norm", "linalg.norm"), _NORM),
    **dict.fromkeys(("eye", "linalg.eye"), taking("num_rows num_columns=None batch_shape=None dtype=float32", eye)),
    **dict.fromkeys(("einsum", "linalg.einsum"), einsum),
    **dict.fromkeys(("math.l2_normalize", "linalg.l2_normalize"), _UNIT),
    **dict.fromkeys(("linalg.matrix_transpose",), taking("a", lambda a: ops.swapaxes(as_value(a), -1, -2))),
    **dict.fromkeys(("linalg.global_norm",), taking("t_list", global_norm)),
    "TensorArray": TensorArray,
    "argsort": taking("values axis=-1 direction=ASCENDING stable=False", argsort),
    "broadcast_to": taking("input shape", lambda x, shape: ops.broadcast_to(as_value(x), sizes_in(shape))),
    "case": taking("pred_fn_pairs default=None exclusive=False strict=False", case),
    "cast": taking("x dtype", cast),
    "clip_by_global_norm": taking("t_list clip_norm use_norm=None", clip_by_global_norm),
    "clip_by_norm": taking("t clip_norm axes=None", clip_by_norm),
    "clip_by_value": taking("t clip_value_min clip_value_max", clip_by_value),
    "concat": taking("values axis", concat),
    "cond": taking("pred true_fn=None false_fn=None", cond),
    "constant": taking("value dtype=None shape=None", constant),
    "convert_to_tensor": taking("value dtype=None dtype_hint=None", converted),
    "ensure_shape": taking("x shape", ensure_shape),
    "fill": taking("dims value", fill),
    "foldl": foldl,
    "gather": taking("params indices validate_indices=None axis=None batch_dims=0", gather),
    "get_static_value": taking("tensor partial=False", lambda x, _: None if isinstance(x, KerasTensor) else _array(x)),
    "guarantee_const": taking("input", lambda x: x),
    "identity": taking("input", lambda x: ops.copy(as_value(x))),
    "identity_n": taking("input", lambda values: [ops.copy(as_value(each)) for each in values]),
    "linalg.qr": taking(
        "input full_matrices=False", lambda x, full: ops.qr(as_value(x), "complete" if full else "reduced")
    ),
    "linalg.svd": taking("tensor full_matrices=False compute_uv=True", svd),
    "linalg.tensordot": _from_table()["tensordot"],
    "map_fn": map_fn,
    "math.bincount": taking("arr weights=None minlength=None maxlength=None dtype=int32", bincount),
    "math.confusion_matrix": taking("labels predictions num_classes=None weights=None dtype=int32", confusion_matrix),
    "math.multiply_no_nan": taking("x y", lambda x, y: ops.where(ops.equal(as_value(y), 0), 0.0, as_value(x) * y)),
    "math.reduce_euclidean_norm": taking(
        "input_tensor axis=None keepdims=False", lambda x, axis, keeps: norm(x, "euclidean", axis, keeps)
    ),
    "math.top_k": taking("input k=1 sorted=True", top_k),
    "math.xlogy": taking("x y", lambda x, y: torch.special.xlogy(as_value(x), as_value(y))),
    "numpy_function": numpy_function,
    "one_hot": taking("indices depth on_value=None off_value=None axis=None dtype=None", one_hot),
    "ones": _filled(1),
    "ones_like": _like(1),
    "pad": taking("tensor paddings mode=CONSTANT constant_values=0", pad),
    "parallel_stack": taking("values", lambda values: ops.stack([as_value(each) for each in values])),
    "py_function": py_function,
    "range": _RANGE,
    "rank": taking("input", lambda x: torch.tensor(len(as_value(x).shape), dtype=torch.int32)),
    "reshape": taking("tensor shape", reshape),
    "saturate_cast": taking("value dtype", lambda x, dtype: ops.saturate_cast(as_value(x), dtype)),
    "scalar_mul": taking("scalar x", lambda scalar, x: scalar * as_value(x)),
    "scan": scan,
    "shape": taking("input out_type=None", shape_of),
    "shape_n": taking("input out_type=None", lambda values, kind: [shape_of(each, kind) for each in values]),
    "size": taking("input out_type=int32", lambda x, kind: torch.tensor(np.prod(as_value(x).shape, dtype=int)).int()),
    "slice": taking("input_ begin size", slice_of),
    "sort": taking("values axis=-1 direction=ASCENDING", sort),
    "split": taking("value num_or_size_splits axis=0 num=None", split),
    "switch_case": taking("branch_index branch_fns default=None", switch_case),
    "tensor_scatter_nd_add": taking("tensor indices updates", tensor_scatter_nd_add),
    "tensor_scatter_nd_update": taking("tensor indices updates", tensor_scatter_nd_update),
    "tile": taking("input multiples", lambda x, multiples: ops.tile(as_value(x), sizes_in(multiples))),
    "transpose": taking("a perm=None conjugate=False", transpose),
    "unique": _UNIQUE,
    "unique_with_counts": taking("x out_idx=int32", lambda x, _: unique_with_counts(x)),
    "vectorized_map": taking("fn elems fallback_to_while_loop=True", lambda fn, elems, _: map_fn(fn, elems)),
    "where": taking("condition x=None y=None", where),
    "while_loop": taking(
        "cond body loop_vars shape_invariants=None parallel_iterations=None back_prop=True swap_memory=False "
        "maximum_iterations=None",
        while_loop,
    ),
    "zeros": _filled(0),
    "zeros_like": _like(0),
}
