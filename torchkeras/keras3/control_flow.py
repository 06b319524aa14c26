"""Operations of Keras 3 that call functions, and those that describe tensors: `keras.ops.cond`, `keras.ops.shape`.

They run as Python does: a branch or a loop of values is decided by these values. For symbolic tensors each makes one
node of the graph. There the branches and bodies run once, on `meta`, for the shapes of the results: what they give must
not depend on the branch, or on how often a loop runs.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten

from torchkeras.base.dtypes import dtype_name
from torchkeras.base.nested import Symbolic, TensorSlot, tensors_in
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.building.meta_run import run_on_meta
from torchkeras.engine.functions.function_calls import apply_operation
from torchkeras.tensor_functions.operations.values import is_variable, tensor_of

Function = Callable[..., Any]


# --- nodes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Call:
    """A call of one of these functions as a function of its tensors alone, for a node of the graph."""

    function: Function
    arguments: tuple[Any, Any]  # by position and by name, with a `TensorSlot` in the place of each tensor

    @property
    def __name__(self) -> str:
        return f"keras.ops.{self.function.__name__}"

    def __call__(self, *tensors: Any) -> Any:
        if _is_meta(tensors):  # where the functions may take and make tensors that are not
            found = run_on_meta(nn.Module(), lambda: self._result(tensors), {})
        else:
            found = self._result(tensors)
        if tensors_in(found):
            raise TypeError(
                f"{self.__name__}: a function computes with a symbolic tensor that is none of its arguments. Pass it "
                "as an argument, or put the code into the call of a Layer."
            )
        return found

    def _result(self, tensors: Sequence[Any]) -> Any:
        def put_back(value: Any) -> Any:
            return tensors[value.index] if isinstance(value, TensorSlot) else value

        args, kwargs = tree_map(put_back, self.arguments)
        return _as_tensors(self.function(*args, **kwargs))


def in_graphs(function: Function) -> Function:
    """The function, which makes one node of the graph where there are symbolic tensors among its arguments."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not tensors_in((args, kwargs)):
            return function(*args, **kwargs)
        tensors: list[Any] = []

        def slot(value: Any) -> Any:
            if not (is_tensor(value) or isinstance(value, np.ndarray) or is_variable(value)):
                return value
            tensors.append(_as_tensor(value))
            return TensorSlot(len(tensors) - 1)

        arguments = tree_map(slot, (args, kwargs), is_leaf=is_variable)
        found = apply_operation(Call(function, arguments), tuple(tensors), {})
        return tuple(found) if type(found) is list else found  # a layer makes a list of a tuple

    return call


# --- about tensors ---------------------------------------------------------------------------------------------------


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes of a tensor. Of a symbolic tensor an unknown size is a symbol, which `reshape` and others take."""
    if isinstance(x, Symbolic):
        known: Any = x
        return tuple(known.size(axis) if size is None else size for axis, size in enumerate(known.shape))
    return tuple(x.shape) if hasattr(x, "shape") else tuple(tensor_of(x).shape)


def ndim(x: Any) -> int:
    """The number of axes of a tensor, also of a symbolic one."""
    return len(shape(x))


def dtype(x: Any) -> str:
    """The type of a tensor by its name: 'float32'."""
    found = x.dtype
    return dtype_name(found) if isinstance(found, torch.dtype) else str(found)


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of torch, or a symbolic one."""
    return isinstance(x, (Tensor, Symbolic))


def convert_to_numpy(x: Any) -> np.ndarray:
    """The values as an array of NumPy, in memory of its own where the device has another; numbers and lists of them in
    the type that NumPy has for them. Raises TypeError for a symbolic tensor.
    """
    _refuse_symbols("convert_to_numpy", x)
    if isinstance(x, (list, tuple)):
        return np.array([convert_to_numpy(each) for each in x])
    if not isinstance(x, Tensor) and not is_variable(x):
        return np.array(x)
    found = tensor_of(x).detach()
    if found.dtype is torch.bfloat16:  # which NumPy does not have
        found = found.float()
    return found.cpu().numpy()


# --- branches --------------------------------------------------------------------------------------------------------


@in_graphs
def cond(pred: Any, true_fn: Function, false_fn: Function) -> Any:
    """`true_fn()` if `pred` is true, else `false_fn()`.

    Raises ValueError in a graph where the two give other shapes or types.
    """
    if _is_meta(pred):
        return _alike("cond", "true_fn and false_fn", true_fn(), false_fn())
    if isinstance(pred, Tensor) and is_compiling():
        return torch.cond(pred.bool(), true_fn, false_fn)
    return true_fn() if pred else false_fn()


@in_graphs
def switch(index: Any, branches: Sequence[Function], *operands: Any) -> Any:
    """`branches[index](*operands)`; an index that is too small or too large is the first or the last.

    Raises ValueError in a graph where the branches give other shapes or types.
    """
    if _is_meta(index):
        return _alike("switch", "the branches", *(branch(*operands) for branch in branches))
    if isinstance(index, Tensor) and is_compiling():
        first, *others = branches
        if not others:
            return first(*operands)
        return torch.cond(index <= 0, lambda: first(*operands), lambda: switch(index - 1, others, *operands))
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


# --- loops -----------------------------------------------------------------------------------------------------------


@in_graphs
def while_loop(cond: Function, body: Function, loop_vars: Any, maximum_iterations: int | None = None) -> Any:
    """Replace `loop_vars` by `body(*loop_vars)` as long as `cond(*loop_vars)` is true.

    `maximum_iterations`: how often at most; None for no limit. Raises ValueError in a graph where `body` gives other
    shapes or types than it takes.
    """
    several = isinstance(loop_vars, (list, tuple))
    values = tuple(_as_tensors(loop_vars if several else (loop_vars,)))
    if _is_meta(values):
        values = _alike("while_loop", "loop_vars and body", values, _as_tuple(body(*values)))
        return values if several else values[0]
    left = maximum_iterations
    while (left is None or left > 0) and cond(*values):
        values = _as_tuple(body(*values))
        left = None if left is None else left - 1
    return values if several else values[0]


@in_graphs
def fori_loop(lower: int, upper: int, body_fun: Function, init_val: Any) -> Any:
    """`val = body_fun(i, val)` for each i from `lower` to below `upper`, first with `init_val`.

    Raises ValueError in a graph where `body_fun` gives other shapes or types than it takes.
    """
    value = init_val
    if _is_meta([lower, upper, init_val]):
        return _alike("fori_loop", "init_val and body_fun", value, body_fun(lower, value))
    for index in range(int(lower), int(upper)):
        value = body_fun(index, value)
    return value


@in_graphs
def map(f: Function, xs: Any) -> Any:
    """`f` of each element along the first axis; its results stacked."""

    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        return carry, f(x)

    return scan(step, (), xs)[1]


@in_graphs
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
    carry, elements = _as_tensors(init), _as_tensors(xs)
    count = len(tree_flatten(elements)[0][0]) if length is None else int(length)

    def step(carry: Any, place: int) -> tuple[Any, Any]:
        carry, y = f(carry, tree_map(lambda x: None if x is None else x[place], elements))
        return carry, tree_map(torch.zeros_like, carry) if y is None else y

    if count and _is_meta([carry, elements]):
        found, y = step(carry, 0)
        return _alike("scan", "init and f", carry, found), _stacked([y] * count)
    steps: Any = range(count)
    ys = []
    for place in reversed(steps) if reverse else steps:
        carry, y = step(carry, place)
        ys.append(y)
    return carry, _stacked(ys[::-1] if reverse else ys)


@in_graphs
def associative_scan(f: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The results of `f` over the elements up to each place along an axis: `f(f(e0, e1), e2)` at place 2.

    `f` takes and returns values in the form of `elems`, and must be associative: neighbours are joined in pairs, for
    the whole axis at once. `reverse`: from the last element on. Raises ValueError where tensors have other lengths.
    """
    if not callable(f):
        raise TypeError(f"associative_scan: f must be a function; found {f!r}.")
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


@in_graphs
def vectorized_map(function: Function, elements: Any) -> Any:
    """`function` of each element along the first axis, all at once (`torch.vmap`)."""
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

    return in_graphs(call)


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
    *("shape", "ndim", "dtype", "is_tensor", "convert_to_numpy", "cond", "switch", "while_loop", "fori_loop", "map"),
    *("scan", "associative_scan", "vectorized_map", "vectorize", "custom_gradient"),
)


# --- shared ----------------------------------------------------------------------------------------------------------


def _as_tensors(value: Any) -> Any:
    """Nested values with all arrays and numbers as tensors."""
    return tree_map(_as_tensor, value, is_leaf=is_variable)


def _as_tensor(value: Any) -> Any:
    return value if value is None or isinstance(value, Symbolic) else tensor_of(value)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _is_meta(values: Any) -> bool:
    """Whether the shapes of results are asked for: some tensor has no values."""
    return any(isinstance(each, Tensor) and each.is_meta for each in tree_flatten(values)[0])


def _alike(name: str, what: str, *results: Any) -> Any:
    """The first of results that all have the same form, shapes and types; raises ValueError where they have not."""
    first, *others = (_as_tensors(result) for result in results)
    for other in others:
        if _spec(first) != _spec(other):
            raise ValueError(
                f"{name}: in a graph {what} must give the same shapes and types; found {_spec(first)[0]} and "
                f"{_spec(other)[0]}."
            )
    return first


def _spec(value: Any) -> tuple[list[Any], TreeSpec]:
    tensors, form = tree_flatten(value)
    return [each if each is None else (tuple(each.shape), dtype(each)) for each in tensors], form


def _stacked(found: list[Any]) -> Any:
    """Results of one form, each of their tensors stacked."""
    flat, forms = zip(*builtins.map(tree_flatten, found), strict=True)
    columns = zip(*flat, strict=True)
    return tree_unflatten([torch.stack(list(builtins.map(tensor_of, column))) for column in columns], forms[0])


def _refuse_symbols(name: str, values: Any) -> None:
    """Raise TypeError for symbolic tensors, of which nothing can decide."""
    if tensors_in(values):
        raise TypeError(
            f"keras.ops.{name} needs values, which a symbolic tensor has not: put it into the call of a Layer, or "
            "into a Lambda."
        )
