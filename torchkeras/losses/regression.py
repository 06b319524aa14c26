"""Losses of numbers: errors, logarithms, angles."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config
from torchkeras.losses.shared import elementwise, like


@elementwise
def mean_squared_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean((y_pred - y_true)**2).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> mean_squared_error(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor([5.])

    Source: https://keras.io/api/losses/regression_losses/
    """
    return F.mse_loss(y_pred, like(y_true, y_pred), reduction="none").mean(-1)


@elementwise
def mean_absolute_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(abs(y_pred - y_true)).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> mean_absolute_error(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor([2.])

    Source: https://keras.io/api/losses/regression_losses/
    """
    return torch.abs(y_pred - like(y_true, y_pred)).mean(-1)


def mean_squared_error_of_all(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The mean of `mean_squared_error` over all samples, by fewer kernels."""
    return F.mse_loss(y_pred, like(y_true, y_pred))


def mean_absolute_error_of_all(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The mean of `mean_absolute_error` over all samples, by fewer kernels."""
    return F.l1_loss(y_pred, like(y_true, y_pred))


@elementwise
def mean_absolute_percentage_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon)).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> mean_absolute_percentage_error(torch.tensor([[2.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([25.])

    Source: https://keras.io/api/losses/regression_losses/
    """
    y_true = like(y_true, y_pred)
    return 100.0 * (torch.abs(y_true - y_pred) / y_true.abs().clamp(min=config.epsilon())).mean(-1)


@elementwise
def mean_squared_logarithmic_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> mean_squared_logarithmic_error(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([0.2402])

    Source: https://keras.io/api/losses/regression_losses/
    """
    return mean_squared_error(_log1p(like(y_true, y_pred)), _log1p(y_pred))


@elementwise
def logcosh(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(log(cosh(y_pred - y_true))).

    Near 0 it is half the square of the error, far from 0 the absolute error minus log(2).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> logcosh(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 1.0]]))
        tensor([1.1547])

    Source: https://keras.io/api/losses/regression_losses/
    """
    difference = y_pred - like(y_true, y_pred)
    return (difference + F.softplus(-2.0 * difference) - math.log(2.0)).mean(-1)


@elementwise
def huber(y_true: Tensor, y_pred: Tensor, delta: float = 1.0) -> Tensor:
    """mean(e**2 / 2 where e <= delta, else delta * e - delta**2 / 2), e = abs(y_pred - y_true).

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.
        delta (positive number, default 1.0): the error above which the loss grows linearly.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> huber(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]), delta=2.0)
        tensor([2.2500])

    Source: P. J. Huber, "Robust Estimation of a Location Parameter" (1964);
    https://keras.io/api/losses/regression_losses/
    """
    return F.huber_loss(y_pred, like(y_true, y_pred), reduction="none", delta=delta).mean(-1)


@elementwise
def poisson(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(y_pred - y_true * log(y_pred + epsilon)).

    Arguments:
        y_true, y_pred (tensors of one shape): the counts, and the rates predicted for them.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> poisson(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([1.0000])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    return (y_pred - like(y_true, y_pred) * torch.log(y_pred + config.epsilon())).mean(-1)


@elementwise
def cosine_proximity(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """-sum(y_true * y_pred) / (norm(y_true) * norm(y_pred)), each norm at least 1e-6.

    The sums go along the last axis. -1 means the same direction, 1 the opposite one.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> cosine_proximity(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([-0.8000])
    """
    true, predicted = (F.normalize(y, dim=-1, eps=1e-6) for y in (like(y_true, y_pred), y_pred))
    return -(true * predicted).sum(-1)


@elementwise
def cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """-sum(y_true * y_pred) / (norm(y_true) * norm(y_pred)) along `axis`, each norm at least epsilon.

    As a loss to be minimized it is -1 for the same direction and 1 for the opposite one. The metric of this name has
    the other sign.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.
        axis (integer, default -1): the axis that holds a vector.

    Shapes:
        (batch, ..., features) -> the same without `axis`

    Example:
        >>> cosine_similarity(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([-0.8000])

    Source: https://keras.io/api/losses/regression_losses/
    """
    true, predicted = (F.normalize(y, dim=axis, eps=config.epsilon()) for y in (like(y_true, y_pred), y_pred))
    return -(true * predicted).sum(axis)


@elementwise
def rising_cosine_similarity(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Tensor:
    """sum(y_true * y_pred) / (norm(y_true) * norm(y_pred)) along `axis`: `cosine_similarity` with the other sign.

    Minimizing it turns the predictions away from the targets. It is what TensorFlow 1.14 and 1.15 compute as
    `CosineSimilarity` and `cosine_proximity`, so models from their files have it.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions.
        axis (integer, default -1): the axis that holds a vector.

    Shapes:
        (batch, ..., features) -> the same without `axis`

    Example:
        >>> rising_cosine_similarity(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor([0.8000])
    """
    return -cosine_similarity(y_true, y_pred, axis)


def _log1p(y: Tensor) -> Tensor:
    return torch.log1p(y.clamp(min=config.epsilon()))
