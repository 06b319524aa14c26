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

from typing import TYPE_CHECKING

from torchkeras import registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.losses.classes import (
    CTC,
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy,
    CategoricalHinge,
    Circle,
    CosineSimilarity,
    Dice,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    Tversky,
)
from torchkeras.losses.crossentropy import (
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_generalized_cross_entropy,
    kullback_leibler_divergence,
    sparse_categorical_crossentropy,
)
from torchkeras.losses.hinges import categorical_hinge, hinge, squared_hinge
from torchkeras.losses.loss import Loss, LossFunctionWrapper
from torchkeras.losses.others import circle, ctc, dice, tversky
from torchkeras.losses.regression import (
    cosine_proximity,
    cosine_similarity,
    huber,
    logcosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    rising_cosine_similarity,
)

__all__ = [
    "BCE",
    "CTC",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "CategoricalHinge",
    "Circle",
    "CosineSimilarity",
    "Dice",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "LossFunctionWrapper",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "Tversky",
    "bce",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "categorical_hinge",
    "circle",
    "cosine",
    "cosine_proximity",
    "cosine_similarity",
    "ctc",
    "deserialize",
    "dice",
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
    "poisson",
    "rising_cosine_similarity",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
    "tversky",
]

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

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
