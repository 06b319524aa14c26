"""Crossentropies of saturated outputs: files of tf.keras and Keras 3 give what TensorFlow computes from the logits.

`tf.keras-2.15-saturated` is made by `scripts/golden_saturated.py`.
"""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import metrics, optimizers
from torchkeras.layers import Activation, Conv2D, Dense, InputLayer
from torchkeras.models import Sequential, load_model

FOLDER = Path(__file__).parents[1] / "golden" / "tf.keras-2.15-saturated"
NUMBERS = json.loads((FOLDER / "numbers.json").read_text())

X = np.array([[20.0, -20.0], [3.0, 1.0], [-1.0, 2.0]], "float32")
ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], "float32")
LABELS = np.array([1, 0, 1])


def data(name):
    if name.startswith("maps"):
        return X.reshape(3, 1, 2, 1), ROWS.reshape(3, 1, 2, 1)
    return X, LABELS if name.startswith("labels") else ROWS


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
def test_files_give_the_numbers_of_tensorflow(name, hooked):
    """Also where a hook sees the outputs, so that no activation is left out of a step."""
    evaluated, *trained = NUMBERS[name]
    model = load_model(FOLDER / name)
    if hooked and name != "maps.h5":
        model.layers[-1].register_forward_hook(lambda *given: None)
    x, y = data(name)
    assert np.ravel(model.evaluate(x, y, verbose=0)) == pytest.approx(evaluated, rel=2e-5)
    for (loss,) in trained:
        assert np.ravel(model.train_on_batch(x, y))[0] == pytest.approx(loss, rel=2e-5)


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt"])
def test_own_files_of_such_a_model_keep_it(suffix, tmp_path):
    model = load_model(FOLDER / "sigmoid.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(tmp_path / f"m{suffix}")
    again = load_model(tmp_path / f"m{suffix}")
    assert again.evaluate(X, ROWS, verbose=0) == model.evaluate(X, ROWS, verbose=0)
    assert again.train_on_batch(X, ROWS) == model.train_on_batch(X, ROWS)


def saturated(activation, loss, numerics=None, **options):
    model = Sequential(
        [InputLayer((2,)), Dense(2, use_bias=False, kernel_initializer="identity", activation=activation)]
    )
    model.compile(optimizers.SGD(0.01), loss, numerics=numerics, **options)
    return model


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_own_models_clip_as_keras_2_2_4_after_loading_too(suffix, tmp_path):
    x, y = np.array([[20.0, -20.0]], "float32"), np.array([[0.0, 1.0]], "float32")
    model = saturated("softmax", "categorical_crossentropy")
    assert model.evaluate(x, y, verbose=0) == pytest.approx(-math.log(1e-7), rel=1e-6)  # 16.118, its gradient is 0
    model.save(tmp_path / f"m{suffix}")
    again = load_model(tmp_path / f"m{suffix}")
    assert again.evaluate(x, y, verbose=0) == model.evaluate(x, y, verbose=0)
    again.train_on_batch(x, y)
    np.testing.assert_array_equal(again.get_weights()[0], np.eye(2))


def test_the_option():
    x, y = np.array([[20.0, -20.0]], "float32"), np.array([[0.0, 1.0]], "float32")
    made = [metrics.CategoricalCrossentropy(name="again"), metrics.AUC(name="auc"), "acc"]
    model = saturated("softmax", "categorical_crossentropy", "tensorflow", metrics=made)
    assert model.evaluate(x, y, verbose=0) == [40.0, 40.0, pytest.approx(0.0, abs=1e-6), 0.0]
    model.train_on_batch(x, y)
    np.testing.assert_allclose(model.get_weights()[0], np.eye(2) + 0.2 * np.array([[-1, 1], [1, -1]]), rtol=1e-6)
    assert saturated("sigmoid", "binary_crossentropy", "tensorflow").evaluate(x, y, verbose=0) == 20.0


def test_an_activation_between_two_axes_of_an_image():
    model = Sequential([InputLayer((1, 2, 3)), Conv2D(3, 1, use_bias=False, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy", numerics="tensorflow")
    kernel = 30.0 * np.eye(3, dtype="float32").reshape(1, 1, 3, 3)
    model.set_weights([kernel])
    x = np.random.default_rng(0).standard_normal((2, 1, 2, 3)).astype("float32")
    y = np.eye(3, dtype="float32")[[[[0, 1]], [[2, 1]]]]
    logits = torch.from_numpy(30.0 * x)
    expected = -(torch.log_softmax(logits, -1) * torch.from_numpy(y)).sum(-1).mean().item()
    assert expected > 16.2
    assert model.evaluate(x, y, verbose=0) == pytest.approx(expected, rel=1e-6)
    assert model.train_on_batch(x, y) == pytest.approx(expected, rel=1e-6)


def test_an_output_that_is_no_activation_is_clipped():
    """There too, TensorFlow finds no logits."""
    model = Sequential([InputLayer((2,)), Activation("softmax"), Activation(lambda x: x * 1.0)])
    model.compile("sgd", "categorical_crossentropy", numerics="tensorflow")
    assert model.evaluate(X[:1], ROWS[:1], verbose=0) == pytest.approx(-math.log(1e-7), rel=1e-6)
