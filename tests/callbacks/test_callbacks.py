"""Callbacks are called where they override a hook; numbers are read late and once; what is shown is Keras's."""

import importlib
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from torchkeras import callbacks
from torchkeras.callbacks import (
    Callback,
    CallbackList,
    EpochLines,
    History,
    LambdaCallback,
    Logs,
    ProgressBar,
    TensorBoard,
)
from torchkeras.callbacks.base import HOOKS, overrides
from torchkeras.callbacks.progress import formatted, shown


def run(entries, epochs=2, steps=3, logs=None, params=()):
    """What the loop does, with a model that is none."""
    weight = SimpleNamespace(full_name="dense/kernel:0", numpy=lambda: np.arange(6.0).reshape(2, 3))
    model = SimpleNamespace(code="def forward(self, x):\n    return x", layers=[SimpleNamespace(weights=[weight])])
    each = CallbackList(entries)
    each.set_params({"epochs": epochs, "steps": steps, "metrics": ["loss", "acc", "val_loss"], **dict(params)})
    each.set_model(model)
    each.on_train_begin()
    for epoch in range(epochs):
        each.on_epoch_begin(epoch)
        for batch in range(steps):
            each.on_train_batch_begin(batch, Logs(batch=batch, size=4))
            each.on_train_batch_end(batch, Logs(batch=batch, size=4, loss=torch.tensor(0.5)))
        each.on_test_begin()
        each.on_test_batch_end(0)
        each.on_test_end()
        each.on_epoch_end(epoch, Logs(logs or {"loss": torch.tensor(1.0 / (epoch + 1)), "val_loss": 2.0}))
    each.on_train_end()


# --- logs ------------------------------------------------------------------------------------------------------------


def test_logs_read_a_tensor_once_and_only_when_asked():
    reads = []

    def accuracy():
        reads.append("acc")
        return torch.tensor(0.75)

    logs = Logs({"batch": 3, "loss": torch.tensor(0.5, requires_grad=True), "acc": accuracy}, size=4)
    assert list(logs) == ["batch", "loss", "acc", "size"]
    assert "acc" in logs
    assert len(logs) == 4
    assert logs.get("val_loss") is None
    assert reads == []
    assert (logs["loss"], type(logs["loss"])) == (0.5, float)
    assert logs["acc"] == logs["acc"] == 0.75
    assert reads == ["acc"]
    logs["lr"] = 0.1
    del logs["size"]
    assert dict(logs) == logs.copy() == {"batch": 3, "loss": 0.5, "acc": 0.75, "lr": 0.1} == logs
    assert repr(logs) == "{'batch': 3, 'loss': 0.5, 'acc': 0.75, 'lr': 0.1}"
    with pytest.raises(KeyError):
        logs["none"]
    assert not Logs()


# --- base ------------------------------------------------------------------------------------------------------------


def test_each_hook_reaches_those_that_override_it():
    called = []

    class Epochs(Callback):
        def on_epoch_end(self, epoch, logs=None):
            called.append((epoch, logs))

    each = CallbackList([Callback(), Epochs()])
    assert [hook for hook in HOOKS if each.wants(hook)] == ["on_epoch_end"]
    each.on_epoch_end(1)
    each.on_train_batch_end(0, {})
    assert called == [(1, {})]
    each.append(LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(lr=1)))
    logs = Logs()
    each.on_epoch_end(2, logs)
    assert logs["lr"] == 1
    assert len(each) == len(list(each)) == 3
    with pytest.raises(KeyError):
        each.wants("on_epoch")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_called(hook):
    called = []
    each = CallbackList([LambdaCallback(**{hook: lambda *given: called.append(given)})])
    number = (5,) if "epoch" in hook or "batch" in hook else ()
    getattr(each, hook)(*number)
    getattr(each, hook)(*number, logs={"a": 1})
    assert called == [(*number, {}), (*number, {"a": 1})]
    assert each.wants(hook)
    if hook in ("on_batch_begin", "on_batch_end"):
        assert each.wants(hook.replace("on_", "on_train_"))


@pytest.mark.parametrize("base", [Callback, object])
def test_old_names_of_batch_hooks(base):
    called = []

    class Old(base):
        def __init__(self):  # as in many scripts, without super().__init__()
            self.seen = 0

        def on_batch_end(self, batch, logs=None):
            called.append((batch, dict(logs or {})))

    assert overrides(Old(), "on_train_batch_end")
    assert not overrides(Old(), "on_train_batch_begin")
    each = CallbackList([Old()])
    each.set_params({})
    each.set_model(None)
    each.on_train_batch_end(3, {"size": 1})
    each.on_train_batch_begin(3)
    assert called == [(3, {"size": 1})]
    Callback().on_train_batch_begin(0)
    if base is Callback:
        Old().on_train_batch_end(4, {})
        assert called[-1] == (4, {})
        assert (Old().model, Old().validation_data) == (None, None)


# --- history, functions ----------------------------------------------------------------------------------------------


def test_history_holds_floats_and_starts_anew():
    history = History()
    for _ in range(2):
        run([history])
    assert history.epoch == [0, 1]
    assert history.history == {"loss": [1.0, 0.5], "val_loss": [2.0, 2.0]}
    assert type(history.history["loss"][0]) is float


def test_what_an_earlier_callback_adds_the_history_holds():
    history = History()
    run([LambdaCallback(on_epoch_end=lambda epoch, logs: logs.update(lr=0.1)), history])
    assert history.history["lr"] == [0.1, 0.1]


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"on_bach_end": print}, "LambdaCallback: 'on_bach_end' is no hook; there are on_epoch_begin, "),
        ({"on_batch_end": 3}, "LambdaCallback: on_batch_end must be a function; found 3."),
    ],
)
def test_lambda_callback_refuses(hooks, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        LambdaCallback(**hooks)


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_a_line_an_epoch(capsys):
    run([EpochLines()], logs={"loss": 0.5, "acc": 0.9, "lr": 0.1, "val_loss": 0.0001})
    block = "Epoch {}/2\n - 0s - loss: 0.5000 - acc: 0.9000 - val_loss: 1.0000e-04\n"
    assert capsys.readouterr().out == block.format(1) + block.format(2)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_bar_an_epoch(capsys, stream):
    run([ProgressBar(stream)])
    captured = capsys.readouterr()
    text, other = (captured.out, captured.err) if stream == "stdout" else (captured.err, captured.out)
    assert other == ""
    lines = [re.split("\r", line)[-1] for line in text.strip().split("\n")]
    assert len(lines) == 2
    for number, line in enumerate(lines, 1):
        assert line.startswith(f"Epoch {number}/2: 100%")
        assert "3/3" in line
        assert f"loss: {1 / number:.4f} - val_loss: 2.0000" in line


def test_a_bar_reads_at_a_rate_in_time(monkeypatch):
    now, reads = [0.0], []
    monkeypatch.setattr("torchkeras.callbacks.progress.time.perf_counter", lambda: now[0])
    bar = ProgressBar("stderr")
    bar.set_params({"epochs": 1, "steps": 100})
    bar.on_epoch_begin(0)
    for batch in range(100):
        now[0] += 0.011
        bar.on_train_batch_end(batch, Logs(loss=lambda: reads.append(1) or 0.5))
    assert 9 <= len(reads) <= 11
    bar.on_epoch_end(0)


def test_bars_of_evaluation_and_prediction(capsys):
    each = CallbackList([ProgressBar()])
    each.set_params({"steps": 2})
    for kind in ("test", "predict"):
        getattr(each, f"on_{kind}_begin")()
        for batch in range(2):
            getattr(each, f"on_{kind}_batch_end")(batch)
        getattr(each, f"on_{kind}_end")(logs={"loss": 0.25})
    out = capsys.readouterr().out
    assert out.count("\n") == out.count("\r  0%") == 2
    evaluation, prediction = out.strip().split("\n")
    assert re.search("2/2.*loss: 0.2500", evaluation)
    assert re.search("2/2", prediction)
    assert "loss" not in prediction


def test_verbose():
    assert [type(callback) for verbose in (0, 1, 2, True) for callback in shown(verbose)] == [
        ProgressBar, EpochLines, ProgressBar,
    ]  # fmt: skip
    with pytest.raises(ValueError, match=re.escape("verbose must be 0, 1 or 2; found 3.")):
        shown(3)
    with pytest.raises(ValueError, match=re.escape("EpochLines: stream must be 'stdout' or 'stderr'; found 'file'.")):
        EpochLines("file")


@pytest.mark.parametrize(("value", "text"), [(0.0, "0.0000"), (12.34567, "12.3457"), (1e-3, "1.0000e-03")])
def test_numbers(value, text):
    assert formatted(value) == text


# --- TensorBoard -----------------------------------------------------------------------------------------------------


def written(folder):
    module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = module.EventAccumulator(str(folder), {"scalars": 0, "histograms": 0, "tensors": 0})
    events.Reload()
    return events


@pytest.mark.parametrize(
    ("update_freq", "steps"), [("epoch", [0, 1]), ("batch", [4, 8, 12, 12, 16, 20, 24, 24]), (5, [8, 12, 16, 24, 24])]
)
def test_tensorboard_numbers(tmp_path, update_freq, steps):
    board = TensorBoard(tmp_path, update_freq=update_freq)
    assert CallbackList([board]).wants("on_train_batch_end") == (update_freq != "epoch")
    run([board])
    events = written(tmp_path)
    assert [event.step for event in events.Scalars("loss")] == steps
    assert [event.value for event in events.Scalars("val_loss")] == [2.0, 2.0]
    assert set(events.Tags()["scalars"]) == {"loss", "val_loss"}


def test_tensorboard_histograms_and_code(tmp_path):
    run([TensorBoard(str(tmp_path), histogram_freq=2)], epochs=3)
    events = written(tmp_path)
    assert [event.step for event in events.Histograms("dense/kernel_0")] == [0, 2]
    assert b"def forward(self, x):" in events.Tensors("model/code/text_summary")[0].tensor_proto.string_val[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"write_grads": True},
            NotImplementedError,
            "TensorBoard: write_grads is not there; leave it out (found True).",
        ),
        ({"write_images": True}, NotImplementedError, "TensorBoard: write_images is not there"),
        ({"embeddings_freq": 1}, NotImplementedError, "TensorBoard: embeddings_freq is not there"),
        ({"embeddings_data": np.zeros(3)}, NotImplementedError, "TensorBoard: embeddings_data is not there"),
        ({"update_freq": "step"}, ValueError, "update_freq must be 'epoch', 'batch' or a number; found 'step'."),
        ({"histogram_freq": -1}, ValueError, "histogram_freq must be a number of epochs; found -1."),
    ],
)
def test_tensorboard_refuses(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        TensorBoard(**options)


def test_without_the_package(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=re.escape("Install it with `pip install torchkeras[tensorboard]`.")):
        TensorBoard()


def test_names():
    assert set(callbacks.__all__) <= set(vars(callbacks))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(callbacks)
