"""Keras 3's classes of losses: `Huber(delta=2.0, reduction="sum")`.

Options that a class shares with its function are explained there, and join the docstring of the class.
"""

from torch import Tensor

from torchkeras.base.rules import FINITE, integer, optional, several
from torchkeras.losses import crossentropy, hinges, keras3, others, regression
from torchkeras.losses.loss import FunctionLoss

AXES = {**FunctionLoss.rules, "axis": optional(several(integer()))}


class MeanSquaredError(FunctionLoss):
    """mean((y_pred - y_true)**2).

    Example:
        >>> MeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor(5.)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.mean_squared_error
    mean = regression.mean_squared_error_of_all


class MeanAbsoluteError(FunctionLoss):
    """mean(abs(y_pred - y_true)).

    Example:
        >>> MeanAbsoluteError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor(2.)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.mean_absolute_error
    mean = regression.mean_absolute_error_of_all


class MeanAbsolutePercentageError(FunctionLoss):
    """100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon)).

    Example:
        >>> MeanAbsolutePercentageError()(torch.tensor([[2.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
        tensor(25.)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.mean_absolute_percentage_error


class MeanSquaredLogarithmicError(FunctionLoss):
    """mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2).

    Example:
        >>> MeanSquaredLogarithmicError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(0.2402)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.mean_squared_logarithmic_error


class CosineSimilarity(FunctionLoss):
    """The cosine of the angle between y_true and y_pred, times -1.

    Example:
        >>> CosineSimilarity()(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
        tensor(-0.8000)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.cosine_similarity


class Huber(FunctionLoss):
    """mean(e**2 / 2 where e <= delta, else delta * e - delta**2 / 2), e = abs(y_pred - y_true).

    Example:
        >>> Huber(delta=2.0)(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
        tensor(2.2500)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.huber
    default_name = "huber_loss"


class LogCosh(FunctionLoss):
    """mean(log(cosh(y_pred - y_true))).

    Example:
        >>> LogCosh()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 1.0]]))
        tensor(1.1547)

    Source: https://keras.io/api/losses/regression_losses/
    """

    function = regression.logcosh


class Poisson(FunctionLoss):
    """mean(y_pred - y_true * log(y_pred + epsilon)).

    Example:
        >>> Poisson()(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(1.0000)

    Source: https://keras.io/api/losses/probabilistic_losses/
    """

    function = regression.poisson


class Hinge(FunctionLoss):
    """mean(max(1 - y_true * y_pred, 0)).

    Targets are -1 and 1. The class also accepts targets of 0 and 1, which the function does not.

    Example:
        >>> Hinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(1.)

    Source: https://keras.io/api/losses/hinge_losses/
    """

    function = keras3.hinge


class SquaredHinge(FunctionLoss):
    """mean(max(1 - y_true * y_pred, 0)**2).

    Targets are -1 and 1. The class also accepts targets of 0 and 1, which the function does not.

    Example:
        >>> SquaredHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
        tensor(2.)

    Source: https://keras.io/api/losses/hinge_losses/
    """

    function = keras3.squared_hinge


class CategoricalHinge(FunctionLoss):
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred)).

    Example:
        >>> CategoricalHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
        tensor(0.5000)

    Source: https://keras.io/api/losses/hinge_losses/
    """

    function = hinges.categorical_hinge


class KLDivergence(FunctionLoss):
    """sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1].

    Example:
        >>> KLDivergence()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/losses/probabilistic_losses/
    """

    function = crossentropy.kullback_leibler_divergence


class BinaryCrossentropy(FunctionLoss):
    """The crossentropy of targets from 0 to 1: mean(-y_true * log(p) - (1 - y_true) * log(1 - p)).

    Example:
        >>> BinaryCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/losses/probabilistic_losses/
    """

    function = crossentropy.binary_crossentropy
    mean = crossentropy.binary_crossentropy_of_all


class BinaryFocalCrossentropy(FunctionLoss):
    """The crossentropy of targets from 0 to 1, with less weight on confident correct predictions.

    Example:
        >>> BinaryFocalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.1733)

    Source: https://arxiv.org/abs/1708.02002
    """

    function = crossentropy.binary_focal_crossentropy


class CategoricalCrossentropy(FunctionLoss):
    """The crossentropy of one-hot rows: -sum(y_true * log(p)).

    Example:
        >>> CategoricalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/losses/probabilistic_losses/
    """

    function = crossentropy.categorical_crossentropy


class CategoricalFocalCrossentropy(FunctionLoss):
    """The crossentropy of one-hot rows, with less weight on classes that are predicted confidently.

    Example:
        >>> CategoricalFocalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
        tensor(0.0433)

    Source: https://arxiv.org/abs/1708.02002
    """

    function = crossentropy.categorical_focal_crossentropy
    rules = {**FunctionLoss.rules, "alpha": several(FINITE)}


class SparseCategoricalCrossentropy(FunctionLoss):
    """The crossentropy of class numbers: -log(p[y_true]).

    Unlike the function, the class divides probabilities by their sum before it clips them.

    Options:
        ignore_class (integer or None, default None): a class number whose samples are left out of the mean.

    Example:
        >>> SparseCategoricalCrossentropy()(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
        tensor(0.6931)

    Source: https://keras.io/api/losses/probabilistic_losses/
    """

    function = keras3.sparse_categorical_crossentropy
    mean = crossentropy.sparse_categorical_crossentropy_of_all
    takes_labels = True
    ignore_class: int | None

    def own_mask(self, y_true: Tensor, y_pred: Tensor, values: Tensor) -> Tensor | None:
        """True where y_true is another class than `ignore_class`."""
        return None if self.ignore_class is None else (y_true != self.ignore_class).reshape(values.shape)


class CategoricalGeneralizedCrossEntropy(FunctionLoss):
    """(1 - p**q) / q, p = y_pred[y_true]; for noisy labels.

    Example:
        >>> CategoricalGeneralizedCrossEntropy()(torch.tensor([1]), torch.tensor([[0.75, 0.25]]))
        tensor(1.)

    Source: https://arxiv.org/abs/1805.07836
    """

    function = crossentropy.categorical_generalized_cross_entropy
    takes_labels = True


class CTC(FunctionLoss):
    """Connectionist temporal classification: -log of the probability of the labels, from logits.

    Shapes:
        y_true (batch, labels), y_pred (batch, time, classes) -> a scalar

    Example:
        >>> CTC()(torch.tensor([[1, 2]]), torch.zeros(1, 4, 3))
        tensor(1.6864)

    Source: https://www.cs.toronto.edu/~graves/icml_2006.pdf
    """

    function = others.ctc
    takes_labels = True


class Dice(FunctionLoss):
    """1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred) + epsilon).

    Example:
        >>> Dice()(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
        tensor(0.1429)

    Source: https://arxiv.org/abs/1606.04797
    """

    function = others.dice
    rules = AXES


class Tversky(FunctionLoss):
    """The `Dice` loss with one weight for false negatives and one for false positives.

    Example:
        >>> Tversky(alpha=1.0)(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
        tensor(0.2500)

    Source: https://arxiv.org/abs/1706.05721
    """

    function = others.tversky
    rules = AXES


class Circle(FunctionLoss):
    """Pulls embeddings of the same class together and pushes different classes away from each other.

    Samples whose loss is 0 are left out of the mean.

    Shapes:
        y_true (batch,) or (batch, 1), y_pred (batch, size) -> a scalar

    Example:
        >>> Circle(gamma=1.0)(torch.tensor([0, 0, 1]), torch.eye(3))
        tensor(1.0899)

    Source: https://arxiv.org/abs/2002.10857
    """

    function = others.circle
    options = ("gamma", "margin", "remove_diagonal")
    takes_labels = True

    def own_mask(self, y_true: Tensor, y_pred: Tensor, values: Tensor) -> Tensor | None:
        """True where the loss is above 0."""
        return values > 0
