"""Numbers computed for several batches at once, against those that are computed for each by itself."""

import weakref

import numpy as np
import pytest
import torch
from operations import counted

from torchkeras import Input, Model
from torchkeras.callbacks import Callback
from torchkeras.engine.fit import epoch
from torchkeras.layers import BatchNormalization, Dense, Lambda, Reshape


class ByBatch(Callback):
    """With a hook of batches, each batch has numbers of its own."""

    def on_test_batch_end(self, batch, logs=None):
        pass

    def on_train_batch_end(self, batch, logs=None):
        pass


def two_outputs():
    inputs = Input((4,))
    hidden = BatchNormalization()(Dense(6, activation="relu")(inputs))
    classes = Dense(3, activation="softmax", name="classes")(hidden)
    steps = Reshape((2, 2), name="steps")(Dense(4, kernel_regularizer="l2")(hidden))
    model = Model(inputs, [classes, steps])
    model.compile(
        "sgd",
        {"classes": "sparse_categorical_crossentropy", "steps": "mse"},
        {"classes": ["accuracy", "sparse_top_k_categorical_accuracy"], "steps": ["mae"]},
        loss_weights={"classes": 1.0, "steps": 0.3},
    )
    return model


def data(count=50):
    random = np.random.default_rng(0)
    return (
        random.standard_normal((count, 4)).astype("float32"),
        [random.integers(0, 3, count), random.standard_normal((count, 2, 2)).astype("float32")],
    )


def both(model, x, y, **options):
    at_once = model.evaluate(x, y, verbose=0, return_dict=True, **options)
    return at_once, model.evaluate(x, y, verbose=0, return_dict=True, callbacks=[ByBatch()], **options)


def test_the_numbers_are_those_of_batch_by_batch():
    at_once, one_by_one = both(two_outputs(), *data(), batch_size=8)
    assert list(at_once) == list(one_by_one)
    assert at_once == pytest.approx(one_by_one, rel=1e-5)


@pytest.mark.parametrize(("bytes_", "batches"), [(1, 64), (2**20, 3), (200, 64)])
def test_the_limits_of_what_waits_change_nothing(monkeypatch, bytes_, batches):
    monkeypatch.setattr(epoch, "MOST_BYTES", bytes_)
    monkeypatch.setattr(epoch, "MOST_BATCHES", batches)
    at_once, one_by_one = both(two_outputs(), *data(), batch_size=4)
    assert at_once == pytest.approx(one_by_one, rel=1e-5)


def test_losses_and_metrics_cost_fewer_operations():
    model, (x, y) = two_outputs(), data()
    at_once = counted(lambda: model.evaluate(x, y, batch_size=2, verbose=0))
    one_by_one = counted(lambda: model.evaluate(x, y, batch_size=2, verbose=0, callbacks=[ByBatch()]))
    assert at_once["mse_loss"] == 1
    assert one_by_one["mse_loss"] == 25


def test_each_batch_still_has_a_pass_of_its_own():
    inputs = Input((4,))
    model = Model(inputs, Lambda(lambda x: x - x.mean(0))(inputs))
    model.compile("sgd", "mse")
    x = np.arange(40.0, dtype="float32").reshape(10, 4)
    at_once, one_by_one = both(model, x, x, batch_size=2)
    assert at_once == pytest.approx(one_by_one, rel=1e-6)


def test_sample_weights_and_lengths_that_change():
    inputs = Input((None, 2))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse", ["mae"])
    random = np.random.default_rng(0)
    batches = [
        (random.standard_normal((3, length, 2)), random.standard_normal((3, length, 1)), *more)
        for length, more in ((4, ()), (4, ()), (5, ()), (4, ([1.0, 0.0, 2.0],)), (4, ()))
    ]
    at_once, one_by_one = (
        model.evaluate((batch for batch in batches), steps=5, verbose=0, return_dict=True, callbacks=callbacks)
        for callbacks in ([], [ByBatch()])
    )
    assert at_once == pytest.approx(one_by_one, rel=1e-5)


def test_sample_weights():
    x, y = data()
    model = two_outputs()
    weights = [np.linspace(0, 1, 50), np.ones(50)]
    at_once, one_by_one = both(model, x, y, batch_size=8, sample_weight=weights)
    assert at_once == pytest.approx(one_by_one, rel=1e-5)


def refilled():
    """Batches in the same memory, as are the outputs of a model that returns its inputs."""
    x, y = np.zeros((4, 3), "float32"), np.zeros((4, 3), "float32")
    for number in range(5):
        x[:], y[:] = number, number**2
        yield x, y


def of_one(layer):
    inputs = Input((3,))
    model = Model(inputs, layer(inputs))
    model.compile("sgd", "mse", ["mae"])
    return model


def renamed():
    return of_one(Reshape((3,)))


def computed():
    return of_one(Dense(3))


@pytest.mark.parametrize("make", [renamed, computed])
def test_a_generator_may_fill_one_array_again_and_again(make):
    numbers = np.arange(5.0).repeat(4)[:, None] * np.ones(3)
    torch.manual_seed(0)
    by_arrays = make().evaluate(numbers, numbers**2, batch_size=4, verbose=0)
    torch.manual_seed(0)
    assert make().evaluate(refilled(), steps=5, workers=0, verbose=0) == pytest.approx(by_arrays, rel=1e-6)


def test_a_generator_may_fill_one_array_in_training_too():
    numbers = np.arange(5.0).repeat(4)[:, None] * np.ones(3)
    by_arrays, weights = trained(computed, numbers, numbers**2, batch_size=4, shuffle=False)
    found, found_weights = trained(computed, refilled(), steps_per_epoch=5, workers=0)
    assert found == {name: pytest.approx(values, rel=1e-6) for name, values in by_arrays.items()}
    for each, expected in zip(found_weights, weights, strict=True):
        np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize(
    ("loss", "metric", "joined"),
    [
        ("mse", "mae", True),
        ("mse", lambda true, predicted: (true - predicted).amax(0), False),
        (lambda true, predicted: (true - predicted).norm(), "mae", False),
        ("dice", "mae", False),
    ],
)
def test_only_what_is_known_to_be_a_mean_over_samples_is_joined(loss, metric, joined):
    inputs = Input((4,))
    model = Model(inputs, Dense(4, activation="sigmoid")(inputs))
    model.compile("sgd", loss, [metric])
    assert model._training.ready().by_sample == joined
    x = np.random.default_rng(0).random((10, 4)).astype("float32")
    at_once, one_by_one = both(model, x, x, batch_size=3)
    assert at_once == pytest.approx(one_by_one, rel=1e-5)


def test_what_waits_is_let_go(monkeypatch):
    """A large output is scored at once: it does not wait for 63 more."""
    inputs = Input((4,))
    model = Model(inputs, Dense(100_000)(inputs))
    model.compile("sgd", "mse")
    waited = []
    take = epoch.BatchedScores._wait

    def seen(self, *given):
        take(self, *given)
        waited.append(len(self._waiting))

    monkeypatch.setattr(epoch.BatchedScores, "_wait", seen)
    model.evaluate(torch.zeros(12, 4), torch.zeros(12, 100_000), batch_size=4, verbose=0)
    assert waited == [0, 0, 0]


# --- training --------------------------------------------------------------------------------------------------------


def trained(make, *data, callbacks=(), **options):
    torch.manual_seed(0)
    model = make()
    history = model.fit(*data, verbose=0, callbacks=list(callbacks), **options).history
    return history, model.get_weights()


def assert_trains_alike(make, *data, **options):
    """Losses and weights are equal to the last digit; metrics are of other sums."""
    (late_history, late_weights), (history, weights) = (
        trained(make, *data, callbacks=callbacks, **options) for callbacks in ([], [ByBatch()])
    )
    assert list(late_history) == list(history)
    for name, values in history.items():
        exact = name.endswith("loss") and not name.startswith("val_")
        assert late_history[name] == (values if exact else pytest.approx(values, rel=1e-5))
    for found, expected in zip(late_weights, weights, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_training_gives_the_numbers_of_batch_by_batch():
    x, y = data()
    assert_trains_alike(two_outputs, x, y, batch_size=8, epochs=3, validation_split=0.3)


@pytest.mark.parametrize(("bytes_", "batches"), [(1, 64), (2**20, 3), (200, 64)])
def test_the_limits_of_what_waits_change_nothing_in_training(monkeypatch, bytes_, batches):
    monkeypatch.setattr(epoch, "MOST_BYTES", bytes_)
    monkeypatch.setattr(epoch, "MOST_BATCHES", batches)
    assert_trains_alike(two_outputs, *data(), batch_size=4)


def test_training_with_weights():
    x, y = data()
    assert_trains_alike(two_outputs, x, y, batch_size=8, sample_weight=[np.linspace(0, 1, 50), np.ones(50)])


def test_a_training_that_is_stopped_midway_tells_what_it_has_seen(monkeypatch):
    x, y = data()
    expected, _ = trained(two_outputs, x[:24], [each[:24] for each in y], batch_size=8, shuffle=False)
    made, step, steps = [], epoch.train_step, []

    def make():
        made.append(two_outputs())
        return made[0]

    def stopping(*given):
        steps.append(step(*given))
        made[0].stop_training = len(steps) == 3

    monkeypatch.setattr(epoch, "train_step", stopping)
    assert trained(make, x, y, batch_size=8, epochs=2, shuffle=False)[0] == expected
    assert len(steps) == 3


def test_what_waits_does_not_keep_the_inputs():
    inputs = Input((1000,))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse", ["mae"])
    alive, most = weakref.WeakSet(), []
    train_pass = model._training.ready().train_pass

    def passed(recipe, batch, defer_metrics=False):
        found = train_pass(recipe, batch, defer_metrics)
        alive.add(batch.inputs[0])
        most.append(len(alive))
        return found

    model._training.ready().train_pass = passed
    model.fit(torch.zeros(40, 1000), torch.zeros(40, 1), batch_size=4, verbose=0)
    assert max(most) <= 2
