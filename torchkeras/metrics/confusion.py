"""Metrics of positives and negatives: counts, precision, recall, and one of two rates at a bound of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor

from torchkeras.losses.shared import divide_no_nan
from torchkeras.metrics.counting import OUT_OF_REACH, Counts, Thresholds, count, prepared
from torchkeras.metrics.metric import Metric


class Confusion(Metric):
    """The base: some of the four counts at some thresholds; a subclass names the `kept` ones."""

    kept: ClassVar[tuple[str, ...]] = Counts._fields
    top_k: int | None = None
    class_id: int | None = None

    def _keep_counts(self, thresholds: Sequence[float]) -> None:
        self._thresholds = Thresholds.of(thresholds)
        for name in self.kept:
            self.add_variable((len(thresholds),), name=name)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch

        y_true: positive where not 0. y_pred: scores from 0 to 1 of its shape; one that is no number is above no
        threshold. sample_weight: one for each sample, step, ... or for each score.
        """
        weight = None if sample_weight is None else self._tensor(sample_weight, self._type)
        try:
            found = prepared(self._tensor(y_true), self._tensor(y_pred, self._type), weight, self.top_k, self.class_id)
        except ValueError as error:
            raise self._refuse(str(error)) from error
        counts = count(found[0], found[1], self._thresholds, found[2])._asdict()
        for name in self.kept:
            self._variables[name].add_(counts[name])

    def _share(self, part: str, *others: str) -> Tensor:
        """A count by its sum with others, 0 where there are none."""
        counts = self._variables
        total = counts[part]
        for name in others:
            total = total + counts[name]
        return divide_no_nan(counts[part], total)


class _Count(Confusion):
    """One of the counts at each of the thresholds (0.5 unless given): a number for one, else a vector."""

    thresholds: Any

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None):
        self._start(name, dtype)
        self.keep(thresholds=thresholds)
        self._keep_counts(_listed(self.thresholds, 0.5))

    def result(self) -> Tensor:
        """The count so far."""
        return _alone(self._variables[self.kept[0]]).clone()


class TruePositives(_Count):
    """The weight of predictions above the threshold where y_true is positive. Options: thresholds, one or several."""

    kept = ("true_positives",)


class FalsePositives(_Count):
    """The weight of predictions above the threshold where y_true is 0. Options: thresholds, one or several."""

    kept = ("false_positives",)


class TrueNegatives(_Count):
    """The weight of predictions not above the threshold where y_true is 0. Options: thresholds, one or several."""

    kept = ("true_negatives",)


class FalseNegatives(_Count):
    """The weight of predictions not above the threshold where y_true is positive. Options: thresholds."""

    kept = ("false_negatives",)


class _Rate(Confusion):
    """True positives by a sum of counts, at each of the thresholds (0.5 unless given).

    `top_k`: of each sample only the k highest scores may be positive, and unless thresholds are given all of them are.
    `class_id`: only this class counts.
    """

    thresholds: Any

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        self._start(name, dtype)
        self.keep(thresholds=thresholds, top_k=top_k, class_id=class_id)
        self._keep_counts(_listed(self.thresholds, 0.5 if top_k is None else OUT_OF_REACH))

    def result(self) -> Tensor:
        """The rate so far: a number for one threshold, else a vector."""
        return _alone(self._share(*self.kept))


class Precision(_Rate):
    """true positives / (true positives + false positives), 0 where there are none

    Options: thresholds, one or several; top_k: only the k highest scores of a sample may be positive, and all of them
    are unless thresholds are given; class_id: only this class counts.
    """

    kept = ("true_positives", "false_positives")


class Recall(_Rate):
    """true positives / (true positives + false negatives), 0 where there are none. Options: those of Precision."""

    kept = ("true_positives", "false_negatives")


SENSITIVITY = RECALL = ("true_positives", "false_negatives")
SPECIFICITY = ("true_negatives", "false_positives")
PRECISION = ("true_positives", "false_positives")


class _Best(Confusion):
    """The highest rate among the thresholds at which another rate is at least a given one; 0 where it never is."""

    bounded: ClassVar[tuple[str, str]]
    wanted: ClassVar[tuple[str, str]]
    num_thresholds: int

    def _keep_bound(self, num_thresholds: int, class_id: Any, name: str | None, dtype: Any, **bound: float) -> None:
        self._start(name, dtype)
        self.keep(num_thresholds=num_thresholds, class_id=class_id, **bound)
        self._bound = getattr(self, next(iter(bound)))
        n = self.num_thresholds
        self._keep_counts([0.5] if n == 1 else [k / (n - 1) for k in range(n)])

    def result(self) -> Tensor:
        """The rate so far."""
        reached = self._share(*self.bounded) >= self._bound
        return (self._share(*self.wanted) * reached).max()


class SensitivityAtSpecificity(_Best):
    """The best sensitivity (recall) whose specificity is at least `specificity`. Options: num_thresholds, class_id."""

    bounded, wanted = SPECIFICITY, SENSITIVITY

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        self._keep_bound(num_thresholds, class_id, name, dtype, specificity=specificity)


class SpecificityAtSensitivity(_Best):
    """The best specificity, true negatives / all negatives, whose sensitivity is at least `sensitivity`."""

    bounded, wanted = SENSITIVITY, SPECIFICITY

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        self._keep_bound(num_thresholds, class_id, name, dtype, sensitivity=sensitivity)


class PrecisionAtRecall(_Best):
    """The best precision whose recall is at least `recall`. Options: num_thresholds, class_id."""

    bounded, wanted = RECALL, PRECISION

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        self._keep_bound(num_thresholds, class_id, name, dtype, recall=recall)


class RecallAtPrecision(_Best):
    """The best recall whose precision is at least `precision`. Options: num_thresholds, class_id."""

    bounded, wanted = PRECISION, RECALL

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: Any = None,
    ):
        self._keep_bound(num_thresholds, class_id, name, dtype, precision=precision)


def _listed(thresholds: Any, default: float) -> list[float]:
    return [default] if thresholds is None else thresholds if isinstance(thresholds, list) else [thresholds]


def _alone(values: Tensor) -> Tensor:
    return values[0] if len(values) == 1 else values
