"""Operations of Keras 3 on shapes, places and order, and products of tensors: `keras.ops.reshape`, `keras.ops.take`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from string import ascii_letters
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.tensor_functions.keras3 import KERAS3
from torchkeras.tensor_functions.operations.creation import type_of_result
from torchkeras.tensor_functions.operations.values import (
    Tensors,
    as_torch,
    common_type,
    converted,
    floats,
    integers,
    of_any_floats,
    promoted,
    rows,
    tensor_of,
)

Axes = int | Sequence[int]
Where = Any  # in how many parts to split, or before which places


def _place(axis: int, rank: int) -> int:
    """The number of an axis from the front. Raises ValueError if there is none of that number."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} of a tensor of {rank} axes")
    return axis % rank


def _flat(x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and an axis of it; for None the flattened one."""
    return (x.reshape(-1), 0) if axis is None else (x, axis)


# --- shape -----------------------------------------------------------------------------------------------------------


@as_torch(torch.reshape, when="type(newshape) is tuple")
def reshape(x: Tensor, newshape: Axes) -> Tensor:
    """The same values in another shape, one of whose sizes may be -1: what is left for it."""
    try:
        return torch.reshape(x, (newshape,) if isinstance(newshape, int) else tuple(newshape))
    except RuntimeError as error:
        raise ValueError(f"reshape: {error}") from error


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """A tensor repeated along new axes in front and along axes of length 1, so that it has a shape."""
    return torch.broadcast_to(x, tuple(shape))


def expand_dims(x: Tensor, axis: Axes) -> Tensor:
    """A tensor with a new axis of length 1 at this place of the result, or with several."""
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = x.dim() + len(axes)
    for place in sorted(_place(each, rank) for each in axes):
        x = x.unsqueeze(place)
    return x


def squeeze(x: Tensor, axis: Axes | None = None) -> Tensor:
    """A tensor without its axes of length 1; or without those of them that are named."""
    if axis is None:
        return x.squeeze()
    return x.squeeze(axis if isinstance(axis, int) else tuple(axis))


def ndim(x: Tensor) -> int:
    """The number of axes."""
    return x.dim()


def size(x: Tensor) -> Tensor:
    """The number of elements."""
    return torch.tensor(x.numel(), device=x.device)


def view(x: Tensor, dtype: Any = None) -> Tensor:
    """The bits of a tensor as values of another type, in the same memory."""
    return x.view(dtype_of(config.floatx() if dtype is None else dtype))


# --- order of axes and of values -------------------------------------------------------------------------------------


@as_torch(torch.permute, "x, REVERSED[x.dim()]", "axes is None")
def transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """A tensor with its axes in this order, in reverse order by default."""
    return x.permute(tuple(reversed(range(x.dim())) if axes is None else axes))


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
    """A tensor with an axis, or several, at other places; the others keep their order."""
    return torch.moveaxis(x, source, destination)


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """A tensor with two of its axes in each other's place."""
    return torch.swapaxes(x, axis1, axis2)


def flip(x: Tensor, axis: Axes | None = None) -> Tensor:
    """A tensor with its values in reverse order along an axis or several, along all by default."""
    if axis is None:
        axis = range(x.dim())
    return torch.flip(x, (axis,) if isinstance(axis, int) else tuple(axis))


def roll(x: Tensor, shift: Any, axis: Any = None) -> Tensor:
    """A tensor with its values moved along axes, where those that leave at one end come in at the other; with no axis
    along the flattened one.
    """
    if isinstance(shift, int) and isinstance(axis, (list, tuple)):
        shift = (shift,) * len(axis)
    return torch.roll(x, shift, axis)


def rot90(array: Tensor, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """A tensor turned k times by 90 degrees, from the first of two axes towards the second."""
    if array.dim() < 2 or len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"rot90 takes two different axes of a tensor of two or more; found {axes} of {array.dim()}.")
    return torch.rot90(array, k, [_place(axis, array.dim()) for axis in axes])


_NAMES = re.compile(r"\(([^()]*)\)|(\w+)")  # in a pattern of `rearrange`: a group of axes, or one


def _groups(pattern: str) -> list[list[str]]:
    """The axes of one side of a pattern: for each the names of those that are merged in it."""
    return [(group or name).split() for group, name in _NAMES.findall(pattern)]


def _parts(group: Sequence[str], size: int, lengths: Mapping[str, int]) -> dict[str, int]:
    """The lengths of the axes that are merged in one of this size, of which one may be unknown."""
    known = {name: lengths[name] for name in group if name in lengths}
    unknown = [name for name in group if name not in lengths]
    if len(unknown) > 1:
        raise ValueError(f"the lengths of {unknown} are unknown; at most one of a group can be.")
    if unknown:
        known[unknown[0]] = size // (prod(known.values()) or 1)
    if prod(known.values()) != size:
        raise ValueError(f"an axis of length {size} does not consist of axes of the lengths {known}.")
    return known


def rearrange(tensor: Tensor, pattern: str, **axes_lengths: int) -> Tensor:
    """A tensor with its axes in another order, split and merged as a pattern says: "b h w c -> b (h w) c".

    Names in parentheses are axes merged in one. Where such a one is split, the lengths of all but one of its parts are
    given by name.
    """
    before, _, after = pattern.partition("->")
    left, right = _groups(before), _groups(after)
    names = [name for group in left for name in group]
    order = [name for group in right for name in group]
    if len(left) != tensor.dim() or len(set(names)) != len(names) or sorted(names) != sorted(order):
        raise ValueError(f"{pattern!r} does not name each of {tensor.dim()} axes once on both sides.")
    sizes: dict[str, int] = {}
    for group, length in zip(left, tensor.shape, strict=True):
        sizes |= _parts(group, length, axes_lengths if len(group) > 1 else {})
    split_up = tensor.reshape([sizes[name] for name in names]).permute([names.index(name) for name in order])
    return split_up.reshape([prod(sizes[name] for name in group) for group in right])


def _sortable(x: Tensor) -> Tensor:
    return x.to(torch.uint8) if x.dtype is torch.bool else x


def sort(x: Tensor, axis: int | None = -1) -> Tensor:
    """The values in ascending order along an axis; of the flattened tensor for None."""
    x, axis = _flat(x, axis)
    return torch.sort(_sortable(x), dim=axis).values.to(x.dtype)


def argsort(x: Tensor, axis: int | None = -1) -> Tensor:
    """The places of the values in ascending order along an axis, those of equal ones as they stand; of the flattened
    tensor for None.
    """
    x, axis = _flat(x, axis)
    return torch.argsort(_sortable(x), dim=axis, stable=True).to(torch.int32)


def argpartition(x: Tensor, kth: int | Sequence[int], axis: int | None = -1) -> Tensor:
    """The places of the values along an axis in such an order that the k-th smallest is at place k, and no larger one
    before it. They are in ascending order here.
    """
    x, axis = _flat(x, axis)
    length = x.shape[axis]
    if not all(-length <= place < length for place in ([kth] if isinstance(kth, int) else kth)):
        raise ValueError(f"kth must be a place of an axis of length {length}; found {kth}.")
    return argsort(x, axis)


def top_k(x: Tensor, k: int, sorted: bool = True) -> Any:
    """The k largest values along the last axis, in descending order unless `sorted` is false, and their places."""
    return torch.topk(x, int(k), sorted=sorted)


def in_top_k(targets: Tensor, predictions: Tensor, k: int) -> Tensor:
    """For each row of predictions, whether that for the class `targets` is among the k largest."""
    chosen = predictions.take_along_dim(targets.long().unsqueeze(-1), -1)
    return (chosen >= torch.topk(predictions, int(k)).values).any(-1)


def unique(
    x: Tensor,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different values of a tensor, or its different parts along an axis.

    With `return_index` also the place of the first of each, with `return_inverse` for each value the place of it in the
    result, with `return_counts` the number of each. With `size` there are so many: the first ones, or all and
    `fill_value` (0 by default) for the rest, whose indices are 1 and counts 0.
    """
    if not (return_index or return_inverse or return_counts):
        return _sized(torch.unique(x, sorted, dim=axis), size, axis or 0, fill_value or 0)
    values, inverse, counts = torch.unique(x, sorted, return_inverse=True, return_counts=True, dim=axis)
    places = torch.arange(inverse.numel(), device=x.device)
    first = torch.zeros_like(counts).scatter_reduce(0, inverse.flatten(), places, "amin", include_self=False)
    first, counts = _sized(first, size, 0, 1), _sized(counts, size, 0, 0)
    chosen = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    values = _sized(values, size, axis or 0, fill_value or 0)
    return (values, *(each for wanted, each in chosen if wanted))


def _sized(x: Tensor, size: int | None, axis: int, value: Any) -> Tensor:
    """A tensor of a length along an axis: cut off, or with further values."""
    if size is None or size == x.shape[axis]:
        return x
    if size < x.shape[axis]:
        return x.narrow(axis, 0, size)
    shape = list(x.shape)
    shape[axis] = size - shape[axis]
    return torch.cat([x, x.new_full(shape, value)], axis)


# --- joining and splitting -------------------------------------------------------------------------------------------


def append(x1: Tensor, x2: Tensor, axis: int | None = None) -> Tensor:
    """Two tensors joined along an axis; both flattened for None."""
    (x1, place), (x2, _) = _flat(x1, axis), _flat(x2, axis)
    return torch.cat([x1, x2], place)


@as_torch(torch.cat, when="True")
def concatenate(xs: Tensors, axis: int = 0) -> Tensor:
    """Tensors joined along an axis."""
    return torch.cat(list(xs), axis)


def stack(x: Tensors, axis: int = 0) -> Tensor:
    """Tensors of the same shape joined along a new axis."""
    return torch.stack(promoted(*x), axis)


def hstack(xs: Tensors) -> Tensor:
    """Tensors joined along their second axis; vectors along their only one."""
    return torch.hstack(promoted(*xs))


def vstack(xs: Tensors) -> Tensor:
    """Tensors joined along their first axis, vectors as rows."""
    return torch.vstack(promoted(*xs))


def dstack(xs: Tensors) -> Tensor:
    """Tensors joined along their third axis, which those of fewer get."""
    return torch.dstack(promoted(*xs))


def _where(places: Where) -> Any:
    return places if isinstance(places, int) else integers(places)


def split(x: Tensor, indices_or_sections: Where, axis: int = 0) -> list[Tensor]:
    """A tensor in as many equal parts along an axis, or in the parts that begin at these places."""
    where, length = _where(indices_or_sections), x.shape[axis]
    if isinstance(where, int) and length % where:
        raise ValueError(f"an axis of length {length} cannot be split in {where} equal parts.")
    return list(torch.tensor_split(x, where, axis))


def array_split(x: Tensor, indices_or_sections: int, axis: int = 0) -> list[Tensor]:
    """A tensor in as many parts along an axis, the first of which are longer by one where they cannot all be equal."""
    if not isinstance(indices_or_sections, int) or indices_or_sections < 1:
        raise ValueError(f"indices_or_sections must be a number of parts from 1 on; found {indices_or_sections!r}.")
    return list(torch.tensor_split(x, indices_or_sections, axis))


def hsplit(x: Tensor, indices_or_sections: Where) -> list[Tensor]:
    """A tensor in parts along its second axis, a vector along its only one; see `split`."""
    return list(torch.hsplit(x, _where(indices_or_sections)))


def vsplit(x: Tensor, indices_or_sections: Where) -> list[Tensor]:
    """A tensor of two or more axes in parts along the first; see `split`."""
    return list(torch.vsplit(x, _where(indices_or_sections)))


def dsplit(x: Tensor, indices_or_sections: Where) -> list[Tensor]:
    """A tensor of three or more axes in parts along the third; see `split`."""
    return list(torch.dsplit(x, _where(indices_or_sections)))


def unstack(x: Tensor, num: int | None = None, axis: int = 0) -> list[Tensor]:
    """The parts of a tensor at each place of an axis, without it. `num`: how many, which need not be given."""
    return KERAS3["keras3.unstack"](x, num, axis)


def repeat(x: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """A tensor with each value so many times after itself along an axis; flattened for None."""
    x, axis = _flat(x, axis)
    if isinstance(repeats, int):
        return x.repeat_interleave(repeats, axis)
    if isinstance(repeats, Tensor):
        return x.repeat_interleave(repeats.long().to(x.device), axis)
    counts = integers(repeats) * (x.shape[axis] if len(repeats) == 1 else 1)
    tensor = torch.tensor(counts, dtype=torch.int64, device=x.device)
    return x.repeat_interleave(tensor, axis, output_size=sum(counts))


def tile(x: Tensor, repeats: Any) -> Tensor:
    """A tensor as a whole so many times along each axis."""
    return x.tile((repeats,) if isinstance(repeats, int) else tuple(integers(repeats)))


_MODES = {"constant": "constant", "circular": "wrap"} | {m: m for m in ("edge", "reflect", "symmetric", "wrap")}


def pad(x: Tensor, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Tensor:
    """A tensor with further values at both ends of its axes.

    Arguments:
        x: the tensor.
        pad_width: how many before and after each axis, `((1, 2), (0, 3))`; one pair or one number for all.
        mode: "constant" for one value; "edge" for the outermost one; "reflect" for those next to it, in reverse order;
            "symmetric" for the same beginning with it; "wrap" or "circular" for those of the other end.
        constant_values: the value for "constant", 0 by default.
    """
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {sorted(_MODES)}; found {mode!r}.")
    if constant_values is not None and mode != "constant":
        raise ValueError(f"constant_values is for the mode 'constant'; found mode {mode!r}.")
    if not isinstance(pad_width, int) and not isinstance(pad_width[0], int) and len(pad_width) not in (1, x.dim()):
        raise ValueError(f"pad_width has {len(pad_width)} pairs; the tensor has {x.dim()} axes.")
    return KERAS3["keras3.pad"](x, pad_width, _MODES[mode], constant_values)


# --- places ----------------------------------------------------------------------------------------------------------


def get_item(x: Tensor, key: Any) -> Tensor:
    """`x[key]`."""
    return x[key]


def _from_front(indices: Tensor, length: int) -> Tensor:
    indices = indices.long()
    return torch.where(indices < 0, indices + length, indices)


def take(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """The values at these places of an axis, of the flattened tensor for None; -1 is the last one."""
    x, axis = _flat(x, axis)
    axis = _place(axis, x.dim())
    found = x.index_select(axis, _from_front(indices, x.shape[axis]).reshape(-1))
    return found.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def take_along_axis(x: Tensor, indices: Tensor, axis: int | None = None) -> Tensor:
    """At each place the value whose place along an axis `indices` says; both flattened for None."""
    (x, place), (indices, _) = _flat(x, axis), _flat(indices, axis)
    return torch.take_along_dim(x, _from_front(indices, x.shape[place]), place)


def select(condlist: Tensors, choicelist: Tensors, default: Any = 0) -> Tensor:
    """At each place the value of the first choice whose condition is true there, `default` where none is."""
    if not condlist or not choicelist:
        raise ValueError("select takes one or more conditions and choices.")
    found = tensor_of(default, choicelist[0].device)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = torch.where(condition, choice, found)
    return found


def nonzero(x: Tensor) -> Tensor:
    """The places of all values but 0: for each axis a row with the indices."""
    return x.nonzero().T.to(torch.int32)


def unravel_index(indices: Tensor, shape: Axes) -> tuple[Tensor, ...]:
    """The indices along each axis of a shape for places of the flattened tensor."""
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(each.to(type_of_result(indices)) for each in torch.unravel_index(indices, lengths))


def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal of the matrices that two axes make, as the last axis. `offset`: 1 for the one above the main one."""
    if _place(axis1, x.dim()) == _place(axis2, x.dim()):
        raise ValueError(f"axis1 and axis2 must be different axes; found {axis1} and {axis2}.")
    return torch.diagonal(x, offset, axis1, axis2)


def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of a diagonal; see `diagonal`."""
    is_short = not x.is_floating_point() and x.dtype.itemsize < 4
    return diagonal(x, offset, axis1, axis2).sum(-1, dtype=torch.int32 if is_short else x.dtype)


def tril(x: Tensor, k: int = 0) -> Tensor:
    """Matrices with 0 above the k-th diagonal."""
    return torch.tril(x, k)


def triu(x: Tensor, k: int = 0) -> Tensor:
    """Matrices with 0 below the k-th diagonal."""
    return torch.triu(x, k)


def searchsorted(sorted_sequence: Tensor, values: Tensor, side: str = "left") -> Tensor:
    """The place of a sorted vector where each value would be inserted: on the "left" or "right" of equal ones."""
    if sorted_sequence.dim() != 1:
        raise ValueError(f"sorted_sequence must be a vector; found a tensor of shape {tuple(sorted_sequence.shape)}.")
    return torch.searchsorted(*promoted(sorted_sequence, values), side=side, out_int32=True)


def digitize(x: Tensor, bins: Tensor) -> Tensor:
    """The number of bins that begin at or before each value."""
    bounds, values = promoted(bins, _sortable(x))
    return torch.bucketize(values, bounds, right=True, out_int32=True)


def histogram(x: Tensor, bins: int = 10, range: Any = None) -> tuple[Tensor, Tensor]:
    """How many values of a vector lie in each of so many equal parts of a range, and where these begin and end.

    `range`: from where to where, by default from the least value to the largest.
    """
    if not isinstance(bins, int):
        raise TypeError(f"bins must be a whole number; found {bins!r}.")
    if bins < 1 or x.dim() > 1:
        raise ValueError(f"histogram takes a vector and one bin or more; found {x.dim()} axes and bins={bins}.")
    if range and (len(range) != 2 or range[1] < range[0]):
        raise ValueError(f"range must be a pair of numbers in ascending order; found {range}.")
    x = floats(x)
    if range is None and x.numel():
        low, high = torch.aminmax(x)
    else:
        low, high = map(x.new_tensor, range or (0, 1))
    widening = torch.where(low == high, 0.5, 0.0)
    low, high = low - widening, high + widening
    parts = torch.arange(bins + 1, dtype=x.dtype, device=x.device) / bins
    edges = low + (high - low) * parts
    places = (torch.searchsorted(edges, x, right=True) - 1).clamp(max=bins - 1)
    inside = (x >= low) & (x <= high)
    counts = x.new_zeros(bins).index_add(0, places.clamp(min=0), inside.to(x.dtype))
    return counts, edges


def isin(x1: Tensor, x2: Tensor, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each value is among those of `x2`; with `invert`, whether it is not."""
    x1, x2 = promoted(_sortable(x1), _sortable(x2))
    return torch.isin(x1, x2, assume_unique=assume_unique, invert=invert)


def diff(a: Tensor, n: int = 1, axis: int = -1) -> Tensor:
    """The difference of each value and the one before it along an axis, n times."""
    return torch.diff(a, n, axis)


# --- products --------------------------------------------------------------------------------------------------------

# Types in which tensors are multiplied as they are. Those of 64 bits Keras 3 makes ones of 32.
_MULTIPLIED = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.complex64))


def _product_of(function: Callable[..., Tensor], x1: Tensor, x2: Tensor) -> Tensor:
    """A product of two tensors, in the type that Keras 3 has for them together."""
    if x1.dtype is x2.dtype and x1.dtype in _MULTIPLIED:
        return function(x1, x2)
    return _multiplied(function, [x1, x2], type_of_result(x1, x2))


def _multiplied(function: Callable[..., Tensor], tensors: Iterable[Tensor], kind: torch.dtype) -> Tensor:
    """A product in a type. Whole numbers are multiplied in 64 bits; off the CPU, where torch cannot, as float64."""
    tensors = list(tensors)
    computed = kind
    if not (kind.is_floating_point or kind.is_complex):
        computed = torch.int64 if tensors[0].device.type == "cpu" else torch.float64
    return function(*(tensor.to(computed) for tensor in tensors)).to(kind)


@as_torch(torch.matmul)
def matmul(x1: Tensor, x2: Tensor) -> Tensor:
    """The product of matrices, which are the last two axes; of vectors their inner product."""
    if x1.dtype is torch.int8 and x2.dtype is torch.int8:
        return _multiplied(torch.matmul, (x1, x2), torch.int32)
    return _product_of(torch.matmul, x1, x2)


def _dot(x1: Tensor, x2: Tensor) -> Tensor:
    if x1.dim() == 0 or x2.dim() == 0:
        return x1 * x2
    return x1 @ x2 if x2.dim() <= 2 else tensordot(x1, x2, ([-1], [-2]))


def dot(x1: Tensor, x2: Tensor) -> Tensor:
    """The sum of the products along the last axis of `x1` and the last but one (of a vector, the only one) of `x2`."""
    return _product_of(_dot, x1, x2)


def inner(x1: Tensor, x2: Tensor) -> Tensor:
    """The sum of the products along the last axis of both."""
    return _product_of(torch.inner, x1, x2)


def vdot(x1: Tensor, x2: Tensor) -> Tensor:
    """The sum of the products of all values, of the complex conjugates of `x1`."""
    return _product_of(torch.vdot, x1.reshape(-1), x2.reshape(-1))


def outer(x1: Tensor, x2: Tensor) -> Tensor:
    """The product of each value of `x1`, as a row, and each of `x2`, as a column."""
    return torch.outer(x1.reshape(-1), x2.reshape(-1))


def kron(x1: Tensor, x2: Tensor) -> Tensor:
    """Kronecker's product: each value of `x1` times the whole of `x2`, side by side."""
    return torch.kron(x1, x2)


def tensordot(x1: Tensor, x2: Tensor, axes: Any = 2) -> Tensor:
    """The sum of the products along axes: the last so many of `x1` and the first of `x2`, or those of a pair."""
    dims: Any = axes if isinstance(axes, int) else [[a] if isinstance(a, int) else integers(a) for a in axes]
    return _product_of(lambda x, y: torch.tensordot(x, y, dims), x1, x2)


def einsum(subscripts: Any, *operands: Any, **kwargs: Any) -> Tensor:
    """The sum of the products of tensors, by Einstein's convention: `einsum("ij,jk->ik", x, y)`.

    Numbers may stand for the letters, in lists after each tensor and for the result: `einsum(x, [0, 1], y, [1, 2])`.
    """
    for name in kwargs:
        raise TypeError(f"einsum takes no option by name; found {name!r}.")
    if not isinstance(subscripts, str):
        subscripts, operands = _with_letters(subscripts, *operands)
    given = converted({"x": operands}, {"x": "Tensors"})["x"]
    kind = torch.int32 if all(each.dtype is torch.int8 for each in given) else common_type(*given)
    tensors = promoted(*given)
    return _multiplied(lambda *each: torch.einsum(subscripts, *each), tensors, kind)


def _with_letters(*operands: Any) -> tuple[str, tuple[Any, ...]]:
    """Tensors, each with a list of numbers after it, and perhaps a list for the result: as a text, and the tensors."""
    count = len(operands) // 2 * 2
    texts = ["".join("..." if n is Ellipsis else ascii_letters[n] for n in each) for each in operands[1:count:2]]
    result = ["".join("..." if n is Ellipsis else ascii_letters[n] for n in each) for each in operands[count:]]
    return "->".join([",".join(texts), *result]), operands[:count:2]


def cross(x1: Tensor, x2: Tensor, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The cross product of vectors of three numbers; of two, with 0 for the third. If both have two, it is that third
    number of the product alone.

    The axes of the vectors in `x1`, `x2` and the result are `axisa`, `axisb` and `axisc`, or `axis` in all.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = x1.movedim(axisa, -1), x2.movedim(axisb, -1)
    is_flat = x1.shape[-1] == x2.shape[-1] == 2
    x1, x2 = (F.pad(x, (0, 1)) if x.shape[-1] == 2 else x for x in (x1, x2))
    found = _product_of(torch.linalg.cross, *torch.broadcast_tensors(x1, x2))
    return found[..., 2] if is_flat else found.movedim(-1, axisc)


def correlate(x1: Tensor, x2: Tensor, mode: str = "valid") -> Tensor:
    """The sums of the products of two vectors at each shift of the second.

    `mode`: "full" for all shifts where they overlap; "same" for as many in the middle as the longer one has values;
    "valid" for those where the whole of the shorter one overlaps.
    """
    if x1.dim() != 1 or x2.dim() != 1:
        raise ValueError(f"correlate takes vectors; found tensors of {x1.dim()} and {x2.dim()} axes.")
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"mode must be 'valid', 'same' or 'full'; found {mode!r}.")
    kind = of_any_floats(common_type(x1, x2))
    short, long = sorted((len(x1), len(x2)))
    sums = F.conv1d(x1.to(kind)[None], x2.to(kind)[None, None], padding=len(x2) - 1)[0]
    if mode == "full":
        return sums
    if mode == "valid":
        return sums.narrow(0, short - 1, long - short + 1)
    return sums.narrow(0, (short - 1) // 2 if len(x1) == long else short // 2, long)


OPERATIONS = rows(
    unary={"fliplr": torch.fliplr, "flipud": torch.flipud, "ravel": torch.ravel},
    functions={
        each.__name__: each
        for each in (
            *(append, argpartition, argsort, array_split, broadcast_to, concatenate, correlate, cross, diagonal, diff),
            *(digitize, dot, dsplit, dstack, einsum, expand_dims, flip, get_item, histogram, hsplit, hstack, in_top_k),
            *(inner, isin, kron, matmul, moveaxis, ndim, nonzero, outer, pad, rearrange, repeat, reshape, roll, rot90),
            *(searchsorted, select, size, sort, split, squeeze, stack, swapaxes, take, take_along_axis, tensordot),
            *(tile, top_k, trace, transpose, tril, triu, unique, unravel_index, unstack, vdot, view, vsplit, vstack),
        )
    },
)
