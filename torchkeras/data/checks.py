"""Turns the data that a user passes into a tensor for each name, and refuses mistakes before any training.

Shapes are Keras's, with the batch axis: (None, 28, 28, 1). Each error names the input or target.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import as_numbers, as_tensor
from torchkeras.base.texts import STRING, are_strings, tensor_of_strings
from torchkeras.data import hints
from torchkeras.data.target_kinds import (
    BINARY,
    CLASSES,
    CLASSES_OF_TORCH,
    FREE,
    GIVEN,
    IGNORED,
    LIKE,
    ONE_HOT,
    SOME_CLASSES,
)
from torchkeras.engine.facts import facts_of
from torchkeras.engine.symbolic.tensor import KerasTensor

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

Shape = Sequence[int | None]
ROUNDING = 1e-3  # by which targets from 0 to 1 may miss these bounds


def standardize(
    values: Any,
    names: Sequence[str],
    shapes: Sequence[Shape | None] | None = None,
    dtypes: Sequence[torch.dtype | None] | None = None,
    what: str = "input",
    as_given: Sequence[bool] | None = None,
    kinds: Sequence[str] | None = None,
    indices: Sequence[Sequence[Any]] | None = None,
    streamed: bool = False,
    fits_rank: bool = False,
) -> list[Tensor]:
    """One tensor for each name, from an array, a tensor, a list of them, a list of numbers or a dict by name; also from
    pandas, where a DataFrame for several names gives each the column of its name.

    An array with one axis gets a second one of length 1, as in Keras, unless one axis is expected. None in `shapes`
    allows any shape, None in `dtypes` any type. `what`: "input" or "target". `as_given`: which of them keep a single
    axis, and the type of integers. `kinds`: the kinds of targets (see `target_kinds`), for advice in errors. `indices`:
    for each, the layers that use its numbers as indices; those of a `streamed` batch on a device are not checked, since
    that would wait for the device. `fits_rank`: see `with_rank`. Raises ValueError for a wrong number of arrays, name,
    shape, element type or index, and TypeError for values that are not numbers.
    """
    items = _items_by_name(values, names, what)
    columns = (
        *(items, names, _column(shapes, None, names), _column(dtypes, None, names)),
        *(_column(as_given, False, names), _column(kinds, LIKE, names), _column(indices, (), names)),
    )
    checked = []
    for item, name, shape, dtype, keep, kind, layers in zip(*columns, strict=True):
        if dtype == STRING or (dtype is None and what == "input" and are_strings(item)):
            checked.append(_strings(item, name, shape))
            continue
        if fits_rank and shape is not None and _has_shape(item):
            item = with_rank(item, shape)
        tensor = as_tensor(_with_axes(item, name, shape, None if what == "input" else kind, keep))
        if dtype == torch.int64 and what == "target":
            _check_whole(tensor, name)
        if layers:  # before the type changes, which would wrap large numbers around
            check_for_layers(tensor, name, layers, streamed)
        keeps_type = dtype is None or (keep and not tensor.is_floating_point())
        checked.append(tensor if keeps_type else tensor.to(dtype))
    return checked


def _strings(item: Any, name: str, shape: Shape | None) -> Tensor:
    """The tensor of an array of strings; `shape` is that of the tensor, with the axis of their bytes."""
    found = item
    if not (isinstance(item, Tensor) and item.dtype == STRING):
        found = tensor_of_strings(item, f"Error when checking input: {name}", None if shape is None else len(shape))
    _check_shape(found[..., 0], name, None if shape is None else shape[:-1], None, np.shape(item))
    return found


def with_rank(array: Any, shape: Shape) -> Any:
    """An array with an axis of length 1 more or less at its end, where only that is missing for the shape."""
    if len(array.shape) + 1 == len(shape) and shape[-1] == 1:
        return array[..., None]
    if len(array.shape) == len(shape) + 1 and array.shape[-1] == 1:
        return array[..., 0]
    return array


def _column(given: Sequence[Any] | None, default: Any, names: Sequence[str]) -> Sequence[Any]:
    """A value for each name: those passed, or the default for all."""
    return given or [default] * len(names)


def standardize_targets(
    values: Any,
    names: Sequence[str],
    output_shapes: Sequence[Shape],
    kinds: Sequence[str],
    dtypes: Sequence[torch.dtype | None] | None = None,
    fits_rank: bool = False,
) -> list[Tensor]:
    """One tensor for each output that has a loss; `kinds`: the kind of targets of each loss (see `target_kinds`).

    `fits_rank`: see `with_rank`. Raises as `standardize` does, and ValueError for class numbers where the loss takes
    one-hot rows.
    """
    expected = [_target_shape(tuple(shape), kind) for shape, kind in zip(output_shapes, kinds, strict=True)]
    free = [None if kind == ONE_HOT else shape for shape, kind in zip(expected, kinds, strict=True)]
    as_given = [kind in GIVEN for kind in kinds]
    targets = standardize(values, names, free, dtypes, "target", as_given, kinds, fits_rank=fits_rank)
    if fits_rank:
        ranks = [_rank(item) for item in _items_by_name(values, names, "target")]
        targets = [_of_rank(*each) for each in zip(targets, ranks, kinds, output_shapes, strict=True)]
    for target, name, shape, kind, output in zip(targets, names, expected, kinds, output_shapes, strict=True):
        if kind == FREE and target.dim() != len(output) and _sizes(target.shape) == _sizes(output):
            _check_shape(target, name, output, kind)  # numbers that would be spread over those of other samples
        if kind == ONE_HOT:
            _check_one_hot(target, name, shape, output)
    return targets


def _rank(item: Any) -> int:
    return len(item.shape) if _has_shape(item) else np.ndim(item)


def _of_rank(target: Tensor, given: int, kind: str, output: Shape) -> Tensor:
    """A target of classes, or for a loss without a rule for its shape, with as many axes as the array that was given.

    An axis of length 1 that was added stays where the output has one too: a loss would else spread the numbers.
    """
    if kind == FREE and len(output) == 1:
        return with_rank(target, output)
    was_added = target.dim() == given + 1 and kind in (FREE, CLASSES, SOME_CLASSES)
    return target[..., 0] if was_added and output[-1] != 1 else target


def _check_one_hot(target: Tensor, name: str, shape: Shape | None, output: Shape) -> None:
    """Raise ValueError unless a target has one-hot rows with as many classes as the output."""
    if target.shape[-1] == 1 == output[-1]:
        raise ValueError(
            f"Error when checking target: categorical_crossentropy compares classes, and {name} has one unit, "
            "which is no choice. Use binary_crossentropy with activation='sigmoid', or a unit for each class."
        )
    if target.shape[-1] == 1:
        raise ValueError(
            f"Error when checking target: expected {name} to have shape {tuple(shape or ())[1:]} but got array "
            f"with shape {tuple(target.shape[1:])}. categorical_crossentropy takes one-hot rows, of shape "
            "(samples, classes): make them with torchkeras.utils.to_categorical, or use the loss "
            "sparse_categorical_crossentropy, which takes the class numbers themselves."
        )
    _check_shape(target, name, shape, ONE_HOT)


def check_for_layers(values: Tensor, name: str, layers: Sequence[Any], streamed: bool) -> None:
    """Check that these layers have the numbers of an input as indices, unless they are `streamed` to a device."""
    if streamed and values.device.type != "cpu":
        return
    for layer in layers:
        check_indices(values, name, layer)


def check_indices(values: Tensor, name: str, layer: Layer) -> None:
    """Check that the numbers of an input are indices of a layer: whole, and within its size. Waits for their device.

    Raises ValueError with the first number that is not.
    """
    size = facts_of(layer).indices
    if size is None or values.numel() == 0:
        return
    if values.dtype not in (torch.int32, torch.int64) and not values.is_floating_point():
        values = values.long()
    low, high = _bounds(values)
    if not (low >= 0 and high < size):  # also where one is not a number
        found = high if low >= 0 else low
        advice = "Look for it in the data."
        if size <= high < math.inf:
            advice = f"Give input_dim {high + 1:.0f}, or more."
    else:
        broken = _broken(values)
        if not broken.numel():
            return
        found, advice = broken[0].item(), "Round it, or use another layer for such numbers."
    raise ValueError(
        f"Error when checking input: {name} goes into {type(layer).__name__} {layer.name!r}, which takes whole numbers "
        f"from 0 to {size - 1}; found {found}. {advice}"
    )


def _broken(values: Tensor) -> Tensor:
    """The values that are not whole numbers."""
    if values.is_floating_point():
        return values[values != values.trunc()]
    return values[:0]


def _bounds(values: Tensor) -> tuple[Any, Any]:
    """The least and the largest of these numbers, as Python's. Waits for their device."""
    low, high = torch.aminmax(values)
    return low.item(), high.item()


def check_labels(
    targets: Sequence[Tensor],
    names: Sequence[str],
    output_shapes: Sequence[Shape],
    kinds: Sequence[str],
    streamed: bool = False,
) -> None:
    """Check that class numbers lie within the classes, and targets of two classes from 0 to 1.

    Each array is read once, with one wait for its device: those of a `streamed` batch on a device are not checked.
    Raises ValueError for values outside, and for NaN.
    """
    if streamed and any(target.device.type != "cpu" for target in targets):
        return
    for target, name, shape, kind in zip(targets, names, output_shapes, kinds, strict=True):
        if target.numel() == 0:
            continue
        if kind == BINARY:
            _check_binary(target, name)
        elif kind == CLASSES and shape[-1] is not None:
            _check_classes(target, name, shape[-1], "sparse_categorical_crossentropy")
        elif kind == CLASSES_OF_TORCH and not target.is_floating_point() and len(shape) > 1 and shape[1] is not None:
            numbers = target.long()
            _check_classes(numbers[numbers != IGNORED], name, shape[1], "the loss of torch")


def _check_binary(target: Tensor, name: str) -> None:
    low, high = _bounds(target)
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        raise ValueError(
            f"Output {name!r}: binary_crossentropy takes targets from 0 to 1; found {low:g} to {high:g}. Give labels "
            "-1 and 1 as (y + 1) / 2, and other values scaled; more than two classes take "
            "sparse_categorical_crossentropy and a unit for each."
        )


def _check_classes(target: Tensor, name: str, classes: int, loss: str) -> None:
    if target.numel() == 0:
        return
    low, high = _bounds(target)
    if not (low >= 0 and high < classes):
        raise ValueError(
            f"Output {name!r}: {loss} takes class numbers from 0 to {classes - 1}; found "
            f"labels from {low:g} to {high:g}. {hints.of_classes(classes)}"
        )


def check_lengths(inputs: Sequence[Tensor], targets: Sequence[Tensor], weights: Sequence[Tensor | None] = ()) -> None:
    """Check that all have the same number of samples, at least one. Raises ValueError with the numbers found."""
    of_inputs = _common_length(inputs, "input arrays (x)")
    of_targets = _common_length(targets, "target arrays (y)")
    of_weights = _common_length(weights, "sample_weight arrays")
    if None not in (of_inputs, of_targets) and of_inputs != of_targets:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. "
            f"Found {of_inputs} input samples and {of_targets} target samples."
        )
    if None not in (of_targets, of_weights) and of_targets != of_weights:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. "
            f"Found {of_weights} weights and {of_targets} target samples."
        )
    if of_inputs == 0:
        raise ValueError("The data has no samples.")


def _common_length(values: Sequence[Tensor | None], what: str) -> int | None:
    """The number of samples of these arrays; None without arrays. Raises ValueError where it differs."""
    shapes = [tuple(value.shape) for value in values if value is not None]
    lengths = {shape[0] for shape in shapes}
    if len(lengths) > 1:
        raise ValueError(f"All {what} should have the same number of samples. Got array shapes: {shapes}")
    return next(iter(lengths), None)


def check_executions(together: int, callbacks: Iterable[Any]) -> None:
    """Raise ValueError for a callback that needs each batch where hooks are called once for several."""
    for callback in callbacks if together > 1 else ():
        if getattr(callback, "needs_each_batch", False):
            raise ValueError(
                f"fit: {type(callback).__name__} needs a call for every batch; with compile's steps_per_execution="
                f"{together} there is one for {together}: leave one of the two out."
            )


def check_batches(model: str, fixed: int | None, stateful: bool, samples: int, batch_size: int, what: str) -> None:
    """Raise ValueError unless all batches have the size that a stateful model, or one with a `fixed` size, needs."""
    if stateful and samples % batch_size:
        raise ValueError(
            "In a stateful network, you should only pass inputs with a number of samples that can be divided by "
            f"the batch size. {what}: found {samples} samples, batch size {batch_size}."
        )
    if fixed is not None and (min(batch_size, samples) != fixed or samples % fixed):
        raise ValueError(
            f"{model} has a fixed batch size of {fixed}: give it as batch_size, and a multiple of it as samples. "
            f"{what}: found {samples} samples, batch size {batch_size}."
        )


# --- one by one ------------------------------------------------------------------------------------------------------


def _items_by_name(values: Any, names: Sequence[str], what: str) -> list[Any]:
    if values is None:
        if names:
            raise _missing(names, what)
        return []
    if len(names) > 1:
        values = by_column(values)
    if isinstance(values, Mapping):
        return _by_name(values, names, what)
    items = _items_of_list(values, names)
    if items and not names:
        raise ValueError(f"Error when checking model {what}: expected no data, but got {_type_name(values)}.")
    if len(items) != len(names):
        raise _other_number(items, names, what)
    return items


def _items_of_list(values: Any, names: Sequence[str]) -> list[Any]:
    """The items of a list, or an array alone; numbers, where there is a single name, are one array."""
    if not isinstance(values, (list, tuple)):
        return [values]
    if len(names) == 1 and values and all(map(_is_number, values)):
        return [np.asarray(values)]
    if len(names) == 1 and are_strings(values):
        return [np.asarray(values, dtype=object)]
    return list(values)


def _missing(names: Sequence[str], what: str) -> ValueError:
    """The error for None in place of data."""
    return ValueError(
        f"Error when checking model {what}: expected data for {_joined_names(names)}, but got None. "
        f"Give {'x' if what == 'input' else 'the targets as y'}."
    )


def _other_number(items: list[Any], names: Sequence[str], what: str) -> ValueError:
    """The error for another number of arrays than of names."""
    found = [tuple(np.shape(item)) if _has_shape(item) else _type_name(item) for item in items]
    listed = f": {', '.join(map(str, found[:10]))}{', ...' if len(found) > 10 else ''}" if found else ""
    are_batches = what == "input" and items and all(isinstance(item, tuple) and len(item) in (2, 3) for item in items)
    batches = " Batches come from a DataLoader, a Sequence or a generator, not from a list." if are_batches else ""
    return ValueError(
        f"Error when checking model {what}: expected {len(names)} array(s), for {_joined_names(names)}, but got "
        f"{len(items)}{listed}. A list or tuple has an array for each {what}: join samples by np.array"
        f"{', and give targets as y' if what == 'input' else ''}.{batches}"
    )


def _by_name(values: Mapping[str, Any], names: Sequence[str], what: str) -> list[Any]:
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(f'No data provided for "{missing[0]}". Need data for each key in: {list(names)}')
    unknown = [key for key in values if key not in names]
    if unknown:
        raise ValueError(
            f"Error when checking model {what}: no {what} is called {_joined_names(unknown)}; there are {list(names)}."
            f"{' Each output that compile gave a loss has one.' if what == 'target' else ''}"
        )
    return [values[name] for name in names]


def _with_axes(item: Any, name: str, shape: Shape | None, kind: str | None, keep: bool) -> Any:
    """A NumPy array or tensor of numbers, of this shape: a single axis gets a second one, unless it is to `keep` it.

    `kind`: of a target, None for an input.
    """
    array = _checked_array(item, name, "input" if kind is None else "target")
    given = tuple(array.shape)
    takes_one_axis = keep or (shape is not None and len(shape) == 1)
    if array.ndim == 1 and not takes_one_axis:
        array = array.reshape(len(array), 1)
    _check_shape(array, name, shape, kind, given, not hasattr(item, "shape"))
    return array


def _checked_array(value: Any, name: str, what: str) -> Any:
    """A NumPy array or tensor of numbers."""
    where = f"Error when checking {what}: {name}"
    if value is None:
        raise ValueError(f"{where} got None instead of an array.")
    if isinstance(value, KerasTensor):
        raise TypeError(f"{where} got a symbolic tensor, which has no values; pass an array.")
    if hasattr(value, "toarray"):
        raise TypeError(f"{where} got a sparse {_type_name(value)}; pass a dense array (`.toarray()`, `.to_dense()`).")
    if not (isinstance(value, (list, tuple, Tensor)) or (_has_shape(value) and hasattr(value, "__array__"))):
        raise TypeError(f"{where} got {_type_name(value)}; only arrays and tensors are taken here so far.")
    if what == "input" and are_strings(value):
        raise ValueError(
            f'{where} takes numbers; found strings. Input(shape, dtype="string") takes strings, for layers such as '
            "TextVectorization, StringLookup and Hashing."
        )
    array = as_numbers(value, where)
    if array.ndim == 0:
        raise ValueError(f"{where} got a single number, {value!r}; pass an array with an axis of samples.")
    return array


def _check_shape(
    array: Any, name: str, shape: Shape | None, kind: str | None, given: Shape = (), of_list: bool = False
) -> None:
    """Raise ValueError, in Keras's words and with advice, for another shape; `kind`: of a target, None for an input."""
    if shape is None:
        return
    found, expected = tuple(array.shape), tuple(shape[1:])
    if len(found) != len(shape):
        problem = f"expected {name} to have {len(shape)} dimensions, but got array with shape {found}"
    elif any(axis not in (None, size) for axis, size in zip(expected, found[1:], strict=True)):
        problem = f"expected {name} to have shape {expected} but got array with shape {found[1:]}"
    else:
        return
    hint = hints.of_input(found, shape, given, of_list) if kind is None else hints.of_target(found, shape, kind)
    raise ValueError(f"Error when checking {'input' if kind is None else 'target'}: {problem}. {hint}")


def _sizes(shape: Shape) -> list[int | None]:
    """The sizes of the axes of a sample that are longer than 1."""
    return [size for size in shape[1:] if size != 1]


def _target_shape(output_shape: tuple[int | None, ...], kind: str) -> tuple[int | None, ...] | None:
    if kind in (CLASSES, SOME_CLASSES):
        return (*output_shape[:-1], 1)
    return output_shape if kind in (LIKE, BINARY, ONE_HOT) else None


def _check_whole(labels: Tensor, name: str) -> None:
    """Raise ValueError for class numbers that are not whole; only in host memory, where that waits for nothing."""
    if labels.is_floating_point() and labels.device.type == "cpu":
        broken = labels[labels != labels.round()]
        if broken.numel():
            raise ValueError(
                f"Output {name!r}: class numbers must be whole; found {broken[0].item():g} among the labels."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


def _has_shape(value: Any) -> bool:
    shape = getattr(value, "shape", None)
    return isinstance(shape, (tuple, torch.Size)) or hasattr(shape, "as_list")  # which TensorFlow's TensorShape has


def by_column(value: Any) -> Any:
    """The columns of a pandas DataFrame, or what behaves like one, by their names; anything else as it is."""
    is_frame = hasattr(value, "iloc") and hasattr(value, "columns")  # pandas need not be installed
    return {name: value[name] for name in value.columns} if is_frame else value


def _type_name(value: Any) -> str:
    kind = type(value)
    if kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__.partition('.')[0]}'s {kind.__name__}"


def _joined_names(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names))
