"""Losses: `loss(y_true, y_pred)`, as functions and, with options, as classes.

A function gives one number a sample (and time step); most take the mean over the last axis. The functions that Keras
2.2.4 has give its numbers. A class (`Huber(delta=2.0)`) gives one number a batch, by Keras 3's rules of reduction,
weights and masks. Where Keras 3 differs from 2.2.4 by more than rounding (`losses.keras3`), the class gives the
numbers of Keras 3.

The crossentropies clip probabilities to [epsilon, 1 - epsilon], as Keras does. A `y_pred` that comes straight out of
`activations.softmax` or `activations.sigmoid` carries its logits. The loss is then computed from these, with fewer
kernels and less rounding, and the clip is put on the loss: a clipped sample has Keras's loss and, as in Keras, no
gradient.
"""

from torchkeras import registry
from torchkeras.losses.classes import (
    CTC as CTC,
    BinaryCrossentropy as BinaryCrossentropy,
    BinaryFocalCrossentropy as BinaryFocalCrossentropy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    CategoricalFocalCrossentropy as CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy as CategoricalGeneralizedCrossEntropy,
    CategoricalHinge as CategoricalHinge,
    Circle as Circle,
    CosineSimilarity as CosineSimilarity,
    Dice as Dice,
    Hinge as Hinge,
    Huber as Huber,
    KLDivergence as KLDivergence,
    LogCosh as LogCosh,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
    Poisson as Poisson,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
    SquaredHinge as SquaredHinge,
    Tversky as Tversky,
)
from torchkeras.losses.crossentropy import (
    NO_LABEL as NO_LABEL,
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
from torchkeras.losses.loss import (
    Loss as Loss,
    LossFunctionWrapper as LossFunctionWrapper,
    function_of as function_of,
)
from torchkeras.losses.others import (
    circle as circle,
    ctc as ctc,
    dice as dice,
    tversky as tversky,
)
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
)
from torchkeras.losses.shared import HALF_TYPES as HALF_TYPES

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
cosine = cosine_proximity
log_cosh = logcosh
bce = BCE = binary_crossentropy

# A function is known by its aliases, too.
for _name, _value in list(vars().items()):
    _own_name = getattr(_value, "__name__", "")
    if _own_name in registry.losses and registry.losses.find(_own_name) is _value:
        registry.losses.register(_name, _value)

get = deserialize = registry.losses.get
serialize = registry.losses.serialize
