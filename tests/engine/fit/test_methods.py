"""`fit`, `evaluate`, `predict` and their like on one batch do what Keras 2.2.4 does with the same data."""

from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential
from torchkeras.callbacks import Callback, History, LambdaCallback
from torchkeras.layers import Dense, Embedding, TimeDistributed
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((10, 4)).astype("float32")
Y = RANDOM.standard_normal((10, 3)).astype("float32")
Y2 = RANDOM.standard_normal((10, 2)).astype("float32")


def linear(loss: Any = "mse", optimizer: Any = "sgd", **options):
    """X @ kernel + bias, from the same weights every time."""
    inputs = Input((4,), name="features")
    model = Model(inputs, Dense(3, name="out")(inputs))
    model.set_weights([np.linspace(-1, 1, 12).reshape(4, 3), np.zeros(3)])
    model.compile(optimizer, loss, **options)
    return model


def two_outputs(**options):
    """One input, the outputs `left` (2 wide) and `right` (3 wide)."""
    inputs = Input((4,))
    model = Model(inputs, [Dense(2, name="left")(inputs), Dense(3, name="right")(inputs)])
    model.set_weights([np.full((4, 2), 0.5), np.zeros(2), np.full((4, 3), -0.5), np.ones(3)])
    model.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return model


def predicted(model, x=X):
    return [np.asarray(array) for array in model.predict(x)]


def rows_seen(model, batch_size, **options):
    """For each batch of one epoch the rows of X that the model was given."""
    seen = []
    numbers = np.arange(10, dtype="float32")[:, None] * np.ones((1, 4), "float32")
    handle = model.register_forward_pre_hook(lambda module, args: seen.append(args[0][:, 0].int().tolist()))
    model.fit(numbers, Y, batch_size, verbose=0, **options)
    handle.remove()
    return seen


def squared_error(model, x=X, y=Y):
    return float(np.mean((model.predict(x) - y) ** 2))


# --- fit -------------------------------------------------------------------------------------------------------------


def test_fit_is_gradient_descent_batch_by_batch():
    model = linear(optimizer=SGD(lr=0.1))
    kernel, bias = model.get_weights()
    losses = []
    for _ in range(2):
        total = 0.0
        for start in range(0, 10, 4):
            x, y = X[start : start + 4], Y[start : start + 4]
            error = x @ kernel + bias - y
            total += np.mean(error**2) * len(x)
            slope = 2 * error / error.size
            kernel, bias = kernel - 0.1 * x.T @ slope, bias - 0.1 * slope.sum(0)
        losses.append(total / 10)
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    assert history.epoch == [0, 1]
    np.testing.assert_allclose(history.history["loss"], losses, rtol=1e-5)
    for mine, expected in zip(model.get_weights(), (kernel, bias), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (torch.from_numpy(X), torch.from_numpy(Y)),
        (X.astype("float64"), Y.astype("float64")),
        ([X], [Y]),
        ({"features": X}, {"out": Y}),
        (X[::-1][::-1], np.asfortranarray(Y)),
    ],
    ids=["tensors", "other types", "lists", "by name", "strided"],
)
def test_every_way_to_pass_data_gives_the_same(x, y):
    history = linear().fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    expected = linear().fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    np.testing.assert_allclose(history.history["loss"], expected.history["loss"], rtol=1e-6)


def test_data_given_is_left_unchanged():
    x, y = torch.from_numpy(X.copy()).requires_grad_(), Y.copy()
    linear().fit(x, y, verbose=0)
    assert x.grad is None
    np.testing.assert_array_equal(x.detach(), X)
    np.testing.assert_array_equal(y, Y)


def test_order_of_samples():
    assert rows_seen(linear(), 4, shuffle=False) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    torch.manual_seed(0)
    shuffled = rows_seen(linear(), 4)
    assert [len(batch) for batch in shuffled] == [4, 4, 2]
    assert sorted(chain(*shuffled)) == list(range(10))
    assert list(chain(*shuffled)) != list(range(10))
    orders = [rows_seen(linear(), 4, shuffle="batch") for _ in range(20)]
    assert {str(order) for order in orders} == {
        str([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        str([[4, 5, 6, 7], [0, 1, 2, 3], [8, 9]]),
    }


def test_the_default_batch_size_is_32():
    sizes = []
    seen = LambdaCallback(on_batch_end=lambda batch, logs: sizes.append(logs["size"]))
    linear().fit(np.zeros((70, 4)), np.zeros((70, 3)), verbose=0, callbacks=[seen])
    assert sizes == [32, 32, 6]


def test_validation_split_is_the_end_of_the_data():
    seen = rows_seen(linear(), 4, validation_split=0.3, shuffle=False)
    assert seen == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    model = linear(metrics=["mae"])
    history = model.fit(X, Y, validation_split=0.3, verbose=0)
    assert set(history.history) == {"loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"}
    assert history.history["val_loss"] == pytest.approx([squared_error(model, X[7:], Y[7:])], rel=1e-5)


def test_validation_data():
    model = linear()
    with pytest.warns(UserWarning, match="^fit: validation_data is given, so validation_split 0.9 is left out"):
        history = model.fit(X, Y, validation_data=(X[:3], Y[:3]), validation_split=0.9, verbose=0, epochs=2)
    assert history.history["val_loss"][-1] == pytest.approx(squared_error(model, X[:3], Y[:3]), rel=1e-5)
    plain = linear().fit(X, Y, verbose=0, epochs=2)
    np.testing.assert_allclose(history.history["loss"], plain.history["loss"], rtol=1e-6)
    weights = np.array([1.0, 0.0, 3.0])
    model = linear()
    found = model.fit(X, Y, validation_data=[X[:3], Y[:3], weights], verbose=0).history["val_loss"]
    each = ((model.predict(X[:3]) - Y[:3]) ** 2).mean(-1)
    assert found == pytest.approx([(each * weights).mean() / (2 / 3)], rel=1e-5)


def test_sample_weight_and_class_weight():
    weights = np.array([2.0, 0.0] * 5)
    model = linear()
    each = ((model.predict(X) - Y) ** 2).mean(-1)
    expected = float((each * weights).mean() / 0.5)
    assert model.evaluate(X, Y, sample_weight=weights, verbose=0) == pytest.approx(expected, rel=1e-5)
    assert model.test_on_batch(X, Y, weights) == pytest.approx(expected, rel=1e-5)
    assert linear().fit(X, Y, sample_weight=weights, verbose=0).history["loss"] == pytest.approx([expected], rel=1e-5)
    assert linear().train_on_batch(X, Y, sample_weight=weights) == pytest.approx(expected, rel=1e-5)
    one_hot = np.eye(3)[np.arange(10) % 3]
    each = ((linear().predict(X) - one_hot) ** 2).mean(-1)
    expected = float((each * np.array([1.0, 2.0, 5.0])[np.arange(10) % 3]).mean())
    by_class = {0: 1.0, 1: 2.0, 2: 5.0}
    history = linear().fit(X, one_hot, class_weight=by_class, verbose=0).history
    assert history["loss"] == pytest.approx([expected], rel=1e-5)
    assert linear().train_on_batch(X, one_hot, class_weight=by_class) == pytest.approx(expected, rel=1e-5)


def test_weighted_metrics_count_sample_weights_and_metrics_do_not():
    model = linear(metrics=["mae"], weighted_metrics=["mae"])
    assert model.metrics_names == ["loss", "mean_absolute_error", "weighted_mean_absolute_error"]
    weights = np.arange(1.0, 11.0)
    each = np.abs(model.predict(X) - Y).mean(-1)
    _, plain, weighted = model.evaluate(X, Y, sample_weight=weights, verbose=0)
    assert plain == pytest.approx(each.mean(), rel=1e-5)
    assert weighted == pytest.approx((each * weights).mean(), rel=1e-5)


def test_temporal_sample_weights():
    steps = Input((3, 4))
    model = Model(steps, TimeDistributed(Dense(2))(steps))
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    x, y = RANDOM.standard_normal((5, 3, 4)), RANDOM.standard_normal((5, 3, 2))
    weights = np.array([[1.0, 0.0, 2.0]] * 5)
    each = ((model.predict(x) - y) ** 2).mean(-1)
    expected = (each * weights).mean() / (2 / 3)
    assert model.evaluate(x, y, sample_weight=weights, verbose=0) == pytest.approx(expected, rel=1e-5)


# --- callbacks -------------------------------------------------------------------------------------------------------


class Recorder(Callback):
    """Every hook that is called, with its number and the names in its logs."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            calls = self.calls
            return lambda *args: calls.append((name, *args[:-1], sorted(args[-1])))
        return super().__getattribute__(name)


def test_callbacks_are_called_in_keras_s_order():
    recorder = Recorder()
    model = linear(metrics=["mae"])
    model.fit(X, Y, 8, 1, 0, [recorder], validation_data=(X[:2], Y[:2]))
    at, numbers = ["batch", "size"], ["batch", "loss", "mean_absolute_error", "size"]
    means = ["loss", "mean_absolute_error"]
    assert recorder.calls == [
        ("on_train_begin", []),
        ("on_epoch_begin", 0, []),
        ("on_train_batch_begin", 0, at),
        ("on_train_batch_end", 0, numbers),
        ("on_train_batch_begin", 1, at),
        ("on_train_batch_end", 1, numbers),
        ("on_test_begin", []),
        ("on_test_batch_begin", 0, at),
        ("on_test_batch_end", 0, numbers),
        ("on_test_end", means),
        ("on_epoch_end", 0, [*means, "val_loss", "val_mean_absolute_error"]),
        ("on_train_end", []),
    ]
    assert recorder.model is model
    assert recorder.params == {
        "batch_size": 8,
        "epochs": 1,
        "steps": recorder.params["steps"],
        "samples": 10,
        "verbose": 0,
        "do_validation": True,
        "metrics": [*means, "val_loss", "val_mean_absolute_error"],
    }


def test_callbacks_of_evaluate_and_predict():
    recorder = Recorder()
    model = linear()
    model.evaluate(X, Y, 8, 0, callbacks=[recorder])
    model.predict(X, 8, callbacks=[recorder])
    assert [call[:-1] for call in recorder.calls] == [
        ("on_test_begin",),
        ("on_test_batch_begin", 0),
        ("on_test_batch_end", 0),
        ("on_test_batch_begin", 1),
        ("on_test_batch_end", 1),
        ("on_test_end",),
        ("on_predict_begin",),
        ("on_predict_batch_begin", 0),
        ("on_predict_batch_end", 0),
        ("on_predict_batch_begin", 1),
        ("on_predict_batch_end", 1),
        ("on_predict_end",),
    ]


def test_logs_of_batches_and_epochs():
    batches, epochs = [], []
    seen = LambdaCallback(
        on_batch_end=lambda batch, logs: batches.append((batch, logs["size"], logs["loss"])),
        on_epoch_end=lambda epoch, logs: epochs.append((epoch, dict(logs))),
    )
    history = linear().fit(X, Y, batch_size=4, verbose=0, callbacks=[seen])
    assert [batch[:2] for batch in batches] == [(0, 4), (1, 4), (2, 2)]
    assert all(type(loss) is float for _, _, loss in batches)
    mean = sum(size * loss for _, size, loss in batches) / 10
    assert epochs == [(0, {"loss": pytest.approx(mean, rel=1e-5)})]
    assert history.history["loss"] == [epochs[0][1]["loss"]]


def test_initial_epoch_and_history():
    begun = []
    model = linear()
    history = model.fit(
        X,
        Y,
        epochs=5,
        initial_epoch=3,
        verbose=0,
        callbacks=[LambdaCallback(on_epoch_begin=lambda e, _: begun.append(e))],
    )
    assert begun == history.epoch == [3, 4]
    assert isinstance(history, History)
    assert model.history is history
    assert history.model is model
    assert len(history.history["loss"]) == 2
    assert model.fit(X, Y, epochs=2, initial_epoch=2, verbose=0).history == {}


def test_stop_training_ends_after_the_batch_or_epoch():
    counts = {"batch": 0, "epoch": 0}
    model = linear()

    def stop(what):
        counts[what] += 1
        model.stop_training = True

    history = model.fit(X, Y, 2, 9, 0, [LambdaCallback(on_epoch_end=lambda *_: stop("epoch"))])
    assert (counts, history.epoch) == ({"batch": 0, "epoch": 1}, [0])
    history = model.fit(X, Y, 2, 9, 0, [LambdaCallback(on_batch_end=lambda *_: stop("batch"))])
    assert (counts, history.epoch) == ({"batch": 1, "epoch": 1}, [0])
    assert len(model.fit(X, Y, epochs=2, verbose=0).epoch) == 2


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_verbose(verbose, capsys):
    model = linear(metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=verbose, validation_split=0.2)
    shown = capsys.readouterr()
    assert shown.err == ""
    if verbose == 0:
        assert shown.out == ""
        return
    for text in (
        "Epoch 1/2",
        "Epoch 2/2",
        "loss: ",
        "mean_absolute_error: ",
        "val_loss: ",
        "val_mean_absolute_error: ",
    ):
        assert text in shown.out
    if verbose == 2:
        assert len(shown.out.splitlines()) == 4


# --- evaluate, predict, one batch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [None, 1, 3, 10, 99, np.int64(4)])
def test_evaluate_and_predict_do_not_depend_on_the_batch_size(batch_size):
    model = linear(metrics=["mae"])
    kernel, bias = model.get_weights()
    found = model.predict(X, batch_size)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, X @ kernel + bias, rtol=1e-5, atol=1e-6)
    loss, error = model.evaluate(X, Y, batch_size, verbose=0)
    assert type(loss) is type(error) is float
    assert loss == pytest.approx(np.mean((found - Y) ** 2), rel=1e-5)
    assert error == pytest.approx(np.mean(np.abs(found - Y)), rel=1e-5)


def test_one_batch():
    model = linear(metrics=["mae"])
    before = model.get_weights()
    loss, error = model.test_on_batch(X, Y)
    assert [loss, error] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-6)
    np.testing.assert_array_equal(model.predict_on_batch(X), model.predict(X))
    assert model.train_on_batch(X, Y) == pytest.approx([loss, error], rel=1e-6)
    assert not np.array_equal(model.get_weights()[0], before[0])
    assert model.test_on_batch(X, Y)[0] < loss
    assert type(linear().train_on_batch(X, Y)) is float


def test_several_outputs():
    model = two_outputs(metrics={"right": "mae"}, loss_weights={"left": 0.25})
    assert model.metrics_names == ["loss", "left_loss", "right_loss", "right_mean_absolute_error"]
    left, right = model.predict(X, 3)
    assert (left.shape, right.shape) == ((10, 2), (10, 3))
    expected = [np.mean((left - Y2) ** 2), np.mean((right - Y) ** 2)]
    expected = [0.25 * expected[0] + expected[1], *expected, np.mean(np.abs(right - Y))]
    for targets in ([Y2, Y], {"right": Y, "left": Y2}):
        assert model.evaluate(X, targets, 3, verbose=0) == pytest.approx(expected, rel=1e-5)
    history = model.fit(X, [Y2, Y], verbose=0).history
    assert [history[name][0] for name in model.metrics_names] == pytest.approx(expected, rel=1e-5)


def test_predict_needs_no_compile_and_several_inputs_come_in_a_list_or_by_name():
    a, b = Input((4,), name="a"), Input((3,), name="b")
    model = Model([a, b], Dense(2)(b))
    for x in ([X, Y], {"b": Y, "a": X}):
        assert model.predict(x).shape == (10, 2)


def test_integer_inputs_and_labels():
    words = Input((3,), dtype="int32")
    model = Model(words, Embedding(7, 4)(words))
    assert model.predict(np.arange(6).reshape(2, 3)).shape == (2, 3, 4)
    model = linear("sparse_categorical_crossentropy")
    labels = np.arange(10) % 3
    for y in (labels, labels[:, None], labels.astype("float64"), torch.from_numpy(labels), labels.tolist()):
        assert model.evaluate(X, y, verbose=0) == pytest.approx(model.evaluate(X, labels, verbose=0))


def test_a_deferred_sequential_is_built_by_the_data():
    model = Sequential([Dense(5, activation="relu"), Dense(3)])
    model.compile("sgd", "mse", metrics=["mae"])
    assert model.fit(X, Y, verbose=0).epoch == [0]
    assert model.input_shape == (None, 4)
    assert Sequential([Dense(2)]).predict(np.ones(5)).shape == (5, 2)
