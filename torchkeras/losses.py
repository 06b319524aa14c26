"""Losses: `loss(y_true, y_pred)` gives one number a sample (and time step): most are the mean over the last axis.

The crossentropies clip probabilities to [epsilon, 1 - epsilon], as Keras does. A `y_pred` that comes straight out of
`activations.softmax` or `activations.sigmoid` carries the logits; then they are used, with fewer kernels and finer
numbers, and the clip is put on the loss: a clipped sample has Keras's loss and, as in Keras, no gradient.
"""

import math
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import config, registry

HALF_TYPES = (torch.float16, torch.bfloat16)
NO_LABEL = -(2**62)  # torch would pass over the label -100 in silence


def mean_squared_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean((y_pred - y_true)**2)"""
    return F.mse_loss(y_pred, _like(y_true, y_pred), reduction="none").mean(-1)


def mean_absolute_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(abs(y_pred - y_true))"""
    return torch.abs(y_pred - _like(y_true, y_pred)).mean(-1)


def mean_absolute_percentage_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon))"""
    y_true = _like(y_true, y_pred)
    return 100.0 * (torch.abs(y_true - y_pred) / y_true.abs().clamp(min=config.epsilon())).mean(-1)


def mean_squared_logarithmic_error(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2)"""
    return mean_squared_error(_log1p(_like(y_true, y_pred)), _log1p(y_pred))


def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)**2), targets -1 or 1"""
    return torch.relu(1.0 - _like(y_true, y_pred) * y_pred).square().mean(-1)


def hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)), targets -1 or 1"""
    return torch.relu(1.0 - _like(y_true, y_pred) * y_pred).mean(-1)


def categorical_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""
    right = _like(y_true, y_pred) * y_pred
    return torch.relu(1.0 + (y_pred - right).amax(-1) - right.sum(-1))


def logcosh(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(log(cosh(y_pred - y_true))): near 0 half the square, far away the absolute value less log(2)."""
    difference = y_pred - _like(y_true, y_pred)
    return (difference + F.softplus(-2.0 * difference) - math.log(2.0)).mean(-1)


def categorical_crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """-sum(y_true * log(p)), p the clipped y_pred / sum(y_pred)"""
    logits = _logits(y_pred, "softmax")
    if logits is None:
        log_p = torch.log(_clip(y_pred / y_pred.sum(-1, keepdim=True)))
    else:
        log_p = _clamp(torch.log_softmax(logits, -1), math.log(config.epsilon()), math.log1p(-config.epsilon()))
    return -(_like(y_true, y_pred) * log_p).sum(-1)


def sparse_categorical_crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """-log(p[y_true]), p the clipped y_pred / sum(clipped y_pred)

    y_true: class numbers of the shape of y_pred without its last axis, or with a last axis of 1; any number type.
    From logits the last division is left out: it changes the loss by less than (number of classes) * epsilon.
    Raises IndexError, on the CPU, for a label that is no class.
    """
    logits = _logits(y_pred, "softmax")
    scores = torch.log(_clip(y_pred)) if logits is None else logits
    if scores.dim() != 2:
        scores = scores.reshape(-1, scores.shape[-1])
    loss = F.cross_entropy(scores, y_true.reshape(-1).long(), reduction="none", ignore_index=NO_LABEL)
    if logits is not None:
        loss = _clamp(loss, -math.log1p(-config.epsilon()), -math.log(config.epsilon()))
    return loss if y_pred.dim() == 2 else loss.reshape(y_pred.shape[:-1])


def binary_crossentropy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(-y_true * log(p) - (1 - y_true) * log(1 - p)), p the clipped y_pred"""
    logits = _logits(y_pred, "sigmoid")
    if logits is None:
        # In half precision 1 - epsilon would be 1, and its logit infinite.
        logits = torch.logit(y_pred.float() if y_pred.dtype in HALF_TYPES else y_pred, config.epsilon())
    else:
        logits = _clamp(logits, *_logit_bounds(config.epsilon(), logits.dtype))
    return F.binary_cross_entropy_with_logits(logits, _like(y_true, logits), reduction="none").mean(-1)


def kullback_leibler_divergence(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1]"""
    y_true, y_pred = (torch.clamp(y, config.epsilon(), 1.0) for y in (_like(y_true, y_pred), y_pred))
    return (y_true * torch.log(y_true / y_pred)).sum(-1)


def poisson(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(y_pred - y_true * log(y_pred + epsilon))"""
    return (y_pred - _like(y_true, y_pred) * torch.log(y_pred + config.epsilon())).mean(-1)


def cosine_proximity(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """-sum(y_true * y_pred) / (norm(y_true) * norm(y_pred)), each norm at least 1e-6"""
    return -F.cosine_similarity(_like(y_true, y_pred), y_pred, -1, 1e-6)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_proximity

# Every function above is known by each of its names, the aliases among them.
for _name, _value in list(vars().items()):
    if getattr(_value, "__module__", None) == __name__:
        registry.losses.register(_name, _value)


def _like(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return y_true if y_true.dtype == y_pred.dtype else y_true.to(y_pred.dtype)


def _clip(probabilities: Tensor) -> Tensor:
    return _clamp(probabilities, config.epsilon(), 1.0 - config.epsilon())


# Clamp, with one kernel for the gradient, not four: a categorical crossentropy of (32, 10) takes 0.75 of the time.
_clamp = F.hardtanh


def _log1p(y: Tensor) -> Tensor:
    return torch.log1p(y.clamp(min=config.epsilon()))


def _logits(y_pred: Tensor, activation: str) -> Tensor | None:
    if getattr(y_pred, "_keras_activation", None) != activation:
        return None
    return getattr(y_pred, "_keras_logits", None)


@lru_cache
def _logit_bounds(epsilon: float, dtype: torch.dtype) -> tuple[float, float]:
    # 1 - 1e-7 is rounded in float32: Keras's highest loss is 16.12 for a target of 1, but 15.94 for one of 0.
    real = np.float64 if dtype == torch.float64 else np.float32
    low, high = real(epsilon), real(1) - real(epsilon)
    return float(np.log(low / (1 - low))), float(np.log(high / (1 - high)))


get = deserialize = registry.losses.get
serialize = registry.losses.serialize
