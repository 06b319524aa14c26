"""Metrics: functions `metric(y_true, y_pred)`, one number a sample, and classes that add up over batches.

The functions are those of Keras 2.2.4, whose values a model averages over batches; every function of a loss is also a
metric. The classes are those of Keras 3: `update_state` adds a batch, `result` gives the number over all of them, and
`reset_state` starts over. All of it stays on the device.
"""

from torchkeras import losses, registry
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
    Accuracy as Accuracy,
    BinaryAccuracy as BinaryAccuracy,
    BinaryCrossentropy as BinaryCrossentropy,
    CategoricalAccuracy as CategoricalAccuracy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    CategoricalHinge as CategoricalHinge,
    ConcordanceCorrelation as ConcordanceCorrelation,
    CosineSimilarity as CosineSimilarity,
    Hinge as Hinge,
    KLDivergence as KLDivergence,
    LogCoshError as LogCoshError,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
    PearsonCorrelation as PearsonCorrelation,
    Poisson as Poisson,
    RootMeanSquaredError as RootMeanSquaredError,
    SparseCategoricalAccuracy as SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
    SquaredHinge as SquaredHinge,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy,
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
NEWER = ("cosine_similarity", "kl_divergence")

for _name in registry.losses.names():
    if not isinstance(registry.losses.find(_name), type) and _name not in NEWER:
        registry.metrics.register(_name, registry.losses.find(_name))

get = deserialize = registry.metrics.get
serialize = registry.metrics.serialize
