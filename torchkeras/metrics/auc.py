"""The area under a curve of two rates, by thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.rules import AT_LEAST_0, SHARE, Rule, integer, optional, several, word
from torchkeras.declared import constants
from torchkeras.losses.shared import divide_no_nan
from torchkeras.metrics.counting import Counts, Thresholds, count, prepared
from torchkeras.metrics.metric import Metric


def _thresholds(value: Any) -> list[float]:
    found = several(SHARE).read(value)
    if not isinstance(found, list):
        raise ValueError(f"must be a list of numbers from 0 to 1; found {value!r}.")
    return sorted(found)


class AUC(Metric):
    """The area under the curve of two rates over all thresholds.

    Options:
        num_thresholds (integer of at least 2, default 200): how many thresholds there are, evenly from 0 to 1; it may
            be None with `thresholds`.
        curve (text, default "ROC"): "ROC" is recall over the share of false positives. "PR" is precision over recall.
            "PRGAIN" is the gain of both over always predicting 1 (https://papers.nips.cc/paper/5867).
        summation_method (text, default "interpolation"): the height between two thresholds. "interpolation" is a line,
            for "PR" the curve of https://dl.acm.org/doi/10.1145/1143844.1143874. "minoring" is the lower height,
            "majoring" the higher one.
        thresholds (list of numbers from 0 to 1 or None, default None): the thresholds between 0 and 1, in place of
            `num_thresholds`.
        multi_label (bool, default False): whether an area is computed for each label; the result is the mean of these
            areas.
        num_labels (positive integer or None, default None): the number of labels, for `multi_label`; None takes that of
            the first batch.
        label_weights (list of numbers or None, default None): a weight for each label: of its area with `multi_label`,
            else of its predictions.
        from_logits (bool, default False): whether y_pred holds logits, which a sigmoid makes probabilities.

    Errors:
        ValueError: for a bad option, such as `num_labels` without `multi_label`.

    Shapes:
        y_true and y_pred of one shape; (samples, labels) with `multi_label`

    Example:
        >>> AUC()(torch.tensor([0, 0, 1, 1]), torch.tensor([0.1, 0.6, 0.5, 0.9]))
        tensor(0.7500)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    higher_is_better = True
    rules: ClassVar[Mapping[str, Rule]] = {
        "num_thresholds": integer(2),
        "thresholds": optional(Rule(_thresholds)),
        "curve": word("ROC", "PR", "PRGAIN"),
        "summation_method": word("interpolation", "majoring", "minoring"),
        "num_labels": optional(integer(1)),
        "label_weights": optional(several(AT_LEAST_0)),
    }

    curve: str
    summation_method: str
    multi_label: bool
    num_thresholds: int
    num_labels: int | None
    label_weights: list[float] | None
    from_logits: bool
    thresholds: list[float] | None

    def __init__(
        self,
        num_thresholds: int | None = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ):
        self._start(name, dtype)
        self.keep(
            num_thresholds=num_thresholds if thresholds is None else 2,  # settled below
            curve=curve,
            summation_method=summation_method,
            thresholds=thresholds,
            multi_label=multi_label,
            num_labels=num_labels,
            label_weights=label_weights,
            from_logits=from_logits,
        )
        if num_labels is not None and not multi_label:
            raise ValueError(f"AUC: num_labels is for multi_label=True alone; found {num_labels!r}.")
        if self.thresholds is not None:
            self.keep(num_thresholds=len(self.thresholds) + 2)
        n, outside = self.num_thresholds, config.epsilon()
        inner = [k / (n - 1) for k in range(1, n - 1)] if self.thresholds is None else self.thresholds
        self._thresholds = Thresholds.of([-outside, *inner, 1.0 + outside])
        if num_labels is not None or not multi_label:
            self._build(num_labels)

    def _build(self, labels: int | None) -> None:
        for name in Counts._fields:
            self.add_variable((self.num_thresholds, *([] if labels is None else [labels])), name=name)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        y_true: positive where not 0. y_pred: scores, clipped to [0, 1]; NaN counts as 0. sample_weight: one for each
        sample, step, ... or for each score.
        """
        y_pred = self._tensor(y_pred, self._type)
        weight = None if sample_weight is None else self._tensor(sample_weight, self._type)
        try:
            true, scores, weight = prepared(self._tensor(y_true), y_pred, weight)
        except ValueError as error:
            raise self._refuse(str(error)) from error
        if self.multi_label:
            self._check_labels(scores)
        elif self.label_weights is not None:
            of_labels = self._label_weights(scores.shape[-1])
            weight = of_labels if weight is None else weight * of_labels
        scores = torch.sigmoid(scores) if self.from_logits else scores
        counts = count(true, scores, self._thresholds, weight, scores.shape[-1] if self.multi_label else None)
        for state, found in zip(self.variables, counts, strict=True):
            state.add_(found)

    def _check_labels(self, scores: Tensor) -> None:
        if scores.dim() != 2:
            raise self._refuse(f"multi_label takes y_pred of shape (samples, labels); found {tuple(scores.shape)}.")
        if not self._variables:
            self._build(scores.shape[1])
        labels = self.variables[0].shape[1]
        if scores.shape[1] != labels:
            raise self._refuse(f"there are {labels} labels; found y_pred of shape {tuple(scores.shape)}.")

    def _label_weights(self, labels: int) -> Tensor:
        weights = self.label_weights or []
        if len(weights) != labels:
            raise self._refuse(f"label_weights has {len(weights)} numbers, for {labels} labels.")
        return constants(tuple(weights), self._type, self.variables[0].device)

    def result(self) -> Tensor:
        """The area so far; 0 before the first update."""
        if not self._variables:
            return torch.zeros((), dtype=self._type, device=self._device)
        counts = Counts(*self.variables)
        if (self.curve, self.summation_method) == ("PR", "interpolation"):
            areas = _interpolated(counts)
        else:
            x, y = CURVES[self.curve](counts)
            areas = ((x[:-1] - x[1:]) * HEIGHTS[self.summation_method](y[:-1], y[1:])).sum(0)
        if not self.multi_label:
            return areas
        if self.label_weights is None:
            return areas.mean()
        weights = self._label_weights(areas.shape[0])
        return divide_no_nan((areas * weights).sum(), weights.sum())


def _recall(counts: Counts) -> Tensor:
    return divide_no_nan(counts.true_positives, counts.true_positives + counts.false_negatives)


def _roc(counts: Counts) -> tuple[Tensor, Tensor]:
    return divide_no_nan(counts.false_positives, counts.false_positives + counts.true_negatives), _recall(counts)


def _precision_recall(counts: Counts) -> tuple[Tensor, Tensor]:
    return _recall(counts), divide_no_nan(counts.true_positives, counts.true_positives + counts.false_positives)


def _gains(counts: Counts) -> tuple[Tensor, Tensor]:
    tp, fp, tn, fn = counts
    odds = divide_no_nan(tp + fn, tn + fp)
    recall_gain = (1.0 - odds * divide_no_nan(fn, tp)).masked_fill(tp == 0, 0).clamp(min=0)
    return recall_gain, (1.0 - odds * divide_no_nan(fp, tp)).masked_fill(tp == 0, 1)


def _interpolated(counts: Counts) -> Tensor:
    """The area under precision over recall, where true positives grow in a line with all positives."""
    tp, fp, _, fn = counts
    positive = tp + fp
    growth = tp[:-1] - tp[1:]
    slope = divide_no_nan(growth, (positive[:-1] - positive[1:]).clamp(min=0))
    start = tp[1:] - slope * positive[1:]
    both = (positive[:-1] > 0) & (positive[1:] > 0)
    ratio = divide_no_nan(positive[:-1], positive[1:]).masked_fill(~both, 1)
    return divide_no_nan(slope * (growth + start * torch.log(ratio)), tp[1:] + fn[1:]).sum(0)


CURVES: Mapping[str, Callable[[Counts], tuple[Tensor, Tensor]]] = {
    "ROC": _roc,
    "PR": _precision_recall,
    "PRGAIN": _gains,
}
HEIGHTS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "interpolation": lambda left, right: (left + right) / 2.0,
    "minoring": torch.minimum,
    "majoring": torch.maximum,
}
