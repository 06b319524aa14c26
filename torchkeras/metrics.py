"""Metrics: `metric(y_true, y_pred)`, one number a sample; every loss is a metric too.

The accuracies count in float32 whatever the type of `y_pred`: half types hold too few digits for a mean.
"""

import torch
from torch import Tensor

from torchkeras import losses, registry

mse = MSE = mean_squared_error = losses.mean_squared_error
mae = MAE = mean_absolute_error = losses.mean_absolute_error
mape = MAPE = mean_absolute_percentage_error = losses.mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error = losses.mean_squared_logarithmic_error
cosine = cosine_proximity = losses.cosine_proximity
hinge = losses.hinge
squared_hinge = losses.squared_hinge
logcosh = losses.logcosh
poisson = losses.poisson
kullback_leibler_divergence = losses.kullback_leibler_divergence
binary_crossentropy = losses.binary_crossentropy
categorical_crossentropy = losses.categorical_crossentropy
sparse_categorical_crossentropy = losses.sparse_categorical_crossentropy


def binary_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(y_true == round(y_pred))"""
    return (y_true == torch.round(y_pred)).mean(-1, dtype=torch.float32)


def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_true) == argmax(y_pred), as 1.0 or 0.0"""
    return categorical_hits(y_true, y_pred).float()


def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == argmax(y_pred), as 1.0 or 0.0; y_true: class numbers, with or without a last axis of 1."""
    return sparse_categorical_hits(y_true, y_pred).float()


def categorical_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_true) == argmax(y_pred), as booleans: a mean counts them without making them numbers first."""
    return y_true.argmax(-1) == y_pred.argmax(-1)


def sparse_categorical_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == argmax(y_pred), as booleans."""
    return y_true.reshape(y_pred.shape[:-1]) == y_pred.argmax(-1)


def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """The share of samples for which fewer than `k` classes score above argmax(y_true)

    As in Keras the mean is over the last axis left: one number for y_pred of shape (samples, classes).
    """
    return sparse_top_k_categorical_accuracy(y_true.argmax(-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """The share of samples for which fewer than `k` classes score above class y_true; the mean as above."""
    score = y_pred.gather(-1, y_true.reshape(*y_pred.shape[:-1], 1).long())
    # A score that is no number counts as wrong.
    hit = ((y_pred > score).sum(-1) < k) & score.squeeze(-1).isfinite()
    return hit.mean(-1, dtype=torch.float32)


for _name in registry.losses.names():
    registry.metrics.register(_name, registry.losses.find(_name))
for _metric in (
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    top_k_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
):
    registry.metrics.register(_metric.__name__, _metric)

get = deserialize = registry.metrics.get
serialize = registry.metrics.serialize


class Metric:
    """stub"""
