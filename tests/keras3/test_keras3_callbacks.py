"""Callbacks of Keras 3: files for TensorBoard, options that are refused, and what Keras's numbers do not show."""

from __future__ import annotations

import csv
import importlib
import pickle
import re

import numpy as np
import pytest
import torch

from torchkeras import callbacks as base, keras3 as keras
from torchkeras.keras3 import callbacks

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((12, 3)).astype("float32")
Y = RANDOM.standard_normal((12, 1)).astype("float32")


def small(rate: float = 0.1, **options):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    model.compile(keras.optimizers.SGD(rate, **options), "mse")
    return model


def fit(model, *given, epochs: int = 2, **options):
    options = {"validation_data": (X[:4], Y[:4]), "verbose": 0, "batch_size": 4, **options}
    return model.fit(X, Y, epochs=epochs, callbacks=list(given), **options)


@pytest.mark.parametrize("name", callbacks.__all__)
def test_each_is_a_callback_of_this_package(name: str):
    found = getattr(callbacks, name)
    assert issubclass(found, callbacks.Callback)
    if name != "OrbaxCheckpoint":
        assert issubclass(found, getattr(base, name))


def test_orbax_is_refused():
    with pytest.raises(NotImplementedError, match=r"^OrbaxCheckpoint writes by Orbax, .* Use BackupAndRestore"):
        callbacks.OrbaxCheckpoint("folder")


# --- TensorBoard -----------------------------------------------------------------------------------------------------


def written(folder):
    module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = module.EventAccumulator(str(folder), {"scalars": 0, "histograms": 0, "tensors": 0, "graph": 1})
    events.Reload()
    return events


def series(folder, name: str):
    return [(event.step, pytest.approx(event.value)) for event in written(folder).Scalars(name)]


def test_numbers_of_epochs(tmp_path):
    board = callbacks.TensorBoard(tmp_path, write_graph=False)
    assert not callbacks.CallbackList([board]).wants("on_train_batch_end")
    history = fit(small(), board).history
    assert series(tmp_path / "train", "epoch_loss") == list(enumerate(history["loss"]))
    assert series(tmp_path / "train", "epoch_learning_rate") == [(0, 0.1), (1, 0.1)]
    assert series(tmp_path / "validation", "epoch_loss") == list(enumerate(history["val_loss"]))
    of_steps = series(tmp_path / "validation", "evaluation_loss_vs_iterations")
    assert of_steps == list(zip((3, 6), history["val_loss"], strict=True))
    assert written(tmp_path / "train").Tags()["scalars"] == ["epoch_loss", "epoch_learning_rate"]


@pytest.mark.parametrize(("update_freq", "steps"), [("batch", [1, 2, 3, 4, 5, 6]), (2, [2, 4, 6]), (4, [4])])
def test_numbers_of_batches(tmp_path, update_freq, steps):
    board = callbacks.TensorBoard(tmp_path, write_graph=False, update_freq=update_freq)
    fit(small(), board)
    assert [event.step for event in written(tmp_path / "train").Scalars("batch_loss")] == steps
    assert [event.step for event in written(tmp_path / "train").Scalars("epoch_loss")] == [0, 1]


def test_steps_per_second(tmp_path):
    board = callbacks.TensorBoard(tmp_path, write_graph=False, write_steps_per_second=True, update_freq=1)
    fit(small(), board)
    for name, count in (("epoch_steps_per_second", 2), ("batch_steps_per_second", 6)):
        events = written(tmp_path / "train").Scalars(name)
        assert len(events) == count
        assert all(event.value > 0 for event in events)


def test_an_evaluation_alone_is_written(tmp_path):
    model = small()
    fit(model)
    loss = model.evaluate(X, Y, verbose=0, callbacks=[callbacks.TensorBoard(tmp_path)])
    assert series(tmp_path / "validation", "evaluation_loss_vs_iterations") == [(6, loss)]
    assert not (tmp_path / "train").exists()


def test_the_graph_and_histograms(tmp_path):
    fit(small(), callbacks.TensorBoard(tmp_path, histogram_freq=1))
    events = written(tmp_path / "train")
    assert len(events.Tags()["histograms"]) == 2
    assert all(name.endswith("/histogram") for name in events.Tags()["histograms"])
    assert any("dense" in node.name for node in events.Graph().node)


def test_the_vectors_of_embeddings(tmp_path):
    inputs = keras.Input((2,), dtype="int32")
    model = keras.Model(inputs, keras.layers.Flatten()(keras.layers.Embedding(4, 3, name="words")(inputs)))
    model.compile("sgd", "mse")
    (tmp_path / "labels.tsv").write_text("a\nb\nc\nd\n")
    board = callbacks.TensorBoard(
        tmp_path, write_graph=False, embeddings_freq=1, embeddings_metadata={"words": "labels.tsv"}
    )
    model.fit(np.ones((4, 2)), np.ones((4, 6)), verbose=0, callbacks=[board])
    points = next((tmp_path / "train").rglob("tensors.tsv")).read_text().splitlines()
    assert len(points) == 4
    np.testing.assert_allclose([float(number) for number in points[0].split()], model.get_weights()[0][0], rtol=1e-5)
    assert next((tmp_path / "train").rglob("metadata.tsv")).read_text().split() == ["a", "b", "c", "d"]


def test_after_a_stop_the_count_of_batches_goes_on(tmp_path):
    board = callbacks.TensorBoard(tmp_path, write_graph=False, update_freq=2)
    fit(small(), board)
    assert board.state_dict()["batches"] == 6


@pytest.mark.parametrize("value", [2, (1, 3), "2,4"])
def test_profiling_is_refused(value):
    with pytest.raises(ValueError, match=r"^TensorBoard: profile_batch must be 0; found .* Profile batches with"):
        callbacks.TensorBoard(profile_batch=value)


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (
            lambda: callbacks.ModelCheckpoint("a.txt"),
            ValueError,
            "ModelCheckpoint: filepath must end with .keras or .h5 for save_weights_only=False; found 'a.txt'.",
        ),
        (
            lambda: callbacks.ModelCheckpoint("a.h5", save_weights_only=True),
            ValueError,
            "ModelCheckpoint: filepath must end with .weights.h5 for save_weights_only=True; found 'a.h5'.",
        ),
        (
            lambda: callbacks.ModelCheckpoint("a.keras", save_freq=0),
            ValueError,
            "ModelCheckpoint: save_freq must be 'epoch' or a number of batches; found 0.",
        ),
        (
            lambda: callbacks.BackupAndRestore(""),
            ValueError,
            "BackupAndRestore: backup_dir must be the path of a folder; found an empty one.",
        ),
        (
            lambda: callbacks.EarlyStopping(start_from_epoch=-1),
            ValueError,
            "EarlyStopping: start_from_epoch must be an integer of at least 0; found -1.",
        ),
        (
            lambda: callbacks.TerminateOnNaN(raise_error="yes"),
            ValueError,
            "TerminateOnNaN: raise_error must be True, False, 1 or 0; found 'yes'.",
        ),
        (
            lambda: callbacks.LambdaCallback(on_epochs=print),
            TypeError,
            "LambdaCallback: 'on_epochs' is no hook; there are ",
        ),
        (
            lambda: callbacks.CallbackList(add_history=2),
            ValueError,
            "CallbackList: add_history must be True, False, 1 or 0; found 2.",
        ),
        (
            lambda: callbacks.CallbackList([3]),
            TypeError,
            "callbacks: 3 is no callback",
        ),
    ],
)
def test_refusals(attempt, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        attempt()


def test_a_list_takes_lists_in_lists_and_adds_nothing_twice():
    history, stop = callbacks.History(), callbacks.EarlyStopping()
    hooks = callbacks.CallbackList([[history, (stop,)]], add_history=True)
    assert hooks.callbacks == [history, stop]
    assert [type(each) for each in callbacks.CallbackList(stop, add_progbar=True)] == [
        callbacks.EarlyStopping,
        callbacks.ProgbarLogger,
    ]


class Noted(callbacks.Callback):
    def __init__(self):
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((batch, dict(logs)))

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append((epoch, list(logs.items())))

    def on_train_end(self, logs=None):
        self.seen.append(dict(logs))


def test_logs_and_parameters_of_a_run():
    noted, raw = Noted(), []
    own = callbacks.TerminateOnNaN()
    own.on_batch_end = lambda batch, logs: raw.append(dict(logs))  # type: ignore[assignment]
    hooks = callbacks.Hooks([noted, own])
    hooks.set_params({"epochs": 2, "steps": None, "samples": 5, "batch_size": 3})
    assert noted.params["steps"] == 2
    for epoch in range(2):
        hooks.on_epoch_begin(epoch)
        for batch, (size, loss) in enumerate([(3, 1.0), (2, 2.0)]):
            hooks.on_train_batch_end(batch, base.Logs(loss=torch.tensor(loss + epoch), batch=batch, size=size))
        hooks.on_epoch_end(epoch, base.Logs(val_loss=7.0, loss=torch.tensor(1.5)))
    hooks.on_train_end({})
    of_epoch = [("loss", 1.5), ("val_loss", 7.0)]
    assert noted.seen == [
        (0, {"loss": 1.0}),
        (1, {"loss": pytest.approx(1.4)}),
        (0, of_epoch),
        (0, {"loss": 2.0}),
        (1, {"loss": pytest.approx(2.4)}),
        (1, of_epoch),
        dict(of_epoch),
    ]
    assert raw[:2] == [{"loss": 1.0, "batch": 0, "size": 3}, {"loss": 2.0, "batch": 1, "size": 2}]


def test_a_batch_that_nobody_listens_to_costs_nothing():
    assert not callbacks.Hooks([callbacks.History()]).wants("on_train_batch_end")
    hooks = callbacks.Hooks([])
    hooks.append(noted := Noted())
    hooks.on_train_batch_end(0, {"loss": 3.0, "size": 2})
    assert noted.seen == [(0, {"loss": 3.0})]


def test_rates_are_found_under_either_name():
    history = fit(small(), callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)).history
    assert "learning_rate" in list(history)
    assert history["lr"] == history["learning_rate"] == pytest.approx([0.05, 0.025])


def test_a_checkpoint_without_the_number_is_saved_with_a_warning(tmp_path):
    path = tmp_path / "a.weights.h5"
    checkpoint = callbacks.ModelCheckpoint(path, "val_none", save_best_only=True, save_weights_only=True, mode="min")
    with pytest.warns(RuntimeWarning, match=r"the logs have no 'val_none' to monitor"):
        fit(small(), checkpoint, epochs=1)
    assert path.exists()


def test_a_checkpoint_of_batches_costs_nothing_otherwise():
    each, some = callbacks.ModelCheckpoint("a.keras"), callbacks.ModelCheckpoint("a.keras", save_freq=5)
    assert not callbacks.CallbackList([each]).wants("on_train_batch_end")
    assert callbacks.CallbackList([some]).wants("on_train_batch_end")
    assert some.state_dict() == {
        "best": float("inf"),
        "epochs_since_last_save": 0,
        "batches_since_last_save": 0,
        "last_batch": -1,
    }


def test_the_columns_of_a_table_without_validation(tmp_path):
    fit(small(), callbacks.CSVLogger(tmp_path / "log.csv"), validation_data=None, epochs=1)
    with open(tmp_path / "log.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert list(row) == ["epoch", "loss", "val_loss"]
    assert row["val_loss"] == "NA"


class Interrupting(callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


def test_a_fit_goes_on_without_the_callback_that_stopped_it(tmp_path):
    model, whole = small(), small()
    whole.set_weights(model.get_weights())
    fit(whole, epochs=4, shuffle=False)
    backup = callbacks.BackupAndRestore(tmp_path / "backup")
    with pytest.raises(KeyboardInterrupt):
        fit(model, backup, Interrupting(), epochs=4, shuffle=False)
    strict = callbacks.BackupAndRestore(tmp_path / "backup", accept=())
    with pytest.raises(ValueError, match=r"does not fit this run\. It differs:\s+callbacks: "):
        fit(model, strict, epochs=4, shuffle=False)
    history = fit(model, backup, epochs=4, shuffle=False)
    assert history.epoch == [0, 1, 2, 3]
    assert all(map(np.array_equal, model.get_weights(), whole.get_weights()))
    assert not list((tmp_path / "backup").glob("*.checkpoint"))


def test_an_error_at_a_loss_that_is_no_number():
    bad = np.full_like(Y, np.inf)
    with pytest.raises(RuntimeError, match=r"^TerminateOnNaN: the loss of batch 0 is (inf|nan)\.$"):
        small().fit(X, bad, verbose=0, callbacks=[callbacks.TerminateOnNaN(raise_error=True)])


# Genuine Keras leaves the averages in the model after a prediction.
def test_averages_are_for_predictions_alone():
    model = small(use_ema=True, ema_momentum=0.5)
    fit(model)
    before = model.get_weights()
    model.predict(X, verbose=0, callbacks=[callbacks.SwapEMAWeights()])
    assert all(map(np.array_equal, before, model.get_weights()))


# Genuine Keras takes NaN for the best number of all, if it is the first.
def test_a_number_that_is_none_is_never_the_best():
    stop = callbacks.EarlyStopping("loss", patience=9)
    stop.set_model(small())
    stop.on_train_begin()
    for epoch, loss in enumerate([float("nan"), 2.0, 1.0]):
        stop.on_epoch_end(epoch, {"loss": loss})
    assert (stop.best, stop.best_epoch, stop.wait) == (1.0, 2, 0)


def test_what_early_stopping_says(capsys):
    stop = callbacks.EarlyStopping("val_loss", patience=1, verbose=1, restore_best_weights=True, min_delta=1e9)
    fit(small(), stop, epochs=5)
    said = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Epoch 2: val_loss was not better than \d[\d.]*, stopped\.", said[0])
    assert said[1] == "The weights of epoch 1, the best, are restored."


@pytest.mark.parametrize("made", [callbacks.EarlyStopping(patience=2), callbacks.ReduceLROnPlateau(factor=0.5)])
def test_pickles(made):
    read = pickle.loads(pickle.dumps(made))  # noqa: S301  # its own
    assert vars(read) == vars(made)


@pytest.mark.parametrize(
    ("name", "value"), [("validation_steps", 2), ("validation_batch_size", 4), ("validation_freq", 2)]
)
def test_an_option_of_a_validation_without_data_changes_nothing_and_says_so(name, value):
    with pytest.warns(UserWarning, match=f"^fit: {name} changes nothing: there is no validation data.$"):
        history = fit(small(), validation_data=None, epochs=1, **{name: value}).history
    assert not any(key.startswith("val_") for key in history)
