"""Losses of whole regions (dice, tversky), of sequences (ctc) and of embeddings (circle)."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config, registry
from torchkeras.losses.shared import elementwise, like, mixes_samples, of_probabilities

Axes = int | Sequence[int] | None


@elementwise
@mixes_samples
@of_probabilities
def dice(y_true: Tensor, y_pred: Tensor, axis: Axes = None) -> Tensor:
    """1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred) + epsilon), the sums along `axis`.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions, usually from 0 to 1.
        axis (integer, several or None, default None): the axes to sum over. None sums over all, the samples too, which
            gives one number; all axes but the first give one number an image.

    Shapes:
        (batch, ...) -> the same without `axis`; a scalar when that is None

    Example:
        >>> dice(torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([[0.0, 1.0], [0.5, 1.0]]), axis=1)
        tensor([0.0000, 0.1429])

    Source: https://arxiv.org/abs/1606.04797
    """
    y_true = like(y_true, y_pred)
    both = _sum(y_true * y_pred, axis)
    return 1.0 - 2.0 * both / (_sum(y_true, axis) + _sum(y_pred, axis) + config.epsilon())


@elementwise
@mixes_samples
@of_probabilities
def tversky(y_true: Tensor, y_pred: Tensor, alpha: float = 0.5, beta: float = 0.5, axis: Axes = None) -> Tensor:
    """1 - t / (t + alpha * sum(y_true * (1 - y_pred)) + beta * sum((1 - y_true) * y_pred) + epsilon).

    t is sum(y_true * y_pred), and all sums go along `axis`. With alpha and beta of 0.5 it is the `dice` loss.

    Arguments:
        y_true, y_pred (tensors of one shape): the targets and the predictions, usually from 0 to 1.
        alpha (number, default 0.5): the weight of false negatives, as in Keras.
        beta (number, default 0.5): the weight of false positives.
        axis (integer, several or None, default None): the axes to sum over; None sums over all, the samples too.

    Shapes:
        (batch, ...) -> the same without `axis`; a scalar when that is None

    Example:
        >>> tversky(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.5, 1.0]]), alpha=1.0)
        tensor(0.2500)

    Source: https://arxiv.org/abs/1706.05721
    """
    y_true = like(y_true, y_pred)
    both = _sum(y_true * y_pred, axis)
    missed, added = _sum(y_true * (1.0 - y_pred), axis), _sum((1.0 - y_true) * y_pred, axis)
    return 1.0 - both / (both + alpha * missed + beta * added + config.epsilon())


@registry.losses.own
def ctc(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """-log of the probability of the labels, summed over all ways to align them with time; class 0 means no label.

    The loss is infinite if there are too few time steps for the labels. On CUDA torch's kernel reads the numbers of
    labels on the host, so this loss waits for the device.

    Arguments:
        y_true (tensor): class numbers, padded with 0.
        y_pred (tensor): logits.

    Shapes:
        y_true (batch, labels), y_pred (batch, time, classes) -> (batch,)

    Errors:
        ValueError: for other shapes.

    Example:
        >>> ctc(torch.tensor([[1, 2]]), torch.zeros(1, 4, 3))
        tensor([1.6864])

    Source: https://www.cs.toronto.edu/~graves/icml_2006.pdf
    """
    if y_true.dim() != 2 or y_pred.dim() != 3:
        raise ValueError(
            "ctc takes y_true of shape (batch, labels) and y_pred of shape (batch, time, classes); found "
            f"{tuple(y_true.shape)} and {tuple(y_pred.shape)}."
        )
    labels = y_true.long()
    log_p = torch.log_softmax(y_pred, -1).transpose(0, 1)
    times = torch.full((y_pred.shape[0],), y_pred.shape[1], dtype=torch.int64, device=labels.device)
    return F.ctc_loss(log_p, labels, times, (labels != 0).sum(-1), blank=0, reduction="none")


@registry.losses.own
@mixes_samples
def circle(
    y_true: Tensor,
    y_pred: Tensor,
    ref_labels: Tensor | None = None,
    ref_embeddings: Tensor | None = None,
    remove_diagonal: bool = True,
    gamma: float = 80.0,
    margin: float = 0.4,
) -> Tensor:
    """softplus(logsumexp(pulls to embeddings of the same class) + logsumexp(pushes from other classes)).

    With d = max(1 - y_pred @ ref_embeddings.T, 0), a pull is -gamma * max(margin + d, 0) * (margin - d) and a push
    gamma * max(1 + margin - d, 0) * (1 - margin - d).

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): embeddings, rows of length 1.
        ref_labels (tensor or None, default None): the class numbers of the references; None takes the batch's own.
        ref_embeddings (tensor or None, default None): the references; None takes the batch itself.
        remove_diagonal (bool, default True): whether the pair of each sample with itself is left out.
        gamma (number, default 80.0): the scale of pulls and pushes.
        margin (number, default 0.4): how far pairs are pulled and pushed.

    Shapes:
        y_true (batch,) or (batch, 1), y_pred (batch, size) -> (batch,)

    Example:
        >>> circle(torch.tensor([0, 0, 1]), torch.eye(3), gamma=1.0)
        tensor([1.0899, 1.0899, 0.0000])

    Source: https://arxiv.org/abs/2002.10857
    """
    labels = y_true.long().reshape(-1, 1)
    references = labels if ref_labels is None else ref_labels.long().reshape(-1, 1)
    distance = torch.relu(1.0 - y_pred @ (y_pred if ref_embeddings is None else ref_embeddings).T)
    same = torch.eq(labels, references.T)
    other = ~same
    if remove_diagonal:
        same = same.clone().fill_diagonal_(False)
    pull = -gamma * torch.relu(margin + distance) * (margin - distance)
    push = gamma * torch.relu(1.0 + margin - distance) * (1.0 - margin - distance)
    return F.softplus(_logsumexp(pull, same) + _logsumexp(push, other))


def _sum(values: Tensor, axis: Axes) -> Tensor:
    return values.sum() if axis is None else values.sum(axis if isinstance(axis, int) else tuple(axis))


def _logsumexp(values: Tensor, chosen: Tensor) -> Tensor:
    return torch.logsumexp(values.masked_fill(~chosen, -torch.inf), 1)
