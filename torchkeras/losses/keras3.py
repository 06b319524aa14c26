"""Losses that Keras 3 computes otherwise than 2.2.4, by more than rounding; the classes use these.

hinge, squared_hinge: targets that are all 0 or 1 are read as -1 and 1. sparse_categorical_crossentropy: probabilities
are divided by their sum before they are clipped, not after.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.activations.logits import logits_of
from torchkeras.losses import crossentropy, hinges
from torchkeras.losses.shared import clip


def hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)); targets that are all 0 or 1 are read as -1 and 1.

    Arguments:
        y_true (tensor): targets, -1 or 1, or 0 or 1.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> hinge(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([1.])

    Source: https://keras.io/api/losses/hinge_losses/
    """
    return hinges.hinge(_signs(y_true), y_pred)


def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)**2); targets that are all 0 or 1 are read as -1 and 1.

    Arguments:
        y_true (tensor): targets, -1 or 1, or 0 or 1.
        y_pred (tensor of the same shape): scores.

    Shapes:
        (batch, ..., features) -> (batch, ...)

    Example:
        >>> squared_hinge(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor([2.])

    Source: https://keras.io/api/losses/hinge_losses/
    """
    return hinges.squared_hinge(_signs(y_true), y_pred)


def sparse_categorical_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Tensor:
    """-log(p[y_true]), p the clipped y_pred / sum(y_pred).

    Arguments:
        y_true (tensor): class numbers, of any number type.
        y_pred (tensor): probabilities, or logits.
        from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
        ignore_class (integer or None, default None): a class number whose loss is 0.
        axis (integer, default -1): the axis of the classes.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Errors:
        ValueError: when y_true has neither the shape of y_pred without its `axis`, nor that with 1 there.

    Example:
        >>> sparse_categorical_crossentropy(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    wanted = list(y_pred.shape)
    wanted[axis] = 1
    if list(y_true.shape) not in (wanted, [*wanted[:axis], *wanted[axis:][1:]]):
        raise ValueError(
            f"sparse_categorical_crossentropy: y_true of shape {tuple(y_true.shape)} does not hold a class number "
            f"for each row of a y_pred of shape {tuple(y_pred.shape)}."
        )
    if from_logits or logits_of(y_pred, "softmax", axis) is not None:
        return crossentropy.sparse_categorical_crossentropy(y_true, y_pred, from_logits, ignore_class, axis)
    log_p = torch.log(clip(y_pred / y_pred.sum(axis, keepdim=True)))
    return crossentropy.picked(F.nll_loss, y_true, log_p, ignore_class, axis, clipped=False)


def _signs(y_true: Tensor) -> Tensor:
    """-1 and 1 for 0 and 1, when all are these; decided on the device."""
    binary = (torch.eq(y_true, 0) | torch.eq(y_true, 1)).all()
    return torch.where(binary, 2 * y_true - 1, y_true)
