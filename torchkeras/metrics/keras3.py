"""The functions of Keras 3's metrics, where 2.2.4 has none or another: one value for each number or sample.

y_true and y_pred may differ by a last axis of 1. Other shapes that differ raise ValueError.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.losses.shared import like, same_rank
from torchkeras.metrics.direction import rising


def fitting(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function, for y_true and y_pred of one shape or that differ by a last axis of 1; ValueError for others."""

    @wraps(function)
    def checked(y_true: Tensor, y_pred: Tensor, *values: Any, **options: Any) -> Tensor:
        y_true, y_pred = same_rank(y_true, y_pred)
        if y_true.shape != y_pred.shape:
            raise ValueError(
                f"{function.__name__}: y_true of shape {tuple(y_true.shape)} does not fit y_pred of shape "
                f"{tuple(y_pred.shape)}."
            )
        return function(y_true, y_pred, *values, **options)

    return checked


@fitting
def accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == y_pred, as 1.0 or 0.0, for each number."""
    return torch.eq(like(y_true, y_pred), y_pred).float()


@rising
@fitting
def binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float = 0.5) -> Tensor:
    """y_true == (y_pred > threshold), as 1.0 or 0.0, for each number.

    Arguments:
        y_true (tensor): targets of 0 and 1.
        y_pred (tensor of the same shape): probabilities.
        threshold (number, default 0.5): y_pred above it means 1, else 0.

    Example:
        >>> binary_accuracy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.7, 0.7]]))
        tensor([[0., 1.]])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    return torch.eq(y_true, y_pred > threshold).float()


def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == argmax(y_pred), as 1.0 or 0.0; y_true: class numbers, with or without a last axis of 1."""
    return torch.eq(_labels(y_true, y_pred), y_pred.argmax(-1)).float()


@fitting
def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_true) == argmax(y_pred), as 1.0 or 0.0."""
    return torch.eq(y_true.argmax(-1), y_pred.argmax(-1)).float()


@fitting
def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """1.0 where fewer than `k` classes score above argmax(y_true), else 0.0.

    Arguments:
        y_true (tensor): one-hot rows.
        y_pred (tensor of the same shape): scores.
        k (positive integer, default 5): how many of the best classes count.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> top_k_categorical_accuracy(torch.eye(3), torch.tensor([[0.6, 0.3, 0.1]] * 3), k=2)
        tensor([1., 1., 0.])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    return sparse_top_k_categorical_accuracy(y_true.argmax(-1), y_pred, k)


def sparse_top_k_categorical_accuracy(
    y_true: Tensor, y_pred: Tensor, k: int = 5, from_sorted_ids: bool = False
) -> Tensor:
    """1.0 where fewer than `k` classes score above class y_true, else 0.0; a score that is not finite is no hit.

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): scores.
        k (positive integer, default 5): how many of the best classes count.
        from_sorted_ids (bool, default False): whether y_pred holds class numbers, the best first, in place of scores.
            y_true is then a hit when it is among the first `k`.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Example:
        >>> sparse_top_k_categorical_accuracy(torch.arange(3), torch.tensor([[0.6, 0.3, 0.1]] * 3), k=2)
        tensor([1., 1., 0.])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    labels = _labels(y_true, y_pred).unsqueeze(-1)
    if from_sorted_ids:
        return torch.eq(labels, y_pred[..., :k]).any(-1).float()
    score = y_pred.gather(-1, labels.long())
    return (((y_pred > score).sum(-1) < k) & score.squeeze(-1).isfinite()).float()


@fitting
def squared_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """(y_pred - y_true)**2, for each number."""
    return (y_pred - like(y_true, y_pred)).square()


@fitting
def cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """The cosine of the angle along `axis`, each norm at least epsilon; the loss of this name is its negative.

    Arguments:
        axis (integer, default -1): the axis that holds a vector.
    """
    true, predicted = (F.normalize(y, dim=axis, eps=config.epsilon()) for y in (like(y_true, y_pred), y_pred))
    return (true * predicted).sum(axis)


@rising
@fitting
def pearson_correlation(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """mean((y_true - mean) / std * (y_pred - mean) / std) along `axis`; NaN where one of them is constant.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.
        axis (integer, default -1): the axis of the values that are compared.

    Shapes:
        (batch, ..., values) -> the same without `axis`

    Example:
        >>> pearson_correlation(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
        tensor([1.])
    """
    true, predicted = (_centred(y, axis) for y in (like(y_true, y_pred), y_pred))
    deviations = true.square().mean(axis).sqrt() * predicted.square().mean(axis).sqrt()
    return (true * predicted).mean(axis) / deviations


@rising
@fitting
def concordance_correlation(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """2 * covariance / (variance of y_true + variance of y_pred + (difference of means)**2 + epsilon) along `axis`.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.
        axis (integer, default -1): the axis of the values that are compared.

    Shapes:
        (batch, ..., values) -> the same without `axis`

    Example:
        >>> concordance_correlation(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
        tensor([0.6154])

    Source: Lin, "A Concordance Correlation Coefficient to Evaluate Reproducibility" (1989)
    """
    y_true = like(y_true, y_pred)
    true, predicted = _centred(y_true, axis), _centred(y_pred, axis)
    apart = (y_true.mean(axis) - y_pred.mean(axis)).square()
    spread = true.square().mean(axis) + predicted.square().mean(axis) + apart
    return 2.0 * (true * predicted).mean(axis) / (spread + config.epsilon())


def _centred(values: Tensor, axis: int) -> Tensor:
    return values - values.mean(axis, keepdim=True)


def _labels(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Class numbers of the shape of y_pred without its last axis."""
    shape = y_pred.shape[:-1]
    if y_true.shape not in (shape, (*shape, 1)):
        raise ValueError(
            f"y_true of shape {tuple(y_true.shape)} does not hold a class number for each row of a y_pred of shape "
            f"{tuple(y_pred.shape)}."
        )
    return y_true.reshape(shape)
