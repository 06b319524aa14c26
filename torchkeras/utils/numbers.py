"""Class numbers to one-hot rows, and rows to length 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from torchkeras.arrays import to_numpy


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """`result[..., c] = 1 if y[...] == c else 0`, as an array.

    y: class numbers; a last axis of 1 is left out. `num_classes`: the largest class plus one unless given.
    Shape: (...) or (..., 1) -> (..., num_classes). Raises ValueError for numbers that are no classes from 0 to
    `num_classes - 1`.
    """
    given = _array(y)
    classes = given.astype("int64")
    if given.size == 0 and not num_classes:
        raise ValueError("to_categorical: num_classes must be given for no class numbers.")
    if not np.array_equal(classes, given):
        raise ValueError(f"to_categorical: class numbers must be integers; found {given[classes != given].flat[0]!r}.")
    shape = classes.shape[:-1] if classes.ndim > 1 and classes.shape[-1] == 1 else classes.shape
    number = int(num_classes or classes.max() + 1)
    if classes.size and (classes.min() < 0 or classes.max() >= number):
        raise ValueError(
            f"to_categorical: class numbers must lie from 0 to {number - 1}; found {classes.min()} to {classes.max()}."
        )
    result = np.zeros((classes.size, number), dtype)
    result[np.arange(classes.size), classes.reshape(-1)] = 1
    return result.reshape(*shape, number)


def normalize(x: Any, axis: int = -1, order: float = 2) -> np.ndarray:
    """`x / |x|` along an axis, with the norm of that order; what has norm 0 stays.

    The shape is kept, save that one axis of length n becomes (1, n), as in Keras.
    """
    array = _array(x)
    norm = np.atleast_1d(np.linalg.norm(array, order, axis))
    return array / np.expand_dims(np.where(norm == 0, 1, norm), axis)


def _array(values: Any) -> np.ndarray:
    return to_numpy(values) if hasattr(values, "detach") else np.asarray(values)
