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
        r"""How often y_pred equals y_true."""

class BinaryAccuracy(_BinaryAccuracy):
    def __init__(self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        r"""How often y_pred > threshold is y_true. Options: threshold."""

class BinaryCrossentropy(_BinaryCrossentropy):
    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of yes or no. Options: from_logits, label_smoothing, axis."""

class CategoricalAccuracy(_CategoricalAccuracy):
    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the highest score is that of the class of a one-hot row."""

class CategoricalCrossentropy(_CategoricalCrossentropy):
    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of one-hot rows. Options: from_logits, label_smoothing, axis."""

class CategoricalHinge(_CategoricalHinge):
    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None) -> None:
        r"""max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""

class ConcordanceCorrelation(_ConcordanceCorrelation):
    def __init__(self, name: str | None = "concordance_correlation", dtype: Any = None, axis: int = -1) -> None:
        r"""The mean of Lin's concordance correlation of each sample. Options: axis."""

class CosineSimilarity(_CosineSimilarity):
    def __init__(self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        r"""The cosine of the angle: 1 for one direction. Options: axis."""

class Hinge(_Hinge):
    def __init__(self, name: str | None = "hinge", dtype: Any = None) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)); targets -1 and 1, or 0 and 1"""

class KLDivergence(_KLDivergence):
    def __init__(self, name: str | None = "kl_divergence", dtype: Any = None) -> None:
        r"""sum(y_true * log(y_true / y_pred))"""

class LogCoshError(_LogCoshError):
    def __init__(self, name: str | None = "logcosh", dtype: Any = None) -> None:
        r"""mean(log(cosh(y_pred - y_true)))"""

class MeanAbsoluteError(_MeanAbsoluteError):
    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None) -> None:
        r"""mean(abs(y_pred - y_true))"""

class MeanAbsolutePercentageError(_MeanAbsolutePercentageError):
    def __init__(self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None) -> None:
        r"""100 * mean(abs(y_true - y_pred) / max(abs(y_true), epsilon))"""

class MeanSquaredError(_MeanSquaredError):
    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None) -> None:
        r"""mean((y_pred - y_true)**2)"""

class MeanSquaredLogarithmicError(_MeanSquaredLogarithmicError):
    def __init__(self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None) -> None:
        r"""mean((log(1 + max(y_pred, epsilon)) - log(1 + max(y_true, epsilon)))**2)"""

class PearsonCorrelation(_PearsonCorrelation):
    def __init__(self, name: str | None = "pearson_correlation", dtype: Any = None, axis: int = -1) -> None:
        r"""The mean of Pearson's correlation of each sample. Options: axis."""

class Poisson(_Poisson):
    def __init__(self, name: str | None = "poisson", dtype: Any = None) -> None:
        r"""mean(y_pred - y_true * log(y_pred + epsilon))"""

class RootMeanSquaredError(_RootMeanSquaredError):
    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        r"""sqrt(mean((y_pred - y_true)**2)), the root of the mean over all batches"""

class SparseCategoricalAccuracy(_SparseCategoricalAccuracy):
    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the highest score is that of the class number."""

class SparseCategoricalCrossentropy(_SparseCategoricalCrossentropy):
    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        r"""The crossentropy of class numbers. Options: from_logits, ignore_class, axis.

        As in Keras 3.15 a value of `ignore_class` counts as 0 in the mean when there are no sample weights, and is left out
        of it when there are.
        """

class SparseTopKCategoricalAccuracy(_SparseTopKCategoricalAccuracy):
    def __init__(
        self,
        k: int = 5,
        name: str | None = "sparse_top_k_categorical_accuracy",
        dtype: Any = None,
        from_sorted_ids: bool = False,
    ) -> None:
        r"""How often the class number is among the `k` best. Options: k, from_sorted_ids."""

class SquaredHinge(_SquaredHinge):
    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None) -> None:
        r"""mean(max(1 - y_true * y_pred, 0)**2); targets -1 and 1, or 0 and 1"""

class TopKCategoricalAccuracy(_TopKCategoricalAccuracy):
    def __init__(self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        r"""How often the class of a one-hot row is among the `k` best. Options: k."""

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
FUNCTIONS: tuple[Any, ...]
CLASSES: tuple[Any, ...]
OTHERS: tuple[Any, ...]
NEWER: tuple[Any, ...]

def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""What `identifier` names: a registered name, a config, or an object of the kind itself.

    A class or a `factory` (found by name or given) is called without arguments; `None` stays `None`.
    Raises ValueError for an unknown name and TypeError for an identifier of another type.
    """

def deserialize(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    r"""What `identifier` names: a registered name, a config, or an object of the kind itself.

    A class or a `factory` (found by name or given) is called without arguments; `None` stays `None`.
    Raises ValueError for an unknown name and TypeError for an identifier of another type.
    """

def serialize(value: Any) -> Any:
    r"""The inverse of `get`: a name for a function, `{"class_name", "config"}` for an object with `get_config`."""
