"""Keras 3's classes of losses: `Huber(delta=2.0, reduction="sum")`.

Beside the options of its function, which are explained there, each takes `reduction`, `name` and `dtype`.
"""

from typing import Any

from torch import Tensor

from torchkeras.declared import integer, number, or_none, several
from torchkeras.losses import crossentropy, hinges, keras3, others, regression
from torchkeras.losses.loss import FunctionLoss

AXES = {**FunctionLoss.rules, "axis": or_none(several(integer()))}


class MeanSquaredError(FunctionLoss):
    """mean((y_pred - y_true)**2)"""

    function = regression.mean_squared_error


class MeanAbsoluteError(FunctionLoss):
    """mean(abs(y_pred - y_true))"""

    function = regression.mean_absolute_error


class MeanAbsolutePercentageError(FunctionLoss):
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon))"""

    function = regression.mean_absolute_percentage_error


class MeanSquaredLogarithmicError(FunctionLoss):
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2)"""

    function = regression.mean_squared_logarithmic_error


class CosineSimilarity(FunctionLoss):
    """The cosine of the angle, times -1. Options: axis."""

    function = regression.cosine_similarity


class Huber(FunctionLoss):
    """A square near 0, a line beyond `delta`. Options: delta."""

    function = regression.huber
    default_name = "huber_loss"


class LogCosh(FunctionLoss):
    """mean(log(cosh(y_pred - y_true)))"""

    function = regression.logcosh


class Poisson(FunctionLoss):
    """mean(y_pred - y_true * log(y_pred + epsilon))"""

    function = regression.poisson


class Hinge(FunctionLoss):
    """mean(max(1 - y_true * y_pred, 0)); unlike the function, targets may be 0 and 1 for -1 and 1."""

    function = keras3.hinge


class SquaredHinge(FunctionLoss):
    """mean(max(1 - y_true * y_pred, 0)**2); unlike the function, targets may be 0 and 1 for -1 and 1."""

    function = keras3.squared_hinge


class CategoricalHinge(FunctionLoss):
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""

    function = hinges.categorical_hinge


class KLDivergence(FunctionLoss):
    """sum(y_true * log(y_true / y_pred))"""

    function = crossentropy.kullback_leibler_divergence


class BinaryCrossentropy(FunctionLoss):
    """The crossentropy of yes or no. Options: from_logits, label_smoothing, axis."""

    function = crossentropy.binary_crossentropy


class BinaryFocalCrossentropy(FunctionLoss):
    """... that counts what is sure less. Options: apply_class_balancing, alpha, gamma, and those of the former."""

    function = crossentropy.binary_focal_crossentropy


class CategoricalCrossentropy(FunctionLoss):
    """The crossentropy of one-hot rows. Options: from_logits, label_smoothing, axis."""

    function = crossentropy.categorical_crossentropy


class CategoricalFocalCrossentropy(FunctionLoss):
    """... that counts what is sure less. Options: alpha (one or a list), gamma, and those of the former."""

    function = crossentropy.categorical_focal_crossentropy
    rules = {**FunctionLoss.rules, "alpha": several(number())}


class SparseCategoricalCrossentropy(FunctionLoss):
    """The crossentropy of class numbers. Options: from_logits, ignore_class, axis.

    Values of `ignore_class` are left out of the mean. Unlike the function, probabilities are divided by their sum
    before they are clipped.
    """

    function = keras3.sparse_categorical_crossentropy
    takes_labels = True
    ignore_class: int | None

    def own_mask(self, y_true: Tensor, y_pred: Tensor, values: Tensor) -> Tensor | None:
        """True where y_true is not the class to be ignored."""
        return None if self.ignore_class is None else (y_true != self.ignore_class).reshape(values.shape)


class CategoricalGeneralizedCrossEntropy(FunctionLoss):
    """(1 - p**q) / q of the class numbers' probabilities, for noisy labels. Options: q."""

    function = crossentropy.categorical_generalized_cross_entropy
    takes_labels = True


class CTC(FunctionLoss):
    """Connectionist temporal classification, of logits."""

    function = others.ctc
    takes_labels = True


class Dice(FunctionLoss):
    """1 - twice the overlap by the sum. Options: axis (one, several, or None for all)."""

    function = others.dice
    rules = AXES


class Tversky(FunctionLoss):
    """Dice with a weight each for what is missed and what is too much. Options: alpha, beta, axis."""

    function = others.tversky
    rules = AXES


class Circle(FunctionLoss):
    """Draws embeddings of one class together. Options: gamma, margin, remove_diagonal.

    Samples whose loss is 0 are left out of the mean.
    """

    function = others.circle
    options = ("gamma", "margin", "remove_diagonal")
    takes_labels = True

    def own_mask(self, y_true: Tensor, y_pred: Tensor, values: Tensor) -> Tensor | None:
        """True where the loss is above 0."""
        return values > 0


CLASSES: dict[str, Any] = {
    name: value
    for name, value in list(vars().items())
    if isinstance(value, type) and issubclass(value, FunctionLoss) and value is not FunctionLoss
}
