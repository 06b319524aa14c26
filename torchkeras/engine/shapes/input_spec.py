"""`InputSpec`: what a layer requires of an input's shape and type. `whole_shape`: the shape that its options set."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras.engine.symbolic.tensor import Shape, as_list

# The usual meaning of the axes of an input, by their number.
AXES = {
    2: ": samples and features",
    3: ": samples, steps and features, as a recurrent layer gives with return_sequences=True",
    4: ": samples, rows, columns and channels",
}
# The limits on the number of axes: how it must compare with each.
LIMITS = {"ndim": operator.eq, "max_ndim": operator.le, "min_ndim": operator.ge}


@dataclass
class InputSpec:
    """The number of axes (`ndim`, or from `min_ndim` to `max_ndim`), sizes by axis (`axes`), or the whole `shape`.

    `None` in a shape is any size. `dtype`, a name or torch's, is the type of the input: nothing is converted to it.
    """

    dtype: Any = None
    shape: Shape | None = None
    ndim: int | None = None
    max_ndim: int | None = None
    min_ndim: int | None = None
    axes: Mapping[int, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.axes = dict(self.axes or {})
        if self.shape is not None:
            self.shape = tuple(self.shape)
            self.ndim = len(self.shape)

    def advice(self, shape: Shape) -> str:
        """The advice in an error about an input of this shape."""
        ndim = len(shape)
        expected = self.ndim or max(min(ndim, self.max_ndim or ndim), self.min_ndim or 0)
        if expected == ndim:
            return "Give it that size, or make a new layer for this input."
        return f"Give it an input of {expected} axes{AXES.get(expected, '')}."

    def problem(self, shape: Shape) -> str | None:
        """What is wrong with an input of this shape, in Keras's words; None if nothing is."""
        ndim = len(shape)
        for name, fits in LIMITS.items():
            limit = getattr(self, name)
            if limit is not None and not fits(ndim, limit):
                return f"expected {name}={limit}, found ndim={ndim}"
        for axis, size in (*self.axes.items(), *enumerate(self.shape or ())):
            # None, for an unknown size, fits any.
            if -ndim <= axis < ndim and None not in (size, shape[axis]) and shape[axis] != size:
                return f"expected axis {axis} of input shape to have value {size}"
        return None


def whole_shape(
    input_shape: Any,
    batch_input_shape: Any,
    batch_size: int | None,
    input_dim: int | None,
    input_length: int | None,
    ndim: int | None,
) -> Shape | None:
    """The input shape, with the batch axis, that the options of a layer set; None if they set none.

    `ndim`: the number of axes of its inputs, None for any. Raises ValueError for options that do not fit together.
    """
    shape = input_shape
    if batch_input_shape is not None:
        if not isinstance(batch_input_shape, Iterable):
            raise ValueError(f"batch_input_shape must be a tuple, such as (None, 4); found {batch_input_shape!r}.")
        shape = batch_input_shape[1:]  # type: ignore[reportIndexIssue]
    shape = _sized(shape, input_dim, input_length, ndim)
    if batch_size is not None and (shape is None or batch_input_shape is not None):
        raise ValueError(f"batch_size goes with input_shape; found batch_size {batch_size!r}.")
    if batch_input_shape is not None:
        return tuple(batch_input_shape)
    return None if shape is None else (batch_size, *as_list(shape))


def _sized(shape: Any, input_dim: int | None, input_length: int | None, ndim: int | None) -> Any:
    """The shape, without the batch axis, that `input_dim` and `input_length` set for an input of `ndim` axes.

    If `shape` is set already, raises ValueError unless they agree with it.
    """
    if shape is None and input_dim is not None:
        shape = (input_dim,)
        if input_length is not None or ndim == 3:
            shape = (input_length, input_dim)
    sizes = (None, None, *as_list(shape))  # a missing axis fits no size
    for option, value, size in (("input_length", input_length, sizes[-2]), ("input_dim", input_dim, sizes[-1])):
        if value is not None and value != size:
            raise ValueError(
                f"{option} {value!r} does not fit the input shape {sizes[2:] or None}. Give input_dim and "
                "input_length together, or input_shape alone."
            )
    return shape
