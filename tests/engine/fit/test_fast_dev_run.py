"""`fit(fast_dev_run=True)`: a script tried out on its first batches."""

import os
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchkeras import callbacks
from torchkeras.callbacks import Callback
from torchkeras.layers import Dense
from torchkeras.models import Sequential

X, Y = np.random.default_rng(0).random((40, 3)), np.ones((40, 1))


def compiled(**options: Any) -> Any:
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", **options)
    return model


class Seen(Callback):
    """What ran, as a list of words and numbers."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.seen.append(f"epoch {epoch} of {self.params['epochs']}")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append(batch)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append(f"test {batch}")


class Stream(IterableDataset):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter(TensorDataset(torch.ones(16, 3), torch.ones(16, 1)))


def generator() -> Any:
    while True:
        yield X[:8], Y[:8]


ARRAYS = {"x": X, "y": Y, "batch_size": 8}
VALIDATED = {**ARRAYS, "validation_data": (X, Y)}
LOADER = DataLoader(TensorDataset(torch.tensor(X).float(), torch.tensor(Y).float()), batch_size=8)
RUNS = {
    "arrays": (ARRAYS, True, ["epoch 0 of 1", 0]),
    "a validation": (VALIDATED, True, ["epoch 0 of 1", 0, "test 0"]),
    "more batches": (VALIDATED, 3, ["epoch 0 of 1", 0, 1, 2, "test 0", "test 1", "test 2"]),
    "more than there are": (
        {**ARRAYS, "validation_split": 0.5},
        4,
        ["epoch 0 of 1", 0, 1, 2, "test 0", "test 1", "test 2"],
    ),
    "fewer steps": (
        {**VALIDATED, "steps_per_epoch": 1, "validation_steps": 2},
        4,
        ["epoch 0 of 1", 0, "test 0", "test 1"],
    ),
    "a rare validation": ({**VALIDATED, "validation_freq": 5}, True, ["epoch 0 of 1", 0, "test 0"]),
    "a later epoch": ({**ARRAYS, "initial_epoch": 3}, True, ["epoch 3 of 4", 0]),
    "a loader": ({"x": LOADER, "validation_data": LOADER}, 2, ["epoch 0 of 1", 0, 1, "test 0", "test 1"]),
    "a stream": ({"x": DataLoader(Stream(), batch_size=8)}, True, ["epoch 0 of 1", 0]),
    "a generator": ({"x": generator(), "steps_per_epoch": 5}, 2, ["epoch 0 of 1", 0, 1]),
    "no epochs": ({**ARRAYS, "epochs": 0}, True, []),
}


@pytest.mark.parametrize("case", RUNS)
def test_the_first_batches_of_one_epoch_run(case: str):
    options, fast_dev_run, expected = RUNS[case]
    seen = Seen()
    model = compiled()
    history = model.fit(**{"epochs": 9, "verbose": 0, **options}, callbacks=seen, fast_dev_run=fast_dev_run)
    assert seen.seen == expected
    assert len(history.epoch) == bool(expected)
    assert model.optimizer.iterations == sum(isinstance(each, int) for each in expected)


def test_it_is_a_run_of_so_many_steps():
    by_hand, tried = compiled(), compiled()
    tried.set_weights(by_hand.get_weights())
    by_hand.fit(X[:16], Y[:16], batch_size=8, shuffle=False, verbose=0)
    tried.fit(X, Y, batch_size=8, epochs=5, shuffle=False, verbose=0, fast_dev_run=2)
    for one, other in zip(by_hand.get_weights(), tried.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("off", [False, 0, np.False_])
def test_off_it_changes_nothing(off: Any):
    seen = Seen()
    compiled().fit(X, Y, batch_size=20, epochs=2, verbose=0, callbacks=[seen], fast_dev_run=off)
    assert seen.seen == ["epoch 0 of 2", 0, 1, "epoch 1 of 2", 0, 1]


def test_steps_that_run_together():
    seen = Seen()
    compiled(steps_per_execution=4).fit(X, Y, batch_size=8, verbose=0, callbacks=[seen], fast_dev_run=True)
    assert seen.seen == ["epoch 0 of 1", 0]


def test_callbacks_that_keep_records_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = [
        callbacks.ModelCheckpoint("best.keras"),
        callbacks.BackupAndRestore("backup"),
        callbacks.CSVLogger("log.csv"),
        callbacks.TensorBoard("board"),
        callbacks.Profiler("traces", first=0),
        callbacks.RemoteMonitor("http://localhost:1"),  # which would warn
    ]
    seen = Seen()
    stops = callbacks.EarlyStopping("val_loss")
    compiled().fit(**VALIDATED, verbose=0, callbacks=[*kept, stops, seen], fast_dev_run=True)
    assert os.listdir(tmp_path) == []
    assert stops.best > 0
    assert seen.seen == ["epoch 0 of 1", 0, "test 0"]
    compiled().fit(**VALIDATED, verbose=0, callbacks=kept[2], fast_dev_run=True)
    assert os.listdir(tmp_path) == []


def test_callbacks_see_the_whole_validation_data():
    found = []
    looks = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: found.append(looks.validation_data))
    compiled().fit(**VALIDATED, verbose=0, callbacks=[looks], fast_dev_run=True)
    np.testing.assert_allclose(found[0][0], X, rtol=1e-6)


@pytest.mark.parametrize("value", [-1, 1.0, "yes", None, [1]])
def test_odd_values(value: Any):
    text = f"fit: fast_dev_run must be True, False or an integer of at least 0; found {value!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        compiled().fit(X, Y, fast_dev_run=value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"epochs": -1}, "fit: epochs must be an integer of at least 0; found -1."),
        ({"steps_per_epoch": 0}, "fit: steps_per_epoch must be an integer of at least 1; found 0."),
        ({"validation_steps": 2}, "fit: validation_steps goes with validation data; there is none."),
        (
            {"validation_split": 0.5, "validation_freq": 0},
            "fit: validation_freq must be a positive integer or a list of them; found 0.",
        ),
    ],
)
def test_what_a_whole_run_refuses_is_refused(options: Any, text: str):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        compiled().fit(X, Y, verbose=0, fast_dev_run=True, **options)
