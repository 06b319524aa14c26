"""Make tests/golden/keras-2.2.4-scalar-losses.json: losses that return one number, with weights and masks.

    python scripts/golden_scalar_losses.py FILE        in an environment with Keras 2.2.4

Has the data, and what genuine 2.2.4 gives for it by evaluate and fit, by the name of the case.
"""

import json
import sys

import keras  # type: ignore[import-not-found]  # Keras 2.2.4, there and nowhere else
import numpy as np
from keras import backend as K  # type: ignore[import-not-found]
from keras.layers import Activation, Dense, Input, Masking  # type: ignore[import-not-found]
from keras.models import Model, Sequential  # type: ignore[import-not-found]


def dice(true, predicted):
    return 1 - (2 * K.sum(true * predicted) + 1) / (K.sum(true) + K.sum(predicted) + 1)


def mean(true, predicted):
    return K.mean(K.square(true - predicted))


RANDOM = np.random.RandomState(0)


def numbers(*shape):
    return RANDOM.rand(*shape).astype("float32")


DATA = {
    "x": numbers(6, 3),
    "y": (numbers(6, 2) > 0.5).astype("float32"),
    "weights": np.array([1, 2, 0, 0.5, 3, 1], "float32"),
    "kernel": numbers(3, 2),
    "steps": numbers(4, 3, 2),
    "targets": (numbers(4, 3, 2) > 0.5).astype("float32"),
    "step_weights": numbers(4, 3),
    "few_weights": np.array([1, 0, 2, 0.5], "float32"),
    "step_kernel": numbers(2, 2),
}
DATA["steps"][0, 2] = 0
DATA["steps"][1, 1:] = 0
DATA["step_weights"][0, 0] = 0
LABELS = np.eye(2, dtype="float32")[[0, 1, 1, 0, 1, 0]]
HEAD = {"activation": "sigmoid", "use_bias": False}


def dense(loss):
    model = Sequential([Dense(2, input_shape=(3,), **HEAD)])
    model.set_weights([DATA["kernel"]])
    model.compile(keras.optimizers.SGD(0.5), loss)
    return model


def by_step(loss, mode=None, masks=True):
    first = Masking(0.0, input_shape=(3, 2)) if masks else Activation("linear", input_shape=(3, 2))
    model = Sequential([first, Dense(2, **HEAD)])
    model.set_weights([DATA["step_kernel"]])
    model.compile(keras.optimizers.SGD(0.5), loss, sample_weight_mode=mode)
    return model


def cases(loss):
    x, y, weights = DATA["x"], DATA["y"], DATA["weights"]
    quiet = {"verbose": 0}
    yield "weights", dense(loss).evaluate(x, y, sample_weight=weights, **quiet)
    yield "weights, two batches", dense(loss).evaluate(x, y, sample_weight=weights, batch_size=4, **quiet)
    run = dense(loss).fit(x, LABELS, class_weight={0: 1.0, 1: 3.0}, epochs=2, validation_data=(x, y, weights), **quiet)
    yield "class weights", run.history["loss"]
    yield "validation weights", run.history["val_loss"]
    steps, targets = DATA["steps"], DATA["targets"]
    yield "mask", by_step(loss).evaluate(steps, targets, **quiet)
    yield "mask, weights", by_step(loss).evaluate(steps, targets, sample_weight=DATA["few_weights"], **quiet)
    temporal = {"sample_weight": DATA["step_weights"], **quiet}
    yield "temporal", by_step(loss, "temporal", masks=False).evaluate(steps, targets, **temporal)
    run = by_step(loss, "temporal").fit(steps, targets, epochs=3, shuffle=False, **temporal)
    yield "mask, temporal", run.history["loss"]


def two_outputs():
    inputs = Input((3,))
    first, second = Dense(2, name="a", **HEAD), Dense(2, name="b", **HEAD)
    model = Model(inputs, [first(inputs), second(inputs)])
    first.set_weights([DATA["kernel"]])
    second.set_weights([DATA["kernel"][:, ::-1]])
    model.compile(keras.optimizers.SGD(0.5), [dice, mean], loss_weights=[1.0, 0.3])
    weights = [DATA["weights"], DATA["weights"][::-1].copy()]
    return model.evaluate(DATA["x"], [DATA["y"], DATA["y"]], sample_weight=weights, verbose=0)


if __name__ == "__main__":
    found = {loss.__name__: {name: np.float64(value).tolist() for name, value in cases(loss)} for loss in (dice, mean)}
    found["two outputs"] = np.float64(two_outputs()).tolist()
    with open(sys.argv[1], "w") as file:
        json.dump({"data": {name: array.tolist() for name, array in DATA.items()}, "found": found}, file)
