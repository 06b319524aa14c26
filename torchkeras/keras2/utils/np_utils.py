"""`keras.utils.np_utils`: class numbers, norms and scores as arrays, in the names of Keras 1 and 2."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

import numpy as np

from torchkeras import config, utils
from torchkeras.keras2.renamed import renamed
from torchkeras.keras2.utils import conv_utils
from torchkeras.keras2.utils.conv_utils import conv_input_length, conv_output_length

__all__ = [
    "accuracy",
    "binary_logloss",
    "categorical_probas_to_classes",
    "conv_input_length",
    "conv_output_length",
    "convert_kernel",
    "multiclass_logloss",
    "normalize",
    "probas_to_classes",
    "to_categorical",
]

SMALLEST = 1e-15  # a probability in `binary_logloss`


@renamed(nb_classes="num_classes")
@wraps(utils.to_categorical)
def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """`torchkeras.utils.to_categorical`, of any numbers as in Keras 2, with a warning.

    Others than integers are cut; those below 0 count from the end.
    """
    given = np.asarray(y)
    if given.dtype.kind not in "if" or not given.size or not np.isfinite(given).all():
        return utils.to_categorical(y, num_classes, dtype)
    classes = given.astype("int64")
    if not np.array_equal(classes, given):
        _warn_of(given[classes != given].flat[0], "is cut to an integer")
    number = num_classes or int(classes.max()) + 1
    if isinstance(number, int) and -number <= classes.min() < 0:
        _warn_of(classes.min(), f"counts from the end, so it is class {classes.min() + number} of {number}")
        classes = np.where(classes < 0, classes + number, classes)
    return utils.to_categorical(classes, num_classes, dtype)


def _warn_of(number: Any, deed: str) -> None:
    warnings.warn(
        f"to_categorical: {number} is no class number; it {deed}, as in Keras 2. Count classes from 0: "
        "np.unique(y, return_inverse=True)[1] does.",
        stacklevel=4,
    )


normalize = renamed(a="x")(utils.normalize)


def binary_logloss(p: Any, y: Any) -> float:
    """`-mean(y * log(p) + (1 - y) * log(1 - p))` over the first axis."""
    found, wanted = np.clip(p, SMALLEST, 1 - SMALLEST), np.asarray(y)
    return -np.sum(wanted * np.log(found) + (1 - wanted) * np.log(1 - found), axis=0) / len(wanted)


def multiclass_logloss(p: Any, y: Any) -> float:
    """`-mean(log(p[i][y[i] - 1]))`: classes are counted from 1."""
    return -float(np.mean(np.log([row[number - 1] for row, number in zip(p, y, strict=False)])))


def accuracy(p: Any, y: Any) -> float:
    """The part of the items that are equal."""
    return float(np.mean([found == wanted for found, wanted in zip(p, y, strict=False)]))


def probas_to_classes(y_pred: np.ndarray) -> np.ndarray:
    """Class numbers: the largest of several scores, or whether a single one is over 0.5."""
    if y_pred.ndim > 1 and y_pred.shape[1] > 1:
        return categorical_probas_to_classes(y_pred)
    return np.array([1 if score > 0.5 else 0 for score in y_pred])


def categorical_probas_to_classes(p: Any) -> np.ndarray:
    """The number of the largest score of each row."""
    return np.argmax(p, axis=1)


def convert_kernel(kernel: Any, dim_ordering: str | None = None) -> np.ndarray:
    """A kernel turned round in its spatial axes: Theano's for TensorFlow's, or back.

    `dim_ordering`: "tf" for (..., in, out), "th" for (out, in, ...); None is the one that is set.
    """
    ordering = config.image_dim_ordering() if dim_ordering is None else dim_ordering
    if ordering not in config.DIM_ORDERINGS:
        raise ValueError("Invalid dim_ordering:", ordering)
    array = np.asarray(kernel)
    if ordering == "tf":
        return conv_utils.convert_kernel(array)
    return conv_utils.convert_kernel(array.transpose()).transpose()
