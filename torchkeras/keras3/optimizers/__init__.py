"""`keras.optimizers`: the optimizers of Keras 3, with its names, arguments and defaults."""

from torchkeras.keras3.optimizers import legacy as legacy, schedules as schedules
from torchkeras.keras3.optimizers.loss_scale import LossScaleOptimizer
from torchkeras.keras3.optimizers.multi import MultiOptimizer, OptimizerMap
from torchkeras.keras3.optimizers.optimizer import Optimizer
from torchkeras.keras3.optimizers.serialization import deserialize, get, serialize
from torchkeras.keras3.optimizers.table import (
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Ftrl,
    Lamb,
    Lion,
    Muon,
    Nadam,
    RMSprop,
    ScheduleFreeAdamW,
)

__all__ = [
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "MultiOptimizer",
    "Muon",
    "Nadam",
    "Optimizer",
    "OptimizerMap",
    "RMSprop",
    "ScheduleFreeAdamW",
    "deserialize",
    "get",
    "legacy",
    "schedules",
    "serialize",
]
