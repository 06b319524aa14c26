"""Which losses and metrics are means over samples: the value for a batch then follows from the values for its parts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import is_
from typing import Any

from torch import nn
from torch.nn import functional as F

from torchkeras import losses, metrics
from torchkeras.losses.shared import ELEMENTWISE, MIXING

# The functions that give each sample a number of its own, or the mean of such numbers.
FUNCTIONS = (
    *(set(ELEMENTWISE) - set(MIXING)),
    losses.sparse_categorical_crossentropy,
    *(metrics.binary_accuracy, metrics.categorical_accuracy, metrics.sparse_categorical_accuracy),
    *(metrics.categorical_hits, metrics.sparse_categorical_hits),
    *(metrics.top_k_categorical_accuracy, metrics.sparse_top_k_categorical_accuracy),
)
TORCH = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss)
TORCH_FUNCTIONS = (
    *(F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss),
    *(F.binary_cross_entropy, F.binary_cross_entropy_with_logits),
)


def is_one_of(what: Any, known: Iterable[Any]) -> bool:
    """Whether it is one of these very objects. A user's object may compare in any way, so `in` would not do."""
    return any(map(partial(is_, what), known))


def is_by_sample(what: Any) -> bool:
    """Whether the mean over many samples is the mean of the means over parts of them, weighted by size."""
    return is_one_of(what, FUNCTIONS)


def adds_up(what: Any) -> bool:
    """Whether a loss or function, with its options, is the mean, or the sum, of a number for each sample.

    False for the user's own code, of which it is not known.
    """
    if isinstance(what, losses.Loss):
        known = type(what).__module__ == losses.Huber.__module__ and getattr(type(what), "function", None) not in MIXING
        return known and getattr(what, "axis", -1) == -1
    if isinstance(what, nn.Module):
        return type(what) in TORCH and what.reduction == "mean" and getattr(what, "weight", None) is None
    if isinstance(what, partial):
        plain = not what.args and what.keywords.get("axis", -1) == -1
        return plain and is_by_sample(what.func)
    return is_by_sample(what) or is_one_of(what, TORCH_FUNCTIONS)
