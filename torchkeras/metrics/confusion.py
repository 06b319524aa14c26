"""Metrics of positives and negatives: counts, precision, recall, and the best rate for a bound on another rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor

from torchkeras.losses.shared import divide_no_nan
from torchkeras.metrics.counting import OUT_OF_REACH, Counts, Thresholds, count, prepared
from torchkeras.metrics.metric import Metric


class Confusion(Metric, abstract=True):
    """The base: some of the four counts at some thresholds; a subclass names the `kept` ones.

    Options:
        class_id (integer or None, default None): the only class that counts; None counts all.
    """

    higher_is_better = True
    kept: ClassVar[tuple[str, ...]] = Counts._fields
    top_k: int | None = None
    class_id: int | None = None

    def _keep_counts(self, thresholds: Sequence[float]) -> None:
        self._thresholds = Thresholds.of(thresholds)
        for name in self.kept:
            self.add_variable((len(thresholds),), name=name)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        y_true: positive where not 0. y_pred: scores from 0 to 1, of the same shape; NaN is above no threshold.
        sample_weight: one for each sample, step, ... or for each score.
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
        """A count divided by its sum with others, 0 where there are none."""
        counts = self._variables
        total = counts[part]
        for name in others:
            total = total + counts[name]
        return divide_no_nan(counts[part], total)


class _Count(Confusion, abstract=True):
    """One of the counts at each of the thresholds: a number for one threshold, else a vector.

    Options:
        thresholds (number from 0 to 1, several or None, default None): what a prediction must be above to be positive;
            None is 0.5. Several give a vector, one number each.
    """

    thresholds: Any

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None):
        self._start(name, dtype)
        self.keep(thresholds=thresholds)
        self._keep_counts(_as_thresholds(self.thresholds, 0.5))

    def result(self) -> Tensor:
        """The count so far."""
        return _alone(self._variables[self.kept[0]]).clone()


class TruePositives(_Count):
    """The weight of predictions above the threshold where y_true is positive.

    Example:
        >>> TruePositives()(torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.6, 0.1]))
        tensor(1.)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("true_positives",)


class FalsePositives(_Count):
    """The weight of predictions above the threshold where y_true is 0.

    Example:
        >>> FalsePositives()(torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.6, 0.1]))
        tensor(1.)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("false_positives",)
    higher_is_better = False


class TrueNegatives(_Count):
    """The weight of predictions not above the threshold where y_true is 0.

    Example:
        >>> TrueNegatives()(torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.6, 0.1]))
        tensor(1.)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("true_negatives",)


class FalseNegatives(_Count):
    """The weight of predictions not above the threshold where y_true is positive.

    Example:
        >>> FalseNegatives(thresholds=[0.2, 0.95])(torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.6, 0.1]))
        tensor([0., 2.])

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("false_negatives",)
    higher_is_better = False


class _Rate(Confusion, abstract=True):
    """True positives divided by a sum of counts, at each of the thresholds.

    Options:
        thresholds (number from 0 to 1, several or None, default None): what a prediction must be above to be positive;
            None is 0.5, or no bound at all when `top_k` is given. Several give a vector, one number each.
        top_k (positive integer or None, default None): only the k highest scores of a sample may be positive.
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
        self._keep_counts(_as_thresholds(self.thresholds, 0.5 if top_k is None else OUT_OF_REACH))

    def result(self) -> Tensor:
        """The rate so far: a number for one threshold, else a vector."""
        return _alone(self._share(*self.kept))


class Precision(_Rate):
    """true positives / (true positives + false positives), 0 where there are none.

    Example:
        >>> Precision()(torch.tensor([1, 1, 0, 0]), torch.tensor([0.9, 0.3, 0.6, 0.1]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("true_positives", "false_positives")


class Recall(_Rate):
    """true positives / (true positives + false negatives), 0 where there are none.

    Example:
        >>> Recall(top_k=1)(torch.tensor([[0, 1], [1, 0]]), torch.tensor([[0.2, 0.4], [0.1, 0.3]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

    kept = ("true_positives", "false_negatives")


SENSITIVITY = RECALL = ("true_positives", "false_negatives")
SPECIFICITY = ("true_negatives", "false_positives")
PRECISION = ("true_positives", "false_positives")


class _Best(Confusion, abstract=True):
    """The highest rate among the thresholds at which another rate is at least a given one; 0 where it never is.

    Options:
        num_thresholds (positive integer, default 200): how many thresholds are tried, evenly from 0 to 1; a single one
            is 0.5.
    """

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
    """The best sensitivity (recall) of all thresholds where the specificity is at least `specificity`.

    Options:
        specificity (number from 0 to 1): the least specificity, true negatives / all negatives.

    Example:
        >>> SensitivityAtSpecificity(0.5)(torch.tensor([0, 0, 1, 1]), torch.tensor([0.1, 0.6, 0.5, 0.9]))
        tensor(1.)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

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
    """The best specificity, true negatives / all negatives, where the sensitivity is at least `sensitivity`.

    Options:
        sensitivity (number from 0 to 1): the least sensitivity, true positives / all positives.

    Example:
        >>> SpecificityAtSensitivity(1.0)(torch.tensor([0, 0, 1, 1]), torch.tensor([0.1, 0.6, 0.5, 0.9]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

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
    """The best precision of all thresholds where the recall is at least `recall`.

    Options:
        recall (number from 0 to 1): the least recall, true positives / all positives.

    Example:
        >>> PrecisionAtRecall(0.5)(torch.tensor([0, 0, 1, 1]), torch.tensor([0.1, 0.6, 0.5, 0.9]))
        tensor(1.)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

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
    """The best recall of all thresholds where the precision is at least `precision`.

    Options:
        precision (number from 0 to 1): the least precision, true positives / predicted positives.

    Example:
        >>> RecallAtPrecision(0.9)(torch.tensor([0, 0, 1, 1]), torch.tensor([0.1, 0.6, 0.5, 0.9]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/classification_metrics/
    """

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


def _as_thresholds(thresholds: Any, default: float) -> list[float]:
    if thresholds is None:
        return [default]
    return thresholds if isinstance(thresholds, list) else [thresholds]


def _alone(values: Tensor) -> Tensor:
    return values[0] if len(values) == 1 else values
