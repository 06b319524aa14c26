"""Rows of numbers: what stands in them beyond what Keras 2.2.4 has, and what a stop leaves."""

import csv
import errno
import os
import re

import pytest
from callback_models import X, Y, drive, small

from torchkeras.callbacks import CSVLogger, LambdaCallback

LOSSES = [4.0, 3.0, 2.0, 1.0]


def numbers(epoch):
    return {"loss": LOSSES[epoch]}


def rows(path):
    return path.read_text().split("\n")[:-1]


def test_a_fit(tmp_path):
    path = tmp_path / "log.csv"
    history = small(metrics=["mae"]).fit(X, Y, epochs=2, verbose=0, callbacks=[CSVLogger(path)]).history
    names = sorted(history)
    assert rows(path) == [
        ",".join(["epoch", *names]),
        *(",".join([str(epoch), *(str(history[name][epoch]) for name in names)]) for epoch in range(2)),
    ]


def test_columns_of_a_validation_that_comes_later(tmp_path):
    path = tmp_path / "log.csv"
    logs = [{"loss": 1.0}, {"loss": 2.0, "val_loss": 3.0, "other": 4.0}]
    drive([CSVLogger(path)], numbers=lambda epoch: logs[epoch], metrics=["loss", "val_loss"], do_validation=True)
    assert rows(path) == ["epoch,loss,val_loss", "0,1.0,NA", "1,2.0,3.0"]


@pytest.mark.parametrize("append", [True, False])
def test_a_second_fit(tmp_path, append):
    path = tmp_path / "log.csv"
    logger = CSVLogger(path, append=append)
    for _ in range(2):
        drive([logger], epochs=1, numbers=numbers)
    assert rows(path) == ["epoch,loss", *["0,4.0"] * (1 + append)]


@pytest.mark.parametrize("append", [True, False])
def test_no_epoch_leaves_what_append_says(tmp_path, append):
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss\n")
    drive([CSVLogger(path, append=append)], epochs=0)
    assert path.read_text() == ("epoch,loss\n" if append else "")


@pytest.mark.parametrize("append", [True, False])
@pytest.mark.parametrize("kept", [1, 2, 3])
def test_rows_later_than_the_state_are_written_again(tmp_path, append, kept):
    path, states = tmp_path / "log.csv", []
    if append:
        path.write_text("epoch,loss\n9,9\n")
    before = rows(path) if append else ["epoch,loss"]
    first = CSVLogger(path, append=append)
    keep = LambdaCallback(on_epoch_end=lambda epoch, logs: states.append(first.state_dict()))
    drive([first, keep], epochs=3, numbers=numbers)
    other = CSVLogger(path, append=append)
    other.on_train_begin()
    other.load_state_dict(states[kept - 1])
    for epoch in range(kept, 4):
        other.on_epoch_end(epoch, numbers(epoch))
    other.on_train_end()
    assert rows(path) == [*before, *(f"{epoch},{loss}" for epoch, loss in enumerate(LOSSES))]


def test_a_file_that_was_taken_away_begins_anew(tmp_path):
    path = tmp_path / "log.csv"
    first, other = CSVLogger(path), CSVLogger(path)
    assert first.state_dict() == {"keys": None, "size": 0}
    drive([first], numbers=numbers)
    state = first.state_dict()
    path.unlink()
    other.on_train_begin()
    other.load_state_dict(state)
    other.on_epoch_end(2, numbers(2))
    assert rows(path) == ["epoch,loss", "2,2.0"]


def test_a_folder_that_is_not_there_is_found_before_training(tmp_path):
    path = tmp_path / "none" / "log.csv"
    with pytest.raises(FileNotFoundError, match=re.escape(f"No such file or directory: '{path}'")):
        CSVLogger(path).on_train_begin()


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    def full(*row):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "log.csv"
    monkeypatch.setattr(csv.DictWriter, "writerow", full)
    with pytest.raises(OSError, match=f"^{re.escape(f'[Errno 28] No space left on device: {str(path)!r}')}$"):
        drive([CSVLogger(path)], epochs=1)


@pytest.mark.parametrize("separator", ["", ", ", 3])
def test_a_separator_is_one_character(separator):
    message = f"CSVLogger: separator must be one character; found {separator!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CSVLogger("x", separator)


def test_a_state_of_others(tmp_path):
    message = "CSVLogger: the state must hold keys, size; found size."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CSVLogger(tmp_path / "x").load_state_dict({"size": 1})
