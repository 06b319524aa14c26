"""The functions of Keras 2.2.4 that are metrics alone.

The accuracies count in float32 whatever the type of `y_pred`: half types hold too few digits for a mean.
"""

import torch
from torch import Tensor


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
    hit = y_pred.argmax(-1)
    return (y_true if y_true.shape == hit.shape else y_true.reshape(hit.shape)) == hit


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
