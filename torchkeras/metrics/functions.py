"""The functions of Keras 2.2.4 that are metrics alone.

The accuracies count in float32 whatever the type of `y_pred`: half types hold too few digits for a mean.
"""

import torch
from torch import Tensor

from torchkeras import registry
from torchkeras.metrics.direction import rising


def _check_alike(metric: str, y_true: Tensor, y_pred: Tensor) -> None:
    """Class numbers would be compared with the scores of every class: raise ValueError."""
    if y_true.dim() and y_pred.dim() and y_true.shape[-1] != y_pred.shape[-1]:
        raise ValueError(
            f"{metric}: y_true of shape {tuple(y_true.shape)} does not fit y_pred of shape {tuple(y_pred.shape)}. For "
            "class numbers use 'accuracy', or a metric whose name begins with sparse."
        )


@registry.metrics.own
@rising
def binary_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(y_true == round(y_pred)).

    Arguments:
        y_true (tensor): targets of 0 and 1.
        y_pred (tensor of the same shape): probabilities.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> binary_accuracy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.7, 0.7]]))
        tensor([0.5000])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    _check_alike("binary_accuracy", y_true, y_pred)
    return torch.eq(y_true, torch.round(y_pred)).mean(-1, dtype=torch.float32)


@registry.metrics.own
@rising
def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_true) == argmax(y_pred), as 1.0 or 0.0.

    Arguments:
        y_true (tensor): one-hot rows.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_accuracy(torch.eye(2), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor([1., 0.])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    _check_alike("categorical_accuracy", y_true, y_pred)
    return categorical_hits(y_true, y_pred).float()


@registry.metrics.own
@rising
def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == argmax(y_pred), as 1.0 or 0.0.

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): scores.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Example:
        >>> sparse_categorical_accuracy(torch.tensor([0, 1]), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor([1., 0.])

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    return sparse_categorical_hits(y_true, y_pred).float()


@rising
def categorical_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_true) == argmax(y_pred), as booleans: a mean counts them without making them numbers first.

    Arguments:
        y_true (tensor): one-hot rows.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_hits(torch.eye(2), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor([ True, False])
    """
    return torch.eq(y_true.argmax(-1), y_pred.argmax(-1))


@rising
def sparse_categorical_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == argmax(y_pred), as booleans.

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): scores.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Example:
        >>> sparse_categorical_hits(torch.tensor([0, 1]), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor([ True, False])
    """
    hit = y_pred.argmax(-1)
    return (y_true if y_true.shape == hit.shape else y_true.reshape(hit.shape)) == hit


@registry.metrics.own
@rising
def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """The share of samples for which fewer than `k` classes score above argmax(y_true).

    As in Keras the mean is over the last axis that is left: one number for y_pred of shape (samples, classes).

    Arguments:
        y_true (tensor): one-hot rows.
        y_pred (tensor of the same shape): scores.
        k (positive integer, default 5): how many of the best classes count.

    Shapes:
        (batch, ..., classes) -> the same without the last two axes

    Example:
        >>> top_k_categorical_accuracy(torch.eye(3), torch.tensor([[0.6, 0.3, 0.1]] * 3), k=2)
        tensor(0.6667)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    _check_alike("top_k_categorical_accuracy", y_true, y_pred)
    return sparse_top_k_categorical_accuracy(y_true.argmax(-1), y_pred, k)


@registry.metrics.own
@rising
def sparse_top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    """The share of samples for which fewer than `k` classes score above class y_true.

    As in Keras the mean is over the last axis that is left: one number for y_pred of shape (samples, classes). A score
    that is not finite counts as wrong.

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): scores.
        k (positive integer, default 5): how many of the best classes count.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> the latter without its last two axes

    Example:
        >>> sparse_top_k_categorical_accuracy(torch.arange(3), torch.tensor([[0.6, 0.3, 0.1]] * 3), k=2)
        tensor(0.6667)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """
    score = y_pred.gather(-1, y_true.reshape(*y_pred.shape[:-1], 1).long())
    # A score that is no number counts as wrong.
    hit = ((y_pred > score).sum(-1) < k) & score.squeeze(-1).isfinite()
    return hit.mean(-1, dtype=torch.float32)
