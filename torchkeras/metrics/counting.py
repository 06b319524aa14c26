"""True and false, positives and negatives, at many thresholds in one pass.

Predictions are sorted into the buckets between the thresholds; sums over the buckets are the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.tracing import made_once
from torchkeras.declared import constants
from torchkeras.losses.shared import same_rank

OUT_OF_REACH = -1e10  # below any threshold: the scores that are not among the best k


class Counts(NamedTuple):
    """Weights of the predictions at each threshold, of shape (thresholds,), or (thresholds, labels)."""

    true_positives: Tensor
    false_positives: Tensor
    true_negatives: Tensor
    false_negatives: Tensor


@dataclass(frozen=True)
class Thresholds:
    """Thresholds in the order in which they were given; a prediction is positive at those that it is above.

    `even`: they go from 0 to 1 in equal steps, so that one multiplication finds a prediction's bucket, as in Keras 3;
    the outer two may lie a little further out. `rising`: they were given in that order.
    """

    values: tuple[float, ...]
    even: bool
    rising: bool

    @classmethod
    def of(cls, values: Sequence[float]) -> Thresholds:
        """Thresholds of these values; finds whether they are evenly spaced from 0 to 1."""
        inner = np.clip(values, 0, 1)
        steps = np.linspace(0, 1, len(values))
        even = len(values) >= 3 and np.allclose(inner, steps, atol=config.epsilon())
        return cls(tuple(values), even, list(values) == sorted(values))

    def below(self, scores: Tensor) -> Tensor:
        """How many thresholds lie below each score; 0 for one that is no number."""
        if not self.even:
            ordered = constants(tuple(sorted(self.values)), scores.dtype, scores.device)
            return torch.bucketize(scores.nan_to_num(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf), ordered)
        last = len(self.values) - 1
        least = int(self.values[0] < 0)
        return torch.ceil(scores.nan_to_num(nan=0.0).clamp(0, 1) * last).clamp(min=least).long()

    def in_order(self, counts: Tensor) -> Tensor:
        """Counts by rising thresholds, put in the order in which the thresholds were given."""
        return counts if self.rising else counts[_order_of(self.values, counts.device)]


def count(
    y_true: Tensor, y_pred: Tensor, thresholds: Thresholds, weight: Tensor | None = None, labels: int | None = None
) -> Counts:
    """The counts at each threshold, over everything, or for each of the `labels` of the last axis.

    y_true: positive where not 0, of the shape of y_pred. weight has that shape too, or axes of 1.
    """
    buckets = len(thresholds.values) + 1
    place = thresholds.below(y_pred) + (y_true != 0) * buckets
    if labels is not None:
        place = place * labels + torch.arange(labels, device=place.device)
    weight = torch.ones_like(y_pred) if weight is None else weight.expand(y_pred.shape)
    sums = y_pred.new_zeros(2 * buckets * (labels or 1)).index_add_(0, place.flatten(), weight.flatten())
    sums = sums.reshape(2, buckets, *([] if labels is None else [labels]))
    below = _running_sums(sums)[:, :-1]
    above = _running_sums(sums.flip(1)).flip(1)[:, 1:]
    tn, fn, fp, tp = (thresholds.in_order(counts) for counts in (*below, *above))
    return Counts(tp, fp, tn, fn)


def _running_sums(values: Tensor) -> Tensor:
    """`values.cumsum(1)`, also where torch's kernel is refused: on CUDA under `use_deterministic_algorithms(True)`."""
    if not (values.is_cuda and torch.are_deterministic_algorithms_enabled()):
        return values.cumsum(1)
    size = values.shape[1]
    counted = torch.ones(size, size, dtype=torch.bool, device=values.device).tril()
    return torch.where(counted, values.movedim(1, -1).unsqueeze(-2), 0).sum(-1).movedim(-1, 1)


def prepared(
    y_true: Tensor, y_pred: Tensor, weight: Tensor | None, top_k: int | None = None, class_id: int | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """y_true, y_pred and weight for `count`: with the same number of axes, reduced to the best k scores and to one
    class.

    weight: one for each sample, step, ..., or for each prediction. Raises ValueError for shapes that do not fit.
    """
    y_pred, y_true = same_rank(y_pred, y_true)
    if y_true.shape != y_pred.shape:
        advice = ""
        if y_true.shape[-1:] == (1,):
            advice = " If y_true holds class numbers, give one-hot rows, by torchkeras.utils.to_categorical."
        raise ValueError(
            f"y_true of shape {tuple(y_true.shape)} does not fit y_pred of shape {tuple(y_pred.shape)}.{advice}"
        )
    if top_k is not None:
        y_pred = _best(y_pred, top_k)
    if class_id is not None:
        if y_pred.dim() < 2 or not -y_pred.shape[-1] <= class_id < y_pred.shape[-1]:
            raise ValueError(f"class_id {class_id} is no class of a y_pred of shape {tuple(y_pred.shape)}.")
        y_true, y_pred = (y[..., class_id, None] for y in (y_true, y_pred))
    return y_true, y_pred, None if weight is None else _fitting(weight, y_pred)


def _fitting(weight: Tensor, y_pred: Tensor) -> Tensor:
    fit = weight.unsqueeze(-1) if weight.dim() == y_pred.dim() - 1 else weight
    if fit.dim() == y_pred.dim() + 1 and fit.shape[-1] == 1:
        fit = fit.squeeze(-1)
    pairs = zip(fit.shape, y_pred.shape, strict=False)
    if fit.dim() not in (0, y_pred.dim()) or any(found not in (1, size) for found, size in pairs):
        raise ValueError(
            f"sample_weight of shape {tuple(weight.shape)} does not fit predictions of shape {tuple(y_pred.shape)}."
        )
    return fit


def _best(y_pred: Tensor, k: int) -> Tensor:
    if k > y_pred.shape[-1]:
        raise ValueError(f"top_k {k} is more than the classes of a y_pred of shape {tuple(y_pred.shape)}.")
    values, places = y_pred.topk(k)
    return torch.full_like(y_pred, OUT_OF_REACH).scatter(-1, places, values)


@made_once
def _order_of(values: tuple[float, ...], device: torch.device) -> Tensor:
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    with torch.inference_mode(False):
        return torch.from_numpy(order).to(device)
