"""`tf.while_loop`, `tf.TensorArray` and `tf.scan`: loops, which torch simply runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, tensor


class TensorArray:
    """A list of tensors; `write` and `unstack` give the array itself.

    Arguments:
        dtype (name or type): the type of the tensors.
        size (number, default 0): how many there are at first; it grows.
    """

    def __init__(self, dtype: Any, size: Any = 0, **options: Any) -> None:
        self._dtype, self._parts = as_type(dtype), {}
        self._least = int(size)

    def write(self, index: Any, value: Any) -> TensorArray:
        """Put a tensor in a place."""
        self._parts[int(index)] = tensor(value).to(self._dtype)
        return self

    def read(self, index: Any) -> Tensor:
        """The tensor in a place."""
        return self._parts[int(index)]

    def unstack(self, value: Any) -> TensorArray:
        """Put the parts of a tensor along its first axis in the places from 0 on."""
        for index, part in enumerate(tensor(value).unbind(0)):
            self.write(index, part)
        return self

    def stack(self) -> Tensor:
        """All tensors along a new first axis; a place that was never written is zeros."""
        blank = torch.zeros_like(next(iter(self._parts.values())))
        return torch.stack([self._parts.get(index, blank) for index in range(self.size())])

    def concat(self) -> Tensor:
        """All tensors along their first axis."""
        return torch.cat([self._parts[index] for index in sorted(self._parts)])

    def size(self) -> int:
        """How many places there are."""
        return max(self._least, max(self._parts, default=-1) + 1)


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, *args: Any, **options: Any) -> Any:
    """`body` of the values, again while `cond` of them holds. Raises TypeError for symbolic values.

    In a `call`, a Lambda or a loss tensors have values.
    """
    if is_symbolic(loop_vars):
        raise TypeError("tf.while_loop runs on tensors with values: put it in a Lambda or in the call of a layer.")
    values = list(loop_vars)
    while bool(cond(*values)):
        values = as_list(body(*values))
        values = list(values[0]) if len(values) == 1 and isinstance(values[0], tuple) else values
    return unpacked(values) if len(values) == 1 else values


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, **options: Any) -> Any:
    """The results of `fn(last result, element)` along the first axis, stacked."""
    if is_symbolic([elems, initializer]):
        return as_node(
            "scan", lambda given: scan(fn, given[0], given[1] if len(given) > 1 else None), [elems, initializer]
        )
    several = isinstance(elems, (tuple, list))
    steps = zip(*(tensor(each).unbind(0) for each in elems), strict=True) if several else tensor(elems).unbind(0)
    found, state = [], initializer
    for step in steps:
        given = type(elems)(step) if several else step
        state = given if state is None else fn(state, given)
        found.append(state)
    if isinstance(found[0], (tuple, list)):
        return type(found[0])(torch.stack(list(each)) for each in zip(*found, strict=True))
    return torch.stack(found)
