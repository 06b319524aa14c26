"""Operations of Keras 3 that call functions, and those that describe tensors: `keras.ops.cond`, `keras.ops.shape`.

They run as Python does: a branch or a loop of values is decided by these values. In a graph put them into a layer.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from torchkeras.base.dtypes import dtype_name
from torchkeras.base.nested import Symbolic, tensors_in
from torchkeras.tensor_functions.operations.values import is_variable, tensor_of

Function = Callable[..., Any]


# --- about tensors ---------------------------------------------------------------------------------------------------


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes of a tensor. Of a symbolic tensor an unknown size is a symbol, which `reshape` and others take."""
    if isinstance(x, Symbolic):
        known: Any = x
        return tuple(known.size(axis) if size is None else size for axis, size in enumerate(known.shape))
    return tuple(x.shape) if hasattr(x, "shape") else tuple(tensor_of(x).shape)


def dtype(x: Any) -> str:
    """The type of a tensor by its name: 'float32'."""
    found = x.dtype
    return dtype_name(found) if isinstance(found, torch.dtype) else str(found)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of torch, or a symbolic one."""
    return isinstance(x, (Tensor, Symbolic))


def convert_to_numpy(x: Any) -> np.ndarray:
    """The values as an array of NumPy, in memory of its own where the device has another. Raises TypeError for a
    symbolic tensor.
    """
    _refuse_symbols("convert_to_numpy", x)
    found = tensor_of(x).detach()
    if found.dtype is torch.bfloat16:  # which NumPy does not have
        found = found.float()
    return found.cpu().numpy()


# --- branches --------------------------------------------------------------------------------------------------------


def cond(pred: Any, true_fn: Function, false_fn: Function) -> Any:
    """`true_fn()` if `pred` is true, else `false_fn()`."""
    _refuse_symbols("cond", pred)
    return true_fn() if pred else false_fn()


def switch(index: Any, branches: Sequence[Function], *operands: Any) -> Any:
    """`branches[index](*operands)`; an index that is too small or too large is the first or the last."""
    _refuse_symbols("switch", index)
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


# --- loops -----------------------------------------------------------------------------------------------------------


def while_loop(cond: Function, body: Function, loop_vars: Any, maximum_iterations: int | None = None) -> Any:
    """Replace `loop_vars` by `body(*loop_vars)` as long as `cond(*loop_vars)` is true.

    `maximum_iterations`: how often at most; None for no limit.
    """
    _refuse_symbols("while_loop", loop_vars)
    several = isinstance(loop_vars, (list, tuple))
    values = tuple(_as_tensors(loop_vars if several else (loop_vars,)))
    left = maximum_iterations
    while (left is None or left > 0) and cond(*values):
        found = body(*values)
        values = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        left = None if left is None else left - 1
    return values if several else values[0]


def fori_loop(lower: int, upper: int, body_fun: Function, init_val: Any) -> Any:
    """`val = body_fun(i, val)` for each i from `lower` to below `upper`, first with `init_val`."""
    _refuse_symbols("fori_loop", [lower, upper])
    value = init_val
    for index in range(int(lower), int(upper)):
        value = body_fun(index, value)
    return value


def map(f: Function, xs: Any) -> Any:
    """`f` of each element along the first axis; its results stacked."""

    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        return carry, f(x)

    return scan(step, (), xs)[1]


def scan(
    f: Function,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` for each x along the first axis of `xs`; returns the last carry and the ys stacked.

    `length`: the number of steps, where there are no `xs`. `reverse`: from the last element to the first. `unroll`:
    changes no result, since torch computes step by step. Raises TypeError if `f` is no function, and ValueError without
    `xs` and `length`, or for an `unroll` that is neither a bool nor an integer above 0.
    """
    if not callable(f):
        raise TypeError(f"scan: f must be a function; found {f!r}.")
    if not isinstance(unroll, bool) and (not isinstance(unroll, int) or unroll < 1):
        raise ValueError(f"scan: unroll must be a bool or an integer above 0; found {unroll!r}.")
    if xs is None and length is None:
        raise ValueError("scan: give xs, or the length.")
    _refuse_symbols("scan", [init, xs])
    carry, elements = _as_tensors(init), _as_tensors(xs)
    count = len(tree_flatten(elements)[0][0]) if length is None else int(length)
    steps: Any = range(count)
    found = []
    for step in reversed(steps) if reverse else steps:
        carry, y = f(carry, tree_map(lambda x, at=step: None if x is None else x[at], elements))
        found.append(tree_map(torch.zeros_like, carry) if y is None else y)
    return carry, _stacked(found[::-1] if reverse else found)


def associative_scan(f: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The results of `f` over the elements up to each place along an axis: `f(f(e0, e1), e2)` at place 2.

    `f` takes and returns values in the form of `elems`, and must be associative: neighbours are joined in pairs, for
    the whole axis at once. `reverse`: from the last element on. Raises ValueError where tensors have other lengths.
    """
    if not callable(f):
        raise TypeError(f"associative_scan: f must be a function; found {f!r}.")
    _refuse_symbols("associative_scan", elems)
    tensors, form = tree_flatten(_as_tensors(elems))
    lengths = {tensor.shape[axis] for tensor in tensors}
    if len(lengths) != 1:
        raise ValueError(
            f"associative_scan: all elems must have one length along axis {axis}; found {sorted(lengths)}."
        )

    def joined(left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
        return tree_flatten(f(tree_unflatten(left, form), tree_unflatten(right, form)))[0]

    moved = [_along_first(tensor, axis, reverse) for tensor in tensors]
    found = _prefixes(joined, moved)
    back = [(tensor.flip(0) if reverse else tensor).movedim(0, axis) for tensor in found]
    return tree_unflatten(back, form)


def _along_first(tensor: Tensor, axis: int, reverse: bool) -> Tensor:
    moved = tensor.movedim(axis, 0)
    return moved.flip(0) if reverse else moved


def _prefixes(joined: Function, tensors: list[Tensor]) -> list[Tensor]:
    """All prefixes along the first axis: of pairs, by this function itself, then of the places between."""
    count = len(tensors[0])
    if count < 2:
        return tensors
    pairs = joined([x[: count - 1 : 2] for x in tensors], [x[1::2] for x in tensors])
    odd = _prefixes(joined, pairs)
    last = (count - 1) // 2  # how many even places follow the first
    even = joined([x[:last] for x in odd], [x[2::2] for x in tensors]) if last else [x[:0] for x in odd]
    return [_alternating(torch.cat([x[:1], e]), o) for x, e, o in zip(tensors, even, odd, strict=True)]


def _alternating(first: Tensor, second: Tensor) -> Tensor:
    """The elements of both in turns; the first has as many, or one more."""
    found = first.new_empty((len(first) + len(second), *first.shape[1:]))
    places = torch.arange(len(found), device=found.device)
    found = found.index_copy(0, places[::2], first)
    return found.index_copy(0, places[1::2], second)


# --- functions of functions ------------------------------------------------------------------------------------------


def vectorized_map(function: Function, elements: Any) -> Any:
    """`function` of each element along the first axis, all at once (`torch.vmap`)."""
    _refuse_symbols("vectorized_map", elements)
    return torch.vmap(function)(_as_tensors(elements))


def vectorize(pyfunc: Function, *, excluded: Any = None, signature: str | None = None) -> Function:
    """A function that applies `pyfunc` to each element of its arguments, which are broadcast against each other.

    `excluded`: the numbers and names of arguments that are passed as they are. `signature`: the axes that a call of
    `pyfunc` takes and gives, as in `numpy.vectorize`: "(n),(n)->()". Raises TypeError if `pyfunc` is no function.
    """
    if not callable(pyfunc):
        raise TypeError(f"vectorize: pyfunc must be a function; found {pyfunc!r}.")
    left_out = set(excluded or ())
    takes, _ = _axes_in(signature)

    def call(*args: Any, **kwargs: Any) -> Any:
        _refuse_symbols("vectorize", [args, kwargs])
        places = [number for number in range(len(args)) if number not in left_out]
        names = [name for name in kwargs if name not in left_out]
        tensors = [tensor_of(args[number]) for number in places] + [tensor_of(kwargs[name]) for name in names]

        def apply(*elements: Tensor) -> Any:
            given, named = list(args), dict(kwargs)
            for number, element in zip(places, elements, strict=False):
                given[number] = element
            named.update(zip(names, elements[len(places) :], strict=True))
            return pyfunc(*given, **named)

        return _over_all(apply, tensors, takes or [0] * len(tensors))

    return call


def _axes_in(signature: str | None) -> tuple[list[int], list[int]]:
    """How many axes each argument and each result of a signature has."""
    if signature is None:
        return [], []
    sides = signature.replace(" ", "").split("->")
    if len(sides) != 2:
        raise ValueError(f"vectorize: a signature is like '(n),(n)->()'; found {signature!r}.")
    taken, given = (
        [len([n for n in part.strip("()").split(",") if n]) for part in side.split("),(")] for side in sides
    )
    return taken, given


def _over_all(function: Function, tensors: list[Tensor], taken: list[int]) -> Any:
    """`function` over the axes before those that it takes, broadcast, one `torch.vmap` for each axis."""
    loops = torch.broadcast_shapes(*(x.shape[: x.dim() - k] for x, k in zip(tensors, taken, strict=True)))
    spread = [x.expand(*loops, *x.shape[x.dim() - k :]) for x, k in zip(tensors, taken, strict=True)]
    for _ in loops:
        function = torch.vmap(function)
    return function(*spread)


def custom_gradient(f: Function) -> Function:
    """A function with a gradient of its own: `f(*args)` returns (outputs, gradient).

    `gradient(*args, upstream=...)`, or `gradient(upstream)`, returns the gradients of the arguments; `upstream` is that
    of the output, or a tuple for several.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        _refuse_symbols("custom_gradient", [args, kwargs])
        return _WithGradient.apply(f, kwargs, *_as_tensors(args))

    return call


class _WithGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, f: Function, kwargs: dict[str, Any], *args: Any) -> Any:
        outputs, ctx.gradient = f(*args, **kwargs)
        ctx.save_for_backward(*args)
        return outputs

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        given = upstream[0] if len(upstream) == 1 else upstream
        try:
            bound = inspect.signature(ctx.gradient).bind(*ctx.saved_tensors, upstream=given)
        except TypeError:  # as on TensorFlow: a function of `upstream` alone
            bound = inspect.signature(ctx.gradient).bind(given)
        found = ctx.gradient(*bound.args, **bound.kwargs)
        return (None, None, *(found if isinstance(found, (list, tuple)) else (found,)))


NAMES = (
    *("shape", "dtype", "is_tensor", "convert_to_numpy", "cond", "switch", "while_loop", "fori_loop", "map", "scan"),
    *("associative_scan", "vectorized_map", "vectorize", "custom_gradient"),
)


# --- shared ----------------------------------------------------------------------------------------------------------


def _as_tensors(value: Any) -> Any:
    """Nested values with all arrays and numbers as tensors."""
    return tree_map(lambda each: each if each is None else tensor_of(each), value, is_leaf=is_variable)


def _stacked(found: list[Any]) -> Any:
    """Results of one form, each of their tensors stacked."""
    flat, forms = zip(*builtins.map(tree_flatten, found), strict=True)
    columns = zip(*flat, strict=True)
    return tree_unflatten([torch.stack(list(builtins.map(tensor_of, column))) for column in columns], forms[0])


def _refuse_symbols(name: str, values: Any) -> None:
    """Raise TypeError for symbolic tensors, of which nothing can decide."""
    if next(tensors_in(values), None) is not None:
        raise TypeError(
            f"keras.ops.{name} needs values, which a symbolic tensor has not: put it into the call of a Layer, or "
            "into a Lambda."
        )
