# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.losses.classes import (
    CTC as _CTC,
    BinaryCrossentropy as _BinaryCrossentropy,
    BinaryFocalCrossentropy as _BinaryFocalCrossentropy,
    CategoricalCrossentropy as _CategoricalCrossentropy,
    CategoricalFocalCrossentropy as _CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy as _CategoricalGeneralizedCrossEntropy,
    CategoricalHinge as _CategoricalHinge,
    Circle as _Circle,
    CosineSimilarity as _CosineSimilarity,
    Dice as _Dice,
    Hinge as _Hinge,
    Huber as _Huber,
    KLDivergence as _KLDivergence,
    LogCosh as _LogCosh,
    MeanAbsoluteError as _MeanAbsoluteError,
    MeanAbsolutePercentageError as _MeanAbsolutePercentageError,
    MeanSquaredError as _MeanSquaredError,
    MeanSquaredLogarithmicError as _MeanSquaredLogarithmicError,
    Poisson as _Poisson,
    SparseCategoricalCrossentropy as _SparseCategoricalCrossentropy,
    SquaredHinge as _SquaredHinge,
    Tversky as _Tversky,
)
from torchkeras.losses.crossentropy import (
    binary_crossentropy as binary_crossentropy,
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
    categorical_generalized_cross_entropy as categorical_generalized_cross_entropy,
    kullback_leibler_divergence as kullback_leibler_divergence,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from torchkeras.losses.hinges import (
    categorical_hinge as categorical_hinge,
    hinge as hinge,
    squared_hinge as squared_hinge,
)
from torchkeras.losses.loss import Loss as Loss, LossFunctionWrapper as LossFunctionWrapper
from torchkeras.losses.others import circle as circle, ctc as ctc, dice as dice, tversky as tversky
from torchkeras.losses.reduction import Reduction
from torchkeras.losses.regression import (
    cosine_proximity as cosine_proximity,
    cosine_similarity as cosine_similarity,
    huber as huber,
    logcosh as logcosh,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    poisson as poisson,
    rising_cosine_similarity as rising_cosine_similarity,
)

class CTC(_CTC):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "ctc", dtype: Any = None
    ) -> None:
        r"""Connectionist temporal classification: -log of the probability of the labels, from logits.

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "ctc"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Shapes:
            y_true (batch, labels), y_pred (batch, time, classes) -> a scalar

        Example:
            >>> CTC()(torch.tensor([[1, 2]]), torch.zeros(1, 4, 3))
            tensor(1.6864)

        Source: https://www.cs.toronto.edu/~graves/icml_2006.pdf
        """

class BinaryCrossentropy(_BinaryCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of targets from 0 to 1: mean(-y_true * log(p) - (1 - y_true) * log(1 - p)).

        Options:
            from_logits (bool, default False): whether y_pred holds logits; p is then its sigmoid and is not clipped.
            label_smoothing (number from 0 to 1, default 0.0): the share by which targets are drawn towards 1/2.
            axis (integer, default -1): the axis of the mean.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "binary_crossentropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> BinaryCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/losses/probabilistic_losses/
        """

class BinaryFocalCrossentropy(_BinaryFocalCrossentropy):
    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "binary_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of targets from 0 to 1, with less weight on predictions that are right with certainty.

        Options:
            apply_class_balancing (bool, default False): whether each value is weighted by
                alpha * y_true + (1 - alpha) * (1 - y_true).
            alpha (number, default 0.25): the weight of targets of 1 in that.
            gamma (number of at least 0, default 2.0): how much less the certain ones count; 0 counts them fully.
            from_logits (bool, default False): whether y_pred holds logits, which a sigmoid makes probabilities.
            label_smoothing (number from 0 to 1, default 0.0): the share by which targets are drawn towards 1/2.
            axis (integer, default -1): the axis of the mean.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "binary_focal_crossentropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> BinaryFocalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.1733)

        Source: https://arxiv.org/abs/1708.02002
        """

class CategoricalCrossentropy(_CategoricalCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of one-hot rows: -sum(y_true * log(p)).

        Options:
            from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
            label_smoothing (number from 0 to 1, default 0.0): the share of each target that is spread evenly over the
                classes, as many as `axis` is long.
            axis (integer, default -1): the axis of the classes.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "categorical_crossentropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> CategoricalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/losses/probabilistic_losses/
        """

class CategoricalFocalCrossentropy(_CategoricalFocalCrossentropy):
    def __init__(
        self,
        alpha: float | Sequence[float] = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_focal_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of one-hot rows, with less weight on classes that are predicted with certainty.

        Options:
            alpha (number or list of numbers, default 0.25): one weight, or one for each class.
            gamma (number of at least 0, default 2.0): how much less the certain ones count; 0 counts them fully.
            from_logits (bool, default False): whether y_pred holds logits; p is then its softmax, clipped too.
            label_smoothing (number from 0 to 1, default 0.0): the share of each target that is spread evenly over the
                classes.
            axis (integer, default -1): the axis of the classes.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "categorical_focal_crossentropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> CategoricalFocalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.0433)

        Source: https://arxiv.org/abs/1708.02002
        """

class CategoricalGeneralizedCrossEntropy(_CategoricalGeneralizedCrossEntropy):
    def __init__(
        self,
        q: float = 0.5,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_generalized_cross_entropy",
        dtype: Any = None,
    ) -> None:
        r"""(1 - p**q) / q, p = y_pred[y_true]; for noisy labels.

        Options:
            q (number between 0 and 1, default 0.5): the nearer to 1, the less a wrong label counts.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "categorical_generalized_cross_entropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> CategoricalGeneralizedCrossEntropy()(torch.tensor([1]), torch.tensor([[0.75, 0.25]]))
            tensor(1.)

        Source: https://arxiv.org/abs/1805.07836
        """

class CategoricalHinge(_CategoricalHinge):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "categorical_hinge",
        dtype: Any = None,
    ) -> None:
        r"""max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred)).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "categorical_hinge"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> CategoricalHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
            tensor(0.5000)

        Source: https://keras.io/api/losses/hinge_losses/
        """

class Circle(_Circle):
    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "circle",
        dtype: Any = None,
    ) -> None:
        r"""Draws embeddings of the same class together and pushes others apart.

        Samples whose loss is 0 are left out of the mean.

        Options:
            gamma (number, default 80.0): the scale of pulls and pushes.
            margin (number, default 0.4): how far pairs are pulled and pushed.
            remove_diagonal (bool, default True): whether the pair of each sample with itself is left out.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "circle"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Shapes:
            y_true (batch,) or (batch, 1), y_pred (batch, size) -> a scalar

        Example:
            >>> Circle(gamma=1.0)(torch.tensor([0, 0, 1]), torch.eye(3))
            tensor(1.0899)

        Source: https://arxiv.org/abs/2002.10857
        """

class CosineSimilarity(_CosineSimilarity):
    def __init__(
        self,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "cosine_similarity",
        dtype: Any = None,
    ) -> None:
        r"""The cosine of the angle between y_true and y_pred, times -1.

        Options:
            axis (integer, default -1): the axis that holds a vector.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "cosine_similarity"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> CosineSimilarity()(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
            tensor(-0.8000)

        Source: https://keras.io/api/losses/regression_losses/
        """

class Dice(_Dice):
    def __init__(
        self,
        axis: int | Sequence[int] | None = None,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "dice",
        dtype: Any = None,
    ) -> None:
        r"""1 - 2 * sum(y_true * y_pred) / (sum(y_true) + sum(y_pred) + epsilon).

        Options:
            axis (integer, several or None, default None): the axes to sum over. None sums over all, the samples too, which
                gives one number; all axes but the first give one number an image.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "dice"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> Dice()(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
            tensor(0.1429)

        Source: https://arxiv.org/abs/1606.04797
        """

class Hinge(_Hinge):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "hinge", dtype: Any = None
    ) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)).

        Targets are -1 and 1; unlike the function, the class also takes 0 and 1 for them.

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "hinge"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> Hinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(1.)

        Source: https://keras.io/api/losses/hinge_losses/
        """

class Huber(_Huber):
    def __init__(
        self,
        delta: float = 1.0,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "huber_loss",
        dtype: Any = None,
    ) -> None:
        r"""mean(e**2 / 2 where e <= delta, else delta * e - delta**2 / 2), e = abs(y_pred - y_true).

        Options:
            delta (positive number, default 1.0): the error from which the loss grows in a line.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "huber_loss"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> Huber(delta=2.0)(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
            tensor(2.2500)

        Source: https://keras.io/api/losses/regression_losses/
        """

class KLDivergence(_KLDivergence):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "kl_divergence", dtype: Any = None
    ) -> None:
        r"""sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1].

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "kl_divergence"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> KLDivergence()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/losses/probabilistic_losses/
        """

class LogCosh(_LogCosh):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "log_cosh", dtype: Any = None
    ) -> None:
        r"""mean(log(cosh(y_pred - y_true))).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "log_cosh"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> LogCosh()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 1.0]]))
            tensor(1.1547)

        Source: https://keras.io/api/losses/regression_losses/
        """

class MeanAbsoluteError(_MeanAbsoluteError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_absolute_error",
        dtype: Any = None,
    ) -> None:
        r"""mean(abs(y_pred - y_true)).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "mean_absolute_error"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> MeanAbsoluteError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
            tensor(2.)

        Source: https://keras.io/api/losses/regression_losses/
        """

class MeanAbsolutePercentageError(_MeanAbsolutePercentageError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_absolute_percentage_error",
        dtype: Any = None,
    ) -> None:
        r"""100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon)).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "mean_absolute_percentage_error"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> MeanAbsolutePercentageError()(torch.tensor([[2.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
            tensor(25.)

        Source: https://keras.io/api/losses/regression_losses/
        """

class MeanSquaredError(_MeanSquaredError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_squared_error",
        dtype: Any = None,
    ) -> None:
        r"""mean((y_pred - y_true)**2).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "mean_squared_error"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> MeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
            tensor(5.)

        Source: https://keras.io/api/losses/regression_losses/
        """

class MeanSquaredLogarithmicError(_MeanSquaredLogarithmicError):
    def __init__(
        self,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "mean_squared_logarithmic_error",
        dtype: Any = None,
    ) -> None:
        r"""mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "mean_squared_logarithmic_error"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> MeanSquaredLogarithmicError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(0.2402)

        Source: https://keras.io/api/losses/regression_losses/
        """

class Poisson(_Poisson):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "poisson", dtype: Any = None
    ) -> None:
        r"""mean(y_pred - y_true * log(y_pred + epsilon)).

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "poisson"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> Poisson()(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(1.0000)

        Source: https://keras.io/api/losses/probabilistic_losses/
        """

class SparseCategoricalCrossentropy(_SparseCategoricalCrossentropy):
    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
    ) -> None:
        r"""The crossentropy of class numbers: -log(p[y_true]).

        Unlike the function, the class divides probabilities by their sum before it clips them.

        Options:
            from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
            ignore_class (integer or None, default None): a class number whose samples are left out of the mean.
            axis (integer, default -1): the axis of the classes.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "sparse_categorical_crossentropy"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> SparseCategoricalCrossentropy()(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/losses/probabilistic_losses/
        """

class SquaredHinge(_SquaredHinge):
    def __init__(
        self, reduction: Reduction | None = "sum_over_batch_size", name: str | None = "squared_hinge", dtype: Any = None
    ) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)**2).

        Targets are -1 and 1; unlike the function, the class also takes 0 and 1 for them.

        Options:
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "squared_hinge"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> SquaredHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(2.)

        Source: https://keras.io/api/losses/hinge_losses/
        """

class Tversky(_Tversky):
    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        axis: int | Sequence[int] | None = None,
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = "tversky",
        dtype: Any = None,
    ) -> None:
        r"""The `Dice` loss with one weight for what is missed and one for what is too much.

        Options:
            alpha (number, default 0.5): the weight of what y_pred misses, as in Keras.
            beta (number, default 0.5): the weight of what y_pred has too much.
            axis (integer, several or None, default None): the axes to sum over; None sums over all, the samples too.
            reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
                "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
                "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
            name (text, default "tversky"): the loss's name in errors and configs.
            dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
                but at least the default float type: half types are computed in float32.

        Example:
            >>> Tversky(alpha=1.0)(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
            tensor(0.2500)

        Source: https://arxiv.org/abs/1706.05721
        """

mse = mean_squared_error
MSE = mean_squared_error
mae = mean_absolute_error
MAE = mean_absolute_error
mape = mean_absolute_percentage_error
MAPE = mean_absolute_percentage_error
msle = mean_squared_logarithmic_error
MSLE = mean_squared_logarithmic_error
kld = kullback_leibler_divergence
KLD = kullback_leibler_divergence
kl_divergence = kullback_leibler_divergence
cosine = cosine_proximity
log_cosh = logcosh
bce = binary_crossentropy
BCE = binary_crossentropy

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""The object for a registered name or a config; an object of the kind is returned as it is.

    A class or a `factory`, found by name or passed, is called without arguments. None stays None. Raises ValueError
    for an unknown name, and TypeError for an identifier of another type.
    """

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""The object for a registered name or a config; an object of the kind is returned as it is.

    A class or a `factory`, found by name or passed, is called without arguments. None stays None. Raises ValueError
    for an unknown name, and TypeError for an identifier of another type.
    """

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""
