"""Class numbers to one-hot rows and rows to length 1, for tensors as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from torchkeras.keras3.operations import FUNCTIONS
from torchkeras.utils import numbers


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """`result[..., c] = 1 if x[...] == c else 0`: an array of float64; of a tensor, a tensor of int64.

    Arguments:
        x (array or tensor of integers): class numbers from 0.
        num_classes (integer or None, default None): the number of classes; None is the largest class plus one.

    Shapes:
        (...) or (..., 1) -> (..., num_classes)

    Errors:
        ValueError: a number is no class from 0 to `num_classes - 1`, or there are no numbers and no `num_classes`.

    Example:
        >>> to_categorical([0, 2, 1]).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]

    Source: https://keras.io/api/utils/python_utils/
    """
    if not isinstance(x, Tensor):
        return numbers.to_categorical(np.asarray(x), num_classes, "float64")
    classes = x.squeeze(-1) if x.dim() > 1 and x.shape[-1] == 1 else x
    count = int(num_classes or classes.max() + 1)
    return FUNCTIONS["one_hot"](classes.long(), count, dtype="int64")


def normalize(x: Any, axis: int = -1, order: float | None = 2) -> Any:
    """`x / norm(x)` along an axis; what has norm 0 stays. Of an array an array, of all else a tensor.

    Arguments:
        x (array or tensor): the values.
        axis (integer, default -1): the axis along which the norm is taken.
        order (number, default 2): the order of the norm.

    Errors:
        ValueError: `x` holds no numbers, or an option has a bad value.

    Example:
        >>> normalize(np.array([[3.0, 4.0]])).tolist()
        [[0.6, 0.8]]

    Source: https://keras.io/api/utils/python_utils/
    """
    if isinstance(x, np.ndarray):
        return numbers.normalize(x, axis, order)
    return FUNCTIONS["normalize"](x, axis, 2 if order is None else order)
