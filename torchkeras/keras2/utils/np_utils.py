"""`keras.utils.np_utils`: class numbers, norms and scores as arrays, in the names of Keras 1 and 2."""

from __future__ import annotations

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

to_categorical = renamed(nb_classes="num_classes")(utils.to_categorical)
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
