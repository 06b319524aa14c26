"""Callbacks that end training: when, what they say, and what they carry over a stop."""

import math
import re

import numpy as np
import pytest
import torch
from callback_models import X, Y, drive, small

from torchkeras.callbacks import EarlyStopping, LambdaCallback, Logs, ReduceLROnPlateau, TerminateOnNaN, TimeLimit
from torchkeras.callbacks.monitoring import rises


def watched(values, **options):
    """The epochs that an EarlyStopping lets pass, and itself."""
    stopping = EarlyStopping("loss", **options)
    seen = []
    model = drive(
        [LambdaCallback(on_epoch_begin=lambda epoch, logs: seen.append(epoch)), stopping],
        epochs=len(values),
        numbers=lambda epoch: {"loss": values[epoch]},
    )
    return len(seen), stopping, model


# --- EarlyStopping ---------------------------------------------------------------------------------------------------


def test_a_mode_that_is_set_counts():
    model = small()
    for mode, rises_then in (("max", True), ("min", False)):
        stopping = EarlyStopping("loss")
        stopping.mode = mode
        stopping.set_model(model)
        assert stopping.rises is rises_then


def test_weights_of_the_best_epoch_come_back():
    model = small()
    each, losses = [], [3.0, 1.0, 2.0, 2.0, 0.5]

    def worsen(epoch, logs):
        each.append(model.get_weights())
        logs["loss"] = losses[epoch]

    stopping = EarlyStopping("loss", patience=2, restore_best_weights=True)
    model.fit(X, Y, epochs=5, verbose=0, callbacks=[LambdaCallback(on_epoch_end=worsen), stopping])
    assert len(each) == 4
    assert all(map(np.array_equal, model.get_weights(), each[1]))
    assert not np.array_equal(model.get_weights()[0], each[3][0])
    assert stopping.stopped_epoch == 3


def test_without_a_better_epoch_the_first_weights_come_back():
    epochs, _, model = watched([3.0, 2.0, 1.0], patience=2, baseline=0.5, restore_best_weights=True)
    assert epochs == 2
    assert model.calls == [["set_weights", 0.0]]


def test_a_second_fit_starts_anew():
    _, stopping, _ = watched([1.0, 2.0, 2.0], patience=1, restore_best_weights=True)
    assert stopping.wait == 1
    stopping.on_train_begin()
    assert stopping.state_dict() == {"wait": 0, "stopped_epoch": 0, "best": math.inf, "best_weights": None}


def test_epochs_before_the_first_that_counts():
    seen, stopping, _ = watched([0.1, 0.1, 3.0, 3.0, 3.0, 3.0], patience=2, start_from_epoch=2)
    assert (seen, stopping.stopped_epoch, stopping.best) == (5, 4, 3.0)


def test_what_early_stopping_says(capsys):
    watched([1.0, 2.0], patience=1, verbose=1)
    watched([1.0, 2.0], patience=1, verbose=1, restore_best_weights=True)
    watched([1.0], patience=0, baseline=0.5, verbose=1)
    assert capsys.readouterr().out == (
        "Epoch 2: loss was not better than 1, stopping.\n"
        "Epoch 2: loss was not better than 1, stopping; the weights of the best epoch are restored.\n"
        "Epoch 1: loss was not better than 0.5, stopping.\n"
    )


def test_early_stopping_goes_on_after_a_stop():
    values = [3.0, 2.0, 2.5, 2.4, 1.0]
    whole, _, _ = watched(values, patience=2, restore_best_weights=True)
    first = EarlyStopping("loss", patience=2, restore_best_weights=True)
    drive([first], epochs=3, numbers=lambda epoch: {"loss": values[epoch]})
    other = EarlyStopping("loss", patience=2, restore_best_weights=True)
    other.on_train_begin()
    other.load_state_dict(first.state_dict())
    other.model = first.model
    other.on_epoch_end(3, {"loss": values[3]})
    assert (whole, other.stopped_epoch, other.model.stop_training) == (4, 3, True)


@pytest.mark.parametrize("kind", [EarlyStopping, ReduceLROnPlateau])
def test_a_number_that_is_not_there(kind):
    watching = kind("val_loss")
    message = f"{kind.__name__}: the logs have no 'val_loss' to monitor; they have loss, acc. "
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}Give fit validation_data, or a validation_split.$"):
        watching.monitored({"loss": 1.0, "acc": 0.5})
    message = f"{kind.__name__}: the logs have no 'val_acc' to monitor; they have val_loss, loss."
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
        kind("val_acc").monitored({"val_loss": 1.0, "loss": 1.0})


@pytest.mark.parametrize("kind", [EarlyStopping, ReduceLROnPlateau])
@pytest.mark.parametrize(("value", "found"), [("low", "'low'"), (1j, "1j")])
def test_what_is_no_number_is_not_monitored(kind, value, found):
    message = f"{kind.__name__}: 'loss' in the logs must be a number; found {found}."
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        drive([kind("loss")], epochs=1, numbers=lambda epoch: {"loss": value})


@pytest.mark.parametrize("value", [np.float32(2.0), np.full((1,), 2.0), torch.tensor([2.0]), 2])
def test_a_number_in_an_array_is_one(value):
    _, stopping, _ = watched([value])
    assert stopping.best == 2.0
    assert isinstance(stopping.best, (int, float))


@pytest.mark.parametrize(
    ("name", "up"),
    [
        *[(name, True) for name in ("acc", "val_acc", "val_binary_accuracy", "fmeasure", "val_auc_1", "precision")],
        *[(name, True) for name in ("val_mean_io_u", "one_hot_io_u_1", "val_true_positives", "cosine_similarity")],
        *[(name, False) for name in ("val_false_positives", "cosine_similarity_loss", "acc_loss")],
        *[(name, False) for name in ("loss", "val_loss", "mse", "precision_loss", "val_my_error")],
        *[(name, True) for name in ("val_top5_acc", "top3acc", "my_accuracy", "acc_1", "val_accuracy_2")],
        *[(name, None) for name in ("accident_cost", "val_inaccuracy", "acceleration", "vaccinated", "accent_psnr")],
        *[(name, None) for name in ("val_dice", "val_psnr", "bleu", "val_map", "score", "auction", "f1", "val_lr")],
    ],
)
def test_what_rises_by_its_name_where_no_model_reports_it(name, up):
    assert rises(name) is up
    assert EarlyStopping(name).rises is up
    assert EarlyStopping(name, mode="min").rises is False
    assert EarlyStopping(name, mode="max").rises is True


def test_an_unknown_mode_is_warned_of():
    message = "EarlyStopping: mode must be 'auto', 'min' or 'max'; found 'least', read as 'auto'."
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
        assert EarlyStopping("val_acc", mode="least").mode == "auto"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patience": -1}, "EarlyStopping: patience must be an integer of at least 0; found -1."),
        ({"patience": 1.5}, "EarlyStopping: patience must be an integer of at least 0; found 1.5."),
        ({"min_delta": "0"}, "EarlyStopping: min_delta must be a finite number; found '0'."),
        ({"min_delta": math.nan}, "EarlyStopping: min_delta must be a finite number; found nan."),
    ],
)
def test_early_stopping_refuses(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        EarlyStopping(**options)


# --- NaN, time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number_ends_training(bad, capsys):
    model = small()
    batches = []
    spoil = LambdaCallback(on_batch_end=lambda batch, logs: batches.append(batch) or logs.update(loss=[1, bad][batch]))
    model.fit(X, Y, batch_size=6, epochs=3, verbose=0, callbacks=[spoil, TerminateOnNaN()])
    assert batches == [0, 1]
    assert capsys.readouterr().out == f"Batch 1: the loss is {bad}, stopping.\n"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_an_error_if_asked(bad):
    stop = TerminateOnNaN(raise_error=True)
    stop.on_batch_end(0, {"loss": 1.0})
    with pytest.raises(RuntimeError, match=rf"^TerminateOnNaN: the loss of batch 3 is {bad}\.$"):
        stop.on_batch_end(3, {"loss": bad})


def test_a_loss_that_is_a_number_does_not():
    stopping = TerminateOnNaN()
    stopping.model = object()  # which has no stop_training
    stopping.on_train_batch_end(0, Logs(loss=torch.tensor(1.0)))
    stopping.on_batch_end(0, {"size": 3})


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("torchkeras.callbacks.control.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("before", [0.0, 3.0])
def test_a_limit_of_time(clock, capsys, before):
    limit = TimeLimit(5, verbose=1)
    batches = []

    def second(batch, logs):
        clock[0] += 1.0
        batches.append(batch)

    model = small()
    begin = LambdaCallback(on_train_begin=lambda logs: limit.load_state_dict({"elapsed": before}))
    model.fit(X, Y, batch_size=2, verbose=0, callbacks=[LambdaCallback(on_batch_end=second), limit, begin])
    assert len(batches) == 5 - before
    assert limit.state_dict() == {"elapsed": 5.0}
    assert capsys.readouterr().out == f"Batch {len(batches) - 1}: the limit of 5 seconds is reached, stopping.\n"


def test_limits_refuse():
    with pytest.raises(
        ValueError, match=re.escape("TimeLimit: seconds must be a number of at least 0, infinity too; found -1.")
    ):
        TimeLimit(-1)
    with pytest.raises(ValueError, match=re.escape("TimeLimit: the state must hold elapsed; found nothing.")):
        TimeLimit(1).load_state_dict({})
