"""Keras 3's metrics that are the mean of a function over all samples.

Options that a class shares with its function are explained there, and join the docstring of the class.
"""

from typing import Any

from torch import Tensor

from torchkeras import losses
from torchkeras.losses import keras3 as keras3_losses
from torchkeras.losses.reduction import apply_mask
from torchkeras.metrics import keras3
from torchkeras.metrics.keras3 import fitting
from torchkeras.metrics.reduction import FunctionMetric, Mean


class Accuracy(FunctionMetric, by_class=True):  # a model chooses what "accuracy" is
    """How often y_pred equals y_true.

    Example:
        >>> Accuracy()(torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]))
        tensor(0.6667)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.accuracy
    higher_is_better = True


class BinaryAccuracy(FunctionMetric):
    """How often `y_pred > threshold` equals y_true.

    Example:
        >>> BinaryAccuracy(threshold=0.8)(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.7, 0.7]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.binary_accuracy
    higher_is_better = True


class CategoricalAccuracy(FunctionMetric):
    """How often the class with the highest score is that of the one-hot row.

    Example:
        >>> CategoricalAccuracy()(torch.eye(2), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.categorical_accuracy
    higher_is_better = True


class SparseCategoricalAccuracy(FunctionMetric):
    """How often the class with the highest score is the class number y_true.

    Example:
        >>> SparseCategoricalAccuracy()(torch.tensor([0, 1]), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.sparse_categorical_accuracy
    higher_is_better = True


class TopKCategoricalAccuracy(FunctionMetric):
    """How often the class of the one-hot row is among the `k` best.

    Example:
        >>> TopKCategoricalAccuracy(k=2)(torch.eye(3), torch.tensor([[0.6, 0.3, 0.1]] * 3))
        tensor(0.6667)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.top_k_categorical_accuracy
    higher_is_better = True
    first = ("k",)


class SparseTopKCategoricalAccuracy(FunctionMetric):
    """How often the class number is among the `k` best.

    Example:
        >>> SparseTopKCategoricalAccuracy(k=2)(torch.arange(3), torch.tensor([[0.6, 0.3, 0.1]] * 3))
        tensor(0.6667)

    Source: https://keras.io/api/metrics/accuracy_metrics/
    """

    function = keras3.sparse_top_k_categorical_accuracy
    higher_is_better = True
    first = ("k",)


class MeanSquaredError(FunctionMetric):
    """mean((y_pred - y_true)**2).

    Example:
        >>> MeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor(5.)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = fitting(losses.mean_squared_error)
    higher_is_better = False


class MeanAbsoluteError(FunctionMetric):
    """mean(abs(y_pred - y_true)).

    Example:
        >>> MeanAbsoluteError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor(2.)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = fitting(losses.mean_absolute_error)
    higher_is_better = False


class MeanAbsolutePercentageError(FunctionMetric):
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon)).

    Example:
        >>> MeanAbsolutePercentageError()(torch.tensor([[2.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
        tensor(25.)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = fitting(losses.mean_absolute_percentage_error)
    higher_is_better = False


class MeanSquaredLogarithmicError(FunctionMetric):
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2).

    Example:
        >>> MeanSquaredLogarithmicError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(0.2402)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = fitting(losses.mean_squared_logarithmic_error)
    higher_is_better = False


class RootMeanSquaredError(FunctionMetric):
    """sqrt(mean((y_pred - y_true)**2)), the root of the mean over all batches.

    Example:
        >>> RootMeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[2.0, 3.0]]))
        tensor(2.)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = keras3.squared_error
    higher_is_better = False

    def result(self) -> Tensor:
        """The root so far."""
        return Mean.result(self).sqrt()


class CosineSimilarity(FunctionMetric):
    """The cosine of the angle between y_true and y_pred: 1 for the same direction. The loss has the other sign.

    Example:
        >>> CosineSimilarity()(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor(0.8000)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = keras3.cosine_similarity
    higher_is_better = True


class LogCoshError(FunctionMetric):
    """mean(log(cosh(y_pred - y_true))).

    Example:
        >>> LogCoshError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 1.0]]))
        tensor(1.1547)

    Source: https://keras.io/api/metrics/regression_metrics/
    """

    function = fitting(losses.logcosh)
    higher_is_better = False
    default_name = "logcosh"


class PearsonCorrelation(FunctionMetric):
    """The mean of Pearson's correlation of each sample.

    Example:
        >>> PearsonCorrelation()(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
        tensor(1.)
    """

    function = keras3.pearson_correlation
    higher_is_better = True


class ConcordanceCorrelation(FunctionMetric):
    """The mean of Lin's concordance correlation of each sample.

    Example:
        >>> ConcordanceCorrelation()(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
        tensor(0.6154)

    Source: Lin, "A Concordance Correlation Coefficient to Evaluate Reproducibility" (1989)
    """

    function = keras3.concordance_correlation
    higher_is_better = True


class Hinge(FunctionMetric):
    """mean(max(1 - y_true * y_pred, 0)); targets -1 and 1, or 0 and 1.

    Example:
        >>> Hinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(1.)

    Source: https://keras.io/api/metrics/hinge_metrics/
    """

    function = fitting(keras3_losses.hinge)
    higher_is_better = False


class SquaredHinge(FunctionMetric):
    """mean(max(1 - y_true * y_pred, 0)**2); targets -1 and 1, or 0 and 1.

    Example:
        >>> SquaredHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(2.)

    Source: https://keras.io/api/metrics/hinge_metrics/
    """

    function = fitting(keras3_losses.squared_hinge)
    higher_is_better = False


class CategoricalHinge(FunctionMetric):
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred)).

    Example:
        >>> CategoricalHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/hinge_metrics/
    """

    function = fitting(losses.categorical_hinge)
    higher_is_better = False


class KLDivergence(FunctionMetric):
    """sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1].

    Example:
        >>> KLDivergence()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/metrics/probabilistic_metrics/
    """

    function = fitting(losses.kullback_leibler_divergence)
    higher_is_better = False


class Poisson(FunctionMetric):
    """mean(y_pred - y_true * log(y_pred + epsilon)).

    Example:
        >>> Poisson()(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(1.0000)

    Source: https://keras.io/api/metrics/probabilistic_metrics/
    """

    function = fitting(losses.poisson)
    higher_is_better = False


class BinaryCrossentropy(FunctionMetric):
    """The crossentropy of targets from 0 to 1: mean(-y_true * log(p) - (1 - y_true) * log(1 - p)).

    Example:
        >>> BinaryCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/metrics/probabilistic_metrics/
    """

    function = fitting(losses.binary_crossentropy)
    higher_is_better = False


class CategoricalCrossentropy(FunctionMetric):
    """The crossentropy of one-hot rows: -sum(y_true * log(p)).

    Example:
        >>> CategoricalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/metrics/probabilistic_metrics/
    """

    function = fitting(losses.categorical_crossentropy)
    higher_is_better = False


class SparseCategoricalCrossentropy(FunctionMetric):
    """The crossentropy of class numbers: -log(p[y_true]).

    Options:
        ignore_class (integer or None, default None): a class number that does not count. As in Keras 3.15 its values
            are 0 in the mean when there are no sample weights, and left out of it when there are.

    Example:
        >>> SparseCategoricalCrossentropy()(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/metrics/probabilistic_metrics/
    """

    function = keras3_losses.sparse_categorical_crossentropy
    higher_is_better = False
    ignore_class: int | None
    axis: int

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch."""
        y_true, y_pred = self._tensor(y_true), self._tensor(y_pred)
        if sample_weight is not None and self.ignore_class is not None:
            mask = y_true != self.ignore_class
            weight = self._tensor(sample_weight, self._type)
            sample_weight = apply_mask(
                weight, mask.squeeze(self.axis) if y_true.dim() == y_pred.dim() else mask, self._type
            )
        super().update_state(y_true, y_pred, sample_weight)
