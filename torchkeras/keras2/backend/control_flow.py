"""Choices and loops: `switch`, `map_fn`, `foldl`, `foldr`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, named_node, pair, tensor
from torchkeras.keras2.backend.phase import in_train_phase, is_phase, value_of

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
    """The elements along the first axis; of several tensors, tuples of theirs, and of an empty list an empty one."""
    if isinstance(elems, (list, tuple)) and any(isinstance(part, Tensor) for part in elems):
        parts = [_elements(part) if len(part) else None for part in elems]
        count = len(next(part for part in parts if part is not None))
        return list(zip(*([[]] * count if part is None else part for part in parts), strict=True))
    return list(tensor(elems).unbind(0))


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors in nested lists and tuples."""
    several = value if isinstance(value, (list, tuple)) else ()
    return [value] if isinstance(value, Tensor) else [found for part in several for found in tensors_of(part)]


def map_fn(fn: Step, elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """The results of `fn` for each element along the first axis, stacked; `dtype` casts them.

    Where `fn` gives several tensors it is a list, and `dtype` may be one, too.

    >>> map_fn(square, torch.tensor([1.0, 2.0]))
    tensor([1., 4.])
    """

    def run(elems: Any) -> Any:
        elements = _elements(elems)
        first = elements[:1]
        if any(part.is_meta for part in tensors_of(first)):
            results = [fn(*first)] * len(elements)  # one shape is that of all
        else:
            results = [fn(each) for each in elements]
        if not isinstance(results[0], (list, tuple)):
            return _stacked(results, dtype)
        kinds = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(results[0])
        return [_stacked(each, kind) for each, kind in zip(zip(*results, strict=True), kinds, strict=True)]

    return _looped(name or "map_fn", run, elems)


def _stacked(results: Iterable[Any], dtype: Any) -> Tensor:
    found = torch.stack([tensor(each) for each in results])
    return found if dtype is None else found.to(as_type(dtype))


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
