"""The loss a model minimizes and what it reports: outputs, penalties, masks, constraints, and Keras's own records."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import Input, Model
from torchkeras.constraints import NonNeg, UnitNorm
from torchkeras.layers import (
    Activation,
    BatchNormalization,
    Concatenate,
    Dense,
    Dropout,
    Embedding,
    Masking,
    TimeDistributed,
)
from torchkeras.optimizers import SGD
from torchkeras.regularizers import l2

FOLDER = Path(__file__).parents[2] / "golden" / "keras-2.2.4-training"
RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((10, 4)).astype("float32")
Y = RANDOM.standard_normal((10, 3)).astype("float32")
Y2 = RANDOM.standard_normal((10, 2)).astype("float32")


# --- records of genuine Keras 2.2.4 ----------------------------------------------------------------------------------


def recorded(name):
    arrays = dict(np.load(FOLDER / f"fit_{name}.npz"))
    before, after = (
        [arrays[f"{when}{k}"] for k in range(len(arrays)) if f"{when}{k}" in arrays] for when in ("before", "after")
    )
    return json.loads((FOLDER / f"fit_{name}.json").read_text()), arrays, before, after


def compare(model, record, history, found, after):
    assert model.metrics_names == record["metrics_names"]
    assert list(history) == list(record["history"])
    for key, values in record["history"].items():
        np.testing.assert_allclose(history[key], values, atol=1e-3, rtol=1e-3, err_msg=key)
    np.testing.assert_allclose(found, record["evaluate"], atol=1e-3, rtol=1e-3)
    for mine, saved in zip(model.get_weights(), after, strict=True):
        np.testing.assert_allclose(mine, saved, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", ["plain", "initial_epoch", "class_weight", "validation_data_weighted", "plateau"])
def test_fit_is_that_of_keras(name):
    record, arrays, before, after = recorded(name)
    inputs = Input((6,))
    hidden = Dense(8, activation="relu", kernel_regularizer=l2(0.01))(inputs)
    model = Model(inputs, Dense(3, activation="softmax")(BatchNormalization()(hidden)))
    model.set_weights(before)
    model.compile(SGD(lr=0.1, momentum=0.9), "categorical_crossentropy", metrics=["accuracy", "mae"])
    x, y, sw = (arrays[key] for key in ("x", "y", "sw"))
    history = eval(record["call"], {"m": model, "x": x, "y": y, "sw": sw, "keras": torchkeras}).history
    compare(model, record, history, model.evaluate(x, y, verbose=0), after)


def test_several_outputs_are_those_of_keras():
    record, arrays, before, after = recorded("multi_output")
    a, b = Input((4,)), Input((3,))
    hidden = Concatenate()([Dense(5, activation="relu")(a), b])
    model = Model([a, b], [Dense(2, name="left")(hidden), Dense(3, name="right")(hidden)])
    model.set_weights(before)
    metrics = {"left": ["mae"], "right": ["mse", "mae"]}
    model.compile("sgd", {"left": "mse", "right": "mae"}, metrics, {"left": 1.0, "right": 0.3})
    x, y = [arrays["x0"], arrays["x1"]], [arrays["y0"], arrays["y1"]]
    weights = {"right": np.arange(30) / 30}
    history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, sample_weight=weights, verbose=0).history
    compare(model, record, history, model.evaluate(x, y, verbose=0), after)


# --- several outputs -------------------------------------------------------------------------------------------------


def two_outputs(loss="mse", **options):
    inputs = Input((4,))
    model = Model(inputs, [Dense(2, name="left")(inputs), Dense(3, name="right")(inputs)])
    model.compile("sgd", loss, **options)
    return model


@pytest.mark.parametrize("loss", [["mse", "mae"], {"right": "mae", "left": "mse"}])
@pytest.mark.parametrize("weights", [[0.5, 2], {"right": 2.0, "left": 0.5}])
def test_the_loss_is_the_weighted_sum_of_those_of_the_outputs(loss, weights):
    model = two_outputs(loss, loss_weights=weights)
    left, right = model.predict(X)
    squared, absolute = np.mean((left - Y2) ** 2), np.mean(np.abs(right - Y))
    expected = [0.5 * squared + 2 * absolute, squared, absolute]
    assert model.evaluate(X, [Y2, Y], verbose=0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", [["mse", None], {"left": "mse"}])
def test_an_output_without_a_loss_takes_no_target_and_does_not_train(loss):
    model = two_outputs(loss, metrics=["mae"])
    assert model.metrics_names == ["loss", "left_loss", "left_mean_absolute_error"]
    right = model.get_layer("right").get_weights()
    for target in (Y2, [Y2], {"left": Y2}):
        model.fit(X, target, verbose=0)
    for mine, before in zip(model.get_layer("right").get_weights(), right, strict=True):
        np.testing.assert_array_equal(mine, before)
    assert [output.shape for output in model.predict(X)] == [(10, 2), (10, 3)]


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        (["mae"], ["left_mean_absolute_error", "right_mean_absolute_error"]),
        ([["mae", "mse"], []], ["left_mean_absolute_error", "left_mean_squared_error"]),
        ({"right": "mae"}, ["right_mean_absolute_error"]),
        ({"right": ["mse", "mae"]}, ["right_mean_squared_error", "right_mean_absolute_error"]),
        (None, []),
    ],
)
def test_metrics_of_outputs(metrics, names):
    assert two_outputs(metrics=metrics).metrics_names == ["loss", "left_loss", "right_loss", *names]


@pytest.mark.parametrize(
    ("units", "loss", "target"),
    [
        (3, "categorical_crossentropy", np.eye(3)[np.arange(10) % 3]),
        (3, "sparse_categorical_crossentropy", np.arange(10) % 3),
        (3, "mse", np.eye(3)[np.arange(10) % 3]),
        (1, "binary_crossentropy", np.arange(10) % 2),
        (3, "binary_crossentropy", np.eye(3)[np.arange(10) % 3]),
        (1, "mse", np.arange(10) % 2),
    ],
)
def test_accuracy_is_chosen_by_output_and_loss(units, loss, target):
    inputs = Input((4,))
    activation = "sigmoid" if units == 1 or loss == "binary_crossentropy" else "softmax"
    model = Model(inputs, Dense(units, activation=activation)(inputs))
    model.compile("sgd", loss, ["accuracy"])
    assert model.metrics_names == ["loss", "acc"]
    scores = model.predict(X)
    if activation == "sigmoid":
        expected = np.mean(np.round(scores) == target.reshape(10, -1))
    else:
        expected = np.mean(scores.argmax(-1) == (target.argmax(-1) if target.ndim == 2 else target))
    assert model.evaluate(X, target, verbose=0)[1] == pytest.approx(expected)
    assert model.fit(X, target, verbose=0).history["acc"] == pytest.approx([expected])
    weighted = {"sample_weight": np.array([1.0, 0.0] * 5), "verbose": 0}
    model.compile("sgd", loss, weighted_metrics=["accuracy"])
    half = model.evaluate(X[::2], target[::2], verbose=0)[1]
    assert model.evaluate(X, target, **weighted)[1] == pytest.approx(half)


def test_metrics_of_one_s_own():
    def largest(y_true, y_pred):
        return (y_true - y_pred).abs().amax(-1)

    def close(y_true, y_pred):
        return (y_true - y_pred).abs().amax(-1) < 1.0

    inputs = Input((4,))
    model = Model(inputs, Dense(3)(inputs))
    model.compile("sgd", largest, [largest, close])
    assert model.metrics_names == ["loss", "largest", "close"]
    apart = np.abs(model.predict(X) - Y).max(-1)
    expected = [apart.mean(), apart.mean(), np.mean(apart < 1.0)]
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(expected, rel=1e-5)


# --- penalties, constraints, masks -----------------------------------------------------------------------------------


def test_penalties_are_in_the_loss_and_not_in_the_metrics():
    inputs = Input((4,))
    options = {"kernel_regularizer": l2(0.1), "bias_regularizer": "l1", "activity_regularizer": l2(0.01)}
    layer = Dense(3, bias_initializer="ones", **options)
    model = Model(inputs, layer(inputs))
    model.compile("sgd", "mse", ["mse"])
    kernel, bias = model.get_weights()
    scores = model.predict(X)
    error = np.mean((scores - Y) ** 2)
    expected = error + 0.1 * np.sum(kernel**2) + 0.01 * np.sum(np.abs(bias)) + 0.01 * np.sum(scores**2)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx([expected, error], rel=1e-5)
    assert model.train_on_batch(X, Y) == pytest.approx([expected, error], rel=1e-5)


def test_activity_losses_inside_models_count_once_a_call():
    inputs, inner_input = Input((4,)), Input((4,))
    inner = Model(inner_input, Dense(4, activity_regularizer="l1")(inner_input))
    model = Model(inputs, inner(inner(inputs)))
    model.compile("sgd", "mse", ["mse"])
    once = inner.predict(X)
    penalty = 0.01 * (np.abs(once).sum() + np.abs(inner.predict(once)).sum())
    loss, error = model.evaluate(X, X, verbose=0)
    assert loss - error == pytest.approx(penalty, rel=1e-4)


def test_the_penalty_of_a_frozen_layer_is_reported():
    inputs = Input((4,))
    frozen = Dense(4, kernel_regularizer=l2(1.0), trainable=False)
    model = Model(inputs, Dense(3)(frozen(inputs)))
    model.compile("sgd", "mse", ["mse"])
    loss, error = model.evaluate(X, Y, verbose=0)
    assert loss - error == pytest.approx(np.sum(frozen.get_weights()[0] ** 2), rel=1e-4)
    before = frozen.get_weights()
    model.fit(X, Y, verbose=0)
    np.testing.assert_array_equal(frozen.get_weights()[0], before[0])


def test_constraints_hold_after_every_step():
    inputs = Input((4,))
    model = Model(inputs, Dense(3, kernel_constraint=UnitNorm(axis=0), bias_constraint=NonNeg())(inputs))
    model.compile(SGD(lr=0.5), "mse")
    model.train_on_batch(X, Y - 100)  # which draws every bias below 0
    kernel, bias = model.get_weights()
    np.testing.assert_allclose(np.sqrt((kernel**2).sum(0)), np.ones(3), rtol=1e-5)
    np.testing.assert_array_equal(bias, np.zeros(3))


def test_masked_steps_are_left_out_of_loss_and_metrics():
    inputs = Input((3, 2))
    model = Model(inputs, TimeDistributed(Dense(1))(Masking()(inputs)))
    model.compile("sgd", "mse", ["mae"])
    x = RANDOM.standard_normal((4, 3, 2)).astype("float32")
    x[0, 1:] = x[2, 2] = 0
    y = RANDOM.standard_normal((4, 3, 1)).astype("float32")
    kept = (x != 0).any(-1)
    apart = (model.predict(x) - y)[..., 0][kept]
    expected = [np.mean(apart**2), np.mean(np.abs(apart))]
    assert model.evaluate(x, y, verbose=0) == pytest.approx(expected, rel=1e-5)
    assert model.train_on_batch(x, y) == pytest.approx(expected, rel=1e-5)


def test_a_mask_and_an_accuracy():
    words = Input((3,), dtype="int32")
    hidden = Embedding(5, 4, mask_zero=True)(words)
    model = Model(words, TimeDistributed(Dense(2, activation="softmax"))(hidden))
    model.compile("sgd", "sparse_categorical_crossentropy", ["accuracy"])
    x, y = np.array([[1, 2, 0], [3, 0, 0]]), np.array([[0, 1, 1], [1, 0, 0]])
    right = (model.predict(x).argmax(-1) == y)[x != 0]
    assert model.evaluate(x, y[..., None], verbose=0)[1] == pytest.approx(right.mean())


@pytest.mark.parametrize("head", ["inside", "layer", "loss of logits"])
def test_crossentropy_from_any_way_to_a_softmax(head):
    def by_logits(y_true, y_pred):
        return torch.nn.functional.cross_entropy(y_pred, y_true.long().reshape(-1), reduction="none")

    inputs = Input((4,))
    scores = Dense(3, kernel_initializer="ones", activation="softmax" if head == "inside" else None)(inputs)
    model = Model(inputs, Activation("softmax")(scores) if head == "layer" else scores)
    model.compile("sgd", by_logits if head == "loss of logits" else "sparse_categorical_crossentropy")
    labels = np.arange(10)[:, None] % 3
    assert model.evaluate(X, labels, verbose=0) == pytest.approx(np.log(3), rel=1e-5)


def test_dropout_and_batch_statistics_are_off_in_evaluate():
    inputs = Input((4,))
    model = Model(inputs, Dropout(0.5)(BatchNormalization()(inputs)))
    model.compile("sgd", "mse")
    assert model.evaluate(X, X, verbose=0) == pytest.approx(np.mean((X / np.sqrt(1.001) - X) ** 2), rel=1e-3)
    assert model.test_on_batch(X, X) < 1e-4 < model.train_on_batch(X, X)


@pytest.mark.parametrize("loss", ["sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"])
def test_the_accuracy_of_a_loss_of_a_class_is_that_of_its_function(loss):
    inputs = Input((3,))
    model = Model(inputs, Activation("softmax")(inputs))
    model.compile("sgd", loss, metrics=["accuracy"])
    assert model.evaluate(np.eye(3), np.array([0, 1, 0]), verbose=0)[1] == pytest.approx(2 / 3)
