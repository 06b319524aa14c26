"""Tensors in other shapes: joined, cut, repeated, padded, resized."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.keras2.backend.images import first, in_format
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, named_node, node, sizes, tensor, whole
from torchkeras.keras2.backend.settings import normalize_data_format
from torchkeras.keras2.backend.sizes import Shape
from torchkeras.layers.resize import interpolated, repeated
from torchkeras.layers.spatial import torch_padding

Pairs = Sequence[Sequence[int]]


def _is_size(value: Any) -> bool:
    return type(value) is int or isinstance(value, (SymbolicSize, torch.SymInt))


def _are_sizes(parts: Any) -> bool:
    """Whether these are parts of a shape, one of them of what `K.shape` gave."""
    return any(isinstance(part, Shape) for part in parts) and all(
        isinstance(part, (tuple, list)) and all(map(_is_size, part)) for part in parts
    )


def _tensors(parts: Any) -> list[Tensor]:
    """Tensors, arrays and numbers as tensors of the type of the first that is one."""
    like = next((part for part in parts if isinstance(part, Tensor)), None)
    return [tensor(part, like) for part in parts]


@named_node("concatenate")
def _joined(tensors: Any, axis: int = -1) -> Tensor:
    return torch.cat(_tensors(tensors), axis)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Tensors joined along an axis; parts of shapes, one of them of `K.shape`, make a shape.

    >>> concatenate([torch.zeros(2, 3), torch.zeros(2, 1)]).shape
    torch.Size([2, 4])
    """
    if _are_sizes(tensors):
        return Shape(size for part in tensors for size in part)
    return _joined(tensors, axis)


@named_node("stack")
def _stacked(x: Any, axis: int = 0) -> Tensor:
    return torch.stack(_tensors(x), axis)


def stack(x: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis; sizes make a shape.

    >>> stack([torch.zeros(2), torch.ones(2)]).shape
    torch.Size([2, 2])
    """
    if all(map(_is_size, x)):
        return Shape(x)
    return _stacked(x, axis)


@node
def reshape(x: Any, shape: Any) -> Tensor:
    """The values in another shape; one size may be -1, which stands for whatever is left.

    >>> reshape(torch.zeros(2, 6), (-1, 3)).shape
    torch.Size([4, 3])
    """
    return tensor(x).reshape(sizes(shape))


@node
def flatten(x: Any) -> Tensor:
    """All values along one axis.

    >>> flatten(torch.zeros(2, 3)).shape
    torch.Size([6])
    """
    return tensor(x).reshape(-1)


@node
def batch_flatten(x: Any) -> Tensor:
    """The values of each sample along one axis.

    >>> batch_flatten(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """
    x = tensor(x)
    return x.reshape(x.shape[0], prod(x.shape[1:]))


@node
def expand_dims(x: Any, axis: int = -1) -> Tensor:
    """A new axis of size 1.

    >>> expand_dims(torch.zeros(2, 3), 1).shape
    torch.Size([2, 1, 3])
    """
    return tensor(x).unsqueeze(axis)


@node
def squeeze(x: Any, axis: Any) -> Tensor:
    """Without an axis of size 1. Raises ValueError when it is longer.

    >>> squeeze(torch.zeros(2, 1, 3), 1).shape
    torch.Size([2, 3])
    """
    x, axes = tensor(x), [axis] if isinstance(axis, int) else list(axis)
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze takes away axes of size 1; axis {each} of {tuple(x.shape)} is longer.")
    return x.squeeze(tuple(axes))


@node
def repeat(x: Any, n: Any) -> Tensor:
    """Rows repeated along a new axis.

    Shapes:
        (samples, features) -> (samples, n, features)

    >>> repeat(torch.zeros(2, 3), 4).shape
    torch.Size([2, 4, 3])
    """
    x = tensor(x)
    if x.dim() != 2:
        raise ValueError(f"repeat takes a tensor of two axes; found the shape {tuple(x.shape)}.")
    return x.unsqueeze(1).expand(-1, whole(n), -1)


@node
def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Each value repeated along an axis.

    >>> repeat_elements(torch.tensor([1, 2]), 2, 0)
    tensor([1, 1, 2, 2])
    """
    return tensor(x).repeat_interleave(whole(rep), axis)


@node
def tile(x: Any, n: Any) -> Tensor:
    """The whole tensor repeated, `n` times along each axis.

    >>> tile(torch.tensor([1, 2]), 2)
    tensor([1, 2, 1, 2])
    """
    x, counts = tensor(x), sizes(n)
    if len(counts) != x.dim():
        raise ValueError(f"tile needs a number for each of the axes of {tuple(x.shape)}; found {n!r}.")
    return x.tile(counts)


@node
def one_hot(indices: Any, num_classes: Any) -> Tensor:
    """1 at the place of each class number and 0 elsewhere; of a number that is no class only 0, as float32.

    Shapes:
        (...) -> (..., num_classes)

    >>> one_hot(torch.tensor([0, 2]), 3)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    indices = tensor(indices)
    return (indices.unsqueeze(-1) == torch.arange(whole(num_classes), device=indices.device)).float()


@node
def reverse(x: Any, axes: Any) -> Tensor:
    """The values in reverse order along axes.

    >>> reverse(torch.tensor([1, 2, 3]), 0)
    tensor([3, 2, 1])
    """
    return tensor(x).flip([axes] if isinstance(axes, int) else list(axes))


@named_node("slice")
def _cut(x: Any, start: Any, size: Any) -> Tensor:
    start = [0 if isinstance(each, Tensor) and each.is_meta else each for each in start]  # which has no value yet
    x, starts, counts = tensor(x), sizes(start), sizes(size)
    if not len(starts) == len(counts) == x.dim():
        raise ValueError(f"slice needs a start and a size for each axis of {tuple(x.shape)}; found {start}, {size}.")
    ends = (None if count == -1 else begin + count for begin, count in zip(starts, counts, strict=True))
    return x[tuple(map(builtins.slice, starts, ends))]


def slice(x: Any, start: Any, size: Any) -> Any:
    """The part that begins at `start` and has `size` values along each axis; -1 is all that are left.

    >>> slice(torch.arange(6).reshape(2, 3), [0, 1], [2, -1])
    tensor([[1, 2],
            [4, 5]])
    """
    return _cut(x, start, size)


@named_node("arange")
def _counted(start: Any, stop: Any, step: Any, dtype: Any) -> Tensor:
    return torch.arange(start, stop, step, device=config.device()).to(as_type(dtype))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """The numbers from `start` to before `stop`, `step` apart; with one number those from 0 to before it.

    >>> arange(3)
    tensor([0, 1, 2], dtype=torch.int32)
    """
    if stop is None:
        negative = not is_symbolic(start) and start < 0
        start, stop = 0, 0 if negative else start
    return _counted(start, stop, step, dtype)


# --- padding and resizing --------------------------------------------------------------------------------------------


@node
def temporal_padding(x: Any, padding: Sequence[int] = (1, 1)) -> Tensor:
    """Sequences with steps of zeros before and after them.

    Shapes:
        (batch, steps, channels) -> (batch, before + steps + after, channels)

    >>> temporal_padding(torch.ones(1, 2, 1)).flatten()
    tensor([0., 1., 1., 0.])
    """
    return F.pad(tensor(x), (0, 0, *padding))


def _padded(x: Any, padding: Pairs, data_format: str | None) -> Tensor:
    found = normalize_data_format(data_format)
    return in_format(
        F.pad(first(tensor(x), found), torch_padding([(before, after) for before, after in padding])), found
    )


@node
def spatial_2d_padding(x: Any, padding: Pairs = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Images with rows and columns of zeros around them: ((top, bottom), (left, right)).

    >>> spatial_2d_padding(torch.ones(1, 2, 3, 1)).shape
    torch.Size([1, 4, 5, 1])
    """
    return _padded(x, padding, data_format)


@node
def spatial_3d_padding(x: Any, padding: Pairs = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Volumes with zeros around them: a pair (before, after) for each spatial axis.

    >>> spatial_3d_padding(torch.ones(1, 2, 3, 4, 1)).shape
    torch.Size([1, 4, 5, 6, 1])
    """
    return _padded(x, padding, data_format)


@node
def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Tensor:
    """Images made larger: "nearest" repeats values, "bilinear" interpolates as TensorFlow 1 does.

    >>> resize_images(torch.ones(1, 2, 3, 1), 2, 3, "channels_last").shape
    torch.Size([1, 4, 9, 1])
    """
    found = normalize_data_format(data_format)
    resize = {"nearest": repeated, "bilinear": interpolated}.get(interpolation)
    if resize is None:
        raise ValueError(f"interpolation must be 'nearest' or 'bilinear'; found {interpolation!r}.")
    return in_format(resize(first(tensor(x), found), (height_factor, width_factor)), found)


@node
def resize_volumes(x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> Tensor:
    """Volumes made larger: values are repeated.

    >>> resize_volumes(torch.ones(1, 1, 2, 3, 1), 2, 2, 2, "channels_last").shape
    torch.Size([1, 2, 4, 6, 1])
    """
    found = normalize_data_format(data_format)
    return in_format(repeated(first(tensor(x), found), (depth_factor, height_factor, width_factor)), found)
