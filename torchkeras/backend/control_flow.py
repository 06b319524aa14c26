"""Choices and loops: `switch`, `map_fn`, `foldl`, `foldr`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchkeras.backend.lambdas import as_node
from torchkeras.backend.nodes import as_type, is_symbolic, named_node, pair, tensor
from torchkeras.backend.phase import in_train_phase, is_phase, value_of

Step = Callable[..., Any]


@named_node("switch")
def chosen(condition: Any, then: Any, other: Any) -> Tensor:
    """The one of two tensors where the condition holds, else the other; one without axes stands for all values."""
    condition = tensor(condition).bool()
    then, other = pair(then, other)
    if not (then.dim() and other.dim()):
        then, other = torch.broadcast_tensors(then, other)
    if condition.dim() > then.dim():
        raise ValueError(
            f"the condition must have no more axes than what it chooses; found {tuple(condition.shape)} for "
            f"{tuple(then.shape)}."
        )
    if then.shape != other.shape:
        raise ValueError(f"both values must have one shape; found {tuple(then.shape)} and {tuple(other.shape)}.")
    return torch.where(condition.reshape(*condition.shape, *[1] * (then.dim() - condition.dim())), then, other)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """The one where `condition` is not 0, else the other: tensors of one shape, or functions that give one.

    A condition with fewer axes holds for all values along the others. With a condition without axes that has a value,
    only the function that is chosen is called.

    >>> switch(constant([1.0, 0.0]), constant([1.0, 2.0]), constant([3.0, 4.0]))
    tensor([1., 4.])
    """
    if is_phase(condition):
        return in_train_phase(then_expression, else_expression)
    if not is_symbolic(condition):
        condition = tensor(condition)
        if not (condition.dim() or condition.is_meta):
            found = value_of(then_expression if condition else else_expression)
            return found if is_symbolic(found) else tensor(found)
    return chosen(condition, value_of(then_expression), value_of(else_expression))


# --- loops -----------------------------------------------------------------------------------------------------------


def _elements(elems: Any) -> list[Any]:
    """The elements along the first axis; of several tensors, tuples of theirs."""
    if isinstance(elems, (list, tuple)) and any(isinstance(part, Tensor) for part in elems):
        return list(zip(*(tensor(part).unbind(0) for part in elems), strict=True))
    return list(tensor(elems).unbind(0))


def map_fn(fn: Step, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """The results of `fn` for each element along the first axis, stacked; `dtype` casts them.

    >>> map_fn(square, torch.tensor([1.0, 2.0]))
    tensor([1., 4.])
    """

    def run(elems: Any) -> Tensor:
        elements = _elements(elems)
        first = elements[:1]
        if any(part.is_meta for each in first for part in (each if isinstance(each, tuple) else (each,))):
            found = torch.stack([tensor(fn(*first))] * len(elements))  # one shape is that of all
        else:
            found = torch.stack([tensor(fn(each)) for each in elements])
        return found if dtype is None else found.to(as_type(dtype))

    return _looped(name or "map_fn", run, elems)


def foldl(fn: Step, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """fn(fn(fn(initializer, first), second), ...); without `initializer` it begins with the first element.

    >>> foldl(lambda total, each: total * 10 + each, torch.tensor([1, 2, 3]))
    tensor(123)
    """
    return _folded(fn, elems, initializer, name or "foldl", backwards=False)


def foldr(fn: Step, elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """As `foldl`, from the last element to the first.

    >>> foldr(lambda total, each: total * 10 + each, torch.tensor([1, 2, 3]))
    tensor(321)
    """
    return _folded(fn, elems, initializer, name or "foldr", backwards=True)


def _folded(fn: Step, elems: Any, initializer: Any, name: str, backwards: bool) -> Any:
    def run(given: Any) -> Any:
        elems, found = given
        left = _elements(elems)
        left = left[::-1] if backwards else left
        if found is None:
            found, *left = left
        for each in left:
            found = fn(found, each)
        return found

    return _looped(name, run, (elems, initializer))


def _looped(name: str, run: Callable[[Any], Any], given: Any) -> Any:
    return as_node(name, run, given) if is_symbolic(given) else run(given)
