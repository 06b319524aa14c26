"""What several losses use: clipped probabilities, the bounds of logits, shapes made to fit."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config, registry
from torchkeras.activations.logits import carried

F = TypeVar("F", bound=Callable[..., Tensor])

HALF_TYPES = (torch.float16, torch.bfloat16)
# Functions whose targets have the shape of the output; the others take class numbers, or targets of any shape.
ELEMENTWISE: list[Callable[..., Tensor]] = []
MIXING: list[Callable[..., Tensor]] = []  # see `mixes_samples`
OF_PROBABILITIES: list[Callable[..., Tensor]] = []  # see `of_probabilities`


def elementwise(function: F) -> F:
    """Register a loss whose targets have the shape of the output."""
    ELEMENTWISE.append(function)
    return registry.losses.own(function)


def mixes_samples(function: F) -> F:
    """Mark a loss that is not a mean over samples: it is computed from the whole batch, never from parts of it."""
    MIXING.append(function)
    return function


def of_probabilities(function: F) -> F:
    """Mark a loss that takes probabilities: as the metric of a model that gives logits, it gets their activation."""
    OF_PROBABILITIES.append(function)
    return function


# Clamp, with one kernel for the gradient, not four: a categorical crossentropy of (32, 10) takes 0.75 of the time.
clamp = nn.functional.hardtanh


def like(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true in the type of y_pred."""
    return y_true if y_true.dtype == y_pred.dtype else y_true.to(y_pred.dtype)


def clip(probabilities: Tensor) -> Tensor:
    """Clipped to [epsilon, 1 - epsilon]."""
    return clamp(probabilities, config.epsilon(), 1.0 - config.epsilon())


@lru_cache
def logit_bounds(epsilon: float, dtype: torch.dtype) -> tuple[float, float]:
    """The logits of epsilon and 1 - epsilon, as Keras rounds them."""
    # 1 - 1e-7 is rounded in float32: Keras's highest loss is 16.12 for a target of 1, but 15.94 for one of 0.
    real = np.float64 if dtype == torch.float64 else np.float32
    low, high = real(epsilon), real(1) - real(epsilon)
    return float(np.log(low / (1 - low))), float(np.log(high / (1 - high)))


def same_rank(first: Tensor, second: Tensor, expand_vectors: bool = True) -> tuple[Tensor, Tensor]:
    """Both with the same number of axes, when one of them has a last axis of 1 more than the other.

    That axis is dropped. When the other is a vector and `expand_vectors` is set, the vector gets such an axis instead,
    as in Keras 3.
    """
    ranks = first.dim(), second.dim()
    longer = first if ranks[0] > ranks[1] else second
    if abs(ranks[0] - ranks[1]) != 1 or longer.shape[-1] != 1:
        return first, second
    wanted = 2 if expand_vectors and min(ranks) == 1 else min(ranks)

    def fit(tensor: Tensor) -> Tensor:
        if tensor.dim() == wanted:
            return tensor
        return tensor.unsqueeze(-1) if tensor.dim() < wanted else tensor.squeeze(-1)

    return carried(first, fit), carried(second, fit)


def divide_no_nan(numerator: Tensor, denominator: Tensor) -> Tensor:
    """numerator / denominator, 0 where the denominator is 0; gradients stay finite there."""
    zero = torch.eq(denominator, 0)
    return (numerator / denominator.masked_fill(zero, 1)).masked_fill(zero, 0)


def check_scores(function: Any, scores: Any, y_pred: Tensor | None = None) -> None:
    """Raise TypeError for scores that are no tensor of real numbers; `function`: the loss or metric that gave them.

    With `y_pred` they must be one number, or one for each of its samples: ValueError for others.
    """
    if not isinstance(scores, Tensor) or scores.is_complex():
        found = f"a tensor of {scores.dtype}" if isinstance(scores, Tensor) else type(scores).__name__
        raise TypeError(
            f"The loss or metric {_name(function)} must return a tensor of real numbers, one alone or one for each "
            f"sample; found {found}."
        )
    if y_pred is not None and scores.shape[:1] != y_pred.shape[:1] and scores.numel() != 1:
        raise ValueError(
            f"The loss or metric {_name(function)} must return one number, or one for each of the {len(y_pred)} "
            f"samples; found a tensor of shape {tuple(scores.shape)}. One number is its mean()."
        )


def _name(function: Any) -> str:
    function = getattr(function, "func", function)  # of a partial
    return getattr(function, "__name__", type(function).__name__)
