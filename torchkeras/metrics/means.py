"""Keras 3's metrics that are the mean of a function over all samples.

Beside the options of its function each takes `name` and `dtype`.
"""

from typing import Any

from torch import Tensor

from torchkeras import losses
from torchkeras.losses import keras3 as keras3_losses
from torchkeras.losses.reduction import apply_mask
from torchkeras.metrics import keras3
from torchkeras.metrics.keras3 import fitting
from torchkeras.metrics.reduction import FunctionMetric, Mean


class Accuracy(FunctionMetric):
    """How often y_pred equals y_true."""

    function = keras3.accuracy


class BinaryAccuracy(FunctionMetric):
    """How often y_pred > threshold is y_true. Options: threshold."""

    function = keras3.binary_accuracy


class CategoricalAccuracy(FunctionMetric):
    """How often the highest score is that of the class of a one-hot row."""

    function = keras3.categorical_accuracy


class SparseCategoricalAccuracy(FunctionMetric):
    """How often the highest score is that of the class number."""

    function = keras3.sparse_categorical_accuracy


class TopKCategoricalAccuracy(FunctionMetric):
    """How often the class of a one-hot row is among the `k` best. Options: k."""

    function = keras3.top_k_categorical_accuracy
    first = ("k",)


class SparseTopKCategoricalAccuracy(FunctionMetric):
    """How often the class number is among the `k` best. Options: k, from_sorted_ids."""

    function = keras3.sparse_top_k_categorical_accuracy
    first = ("k",)


class MeanSquaredError(FunctionMetric):
    """mean((y_pred - y_true)**2)"""

    function = fitting(losses.mean_squared_error)


class MeanAbsoluteError(FunctionMetric):
    """mean(abs(y_pred - y_true))"""

    function = fitting(losses.mean_absolute_error)


class MeanAbsolutePercentageError(FunctionMetric):
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon))"""

    function = fitting(losses.mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(FunctionMetric):
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2)"""

    function = fitting(losses.mean_squared_logarithmic_error)


class RootMeanSquaredError(FunctionMetric):
    """sqrt(mean((y_pred - y_true)**2)), the root of the mean over all batches"""

    function = keras3.squared_error

    def result(self) -> Tensor:
        """The root so far."""
        return Mean.result(self).sqrt()


class CosineSimilarity(FunctionMetric):
    """The cosine of the angle: 1 for one direction. Options: axis."""

    function = keras3.cosine_similarity


class LogCoshError(FunctionMetric):
    """mean(log(cosh(y_pred - y_true)))"""

    function = fitting(losses.logcosh)
    default_name = "logcosh"


class PearsonCorrelation(FunctionMetric):
    """The mean of Pearson's correlation of each sample. Options: axis."""

    function = keras3.pearson_correlation


class ConcordanceCorrelation(FunctionMetric):
    """The mean of Lin's concordance correlation of each sample. Options: axis."""

    function = keras3.concordance_correlation


class Hinge(FunctionMetric):
    """mean(max(1 - y_true * y_pred, 0)); targets -1 and 1, or 0 and 1"""

    function = fitting(keras3_losses.hinge)


class SquaredHinge(FunctionMetric):
    """mean(max(1 - y_true * y_pred, 0)**2); targets -1 and 1, or 0 and 1"""

    function = fitting(keras3_losses.squared_hinge)


class CategoricalHinge(FunctionMetric):
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""

    function = fitting(losses.categorical_hinge)


class KLDivergence(FunctionMetric):
    """sum(y_true * log(y_true / y_pred))"""

    function = fitting(losses.kullback_leibler_divergence)


class Poisson(FunctionMetric):
    """mean(y_pred - y_true * log(y_pred + epsilon))"""

    function = fitting(losses.poisson)


class BinaryCrossentropy(FunctionMetric):
    """The crossentropy of yes or no. Options: from_logits, label_smoothing, axis."""

    function = fitting(losses.binary_crossentropy)


class CategoricalCrossentropy(FunctionMetric):
    """The crossentropy of one-hot rows. Options: from_logits, label_smoothing, axis."""

    function = fitting(losses.categorical_crossentropy)


class SparseCategoricalCrossentropy(FunctionMetric):
    """The crossentropy of class numbers. Options: from_logits, ignore_class, axis.

    As in Keras 3.15 a value of `ignore_class` counts as 0 in the mean when there are no sample weights, and is left out
    of it when there are.
    """

    function = keras3_losses.sparse_categorical_crossentropy
    ignore_class: int | None
    axis: int

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch."""
        if sample_weight is not None and self.ignore_class is not None:
            mask = self._tensor(y_true) != self.ignore_class
            weight = self._tensor(sample_weight, self._type)
            sample_weight = apply_mask(
                weight, mask.squeeze(self.axis) if y_true.ndim == y_pred.ndim else mask, self._type
            )
        super().update_state(y_true, y_pred, sample_weight)


CLASSES: dict[str, Any] = {
    name: value
    for name, value in list(vars().items())
    if isinstance(value, type) and issubclass(value, FunctionMetric) and value is not FunctionMetric
}
