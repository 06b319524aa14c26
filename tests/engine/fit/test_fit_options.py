"""The further options of `fit`, `evaluate` and `predict`, and their older names, against plain calls."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchkeras import Input, Model, Sequential, metrics
from torchkeras.callbacks import Callback, LambdaCallback
from torchkeras.layers import Dense
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(19)
X = RANDOM.standard_normal((20, 4)).astype("float32")
LABELS = RANDOM.integers(0, 3, 20)


def made(**options: Any) -> Model:
    inputs = Input((4,))
    model = Model(inputs, Dense(3, activation="softmax")(inputs))
    model.set_weights([np.linspace(-1, 1, 12).reshape(4, 3), np.zeros(3)])
    model.compile(SGD(lr=0.1), "sparse_categorical_crossentropy", **options)
    return model


def generator(batch_size: int = 4, weights: Any = None):
    while True:
        for start in range(0, 20, batch_size):
            stop = start + batch_size
            batch = (X[start:stop], LABELS[start:stop])
            yield batch if weights is None else (*batch, weights[start:stop])


def same(first: Model, second: Model) -> None:
    for mine, other in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


IN_ORDER = {"batch_size": 4, "shuffle": False, "verbose": 0}


@pytest.mark.parametrize(("frequency", "epochs"), [(1, [0, 1, 2, 3]), (2, [1, 3]), (5, []), ([1, 4], [0, 3])])
def test_how_often_to_validate(frequency, epochs):
    found = []
    look = LambdaCallback(on_epoch_end=lambda epoch, logs: found.extend([epoch] if "val_loss" in logs else []))
    options = {"validation_data": (X, LABELS), "validation_freq": frequency, "callbacks": [look]}
    made().fit(X, LABELS, epochs=4, **options, **IN_ORDER)
    assert found == epochs


@pytest.mark.parametrize("frequency", [0, -1, 1.5, "2", True, [0], None])
def test_a_bad_frequency_is_refused(frequency):
    text = f"fit: validation_freq must be a positive integer or a list of them; found {frequency!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        made().fit(X, LABELS, validation_freq=frequency, verbose=0)


def test_batches_of_a_validation():
    sizes = []
    look = LambdaCallback()
    look.on_test_batch_end = lambda batch, logs=None: sizes.append(logs["size"])
    options: dict[str, Any] = {"validation_data": (X, LABELS), "callbacks": [look]}
    model = made()
    model.fit(X, LABELS, **options, **IN_ORDER)
    assert sizes == [4] * 5
    sizes.clear()
    model.fit(X, LABELS, validation_batch_size=16, **options, **IN_ORDER)
    assert sizes == [16, 4]
    sizes.clear()
    history = model.fit(X, LABELS, validation_steps=2, **options, **IN_ORDER).history
    assert sizes == [4, 4]
    assert history["val_loss"] == pytest.approx([model.evaluate(X[:8], LABELS[:8], verbose=0)], rel=1e-5)
    sizes.clear()
    model.fit(X, LABELS, validation_split=0.5, validation_batch_size=7, callbacks=[look], **IN_ORDER)
    assert sizes == [7, 3]
    sizes.clear()
    model.fit(X, LABELS, validation_split=0.5, validation_steps=2, callbacks=[look], **IN_ORDER)
    assert sizes == [4, 4]


@pytest.mark.parametrize(
    ("option", "value"),
    [("validation_steps", 2), ("validation_batch_size", 4), ("validation_freq", 2), ("validation_freq", [1])],
)
def test_options_of_a_validation_without_one(option, value):
    text = f"fit: {option} goes with validation data; there is none."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        made().fit(X, LABELS, **{option: value}, verbose=0)


def test_steps_an_epoch_on_arrays():
    model, twin = made(), made()
    seen = []
    look = LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    history = model.fit(X, LABELS, steps_per_epoch=3, epochs=1, callbacks=[look], **IN_ORDER).history
    assert seen == [0, 1, 2]
    expected = twin.fit(X[:12], LABELS[:12], **IN_ORDER).history
    assert history["loss"] == pytest.approx(expected["loss"], rel=1e-6)
    same(model, twin)


def test_the_number_of_the_first_epoch():
    model, twin = made(), made()
    history = model.fit(X, LABELS, initial_epoch=3, epochs=5, **IN_ORDER)
    assert history.epoch == [3, 4]
    twin.fit(X, LABELS, epochs=2, **IN_ORDER)
    same(model, twin)
    assert model.fit(X, LABELS, initial_epoch=5, epochs=5, **IN_ORDER).epoch == []


def test_class_weights_of_streams():
    weights = {0: 1.0, 1: 4.0, 2: 0.5}
    each = np.array([weights[label] for label in LABELS], "float32")
    twin = made()
    twin.fit(X, LABELS, sample_weight=each, epochs=2, **IN_ORDER)
    loader = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(LABELS)), batch_size=4)
    streams: list[tuple[Any, dict[str, Any]]] = [(generator(), {"steps_per_epoch": 5}), (loader, {})]
    for data, options in streams:
        model = made()
        model.fit(data, epochs=2, class_weight=weights, verbose=0, **options)
        same(model, twin)
    model = made()
    with pytest.warns(UserWarning, match="has both sample_weight and class_weight: class_weight is left out"):
        model.fit(generator(weights=each), steps_per_epoch=5, epochs=2, class_weight={0: 9, 1: 9, 2: 9}, verbose=0)
    same(model, twin)
    text = "Output '{}': class_weight has no weight for the classes [2] of the targets. Give each one."
    with pytest.raises(ValueError, match=re.escape(text.format(model.output_names[0]))):
        model.fit(loader, class_weight={0: 1, 1: 1}, verbose=0)


def test_results_by_name():
    model = made(metrics=["acc", metrics.SparseCategoricalAccuracy()])
    names = ["loss", "acc", "sparse_categorical_accuracy"]
    assert model.metrics_names == names
    listed = model.evaluate(X, LABELS, verbose=0)
    assert model.evaluate(X, LABELS, verbose=0, return_dict=True) == dict(zip(names, listed, strict=True))
    model.reset_metrics()
    assert list(model.test_on_batch(X, LABELS, return_dict=True)) == names
    assert list(model.train_on_batch(X, LABELS, return_dict=True)) == names
    assert made().evaluate(X, LABELS, verbose=0, return_dict=True).keys() == {"loss"}


def test_a_sequential_without_a_shape_learns_it_from_a_loader():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(LABELS)), batch_size=4)
    model = Sequential([Dense(5, activation="relu"), Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", ["acc"])
    history = model.fit(loader, epochs=2, validation_data=loader, verbose=0).history
    assert set(history) == {"loss", "acc", "val_loss", "val_acc"}
    assert model.input_shape == (None, 4)
    assert model.optimizer.iterations == 10
    assert model.predict(loader).shape == (20, 3)


def test_a_sequential_without_a_shape_learns_it_from_a_generator_and_loses_no_batch():
    seen = []

    class Seen(Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(float(logs["loss"]))

    batches = [(np.full((2, 4), k, "float32"), np.full((2, 1), k, "float32")) for k in range(3)]
    model = Sequential([Dense(1, kernel_initializer="zeros")])
    model.compile(SGD(0.0), "mse")
    model.fit(iter(batches), steps_per_epoch=3, callbacks=[Seen()], verbose=0)
    assert seen == [0.0, 1.0, 4.0]
    other = Sequential([Dense(1, kernel_initializer="ones", use_bias=False)])
    assert other.predict(iter([x for x, _ in batches]), steps=3)[:, 0].tolist() == [0.0, 0.0, 4.0, 4.0, 8.0, 8.0]


# --- older names -----------------------------------------------------------------------------------------------------


def test_generators_by_their_older_names():
    model, twin = made(metrics=["acc"]), made(metrics=["acc"])
    options = {"validation_data": (X, LABELS), "verbose": 0, "max_queue_size": 3}
    found = model.fit_generator(generator(), 5, 2, **options).history
    expected = twin.fit(X, LABELS, epochs=2, validation_data=(X, LABELS), **IN_ORDER).history
    for name in expected:
        assert found[name] == pytest.approx(expected[name], rel=1e-5)
    same(model, twin)
    evaluated = twin.evaluate(X, LABELS, verbose=0)
    assert model.evaluate_generator(generator(), 5) == pytest.approx(evaluated, rel=1e-5)
    inputs = (batch[0] for batch in generator())
    np.testing.assert_allclose(model.predict_generator(inputs, 5), twin.predict(X), rtol=1e-5)
    # with the targets among the items, too
    np.testing.assert_allclose(model.predict_generator(generator(), steps=5), twin.predict(X), rtol=1e-5)


def test_keras_1_s_names_of_arguments():
    model: Any = made()
    twin = made()
    model.fit(X, LABELS, nb_epoch=2, **IN_ORDER)
    twin.fit(X, LABELS, epochs=2, **IN_ORDER)
    same(model, twin)
    model.fit_generator(generator(), steps_per_epoch=5, nb_epoch=2, max_q_size=2, nb_worker=1, verbose=0)
    twin.fit(X, LABELS, epochs=2, **IN_ORDER)
    same(model, twin)
    assert model.evaluate_generator(generator(), steps=5, max_q_size=2, pickle_safe=False) == pytest.approx(
        twin.evaluate(X, LABELS, verbose=0), rel=1e-5
    )
    assert model.predict_generator(generator(), steps=5, max_q_size=2).shape == (20, 3)
    for act, old, new, kind in (
        (model.fit_generator, "samples_per_epoch", "steps_per_epoch", "fit_generator"),
        (model.fit_generator, "nb_val_samples", "validation_steps", "fit_generator"),
        (model.evaluate_generator, "val_samples", "steps", "evaluate_generator"),
        (model.predict_generator, "val_samples", "steps", "predict_generator"),
    ):
        text = f"{kind}: {old}, of Keras 1, counts samples; give {new}, which counts batches."
        with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
            act(generator(), **{old: 20})


def test_an_initial_epoch_past_the_last_one():
    text = "fit: initial_epoch 5 is past epochs 3, and no epoch runs: epochs is the epoch to stop before."
    with pytest.warns(UserWarning, match=f"^{text}$"):
        assert made().fit(X, LABELS, initial_epoch=5, epochs=3, verbose=0).epoch == []
    assert made().fit(X, LABELS, initial_epoch=3, epochs=3, verbose=0).epoch == []  # a run that is over goes on


def test_validation_after_no_epoch_at_all():
    text = "fit: validation_freq must be a positive integer or a list of them; found []."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        made().fit(X, LABELS, validation_split=0.5, validation_freq=[], verbose=0)


def test_a_name_and_an_index_of_two_layers():
    model = Model(inputs := Input((4,)), Dense(2, name="b")(Dense(3, name="a")(inputs)))
    assert model.get_layer("a", 1) is model.get_layer(index=1) is model.get_layer("a")
    text = "get_layer: name and index are of two layers: found 'b', and 'a' at 1. Give one of them."
    with pytest.raises(ValueError, match=f"^{text}$"):
        model.get_layer("b", index=1)


def test_a_batch_input_shape_that_is_a_number():
    text = "Dense 'one': batch_input_shape must be a tuple, such as (None, 4); found 3."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Dense(3, batch_input_shape=3, name="one")


@pytest.mark.parametrize("shuffle", [torch.tensor(True), np.array(True), np.True_, 1], ids=str)
def test_shuffle_may_be_any_one_truth_value(shuffle):
    x, y = np.arange(6, dtype="float32")[:, None], np.zeros((6, 1), "float32")
    losses = []
    for value in (shuffle, True):
        torch.manual_seed(0)
        model = Sequential([Dense(1, input_shape=(1,))])
        model.set_weights([np.ones((1, 1)), np.zeros(1)])
        model.compile(SGD(0.01), "mse")
        losses.append(model.fit(x, y, batch_size=2, shuffle=value, verbose=0).history["loss"])
    assert losses[0] == losses[1]
