"""Metrics: functions `metric(y_true, y_pred)`, one number a sample, and classes that add up over batches.

The functions are those of Keras 2.2.4, whose values a model averages over batches; every function of a loss is also a
metric. The classes are those of Keras 3: `update_state` adds a batch, `result` gives the number over all of them, and
`reset_state` starts over. All of it stays on the device.
"""

from typing import TYPE_CHECKING

from torchkeras import losses, registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.metrics.auc import AUC
from torchkeras.metrics.confusion import (
    FalseNegatives,
    FalsePositives,
    Precision,
    PrecisionAtRecall,
    Recall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from torchkeras.metrics.functions import (
    binary_accuracy,
    categorical_accuracy,
    categorical_hits,
    sparse_categorical_accuracy,
    sparse_categorical_hits,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from torchkeras.metrics.keras3 import (
    concordance_correlation,
    pearson_correlation,
)
from torchkeras.metrics.means import (
    Accuracy,
    BinaryAccuracy,
    BinaryCrossentropy,
    CategoricalAccuracy,
    CategoricalCrossentropy,
    CategoricalHinge,
    ConcordanceCorrelation,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    PearsonCorrelation,
    Poisson,
    RootMeanSquaredError,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy,
    SquaredHinge,
    TopKCategoricalAccuracy,
)
from torchkeras.metrics.metric import Metric
from torchkeras.metrics.overlap import (
    BinaryIoU,
    IoU,
    MeanIoU,
    OneHotIoU,
    OneHotMeanIoU,
)
from torchkeras.metrics.reduction import Mean, MeanMetricWrapper, Sum
from torchkeras.metrics.scores import F1Score, FBetaScore, R2Score

__all__ = [
    "AUC",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "BinaryIoU",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "IoU",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanIoU",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "OneHotIoU",
    "OneHotMeanIoU",
    "PearsonCorrelation",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "binary_accuracy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "categorical_hits",
    "concordance_correlation",
    "cosine",
    "cosine_proximity",
    "deserialize",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "kullback_leibler_divergence",
    "log_cosh",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "pearson_correlation",
    "poisson",
    "serialize",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_categorical_hits",
    "sparse_top_k_categorical_accuracy",
    "squared_hinge",
    "top_k_categorical_accuracy",
]

mse = MSE = mean_squared_error = losses.mean_squared_error
mae = MAE = mean_absolute_error = losses.mean_absolute_error
mape = MAPE = mean_absolute_percentage_error = losses.mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error = losses.mean_squared_logarithmic_error
cosine = cosine_proximity = losses.cosine_proximity
hinge = losses.hinge
squared_hinge = losses.squared_hinge
categorical_hinge = losses.categorical_hinge
logcosh = log_cosh = losses.logcosh
huber = losses.huber
poisson = losses.poisson
kld = KLD = kl_divergence = kullback_leibler_divergence = losses.kullback_leibler_divergence
binary_crossentropy = losses.binary_crossentropy
binary_focal_crossentropy = losses.binary_focal_crossentropy
categorical_crossentropy = losses.categorical_crossentropy
categorical_focal_crossentropy = losses.categorical_focal_crossentropy
sparse_categorical_crossentropy = losses.sparse_categorical_crossentropy

# Names that only Keras 3 has mean its classes; CosineSimilarity has the other sign than the loss.
_NEWER = ("cosine_similarity", "kl_divergence")

for _name in registry.losses.names():
    if not isinstance(registry.losses.find(_name), type) and _name not in _NEWER:
        registry.metrics.register(_name, registry.losses.find(_name))

get = deserialize = registry.metrics.get
serialize = registry.metrics.serialize

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
