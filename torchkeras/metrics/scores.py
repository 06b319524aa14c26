"""Scores of whole classes or columns: F scores and the coefficient of determination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.rules import ABOVE_0, Rule, integer, number, one_of, optional
from torchkeras.losses.shared import same_rank
from torchkeras.metrics.metric import Metric


class FBetaScore(Metric):
    """(1 + beta**2) * precision * recall / (beta**2 * precision + recall), of each class.

    Options:
        average (text or None, default None): None gives one number a class. "micro" counts all predictions together.
            "macro" is the mean of the classes, "weighted" their mean weighted by frequency.
        beta (positive number, default 1.0): how many times as much as precision recall counts.
        threshold (number above 0 and up to 1 or None, default None): a class is predicted where its score is above it.
            None predicts the class with the highest score of the row: all classes that share it, but none if it is 0.

    Shapes:
        y_true (samples, classes) of 0 and 1, y_pred (samples, classes) scores -> (classes,), or a scalar with `average`

    Example:
        >>> FBetaScore(beta=2.0)(torch.eye(2), torch.tensor([[0.9, 0.1], [0.6, 0.4]]))
        tensor([0.8333, 0.0000])

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    higher_is_better = True
    rules: ClassVar[Mapping[str, Rule]] = {
        "average": one_of(None, "micro", "macro", "weighted"),
        "beta": ABOVE_0,
        "threshold": optional(number("above 0 and up to 1", lambda v: 0 < v <= 1)),
    }

    average: str | None
    beta: float
    threshold: float | None

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str = "fbeta_score",
        dtype: Any = None,
    ):
        self._start(name, dtype)
        self.keep(average=average, beta=beta, threshold=threshold)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch; sample_weight: one for each sample."""
        true, scores = self._tensor(y_true, self._type), self._tensor(y_pred, self._type)
        if scores.dim() != 2 or true.shape != scores.shape:
            raise self._refuse(
                "y_true and y_pred must both have the shape (samples, classes); found "
                f"{tuple(true.shape)} and {tuple(scores.shape)}."
            )
        if not self._variables:
            shape = () if self.average == "micro" else (scores.shape[1],)
            for name in ("true_positives", "false_positives", "false_negatives", "intermediate_weights"):
                self.add_variable(shape, name=name)
        if self.threshold is None:
            said = (scores >= scores.amax(-1, keepdim=True)) & (scores.abs() > 1e-9)
        else:
            said = scores > self.threshold
        said = said.to(self._type)
        found = torch.stack([said * true, said * (1 - true), (1 - said) * true, true])
        if sample_weight is not None:
            found = found * _per_sample(self, sample_weight, scores)
        for state, values in zip(self.variables, found.sum((1, 2) if self.average == "micro" else 1), strict=True):
            state.add_(values)

    def result(self) -> Tensor:
        """The score so far; 0 before the first update."""
        if not self._variables:
            return torch.zeros((), dtype=self._type, device=self._device)
        tp, fp, fn, frequency = self.variables
        precision, recall = tp / (tp + fp + config.epsilon()), tp / (tp + fn + config.epsilon())
        squared = self.beta**2
        score = (1 + squared) * precision * recall / (squared * precision + recall + config.epsilon())
        if self.average == "weighted":
            return (score * (frequency / (frequency.sum() + config.epsilon()))).sum()
        return score if self.average is None else score.mean()


class F1Score(FBetaScore):
    """2 * precision * recall / (precision + recall), of each class: `FBetaScore` with a beta of 1.

    Example:
        >>> F1Score(average="macro")(torch.eye(2), torch.tensor([[0.9, 0.1], [0.6, 0.4]]))
        tensor(0.3333)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    def __init__(
        self, average: str | None = None, threshold: float | None = None, name: str = "f1_score", dtype: Any = None
    ):
        super().__init__(average, 1.0, threshold, name, dtype)


class R2Score(Metric):
    """1 - sum((y_true - y_pred)**2) / sum((y_true - mean)**2), for each column.

    Options:
        class_aggregation (text or None, default "uniform_average"): "uniform_average" is the mean of the columns,
            "variance_weighted_average" their mean weighted by variance. None gives one number a column.
        num_regressors (integer of at least 0, default 0): the number of the model's inputs, for the adjusted score
            1 - (1 - score) * (n - 1) / (n - num_regressors - 1). As in Keras 3, n is the number of all entries of
            y_true. The score is not adjusted for 0, nor where n is at most num_regressors + 1.

    Shapes:
        y_true, y_pred (samples, columns) -> a scalar, or (columns,) without `class_aggregation`

    Example:
        >>> R2Score()(torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[1.0], [2.0], [4.0]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    higher_is_better = True
    rules: ClassVar[Mapping[str, Rule]] = {
        "class_aggregation": one_of(None, "uniform_average", "variance_weighted_average"),
        "num_regressors": integer(0),
    }

    class_aggregation: str | None
    num_regressors: int

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str = "r2_score",
        dtype: Any = None,
    ):
        self._start(name, dtype)
        self.keep(class_aggregation=class_aggregation, num_regressors=num_regressors)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch; sample_weight: one for each sample, or for each number."""
        true, predicted = same_rank(self._tensor(y_true, self._type), self._tensor(y_pred, self._type))
        if predicted.dim() != 2 or true.shape != predicted.shape:
            raise self._refuse(
                "y_true and y_pred must both have the shape (samples, columns); found "
                f"{tuple(true.shape)} and {tuple(predicted.shape)}."
            )
        if not self._variables:
            self.add_variable(name="num_samples")
            for name in ("squared_sum", "sum", "residual", "count"):
                self.add_variable((predicted.shape[1],), name=name)
        weight = torch.ones_like(true)
        if sample_weight is not None:
            weight = weight * _per_sample(self, sample_weight, true)
        squares, residual = true.square() * weight, (true - predicted).square() * weight
        found = (squares, true * weight, residual, weight)
        self.num_samples.add_(true.numel())
        for state, values in zip(self.variables[1:], found, strict=True):
            state.add_(values.sum(0))

    def result(self) -> Tensor:
        """The score so far; NaN before the first update."""
        if not self._variables:
            return torch.full((), torch.nan, dtype=self._type, device=self._device)
        entries, squares, total, residual, count = self.variables
        spread = squares - total * (total / count)
        scores = 1.0 - residual / spread
        scores = scores.masked_fill(scores.isinf(), 0)
        if self.class_aggregation == "uniform_average":
            scores = scores.mean()
        elif self.class_aggregation == "variance_weighted_average":
            scores = (spread * scores).sum() / spread.sum()
        if self.num_regressors == 0:
            return scores
        left = entries - self.num_regressors - 1.0
        adjusted = 1.0 - (1.0 - scores) * (entries - 1.0) / left.clamp(min=1)
        return torch.where(left > 0, adjusted, scores)


def _per_sample(metric: Metric, sample_weight: Any, values: Tensor) -> Tensor:
    """The weights as a column, or as they are where there is one for each value. Raises ValueError for others."""
    weight = metric._tensor(sample_weight, values.dtype)
    fit = weight.unsqueeze(1) if weight.dim() == 1 else weight
    pairs = zip(fit.shape, values.shape, strict=False)
    if fit.dim() not in (0, 2) or any(found not in (1, size) for found, size in pairs):
        raise metric._refuse(
            f"sample_weight of shape {tuple(weight.shape)} does not fit values of shape {tuple(values.shape)}."
        )
    return fit
