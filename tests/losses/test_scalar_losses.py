"""Losses of one's own that return one number enter weights and masks as in genuine Keras 2.2.4.

`keras-2.2.4-scalar-losses.json` is made by `scripts/golden_scalar_losses.py`.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from torchkeras import Input, backend as K, optimizers
from torchkeras.layers import Activation, Dense, Masking
from torchkeras.models import Model, Sequential

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-scalar-losses.json").read_text())
DATA = {name: np.array(values, "float32") for name, values in GOLDEN["data"].items()}
FOUND = GOLDEN["found"]
LABELS = np.eye(2, dtype="float32")[[0, 1, 1, 0, 1, 0]]
HEAD = {"activation": "sigmoid", "use_bias": False}


def dice(true, predicted):
    return 1 - (2 * K.sum(true * predicted) + 1) / (K.sum(true) + K.sum(predicted) + 1)


def mean(true, predicted):
    return K.mean(K.square(true - predicted))


LOSSES = pytest.mark.parametrize("loss", [dice, mean])


def close(found, loss, case):
    assert found == pytest.approx(FOUND[loss.__name__][case], rel=2e-6)


def dense(loss):
    model = Sequential([Dense(2, input_shape=(3,), **HEAD)])
    model.set_weights([DATA["kernel"]])
    model.compile(optimizers.SGD(0.5), loss)
    return model


def by_step(loss, mode=None, masks=True):
    first = Masking(0.0, input_shape=(3, 2)) if masks else Activation("linear", input_shape=(3, 2))
    model = Sequential([first, Dense(2, **HEAD)])
    model.set_weights([DATA["step_kernel"]])
    model.compile(optimizers.SGD(0.5), loss, sample_weight_mode=mode)
    return model


@LOSSES
def test_sample_weights(loss):
    given = {"sample_weight": DATA["weights"], "verbose": 0}
    close(dense(loss).evaluate(DATA["x"], DATA["y"], **given), loss, "weights")
    close(dense(loss).evaluate(DATA["x"], DATA["y"], batch_size=4, **given), loss, "weights, two batches")
    close(dense(loss).train_on_batch(DATA["x"], DATA["y"], sample_weight=DATA["weights"]), loss, "weights")


@LOSSES
def test_class_weights_and_validation_weights(loss):
    model, validation = dense(loss), (DATA["x"], DATA["y"], DATA["weights"])
    history = model.fit(
        DATA["x"], LABELS, class_weight={0: 1.0, 1: 3.0}, epochs=2, validation_data=validation, verbose=0
    ).history
    close(history["loss"], loss, "class weights")
    close(history["val_loss"], loss, "validation weights")


@LOSSES
def test_a_mask(loss):
    given = (DATA["steps"], DATA["targets"])
    close(by_step(loss).evaluate(*given, verbose=0), loss, "mask")
    weighted = by_step(loss).evaluate(*given, sample_weight=DATA["few_weights"], verbose=0)
    close(weighted, loss, "mask, weights")


@LOSSES
def test_weights_of_time_steps(loss):
    given = {"sample_weight": DATA["step_weights"], "verbose": 0}
    model = by_step(loss, "temporal", masks=False)
    close(model.evaluate(DATA["steps"], DATA["targets"], **given), loss, "temporal")
    model = by_step(loss, "temporal")
    history = model.fit(DATA["steps"], DATA["targets"], epochs=3, shuffle=False, **given).history
    close(history["loss"], loss, "mask, temporal")


def test_two_outputs():
    inputs = Input((3,))
    first, second = Dense(2, name="a", **HEAD), Dense(2, name="b", **HEAD)
    model = Model(inputs, [first(inputs), second(inputs)])
    first.set_weights([DATA["kernel"]])
    second.set_weights([DATA["kernel"][:, ::-1]])
    model.compile(optimizers.SGD(0.5), [dice, mean], loss_weights=[1.0, 0.3])
    weights = [DATA["weights"], DATA["weights"][::-1].copy()]
    found = model.evaluate(DATA["x"], [DATA["y"], DATA["y"]], sample_weight=weights, verbose=0)
    assert found == pytest.approx(FOUND["two outputs"], rel=2e-6)


def test_weights_of_0_leave_a_batch_out():
    """2.2.4 gives NaN, and sets the weights to it."""
    model = dense(dice)
    assert model.train_on_batch(DATA["x"], DATA["y"], sample_weight=np.zeros(6)) == 0.0
    np.testing.assert_array_equal(model.get_weights()[0], DATA["kernel"])
