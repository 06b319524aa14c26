"""Tensors computed from weights outside of a layer, and then used in a graph, a loss or a layer.

In Keras 2 `K.transpose(layer.kernel)` is part of the graph, so it follows the weights. Here a function of the backend
computes at once. Its result for weights alone is an `Expression`: a tensor that is computed again, from the current
weights, at each use. A view of a weight, such as `layer.kernel.T`, becomes one in a graph. Anything else that torch
computes from weights is an ordinary tensor, whose values stay. Where code would go on using such a tensor, an error
says how to write it instead.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from operator import attrgetter
from types import FunctionType
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from torchkeras.base.nested import Symbolic
from torchkeras.base.python import attributes_of, installed, used_by
from torchkeras.base.rules import PLAIN
from torchkeras.base.tracing import traced
from torchkeras.engine.users_code import CODE
from torchkeras.engine.weights.weight import Value, Variable, order_of

CONSTANT = "_is_constant"  # an attribute of what `K.constant` makes
DEPTH = 3  # how far lists in lists, and functions that call functions, are followed
IN_PLACE = re.compile(r".*[^_]_|__setitem__|__set__")  # the names of functions that change a tensor in place
INSTEAD = (
    "compute it where it is used, in a Lambda or a layer's call; as a loss give add_loss(lambda: ...); or compute it "
    "by functions of keras.backend alone, such as K.transpose(layer.kernel)."
)


class _Computing(threading.local):
    """`now`: whether an expression is being computed. The steps of one are plain tensors."""

    def __init__(self) -> None:
        self.now = False


_COMPUTING = _Computing()


class Expression(Tensor):
    """A tensor that was computed from weights alone, and is computed again from their current values at each use."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, Symbolic) for kind in types):
            return NotImplemented
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if IN_PLACE.fullmatch(name):
            raise TypeError(
                f"{name}: a tensor of shape {tuple(Tensor.size(value_now(args[0])))} that is computed from weights "
                "cannot be changed in place: set the weights."
            )
        args_now, kwargs_now = value_now((args, kwargs))
        found = func(*args_now, **kwargs_now)
        if func is Tensor.as_subclass:
            return found
        return recorded(func, args, kwargs, found)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        memo[id(self)] = found = _again(*deepcopy(vars(self)["_recipe"], memo))
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _again, vars(self)["_recipe"]


def recorded(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], found: Any) -> Any:
    """The result of a function, as an `Expression` if it was computed from weights alone, outside of a layer's code."""
    if CODE.owner is not None or _COMPUTING.now or not isinstance(found, (Tensor, tuple, list)) or traced():
        return found
    if not _are_of_weights(args, kwargs):
        return found
    live = tree_map_only(Tensor, _live, (args, dict(kwargs)))
    if isinstance(found, Tensor):
        return _as_expression(found, (function, *live, None))
    if any(not isinstance(each, Tensor) for each in found) or type(found) not in (tuple, list):
        return found
    return type(found)(_as_expression(each, (function, *live, place)) for place, each in enumerate(found))


def following(variable: Variable) -> Tensor:
    """The expression that is the value of a variable: a graph reads it at each use, and does not own the variable."""
    return _as_expression(variable.array.detach(), (attrgetter("array"), (variable,), {}, None))


def _are_of_weights(args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Whether the arguments of a function are weights, or computed from weights alone."""
    tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, (Tensor, Variable))]
    return all(map(_is_known, tensors)) and any(map(_is_of_weights, tensors))


def _again(function: Any, args: Any, kwargs: Any, place: int | None) -> Tensor:
    recipe = function, args, kwargs, place
    return _as_expression(_computed(recipe, {}), recipe)


def _as_expression(found: Tensor, recipe: Any) -> Tensor:
    """A tensor as the expression with this recipe; one on `meta`, or of another class, as it is."""
    if found.is_meta or type(found) not in (Tensor, Value):
        return found
    expression = found.detach().as_subclass(Expression)
    vars(expression)["_recipe"] = recipe
    return expression


def value_now(value: Any) -> Any:
    """A value, with each of its expressions computed once from the current weights."""
    return _value_now(value, {})


def _value_now(value: Any, known: dict[int, Any]) -> Any:
    """`known`: what is computed already, by the `id` of its expression. An expression may be a part of others."""

    def now(expression: Expression) -> Any:
        if id(expression) not in known:
            known[id(expression)] = _computed(vars(expression)["_recipe"], known)
        return known[id(expression)]

    return tree_map_only(Expression, now, value)


def _computed(recipe: Any, known: dict[int, Any]) -> Any:
    function, args, kwargs, place = recipe
    args, kwargs = _value_now((args, kwargs), known)
    before, _COMPUTING.now = _COMPUTING.now, True
    try:
        found = function(*args, **kwargs)
    finally:
        _COMPUTING.now = before
    return found if place is None else found[place]


def _is_of_weights(value: Any) -> bool:
    return isinstance(value, (Variable, nn.Parameter, Expression)) or _is_view(value)


def _is_known(value: Any) -> bool:
    return _is_of_weights(value) or CONSTANT in vars(value)


def _is_view(tensor: Tensor) -> bool:
    """Whether a tensor shares the memory of a weight, as `layer.kernel` and `layer.kernel.T` do."""
    return tensor.requires_grad and not tensor.is_leaf and isinstance(tensor._base, nn.Parameter)


def expression_of(tensor: Tensor) -> Tensor | None:
    """An expression itself, or the expression for a view of a weight; None for any other tensor."""
    found = _live(tensor)
    return found if isinstance(found, Expression) else None


def _live(tensor: Tensor) -> Any:
    """The expression for a view of a weight, which follows the weight; any other tensor as it is."""
    if isinstance(tensor, (Expression, nn.Parameter)) or not _is_view(tensor):
        return tensor
    base: Any = tensor._base
    if base.dtype is not tensor.dtype or base.is_meta:
        return tensor
    layout = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
    return _as_expression(tensor, (_viewed, (base, base.shape, base.stride(), *layout), {}, None))


def _viewed(base: Tensor, shape: Any, stride: Any, *layout: Any) -> Tensor:
    if base.shape != shape or base.stride() != stride:
        raise RuntimeError(
            f"a view of a weight of shape {tuple(shape)} was taken before the weight's memory was laid out in another "
            f"way: {INSTEAD}"
        )
    return base.as_strided(*layout)


def whole_parameter(tensor: Tensor) -> tuple[nn.Parameter, tuple[int, ...]] | None:
    """The parameter that a tensor is, or is a view of, and the order of its axes; None if it is no whole one."""
    base = tensor if isinstance(tensor, nn.Parameter) else tensor._base
    if not isinstance(base, nn.Parameter) or base.is_meta or tensor.dtype is not base.dtype:
        return None
    if tensor.storage_offset() != base.storage_offset() or tensor.numel() != base.numel():
        return None
    order = order_of(tensor, base)
    return None if order is None else (base, order)


# --- ordinary tensors that torch computed from weights ----------------------------------------------------------------


def is_frozen(tensor: Tensor) -> bool:
    """Whether torch computed a tensor from weights, so that it keeps their values of that moment."""
    if not tensor.requires_grad or isinstance(tensor, Expression) or _is_view(tensor):
        return False
    pending, seen = [tensor.grad_fn], {None}
    while pending:
        node: Any = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(getattr(node, "variable", None), nn.Parameter):
            return True
        pending += [before for before, _ in node.next_functions]
    return False


def refuse_frozen(what: str, values: Mapping[Any, Any]) -> None:
    """Raise ValueError, in the name of `what`, if a tensor among the values, or one that they use, is frozen."""
    for path, tensor in _tensors_in(values, DEPTH):
        if is_frozen(tensor):
            raise ValueError(f"{what}: {path!r} {frozen(tensor)}")


def frozen(tensor: Tensor) -> str:
    """The text of an error about a tensor that was computed from weights."""
    return (
        f"is a tensor of shape {tuple(tensor.shape)} that torch computed from weights, and would keep their values of "
        f"that moment: {INSTEAD}"
    )


def _tensors_in(value: Any, depth: int, *path: str) -> Iterator[tuple[str, Tensor]]:
    """(path, tensor) of each tensor that is a value, a part of it, or used by it."""
    if isinstance(value, Tensor):
        yield ".".join(path), value
    elif depth > 0:
        for name, item in _items(value):
            if not isinstance(item, PLAIN):
                yield from _tensors_in(item, depth - 1, *path, str(name))


def _items(value: Any) -> Any:
    """(name, value) of what a function uses, a collection holds, or an object of a user's class has as attributes."""
    if isinstance(value, FunctionType):
        return used_by(value).items()
    if isinstance(value, partial):
        return [*_items(value.func), *enumerate(value.args), *value.keywords.items()]
    if isinstance(value, Mapping):
        return dict(value).items()
    if isinstance(value, (list, tuple)):
        return enumerate(tuple(value))
    # Modules look at their own attributes.
    if isinstance(value, (nn.Module, type)) or installed(type(value).__module__):
        return ()
    return attributes_of(value).items()
