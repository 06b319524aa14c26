"""Hinge losses, of scores whose sign is the answer."""

import torch
from torch import Tensor

from torchkeras.losses.shared import elementwise, like


@elementwise
def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)**2).

    Arguments:
        y_true (tensor): targets, -1 or 1.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> squared_hinge(torch.tensor([[-1.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([2.])

    Source: https://keras.io/api/losses/hinge_losses/
    """
    return torch.relu(1.0 - like(y_true, y_pred) * y_pred).square().mean(-1)


@elementwise
def hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)).

    Arguments:
        y_true (tensor): targets, -1 or 1.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> hinge(torch.tensor([[-1.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([1.])

    Source: https://keras.io/api/losses/hinge_losses/
    """
    return torch.relu(1.0 - like(y_true, y_pred) * y_pred).mean(-1)


@elementwise
def categorical_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred)).

    Arguments:
        y_true (tensor): one-hot rows.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_hinge(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
        tensor([0.5000])

    Source: https://keras.io/api/losses/hinge_losses/
    """
    right = like(y_true, y_pred) * y_pred
    return torch.relu(1.0 + (y_pred - right).amax(-1) - right.sum(-1))
