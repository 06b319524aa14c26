"""A batch as its loader made it, of any structure: nested lists, dicts, tuples of tensors, objects with `.to`."""

from __future__ import annotations

import copy
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import as_tensor

KINDS = "biufc"  # of NumPy's arrays: those that a tensor can hold
ARRAYS = (Tensor, np.ndarray)


def mapped(data: Any, change: Callable[[Tensor], Tensor], device: torch.device | None) -> Any:
    """The same structure with each tensor changed, to any depth. NumPy's arrays of numbers become tensors.

    An object that has `.to(device)`, such as a TensorDict or a BatchEncoding, moves itself, unless `device` is None;
    anything without tensors stays as it is. Keys, order, and the classes of dicts and named tuples stay.
    """

    if isinstance(data, ARRAYS):
        return _mapped_array(data, change)
    move = getattr(data, "to", None)
    if callable(move):
        return data if device is None else move(device)
    if isinstance(data, Mapping):
        return _with_items(data, {key: mapped(item, change, device) for key, item in data.items()})
    if isinstance(data, list):
        return [mapped(item, change, device) for item in data]
    if isinstance(data, tuple):
        return _like(data, [mapped(item, change, device) for item in data])
    return data


def _mapped_array(array: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(array, np.ndarray) and array.dtype.kind not in KINDS:
        return array  # of strings or objects
    if isinstance(array, np.ndarray):
        array = as_tensor(np.array(array, array.dtype.newbyteorder("="), order="C"))
    return change(array)


def copied(data: Any) -> Any:
    """The same structure with a copy of each array and tensor, whose memory nobody else writes to."""
    if isinstance(data, ARRAYS):
        return data.clone() if isinstance(data, Tensor) else data.copy()
    if isinstance(data, (dict, UserDict)):
        return _with_items(data, {key: copied(item) for key, item in data.items()})
    if type(data) in (list, tuple) or hasattr(data, "_fields"):
        return _like(data, map(copied, data))
    return data


def _like(values: Any, items: Iterable[Any]) -> Any:
    """These items in a list or tuple of the class of `values`; a named tuple takes them one by one."""
    if hasattr(values, "_fields"):
        return type(values)(*items)
    return type(values)(items)


def _with_items(mapping: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    if type(mapping) is dict:
        return items
    clone: Any = copy.copy(mapping)
    clone.update(items)
    return clone


def tensors_in(data: Any) -> list[Tensor]:
    """All tensors of a batch, in its order."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    mapped(data, keep, None)
    return found


def samples_in(data: Any) -> int:
    """The number of samples of a batch: the first axis of its first tensor, or the items of a list with one a sample.

    So a list or tuple `(images, targets)` of lists, with images of several sizes or dicts for targets, has as many as
    its first list. 1 where it is not known.
    """
    if isinstance(data, Tensor):
        return len(data) if data.dim() else 1
    if isinstance(data, Mapping):
        return samples_in(next(iter(data.values()))) if data else 1
    if isinstance(data, (list, tuple)) and data:
        return _samples_in_list(data)
    return 1


def _samples_in_list(data: Sequence[Any]) -> int:
    lists = [part for part in data if isinstance(part, (list, tuple))]
    inside = list(chain.from_iterable(lists))
    if inside and not _are_whole(inside):
        return len(lists[0])
    if all(isinstance(part, Mapping) for part in data):
        return len(data)
    return samples_in(data[0])


def _are_whole(items: Iterable[Any]) -> bool:
    """Whether these are tensors of one number of samples, rather than one sample each."""
    lengths = {len(item) if isinstance(item, Tensor) and item.dim() else None for item in items}
    return len(lengths) == 1 and None not in lengths


def rows_of(data: Any, rows: slice, samples: int) -> Any:
    """These rows of a batch of so many samples: of each tensor, and of each list that has one item a sample.

    Numbers, strings and tensors without axes stay as they are. Raises ValueError for anything else, and for a batch in
    which nothing has so many rows.
    """
    if not _has_rows(data, samples):
        raise _no_rows(f"nothing in it is {samples} long", samples)
    return _rows_of_item(data, rows, samples)


def _rows_of_item(value: Any, rows: slice, samples: int, inner: bool = False) -> Any:
    """These rows of an item of a batch; `inner`: it is not the batch itself."""
    if isinstance(value, (str, bytes, bool, int, float, np.generic, type(None))):
        return value
    if isinstance(value, ARRAYS):
        if value.ndim and len(value) != samples:
            raise _no_rows(f"it has an array of shape {tuple(value.shape)}", samples)
        return value[rows] if value.ndim else value
    if isinstance(value, (dict, UserDict)):
        return _with_items(value, {key: _rows_of_item(item, rows, samples, True) for key, item in value.items()})
    if type(value) in (list, tuple) or hasattr(value, "_fields"):
        return _rows_of_list(value, rows, samples, inner)
    raise _no_rows(f"it has an object of type {type(value).__name__}", samples)


def _rows_of_list(value: Any, rows: slice, samples: int, inner: bool) -> Any:
    """The rows of a list with an item a sample; of another one the rows of each item."""
    if len(value) == samples and not any(_is_long(item, samples) for item in value):
        return value[rows]
    if inner and len(value) == samples > 1 and _are_alike(value):
        raise _no_rows(f"it has a list of {samples} arrays that are {samples} long", samples)  # samples, or inputs?
    return _like(value, [_rows_of_item(item, rows, samples, True) for item in value])


def _has_rows(value: Any, samples: int) -> bool:
    """Whether anything in a batch is as long as its samples."""
    if isinstance(value, (dict, UserDict)):
        return any(_has_rows(item, samples) for item in value.values())
    inside = isinstance(value, (list, tuple)) and any(_has_rows(item, samples) for item in value)
    return inside or _is_long(value, samples)


def _is_long(value: Any, samples: int) -> bool:
    has_length = isinstance(value, (list, tuple)) or (isinstance(value, ARRAYS) and value.ndim > 0)
    return has_length and len(value) == samples


def _are_alike(values: Sequence[Any]) -> bool:
    """Whether these are tensors of one shape."""
    return all(isinstance(value, ARRAYS) for value in values) and len({tuple(value.shape) for value in values}) == 1


def _no_rows(reason: str, samples: int) -> ValueError:
    return ValueError(
        f"A batch of {samples} samples cannot be divided between processes by its rows: {reason}. Give a torch "
        "Dataset, of which each process loads its own samples, or a DataLoader with a DistributedSampler."
    )


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """(x, y, sample_weight) of a batch, with None for what the batch does not have.

    Arguments:
        data (batch): x, (x,), (x, y) or (x, y, sample_weight). A list counts as a tuple: torch's DataLoader makes
            lists.

    Returns:
        A tuple of three.

    Errors:
        ValueError: there are more items.

    Example:
        >>> unpack_x_y_sample_weight(("x", "y"))
        ('x', 'y', None)

    Source: https://keras.io/api/utils/python_utils/
    """
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`; found a "
            f"{type(data).__name__} of {len(data)}."
        )
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A batch of x, y and sample_weight: the inverse of `unpack_x_y_sample_weight`.

    Arguments:
        x (any): the inputs.
        y (any, default None): the targets, or None.
        sample_weight (any, default None): the weights, or None.

    Returns:
        (x, y, sample_weight) or (x, y), or x alone; x alone is in a tuple where it is a list or tuple itself.

    Example:
        >>> pack_x_y_sample_weight("x", "y")
        ('x', 'y')

    Source: https://keras.io/api/utils/python_utils/
    """
    if y is None and sample_weight is None:
        return (x,) if isinstance(x, (tuple, list)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)
