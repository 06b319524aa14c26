"""Class numbers to one-hot rows, and rows to length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchkeras.base.arrays import as_numbers, to_numpy
from torchkeras.base.rules import NUMBER, integer, known_options, optional, read, rule


@known_options
def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """`result[..., c] = 1 if y[...] == c else 0`, as an array.

    Arguments:
        y (array of integers): class numbers from 0.
        num_classes (integer of at least 0 or None, default None): the number of classes; None and 0 are the largest
            class plus one.
        dtype (type of NumPy, default "float32"): the type of the result.

    Shapes:
        (...) or (..., 1) -> (..., num_classes)

    Errors:
        ValueError: an option has a bad value, a number is no class from 0 to `num_classes - 1`, or there are no numbers
            and no `num_classes`.

    Example:
        >>> to_categorical([0, 2, 1]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]

    Source: https://keras.io/api/utils/python_utils/
    """
    given = _as_numpy(y, "to_categorical: y")
    read("to_categorical", "num_classes", optional(integer(0)), num_classes)
    read("to_categorical", "dtype", DTYPE, dtype)
    classes = given.astype("int64")
    if given.size == 0 and not num_classes:
        raise ValueError("to_categorical: num_classes must be given for no class numbers.")
    if not np.array_equal(classes, given):
        raise ValueError(f"to_categorical: class numbers must be integers; found {given[classes != given].flat[0]}.")
    shape = classes.shape[:-1] if classes.ndim > 1 and classes.shape[-1] == 1 else classes.shape
    number = int(num_classes or classes.max() + 1)
    if classes.size:
        _check_range(classes.min(), classes.max(), number)
    result = np.zeros((classes.size, number), dtype)
    result[np.arange(classes.size), classes.reshape(-1)] = 1
    return result.reshape(*shape, number)


def _check_range(least: Any, most: Any, number: int) -> None:
    """Raise ValueError if class numbers from `least` to `most` are not all among `number` classes."""
    if least < 0:
        raise ValueError(f"to_categorical: class numbers must be at least 0; found {least}.")
    if most >= number:
        raise ValueError(f"to_categorical: class numbers must lie from 0 to {number - 1}; found {least} to {most}.")


@known_options
def normalize(x: Any, axis: int = -1, order: float | None = 2) -> np.ndarray:
    """`x / norm(x)` along an axis; a vector with norm 0 does not change.

    Arguments:
        x (array): the values.
        axis (integer, default -1): the axis along which the norm is taken.
        order (number or None, default 2): the order of the norm, as in `numpy.linalg.norm`; None is 2.

    Shapes:
        any -> the same; but (n,) -> (1, n), as in Keras

    Errors:
        ValueError: `x` holds no numbers, or an option has a bad value.

    Example:
        >>> normalize([[3.0, 4.0]]).tolist()
        [[0.6, 0.8]]

    Source: https://keras.io/api/utils/python_utils/
    """
    array = _as_numpy(x, "normalize: x")
    read("normalize", "axis", integer(), axis)
    read("normalize", "order", optional(NUMBER), order)
    norm = np.atleast_1d(np.linalg.norm(array, order, axis))
    return array / np.expand_dims(np.where(norm == 0, 1, norm), axis)


def _as_numpy(values: Any, where: str) -> np.ndarray:
    return to_numpy(values) if hasattr(values, "detach") else as_numbers(values, where)


def _is_dtype(value: Any) -> bool:
    try:
        return np.dtype(value).kind in "biufc"
    except TypeError:
        return False


DTYPE = rule("must be a type of numbers, as NumPy names it", _is_dtype)
