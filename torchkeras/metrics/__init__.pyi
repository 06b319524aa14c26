# Made by scripts/write_stubs.py from the declarations in the source; a test holds it to them.
# mypy: disable-error-code="misc, override"

from collections.abc import Mapping
from typing import Any

from torchkeras.losses.crossentropy import (
    binary_crossentropy as binary_crossentropy,
    binary_focal_crossentropy as binary_focal_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    categorical_focal_crossentropy as categorical_focal_crossentropy,
    kullback_leibler_divergence as kullback_leibler_divergence,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from torchkeras.losses.hinges import (
    categorical_hinge as categorical_hinge,
    hinge as hinge,
    squared_hinge as squared_hinge,
)
from torchkeras.losses.regression import (
    cosine_proximity as cosine_proximity,
    huber as huber,
    logcosh as logcosh,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    poisson as poisson,
)
from torchkeras.metrics.auc import AUC as AUC
from torchkeras.metrics.confusion import (
    FalseNegatives as FalseNegatives,
    FalsePositives as FalsePositives,
    Precision as Precision,
    PrecisionAtRecall as PrecisionAtRecall,
    Recall as Recall,
    RecallAtPrecision as RecallAtPrecision,
    SensitivityAtSpecificity as SensitivityAtSpecificity,
    SpecificityAtSensitivity as SpecificityAtSensitivity,
    TrueNegatives as TrueNegatives,
    TruePositives as TruePositives,
)
from torchkeras.metrics.functions import (
    binary_accuracy as binary_accuracy,
    categorical_accuracy as categorical_accuracy,
    categorical_hits as categorical_hits,
    sparse_categorical_accuracy as sparse_categorical_accuracy,
    sparse_categorical_hits as sparse_categorical_hits,
    sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy as top_k_categorical_accuracy,
)
from torchkeras.metrics.keras3 import (
    concordance_correlation as concordance_correlation,
    pearson_correlation as pearson_correlation,
)
from torchkeras.metrics.means import (
    Accuracy as _Accuracy,
    BinaryAccuracy as _BinaryAccuracy,
    BinaryCrossentropy as _BinaryCrossentropy,
    CategoricalAccuracy as _CategoricalAccuracy,
    CategoricalCrossentropy as _CategoricalCrossentropy,
    CategoricalHinge as _CategoricalHinge,
    ConcordanceCorrelation as _ConcordanceCorrelation,
    CosineSimilarity as _CosineSimilarity,
    Hinge as _Hinge,
    KLDivergence as _KLDivergence,
    LogCoshError as _LogCoshError,
    MeanAbsoluteError as _MeanAbsoluteError,
    MeanAbsolutePercentageError as _MeanAbsolutePercentageError,
    MeanSquaredError as _MeanSquaredError,
    MeanSquaredLogarithmicError as _MeanSquaredLogarithmicError,
    PearsonCorrelation as _PearsonCorrelation,
    Poisson as _Poisson,
    RootMeanSquaredError as _RootMeanSquaredError,
    SparseCategoricalAccuracy as _SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy as _SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy as _SparseTopKCategoricalAccuracy,
    SquaredHinge as _SquaredHinge,
    TopKCategoricalAccuracy as _TopKCategoricalAccuracy,
)
from torchkeras.metrics.metric import Metric as Metric
from torchkeras.metrics.overlap import (
    BinaryIoU as BinaryIoU,
    IoU as IoU,
    MeanIoU as MeanIoU,
    OneHotIoU as OneHotIoU,
    OneHotMeanIoU as OneHotMeanIoU,
)
from torchkeras.metrics.reduction import Mean as Mean, MeanMetricWrapper as MeanMetricWrapper, Sum as Sum
from torchkeras.metrics.scores import F1Score as F1Score, FBetaScore as FBetaScore, R2Score as R2Score

class Accuracy(_Accuracy):
    def __init__(self, name: str | None = "accuracy", dtype: Any = None) -> None:
        r"""How often y_pred equals y_true.

        Options:
            name (text or None, default "accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> Accuracy()(torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]))
            tensor(0.6667)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

class BinaryAccuracy(_BinaryAccuracy):
    def __init__(self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        r"""How often y_pred > threshold is y_true.

        Options:
            name (text or None, default "binary_accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            threshold (number, default 0.5): y_pred above it means 1, else 0.

        Example:
            >>> BinaryAccuracy(threshold=0.8)(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.7, 0.7]]))
            tensor(0.5000)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

class BinaryCrossentropy(_BinaryCrossentropy):
    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of targets from 0 to 1: mean(-y_true * log(p) - (1 - y_true) * log(1 - p)).

        Options:
            name (text or None, default "binary_crossentropy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            from_logits (bool, default False): whether y_pred holds logits; p is then its sigmoid and is not clipped.
            label_smoothing (number from 0 to 1, default 0.0): the share by which targets are drawn towards 1/2.
            axis (integer, default -1): the axis of the mean.

        Example:
            >>> BinaryCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/metrics/probabilistic_metrics/
        """

class CategoricalAccuracy(_CategoricalAccuracy):
    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the highest score is that of the class of a one-hot row.

        Options:
            name (text or None, default "categorical_accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> CategoricalAccuracy()(torch.eye(2), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
            tensor(0.5000)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

class CategoricalCrossentropy(_CategoricalCrossentropy):
    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of one-hot rows: -sum(y_true * log(p)).

        Options:
            name (text or None, default "categorical_crossentropy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
            label_smoothing (number from 0 to 1, default 0.0): the share of each target that is spread evenly over the
                classes, as many as `axis` is long.
            axis (integer, default -1): the axis of the classes.

        Example:
            >>> CategoricalCrossentropy()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/metrics/probabilistic_metrics/
        """

class CategoricalHinge(_CategoricalHinge):
    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None) -> None:
        r"""max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred)).

        Options:
            name (text or None, default "categorical_hinge"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> CategoricalHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 1.0]]))
            tensor(0.5000)

        Source: https://keras.io/api/metrics/hinge_metrics/
        """

class ConcordanceCorrelation(_ConcordanceCorrelation):
    def __init__(self, name: str | None = "concordance_correlation", dtype: Any = None, axis: int = -1) -> None:
        r"""The mean of Lin's concordance correlation of each sample.

        Options:
            name (text or None, default "concordance_correlation"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            axis (integer, default -1): the axis of the values that are compared.

        Example:
            >>> ConcordanceCorrelation()(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
            tensor(0.6154)

        Source: Lin, "A Concordance Correlation Coefficient to Evaluate Reproducibility" (1989)
        """

class CosineSimilarity(_CosineSimilarity):
    def __init__(self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        r"""The cosine of the angle between y_true and y_pred: 1 for the same direction. The loss has the other sign.

        Options:
            name (text or None, default "cosine_similarity"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            axis (integer, default -1): the axis that holds a vector.

        Example:
            >>> CosineSimilarity()(torch.tensor([[0.0, 2.0]]), torch.tensor([[3.0, 4.0]]))
            tensor(0.8000)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class Hinge(_Hinge):
    def __init__(self, name: str | None = "hinge", dtype: Any = None) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)); targets -1 and 1, or 0 and 1.

        Options:
            name (text or None, default "hinge"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> Hinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(1.)

        Source: https://keras.io/api/metrics/hinge_metrics/
        """

class KLDivergence(_KLDivergence):
    def __init__(self, name: str | None = "kl_divergence", dtype: Any = None) -> None:
        r"""sum(y_true * log(y_true / y_pred)), both clipped to [epsilon, 1].

        Options:
            name (text or None, default "kl_divergence"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> KLDivergence()(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/metrics/probabilistic_metrics/
        """

class LogCoshError(_LogCoshError):
    def __init__(self, name: str | None = "logcosh", dtype: Any = None) -> None:
        r"""mean(log(cosh(y_pred - y_true))).

        Options:
            name (text or None, default "logcosh"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> LogCoshError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 1.0]]))
            tensor(1.1547)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class MeanAbsoluteError(_MeanAbsoluteError):
    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None) -> None:
        r"""mean(abs(y_pred - y_true)).

        Options:
            name (text or None, default "mean_absolute_error"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> MeanAbsoluteError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
            tensor(2.)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class MeanAbsolutePercentageError(_MeanAbsolutePercentageError):
    def __init__(self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None) -> None:
        r"""100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon)).

        Options:
            name (text or None, default "mean_absolute_percentage_error"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> MeanAbsolutePercentageError()(torch.tensor([[2.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
            tensor(25.)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class MeanSquaredError(_MeanSquaredError):
    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None) -> None:
        r"""mean((y_pred - y_true)**2).

        Options:
            name (text or None, default "mean_squared_error"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> MeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[3.0, 2.0]]))
            tensor(5.)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class MeanSquaredLogarithmicError(_MeanSquaredLogarithmicError):
    def __init__(self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None) -> None:
        r"""mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2).

        Options:
            name (text or None, default "mean_squared_logarithmic_error"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> MeanSquaredLogarithmicError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(0.2402)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class PearsonCorrelation(_PearsonCorrelation):
    def __init__(self, name: str | None = "pearson_correlation", dtype: Any = None, axis: int = -1) -> None:
        r"""The mean of Pearson's correlation of each sample.

        Options:
            name (text or None, default "pearson_correlation"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            axis (integer, default -1): the axis of the values that are compared.

        Example:
            >>> PearsonCorrelation()(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 3.0, 5.0]]))
            tensor(1.)
        """

class Poisson(_Poisson):
    def __init__(self, name: str | None = "poisson", dtype: Any = None) -> None:
        r"""mean(y_pred - y_true * log(y_pred + epsilon)).

        Options:
            name (text or None, default "poisson"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> Poisson()(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(1.0000)

        Source: https://keras.io/api/metrics/probabilistic_metrics/
        """

class RootMeanSquaredError(_RootMeanSquaredError):
    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        r"""sqrt(mean((y_pred - y_true)**2)), the root of the mean over all batches.

        Options:
            name (text or None, default "root_mean_squared_error"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> RootMeanSquaredError()(torch.tensor([[0.0, 1.0]]), torch.tensor([[2.0, 3.0]]))
            tensor(2.)

        Source: https://keras.io/api/metrics/regression_metrics/
        """

class SparseCategoricalAccuracy(_SparseCategoricalAccuracy):
    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the highest score is that of the class number.

        Options:
            name (text or None, default "sparse_categorical_accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> SparseCategoricalAccuracy()(torch.tensor([0, 1]), torch.tensor([[0.7, 0.3], [0.7, 0.3]]))
            tensor(0.5000)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

class SparseCategoricalCrossentropy(_SparseCategoricalCrossentropy):
    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of class numbers: -log(p[y_true]).

        Options:
            name (text or None, default "sparse_categorical_crossentropy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            from_logits (bool, default False): whether y_pred holds logits; p is then its softmax and is not clipped.
            ignore_class (integer or None, default None): a class number that does not count. As in Keras 3.15 its values
                are 0 in the mean when there are no sample weights, and left out of it when there are.
            axis (integer, default -1): the axis of the classes.

        Example:
            >>> SparseCategoricalCrossentropy()(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
            tensor(0.6931)

        Source: https://keras.io/api/metrics/probabilistic_metrics/
        """

class SparseTopKCategoricalAccuracy(_SparseTopKCategoricalAccuracy):
    def __init__(
        self,
        k: int = 5,
        name: str | None = "sparse_top_k_categorical_accuracy",
        dtype: Any = None,
        from_sorted_ids: bool = False,
    ) -> None:
        r"""How often the class number is among the `k` best.

        Options:
            k (positive integer, default 5): how many of the best classes count.
            name (text or None, default "sparse_top_k_categorical_accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.
            from_sorted_ids (bool, default False): whether y_pred holds class numbers, the best first, in place of scores.
                y_true is then a hit when it is among the first `k`.

        Example:
            >>> SparseTopKCategoricalAccuracy(k=2)(torch.arange(3), torch.tensor([[0.6, 0.3, 0.1]] * 3))
            tensor(0.6667)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

class SquaredHinge(_SquaredHinge):
    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)**2); targets -1 and 1, or 0 and 1.

        Options:
            name (text or None, default "squared_hinge"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> SquaredHinge()(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 1.0]]))
            tensor(2.)

        Source: https://keras.io/api/metrics/hinge_metrics/
        """

class TopKCategoricalAccuracy(_TopKCategoricalAccuracy):
    def __init__(self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the class of a one-hot row is among the `k` best.

        Options:
            k (positive integer, default 5): how many of the best classes count.
            name (text or None, default "top_k_categorical_accuracy"): what logs and configs call the metric; None is the class's name in snake
                case.
            dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
                counts up to 2**24 without error.

        Example:
            >>> TopKCategoricalAccuracy(k=2)(torch.eye(3), torch.tensor([[0.6, 0.3, 0.1]] * 3))
            tensor(0.6667)

        Source: https://keras.io/api/metrics/accuracy_metrics/
        """

mse = mean_squared_error
MSE = mean_squared_error
mae = mean_absolute_error
MAE = mean_absolute_error
mape = mean_absolute_percentage_error
MAPE = mean_absolute_percentage_error
msle = mean_squared_logarithmic_error
MSLE = mean_squared_logarithmic_error
cosine = cosine_proximity
log_cosh = logcosh
kld = kullback_leibler_divergence
KLD = kullback_leibler_divergence
kl_divergence = kullback_leibler_divergence

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
