"""`compile(steps_per_execution=)`: batch hooks around so many batches, and the same training."""

from functools import partial

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import Input, Model
from torchkeras.callbacks import (
    BackupAndRestore,
    Callback,
    CosineAnnealing,
    LearningRateFinder,
    OneCycle,
    Profiler,
    TorchScheduler,
)
from torchkeras.layers import Dense
from torchkeras.metrics import SparseCategoricalAccuracy

X = np.random.default_rng(0).standard_normal((22, 6)).astype("float32")
Y = np.arange(22) % 3


def compiled(together, metrics=("accuracy",), **options):
    torchkeras.clear_session()
    inputs = Input((6,))
    model = Model(inputs, Dense(3, activation="softmax", kernel_initializer="ones")(inputs))
    model.compile("sgd", "sparse_categorical_crossentropy", list(metrics), steps_per_execution=together, **options)
    return model


class Seen(Callback):
    """What the batch hooks of all kinds get."""

    needed_to_resume = False

    def __init__(self):
        super().__init__()
        self.calls = []

    def _note(self, kind, batch, logs):
        self.calls.append((kind, batch, dict(logs)))

    def __getattribute__(self, name):
        if name.startswith("on_") and "_batch_" in name:
            kind = name[3:].replace("_batch", "")
            return lambda batch, logs=None: self._note(kind, batch, logs)
        return super().__getattribute__(name)

    def of(self, kind):
        return [(batch, logs) for found, batch, logs in self.calls if found == kind]


def fitted(together, **options):
    seen = Seen()
    model = compiled(together, **options)
    history = model.fit(
        X, Y, 4, 2, 0, [seen], validation_data=(X, Y), shuffle=False, validation_batch_size=5
    ).history  # fmt: skip
    return history, model.get_weights(), seen


@pytest.mark.parametrize("together", [2, 3, 6, 100])
def test_training_is_the_same_whatever_runs_together(together):
    (history, weights, _), (expected, expected_weights, _) = fitted(together), fitted(1)
    assert history == expected
    for one, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_hooks_are_called_around_executions_with_the_mean_numbers_of_their_batches():
    (_, _, seen), (_, _, single) = fitted(4), fitted(1)
    assert [(batch, logs["size"]) for batch, logs in seen.of("train_begin")] == [(0, 4), (4, 4)] * 2
    ends = seen.of("train_end")
    assert [(batch, logs["batch"], logs["size"]) for batch, logs in ends] == [(3, 3, 16), (5, 5, 6)] * 2
    each = [logs for _, logs in single.of("train_end")]
    for name in ("loss", "acc"):
        assert ends[0][1][name] == pytest.approx(np.mean([logs[name] for logs in each[:4]]))
        assert ends[1][1][name] == pytest.approx((4 * each[4][name] + 2 * each[5][name]) / 6)
    assert [batch for batch, _ in seen.of("test_end")] == [3, 4] * 2


def test_metrics_with_state_tell_what_they_have_counted_so_far():
    _, _, seen = fitted(4, metrics=[SparseCategoricalAccuracy(name="counted")])
    _, _, single = fitted(1, metrics=[SparseCategoricalAccuracy(name="counted")])
    counted, each = ([logs["counted"] for _, logs in found.of("train_end")] for found in (seen, single))
    assert counted == [each[3], each[5], each[9], each[11]]


def test_evaluations_and_predictions():
    seen, model = Seen(), compiled(3)
    numbers = model.evaluate(X, Y, 4, 0, callbacks=[seen])
    assert numbers == compiled(1).evaluate(X, Y, 4, 0, callbacks=[Seen()])
    assert [(batch, logs["size"]) for batch, logs in seen.of("test_end")] == [(2, 12), (5, 10)]
    np.testing.assert_array_equal(model.predict(X, 4, callbacks=[seen]), compiled(1).predict(X, 4))
    assert [(batch, logs["size"]) for batch, logs in seen.of("predict_end")] == [(2, 12), (5, 10)]
    assert [batch for batch, _ in seen.of("predict_begin")] == [0, 3]


def test_what_stops_a_training_does_so_behind_an_execution():
    class Stop(Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = True

    seen, model = Seen(), compiled(4)
    model.fit(X, Y, 4, 2, 0, [seen, Stop()])
    assert [batch for batch, _ in seen.of("train_end")] == [3]


@pytest.mark.parametrize("save_freq", [2, 3])
def test_a_run_goes_on_between_executions(tmp_path, save_freq):
    class Break(Callback):
        needed_to_resume = False

        def on_train_batch_end(self, batch, logs=None):
            if batch == 5 and self.model.optimizer.iterations < 7:
                raise KeyboardInterrupt

    def run(*callbacks):
        model = compiled(2)
        model.fit(X, Y, 4, 2, 0, list(callbacks))
        return model.get_weights()

    expected = run_seeded(run)
    with pytest.raises(KeyboardInterrupt):
        run_seeded(run, BackupAndRestore(tmp_path, save_freq=save_freq), Break())
    seen = Seen()
    weights = run_seeded(run, BackupAndRestore(tmp_path, save_freq=save_freq), seen)
    assert [batch for batch, _ in seen.of("train_end")] == [5, 1, 3, 5]  # the newest checkpoint is after batch 3
    for one, other in zip(weights, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def run_seeded(run, *callbacks):
    torch.manual_seed(0)
    return run(*callbacks)


@pytest.mark.parametrize(
    "callback",
    [
        OneCycle(0.1),
        CosineAnnealing(0.1),
        LearningRateFinder(),
        TorchScheduler(partial(torch.optim.lr_scheduler.StepLR, step_size=2), per="batch"),
        Profiler(),
    ],
    ids=lambda callback: type(callback).__name__,
)
def test_callbacks_of_each_batch_are_refused(callback):
    with pytest.raises(ValueError, match=f"^fit: {type(callback).__name__} needs a call for every batch"):
        compiled(2).fit(X, Y, 4, 1, 0, [callback])


def test_bad_values_are_refused():
    for value in (0, -1, 2.0, True, "all", None):
        with pytest.raises(ValueError, match="compile: steps_per_execution must be an integer of at least 1; found"):
            compiled(value)
