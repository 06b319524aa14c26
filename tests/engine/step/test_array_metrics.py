"""Metrics that give an array: what is reported of them, and what callbacks make of it."""

import re

import numpy as np
import pytest
import torch
import torchmetrics

from torchkeras import metrics
from torchkeras.callbacks import (
    BackupAndRestore,
    BaseLogger,
    CSVLogger,
    EarlyStopping,
    LambdaCallback,
    ModelCheckpoint,
    ReduceLROnPlateau,
    RemoteMonitor,
    TensorBoard,
    TorchScheduler,
)
from torchkeras.layers import Dense, Input
from torchkeras.models import Model
from torchkeras.optimizers import SGD

X = np.sin(np.arange(80.0)).reshape(20, 4).astype("float32")
KERNEL = np.cos(np.arange(12.0)).reshape(4, 3).astype("float32")
ROWS = np.eye(3, dtype="float32")[[0, 1, 2, 0, 1] * 4]
F1 = [0.5882352590560913, 0.0, 0.26666662096977234]
VAL_F1 = [0.3999999463558197, 0.0, 0.0]


class Means(metrics.Metric):
    """The mean of each output in the last batch, which `result` returns as the state itself."""

    def __init__(self, name="means"):
        super().__init__(name=name)
        self.add_weight((3,), name="values")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.values.assign(y_pred.mean(0))

    def result(self):
        return self.values


class Batches(metrics.Metric):
    """How many batches it has seen, by the state itself, as in Keras's own example."""

    def __init__(self, name="batches"):
        super().__init__(name=name)
        self.add_weight(name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(1.0)

    def result(self):
        return self.count


def made(*given, kind=Model, **options):
    inputs = Input((4,), name="features")
    model = kind(inputs, Dense(3, activation="softmax", name="out")(inputs))
    model.set_weights([KERNEL, np.zeros(3)])
    model.compile(SGD(lr=0.0), "mse", metrics=list(given), **options)
    return model


def trained(model, *callbacks, epochs=1, **options):
    return model.fit(
        X, ROWS, 8, epochs, verbose=0, shuffle=False, validation_data=(X[:7], ROWS[:7]), callbacks=list(callbacks),
        **options,
    ).history  # fmt: skip


# --- numbers ---------------------------------------------------------------------------------------------------------

# (metric, of the training, of the validation, of an evaluation with weights), as Keras 3.15 reports them
GENUINE = [
    (metrics.F1Score, {}, F1, VAL_F1, [0.6170467734336853, 0.0, 0.3703703284263611]),
    (
        metrics.FBetaScore,
        {"beta": 2.0},
        [0.6097561120986938, 0.0, 0.3703703284263611],
        [0.3571428656578064, 0.0, 0.0],
        [0.6633970141410828, 0.0, 0.5020079612731934],
    ),
    (
        metrics.R2Score,
        {"class_aggregation": None},
        [0.09440970420837402, -0.09211862087249756, -0.23461449146270752],
        [-0.057187676429748535, -0.19797086715698242, -1.1605522632598877],
        [0.13170397281646729, -0.06546175479888916, -0.06142246723175049],
    ),
    (
        metrics.Precision,
        {"thresholds": [0.3, 0.7]},
        [0.3513513505458832, 0.0],
        [0.23076923191547394, 0.0],
        [0.3955352008342743, 0.0],
    ),
    (
        metrics.TruePositives,
        {"thresholds": [0.3, 0.7]},
        [13.0, 0.0],
        [3.0, 0.0],
        [18.18421173095703, 0.0],
    ),
]


CLOSE = {"rtol": 2e-6, "atol": 2e-7}  # R2Score is 1 - x, with the rounding errors of x


@pytest.mark.parametrize(
    ("kind", "options", "training", "validation", "weighted"), GENUINE, ids=[each[0].__name__ for each in GENUINE]
)
def test_arrays_are_those_of_keras(kind, options, training, validation, weighted):
    (name,) = made(kind(**options)).metrics_names[1:]
    history = trained(made(kind(**options)), epochs=2)
    for each in history[name]:
        assert type(each) is np.ndarray
        assert each.dtype == np.float32
        np.testing.assert_allclose(each, training, **CLOSE)
    np.testing.assert_allclose(history[f"val_{name}"][1], validation, **CLOSE)
    model, weights = made(kind(**options)), np.linspace(0.5, 2, 20).astype("float32")
    model.compile("sgd", "mse", weighted_metrics=[kind(**options)])
    found = model.evaluate(X, ROWS, 8, verbose=0, sample_weight=weights, return_dict=True)
    np.testing.assert_allclose(found[model.metrics_names[1]], weighted, **CLOSE)


def test_each_method_reports_the_array():
    model = made(metrics.F1Score(name="f1"), "accuracy")
    assert model.metrics_names == ["loss", "f1", "acc"]
    for found in (
        model.evaluate(X, ROWS, 8, verbose=0),
        model.train_on_batch(X, ROWS),
        model.test_on_batch(X, ROWS),
    ):
        assert [type(each) for each in found] == [float, np.ndarray, float]
        np.testing.assert_allclose(found[1], F1, rtol=1e-6)
    for found in (
        model.evaluate(X, ROWS, verbose=0, return_dict=True),
        model.train_on_batch(X, ROWS, return_dict=True),
        model.test_on_batch(X, ROWS, return_dict=True),
    ):
        assert list(found) == ["loss", "f1", "acc"]
        np.testing.assert_allclose(found["f1"], F1, rtol=1e-6)


def test_torchmetrics_give_arrays_and_whole_numbers():
    confusion = torchmetrics.ConfusionMatrix(task="multiclass", num_classes=3)
    each = torchmetrics.F1Score(task="multiclass", num_classes=3, average="none")
    model = made()
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=[confusion, each])
    numbers = np.array([0, 1, 2, 0, 1] * 4)
    _, matrix, scores = model.evaluate(X, numbers, 8, verbose=0)
    wanted = np.zeros((3, 3), int)
    np.add.at(wanted, (numbers, model.predict(X).argmax(1)), 1)
    assert matrix.dtype == np.int64
    np.testing.assert_array_equal(matrix, wanted)
    np.testing.assert_allclose(scores, F1, rtol=1e-6)


def test_a_step_of_the_users_own_reports_arrays_of_metrics():
    class Own(Model):
        def train_step(self, data):
            return super().train_step(data)

    history = trained(made(metrics.F1Score(name="f1"), kind=Own))
    np.testing.assert_allclose(history["f1"][0], F1, rtol=1e-6)
    np.testing.assert_allclose(history["val_f1"][0], VAL_F1, rtol=1e-6)


def test_a_metric_that_gives_no_numbers_is_refused():
    class Texts(Batches):
        def result(self):
            return "many"

    with pytest.raises(TypeError, match=r"^The metric 'batches' must give a number or an array; found str\.$"):
        made(Texts()).evaluate(X, ROWS, verbose=0)


# --- a state that is the result --------------------------------------------------------------------------------------


def test_a_result_that_is_the_state_is_not_changed_by_the_validation():
    history = trained(made(Batches(), Means()), epochs=2)
    assert history["batches"] == [3.0, 3.0]
    assert history["val_batches"] == [1.0, 1.0]
    model = made()
    np.testing.assert_allclose(history["means"][0], model.predict(X[16:]).mean(0), rtol=1e-5)
    np.testing.assert_allclose(history["val_means"][0], model.predict(X[:7]).mean(0), rtol=1e-5)


def test_logs_that_a_callback_keeps_have_the_numbers_of_their_batch():
    kept = []
    model = made(Batches(), metrics.F1Score(name="f1"))
    trained(model, LambdaCallback(on_batch_end=lambda batch, logs: kept.append(logs)))
    assert [logs["batches"] for logs in kept] == [1.0, 2.0, 3.0]
    alone = [model.test_on_batch(X[:end], ROWS[:end])[2] for end in (8, 16, 20)]
    np.testing.assert_allclose([logs["f1"] for logs in kept], alone)


@pytest.mark.parametrize("stateful", [(), ("batches",)])
def test_base_logger_does_not_report_the_validation_as_the_training(stateful):
    assert trained(made(Batches()), BaseLogger(stateful_metrics=stateful))["batches"] == [3.0]


# --- callbacks -------------------------------------------------------------------------------------------------------


def test_bars_and_lines_show_the_mean_as_keras_does(capsys):
    made(metrics.F1Score(name="f1")).fit(X, ROWS, 8, verbose=2)
    assert f"f1: {np.mean(F1):.4f}" in capsys.readouterr().out
    made(metrics.F1Score(name="f1")).fit(X, ROWS, 8, verbose=1)
    assert f"f1: {np.mean(F1):.4f}" in capsys.readouterr().out


def test_csv_logger_writes_the_array_as_keras_does(tmp_path):
    trained(made(metrics.F1Score(name="f1")), CSVLogger(tmp_path / "log.csv"))
    head, row = (tmp_path / "log.csv").read_text().splitlines()
    assert head == "epoch,f1,loss,val_f1,val_loss"
    assert re.fullmatch(r'0,"""\[0\.58823\d+, 0\.0, 0\.26666\d+\]""",0\.\d+,"""\[0\.\d+, 0\.0, 0\.0\]""",0\.\d+', row)


def test_a_run_with_arrays_goes_on_from_a_backup(tmp_path):
    def stop(epoch, logs):
        if epoch == 1:
            raise KeyboardInterrupt

    whole = trained(made(metrics.F1Score(name="f1")), epochs=3)
    with pytest.raises(KeyboardInterrupt):
        trained(
            made(metrics.F1Score(name="f1")), BackupAndRestore(tmp_path), LambdaCallback(on_epoch_begin=stop), epochs=3
        )
    found = trained(
        made(metrics.F1Score(name="f1")),
        BackupAndRestore(tmp_path, accept=("callbacks",)),
        LambdaCallback(on_epoch_begin=lambda epoch, logs: None),
        epochs=3,
    )
    np.testing.assert_array_equal(found["f1"], whole["f1"])
    np.testing.assert_array_equal(found["val_f1"], whole["val_f1"])


PLATEAU = torch.optim.lr_scheduler.ReduceLROnPlateau


@pytest.mark.parametrize(
    "callback",
    [
        lambda folder: EarlyStopping("val_f1"),
        lambda folder: ReduceLROnPlateau("val_f1"),
        lambda folder: ModelCheckpoint(folder / "best.h5", "val_f1", save_best_only=True),
        lambda folder: ModelCheckpoint(str(folder / "{val_f1:.2f}.h5")),
        lambda folder: TorchScheduler(PLATEAU, monitor="val_f1"),
        lambda folder: TensorBoard(folder, write_graph=False),
    ],
    ids=["EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint", "filepath", "TorchScheduler", "TensorBoard"],
)
def test_callbacks_that_need_one_number_refuse_an_array(callback, tmp_path):
    made_callback = callback(tmp_path)
    text = (
        f"{type(made_callback).__name__}: 'val_f1' in the logs must be a number; found an array of shape (3,). Give "
        "the metric an average, such as F1Score(average='macro'), or one of its own for each number."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        trained(made(metrics.F1Score(name="f1")), made_callback)


def test_what_takes_an_array_or_one_of_its_numbers(tmp_path):
    trained(made(metrics.F1Score(name="f1")), ModelCheckpoint(str(tmp_path / "{val_f1[0]:.2f}.keras")))
    assert [path.name for path in tmp_path.iterdir()] == ["0.40.keras"]
    monitor = RemoteMonitor("http://localhost:1", send_as_json=True)
    sent = []
    monitor._request = lambda message: sent.append(message) or pytest.fail("unreachable")  # type: ignore[method-assign]
    with pytest.raises(pytest.fail.Exception):
        trained(made(metrics.F1Score(name="f1")), monitor)
    np.testing.assert_allclose(sent[0]["f1"], F1, rtol=1e-6)
