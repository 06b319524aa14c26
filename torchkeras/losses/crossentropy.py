"""Crossentropies and their kin, of probabilities or of logits."""

import math
import warnings
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config, registry
from torchkeras.activations.logits import ITSELF, logits_of
from torchkeras.declared import constants
from torchkeras.losses.shared import HALF_TYPES, clamp, clip, elementwise, like, logit_bounds, of_probabilities

NO_LABEL = -(2**62)  # torch silently ignores the label -100


@elementwise
@of_probabilities
def categorical_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
) -> Tensor:
    """-sum(y_true * log(p)) along `axis`, p the clipped y_pred / sum(y_pred).

    Arguments:
        y_true (tensor): one-hot rows, or probabilities.
        y_pred (tensor of the same shape): probabilities, or logits.
        from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
        label_smoothing (number from 0 to 1, default 0.0): the share of each target that is spread evenly over the
            classes, as many as `axis` is long.
        axis (integer, default -1): the axis of the classes.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_crossentropy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    log_p = _log_probabilities(
        y_pred, from_logits, axis, clipped=not (from_logits or getattr(y_pred, "_keras_exact", False))
    )
    return -(_smooth(like(y_true, y_pred), label_smoothing, y_pred.shape[axis]) * log_p).sum(axis)


@registry.losses.own
@of_probabilities
def sparse_categorical_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
) -> Tensor:
    """-log(p[y_true]), p the clipped y_pred / sum(clipped y_pred).

    From logits that y_pred carries, the last division is left out: it changes the loss by less than (number of classes)
    * epsilon.

    Arguments:
        y_true (tensor): class numbers, of any number type.
        y_pred (tensor): probabilities, or logits.
        from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
        ignore_class (integer or None, default None): a class number whose loss is 0.
        axis (integer, default -1): the axis of the classes.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Errors:
        IndexError: on the CPU, for a label that is no class.

    Example:
        >>> sparse_categorical_crossentropy(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    logits = _class_logits(y_pred, from_logits, axis)
    scores = torch.log(clip(y_pred)) if logits is None else logits
    return picked(
        F.cross_entropy,
        y_true,
        scores,
        ignore_class,
        axis,
        clipped=not (from_logits or logits is None or getattr(y_pred, "_keras_exact", False)),
    )


def mean_sparse_categorical_crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The mean of `sparse_categorical_crossentropy` over all samples, by a shorter way for marked logits."""
    if (
        getattr(y_pred, "_keras_logits", None) is not ITSELF
        or y_pred.dim() != 2
        or getattr(y_pred, "_keras_exact", False)
    ):
        return sparse_categorical_crossentropy(y_true, y_pred).mean()
    loss = F.cross_entropy(y_pred, y_true.reshape(-1).long(), reduction="none", ignore_index=NO_LABEL)
    return clamp(loss, *_bounds(config.SETTINGS.epsilon)).mean()


def sparse_categorical_crossentropy_of_all(
    y_true: Tensor, y_pred: Tensor, from_logits: bool, ignore_class: int | None, axis: int
) -> Tensor | None:
    """The mean of a row's loss, unclipped, from logits that y_pred is or is marked as; None for all else."""
    marked = getattr(y_pred, "_keras_logits", None) is ITSELF and getattr(y_pred, "_keras_exact", False)
    if ignore_class is not None or y_pred.dim() != 2 or len(y_pred) != y_true.numel() or not (marked or from_logits):
        return None
    if from_logits:
        _warn_of_probabilities(y_pred)
    return F.cross_entropy(y_pred, y_true.reshape(-1).long(), ignore_index=NO_LABEL)


def _bounds(epsilon: float) -> tuple[float, float]:
    """The losses of 1 - epsilon and of epsilon."""
    return -math.log1p(-epsilon), -math.log(epsilon)


def picked(
    pick: Callable[..., Tensor],
    y_true: Tensor,
    scores: Tensor,
    ignore_class: int | None,
    axis: int,
    clipped: bool,
) -> Tensor:
    """The loss of the class numbers y_true by `pick`, torch's for (samples, classes), for scores of any shape."""
    shape = scores.shape
    if axis not in (-1, scores.dim() - 1):
        scores = scores.movedim(axis, -1)
        shape = scores.shape
    if scores.dim() != 2:
        scores = scores.reshape(-1, shape[-1])
    labels = (y_true if y_true.dim() == 1 else y_true.reshape(-1)).long()
    index = NO_LABEL if ignore_class is None else ignore_class
    loss = pick(scores, labels, reduction="none", ignore_index=index)
    if clipped:
        loss = clamp(loss, *_bounds(config.epsilon()))
    if clipped and ignore_class is not None:
        loss = loss.masked_fill(torch.eq(labels, ignore_class), 0)
    return loss if len(shape) == 2 else loss.reshape(shape[:-1])


@elementwise
@of_probabilities
def binary_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """mean(-y_true * log(p) - (1 - y_true) * log(1 - p)) along `axis`, p the clipped y_pred.

    Arguments:
        y_true (tensor): targets from 0 to 1.
        y_pred (tensor of the same shape): probabilities, or logits.
        from_logits (bool, default False): whether y_pred holds logits; p is then its sigmoid and is not clipped.
        label_smoothing (number from 0 to 1, default 0.0): the share by which targets are moved towards 1/2.
        axis (integer, default -1): the axis of the mean.

    Shapes:
        (batch, ..., features) -> the same without `axis`

    Example:
        >>> binary_crossentropy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    return elementwise_binary(y_true, y_pred, from_logits, label_smoothing, clipped=not from_logits).mean(axis)


def mean_binary_crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The mean of `binary_crossentropy` over all numbers, by two kernels fewer each way."""
    return elementwise_binary(y_true, y_pred, False, 0.0, clipped=True, reduction="mean")


def binary_crossentropy_of_all(
    y_true: Tensor, y_pred: Tensor, from_logits: bool, label_smoothing: float, axis: int
) -> Tensor:
    """`mean_binary_crossentropy`, with options; `axis` must be -1."""
    return elementwise_binary(y_true, y_pred, from_logits, label_smoothing, not from_logits, "mean")


@elementwise
@of_probabilities
def kullback_leibler_divergence(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1].

    Arguments:
        y_true, y_pred (tensors of one shape): rows of probabilities.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> kullback_leibler_divergence(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.6931])

    Source: https://keras.io/api/losses/probabilistic_losses/
    """
    y_true, y_pred = (y.clamp(min=config.epsilon()) for y in (like(y_true, y_pred), y_pred))
    # Not by clamp: from torch 2.15 on that has no gradient at its very bound, where saturated predictions lie.
    y_true, y_pred = (y.masked_fill(y > 1.0, 1.0) for y in (y_true, y_pred))
    return (y_true * torch.log(y_true / y_pred)).sum(-1)


@elementwise
@of_probabilities
def categorical_focal_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    alpha: float | Sequence[float] = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """-sum(alpha * (1 - p)**gamma * y_true * log(p)) along `axis`, p the clipped y_pred / sum(y_pred).

    Classes that are predicted confidently count less than in `categorical_crossentropy`.

    Arguments:
        y_true (tensor): one-hot rows, or probabilities.
        y_pred (tensor of the same shape): probabilities, or logits.
        alpha (number or list of numbers, default 0.25): one weight, or one for each class.
        gamma (number of at least 0, default 2.0): how much less confident predictions count; 0 counts them fully.
        from_logits (bool, default False): whether y_pred holds logits; p is then its softmax, clipped too.
        label_smoothing (number from 0 to 1, default 0.0): the share of each target that is spread evenly over the
            classes.
        axis (integer, default -1): the axis of the classes.

    Shapes:
        (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_focal_crossentropy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.0433])

    Source: https://arxiv.org/abs/1708.02002
    """
    log_p = _log_probabilities(y_pred, from_logits, axis, clipped=True)
    weight: float | Tensor
    if isinstance(alpha, (int, float)):
        weight = alpha
    else:
        axes_after = -1 - axis if axis < 0 else y_pred.dim() - 1 - axis
        weight = constants(tuple(alpha), y_pred.dtype, y_pred.device).reshape(-1, *[1] * axes_after)
    y_true = _smooth(like(y_true, y_pred), label_smoothing, y_pred.shape[axis])
    return -(weight * torch.pow(-torch.expm1(log_p), gamma) * y_true * log_p).sum(axis)


@elementwise
@of_probabilities
def binary_focal_crossentropy(
    y_true: Tensor,
    y_pred: Tensor,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """mean((1 - q)**gamma * binary crossentropy) along `axis`, q = y_true * y_pred + (1 - y_true) * (1 - y_pred).

    Confident correct predictions count less than in `binary_crossentropy`.

    Arguments:
        y_true (tensor): targets from 0 to 1.
        y_pred (tensor of the same shape): probabilities, or logits.
        apply_class_balancing (bool, default False): whether each value is weighted by
            alpha * y_true + (1 - alpha) * (1 - y_true).
        alpha (number, default 0.25): the weight of targets of 1 in that.
        gamma (number of at least 0, default 2.0): how much less confident predictions count; 0 counts them fully.
        from_logits (bool, default False): whether y_pred holds logits, which a sigmoid makes probabilities.
        label_smoothing (number from 0 to 1, default 0.0): the share by which targets are moved towards 1/2.
        axis (integer, default -1): the axis of the mean.

    Shapes:
        (batch, ..., features) -> the same without `axis`

    Example:
        >>> binary_focal_crossentropy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor([0.1733])

    Source: https://arxiv.org/abs/1708.02002
    """
    crossentropy = elementwise_binary(y_true, y_pred, from_logits, label_smoothing, clipped=True)
    p = torch.sigmoid(y_pred) if from_logits else y_pred
    y_true = _smooth(like(y_true, y_pred), label_smoothing, 2)
    # 1 - q, which keeps its digits near 0
    loss = torch.pow(y_true + p - 2.0 * y_true * p, gamma) * crossentropy
    if apply_class_balancing:
        loss = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * loss
    return loss.mean(axis)


@registry.losses.own
@of_probabilities
def categorical_generalized_cross_entropy(y_true: Tensor, y_pred: Tensor, q: float = 0.5) -> Tensor:
    """(1 - p**q) / q, p = y_pred[y_true]; for noisy labels.

    It lies between crossentropy (q near 0) and absolute error (q = 1).

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): probabilities.
        q (number between 0 and 1, default 0.5): the nearer to 1, the less a wrong label counts.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Errors:
        RuntimeError: on the CPU, for a label that is no class.

    Example:
        >>> categorical_generalized_cross_entropy(torch.tensor([1]), torch.tensor([[0.75, 0.25]]))
        tensor([1.])

    Source: https://arxiv.org/abs/1805.07836
    """
    labels = y_true.long().reshape(*y_pred.shape[:-1], 1)
    return (1.0 - torch.pow(y_pred.gather(-1, labels).squeeze(-1), q)) / q


def _smooth(y_true: Tensor, label_smoothing: float, classes: int) -> Tensor:
    return y_true * (1.0 - label_smoothing) + label_smoothing / classes if label_smoothing else y_true


def _class_logits(y_pred: Tensor, from_logits: bool, axis: int) -> Tensor | None:
    if not from_logits:
        return logits_of(y_pred, "softmax", axis)
    _warn_of_probabilities(y_pred)
    return y_pred


def _log_probabilities(y_pred: Tensor, from_logits: bool, axis: int, clipped: bool) -> Tensor:
    logits = _class_logits(y_pred, from_logits, axis)
    if logits is None:
        return torch.log(clip(y_pred / y_pred.sum(axis, keepdim=True)))
    log_p = torch.log_softmax(logits, axis)
    return clamp(log_p, math.log(config.epsilon()), math.log1p(-config.epsilon())) if clipped else log_p


def elementwise_binary(
    y_true: Tensor,
    y_pred: Tensor,
    from_logits: bool,
    label_smoothing: float,
    clipped: bool,
    reduction: str = "none",
) -> Tensor:
    """The binary crossentropy of each number, or their mean."""
    if from_logits:
        _warn_of_probabilities(y_pred)
    logits = y_pred if from_logits else logits_of(y_pred, "sigmoid")
    if logits is None:
        # In half precision 1 - epsilon would be 1, and its logit infinite.
        logits = torch.logit(y_pred.float() if y_pred.dtype in HALF_TYPES else y_pred, config.epsilon())
    elif clipped and not getattr(y_pred, "_keras_exact", False):
        logits = clamp(logits, *logit_bounds(config.epsilon(), logits.dtype))
    y_true = _smooth(like(y_true, logits), label_smoothing, 2)
    return F.binary_cross_entropy_with_logits(logits, y_true, reduction=reduction)


def _warn_of_probabilities(y_pred: Tensor) -> None:
    made_by = getattr(y_pred, "_keras_activation", None)
    if made_by is not None:
        warnings.warn(f"from_logits=True, but y_pred comes out of {made_by}: it is no logit.", stacklevel=4)
