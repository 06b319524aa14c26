"""Operations of Keras 3 on tensors as such: types, slices, and values put into places (`keras.ops.scatter`)."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_of
from torchkeras.tensor_functions.operations.values import cast as cast_or_keep, integers, rows


def cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` in the type `dtype`."""
    return x.to(dtype_of(dtype))


def convert_to_tensor(x: Tensor, dtype: Any = None, sparse: bool | None = None, ragged: bool | None = None) -> Tensor:
    """`x` as a tensor, in the type `dtype` if one is given. Raises ValueError for `sparse` and `ragged`."""
    for name, value in {"sparse": sparse, "ragged": ragged}.items():
        if value:
            raise ValueError(f"convert_to_tensor: {name}={value!r} is not supported; tensors are dense.")
    return cast_or_keep(x, dtype)


def scatter(indices: Tensor, values: Tensor, shape: Any) -> Tensor:
    """Zeros of a shape, to which each value is added at its place: the indices along the last axis of `indices`."""
    places = indices.reshape(-1, indices.shape[-1]).long()
    shape = tuple(map(int, shape))
    found = values.new_zeros(shape)
    return found.index_put(tuple(places.unbind(1)), values.reshape(-1, *shape[places.shape[1] :]), accumulate=True)


def scatter_update(inputs: Tensor, indices: Tensor, updates: Tensor, reduction: str | None = None) -> Tensor:
    """A copy of `inputs` with each update at its indices.

    `reduction`: None to put it there; "add", "mul", "max" or "min" to combine it with what is there. Raises ValueError
    for another one.
    """
    if reduction not in (None, "add", *_REDUCTIONS):
        raise ValueError(f"scatter_update: reduction must be None, 'add', 'mul', 'max' or 'min'; found {reduction!r}.")
    places, updates = indices.long().unbind(1), updates.to(inputs.dtype)
    if reduction not in _REDUCTIONS:
        return inputs.index_put(tuple(places), updates, accumulate=reduction == "add")
    sizes = inputs.shape[: len(places)]
    row = torch.zeros_like(places[0])
    for place, size in zip(places, sizes, strict=True):
        row = row * size + place.remainder(size)  # a negative index counts from the end
    rows, values = inputs.reshape(prod(sizes), -1), updates.reshape(len(row), -1)
    found = rows.scatter_reduce(0, row.unsqueeze(1).expand(values.shape), values, _REDUCTIONS[reduction])
    return found.reshape(inputs.shape)


_REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin"}


def slice(inputs: Tensor, start_indices: Any, shape: Any) -> Tensor:
    """The part of `inputs` of a shape that begins at these indices; a size of -1 takes all from there on.

    Raises ValueError for -1 where the indices are a tensor.
    """
    sizes = integers(shape)
    if isinstance(start_indices, Tensor):  # whose values a graph may not know
        if -1 in sizes:
            raise ValueError(f"slice: with start_indices in a tensor each size must be given; found {sizes}.")
        for axis, size in enumerate(sizes):
            places = torch.arange(size, device=inputs.device) + start_indices[axis]
            inputs = inputs.index_select(axis, places)
        return inputs
    parts = zip(integers(start_indices), sizes, strict=True)
    return inputs[tuple(builtins.slice(start, None if size == -1 else start + size) for start, size in parts)]


def slice_update(inputs: Tensor, start_indices: Any, updates: Tensor) -> Tensor:
    """A copy of `inputs` with `updates` as the part that begins at these indices."""
    if isinstance(start_indices, Tensor):  # whose values a graph may not know
        places = (torch.arange(size, device=inputs.device) for size in updates.shape)
        grid = torch.meshgrid(*(each + start for each, start in zip(places, start_indices, strict=True)), indexing="ij")
        return inputs.index_put(tuple(each.long() for each in grid), updates.to(inputs.dtype))
    parts = zip(integers(start_indices), updates.shape, strict=True)
    outputs = inputs.clone()
    outputs[tuple(builtins.slice(start, start + size) for start, size in parts)] = updates.to(inputs.dtype)
    return outputs


def stop_gradient(variable: Tensor) -> Tensor:
    """The values of a tensor, through which no gradient goes."""
    return variable.detach()


OPERATIONS = rows(
    functions={
        "cast": cast,
        "convert_to_tensor": convert_to_tensor,
        "scatter": scatter,
        "scatter_update": scatter_update,
        "slice": slice,
        "slice_update": slice_update,
        "stop_gradient": stop_gradient,
    },
)
