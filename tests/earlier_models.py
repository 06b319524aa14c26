"""Models and runs of which an earlier version left pickles and checkpoints, see `scripts/golden_earlier.py`.

Checkpoints describe the code of the classes and functions here: a change of it refuses them.
"""

import platform
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchkeras import Input, Model, Sequential, activations, clear_session, optimizers
from torchkeras.callbacks import (
    BackupAndRestore,
    Callback,
    CosineAnnealing,
    CSVLogger,
    EarlyStopping,
    LambdaCallback,
    LearningRateScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TimeLimit,
)
from torchkeras.constraints import MaxNorm
from torchkeras.initializers import RandomUniform, VarianceScaling
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, Lambda, Layer
from torchkeras.optimizers.schedules import ExponentialDecay
from torchkeras.regularizers import L1L2

FOLDER = Path(__file__).parent / "golden" / "earlier"
EPOCHS, SIZE = 3, 4
STOPPED = 5  # batches: in the second epoch

RANDOM = np.random.default_rng(7)
IMAGES = RANDOM.standard_normal((12, 5, 5, 2)).astype("float32")
X = RANDOM.standard_normal((12, 4)).astype("float32")
Y = RANDOM.standard_normal((12, 3)).astype("float32")


def python() -> str:
    """The version on which the code of a class depends."""
    return ".".join(platform.python_version_tuple()[:2])


def rounding() -> str:
    """What the last bits of a result depend on: kernels for products differ from maker to maker of processors."""
    capability, version = torch.backends.cpu.get_cpu_capability(), torch.__version__.partition("+")[0]
    return f"{_maker()} {platform.machine()} {capability} torch {version}"


def _maker() -> str:
    """The maker of the processor, as Linux tells it; "" elsewhere."""
    about = Path("/proc/cpuinfo")
    found = re.search(r"^vendor_id\s*: (\w+)$", about.read_text(), re.MULTILINE) if about.exists() else None
    return found[1] if found else ""


def begin() -> None:
    clear_session()
    torch.manual_seed(5)


# --- pickles ----------------------------------------------------------------------------------------------------------


def images() -> Model:
    """A compiled model with options of every kind."""
    inputs = Input((5, 5, 2), name="images")
    x = Conv2D(
        3,
        3,
        padding="same",
        kernel_initializer=VarianceScaling(2.0, "fan_in", "normal", seed=3),
        kernel_constraint=MaxNorm(2.0),
    )(inputs)
    x = BatchNormalization(momentum=0.9)(x)
    x = Dropout(0.25)(Flatten()(x))
    x = Dense(4, activation=activations.relu, kernel_regularizer=L1L2(0.01, 0.02))(x)
    outputs = Dense(3, activation="softmax", bias_initializer=RandomUniform(seed=4))(x)
    model = Model(inputs, outputs, name="pictures")
    rate = ExponentialDecay(0.05, decay_steps=3, decay_rate=0.5)
    model.compile(optimizers.Adam(rate, clipnorm=1.0), "mse", metrics=["mae"])
    return model


def callbacks() -> list[Any]:
    """Callbacks with options; none needs a file before a run."""
    return [
        EarlyStopping("loss", patience=2, restore_best_weights=True),
        ReduceLROnPlateau("loss", factor=0.5, patience=3),
        ModelCheckpoint("{epoch}.h5", save_weights_only=True),
        CSVLogger("log.csv", separator=";"),
        CosineAnnealing(max_lr=0.5, period=6),
        TimeLimit(100),
        BackupAndRestore("backup", save_freq=2),
    ]


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True, decay=0.01),
    "RMSprop": lambda: optimizers.RMSprop(0.01),
    "Adagrad": lambda: optimizers.Adagrad(0.1),
    "Adadelta": lambda: optimizers.Adadelta(1.0),
    "Adam": lambda: optimizers.Adam(0.01, amsgrad=True),
    "Adamax": lambda: optimizers.Adamax(0.01),
    "Nadam": lambda: optimizers.Nadam(0.01),
    "AdamW": lambda: optimizers.AdamW(0.01, weight_decay=0.1),
    "Lion": lambda: optimizers.Lion(0.01),
    "Lamb": lambda: optimizers.Lamb(0.01),
    "Muon": lambda: optimizers.Muon(0.01),
    "Adafactor": lambda: optimizers.Adafactor(0.01),
    "Ftrl": lambda: optimizers.Ftrl(0.1),
    "accumulating": lambda: optimizers.SGD(0.1, momentum=0.9, gradient_accumulation_steps=2),
    "averaging": lambda: optimizers.Adam(0.01, use_ema=True, ema_momentum=0.9),
    "scheduled": lambda: optimizers.SGD(ExponentialDecay(0.1, decay_steps=2, decay_rate=0.5)),
    "torch": lambda: optimizers.TorchOptimizer(partial(torch.optim.Adam, lr=0.01)),
}


def stepping(name: str) -> Model:
    """A model that an optimizer trains, with weights that depend on no random numbers."""
    clear_session()
    model = Sequential([Dense(4, activation="tanh", input_shape=(4,)), Dense(3)])
    model.set_weights([np.linspace(-1, 1, array.size).reshape(array.shape) for array in model.get_weights()])
    model.compile(OPTIMIZERS[name](), "mse")
    return model


def steps(model: Model, number: int) -> None:
    for _ in range(number):
        model.train_on_batch(X, Y)


# --- runs that stop and go on -----------------------------------------------------------------------------------------


class Scaled(Layer):
    """A user's layer: a dense layer inside it, and a weight of its own."""

    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = units
        self.inside = Dense(units, activation="tanh")

    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(self.units,), initializer="ones")
        super().build(input_shape)

    def call(self, inputs, training=None):
        scaled = self.inside(inputs) * self.factor
        return scaled * 0.5 if training else scaled

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Written(Model):
    """A model by its own code."""

    def __init__(self):
        super().__init__()
        self.first = Dense(5, activation="relu")
        self.dropped = Dropout(0.2)
        self.last = Dense(3)

    def call(self, inputs):
        return self.last(self.dropped(self.first(inputs)))


def doubled(x):
    return 2 * x + 1


def functional() -> Model:
    inputs = Input((4,))
    x = BatchNormalization()(Dense(5, activation="relu", kernel_regularizer="l2")(inputs))
    return Model(inputs, Dense(3)(Dropout(0.3)(x)))


def with_users_layer() -> Model:
    inputs = Input((4,))
    return Model(inputs, Dense(3)(Dropout(0.2)(Scaled(5)(inputs))))


def with_lambda() -> Model:
    inputs = Input((4,))
    x = Lambda(lambda tensor: tensor * tensor)(Lambda(doubled)(Dense(5)(inputs)))
    return Model(inputs, Dense(3)(Dropout(0.2)(x)))


RUNS: dict[str, Callable[[], Model]] = {
    "functional": functional,
    "users_layer": with_users_layer,
    "lambda": with_lambda,
    "subclassed": Written,
}


class StoppedError(Exception):
    """The end of a process."""


class Stop(Callback):
    """Ends a run when so many batches are done."""

    needed_to_resume = False

    def __init__(self, left: int):
        self.left = left

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.left -= 1
        if self.left == 0:
            raise StoppedError


def fit(name: str, *callbacks: Any) -> Model:
    """A whole run; a backup among the callbacks goes on from its checkpoint."""
    begin()
    model = RUNS[name]()
    model.compile(optimizers.Adam(0.05), "mse", metrics=["mae"])
    own = [EarlyStopping("loss", patience=5), LearningRateScheduler(lowered), LambdaCallback(on_epoch_end=noted)]
    model.fit(X, Y, SIZE, EPOCHS, verbose=0, callbacks=[*own, *callbacks])
    return model


def lowered(epoch, rate):
    return rate * 0.9


def noted(epoch, logs):
    pass


def result(model: Model, x: np.ndarray = X) -> list[np.ndarray]:
    """The weights of a model, then what it predicts."""
    return [*model.get_weights(), model.predict(x, verbose=0)]
