"""What is shown while a model runs: a bar or a line an epoch, with Keras's numbers, read at a rate in time."""

import io
import re
import sys
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from callback_models import drive
from tqdm import tqdm

from torchkeras.callbacks import CallbackList, Logs, ProgbarLogger, progress
from torchkeras.callbacks.progress import formatted, say, shown
from torchkeras.layers import Dense
from torchkeras.models import Sequential


def numbers(epoch):
    return {"loss": torch.tensor(1.0 / (epoch + 1)), "val_loss": 2.0}


def test_a_line_an_epoch(capsys):
    drive(shown(2), verbose=2, numbers=lambda epoch: {"loss": 0.5, "acc": 0.9, "lr": 0.1, "val_loss": 0.0001})
    block = "Epoch {}/2\n - 0s - loss: 0.5000 - acc: 0.9000 - val_loss: 1.0000e-04\n"
    assert capsys.readouterr().out == block.format(1) + block.format(2)


def test_a_line_without_numbers(capsys):
    drive(shown(2), verbose=2, epochs=1, metrics=["none"], numbers=lambda epoch: {"lr": 0.1})
    assert capsys.readouterr().out == "Epoch 1/1\n - 0s\n"


def test_a_line_has_what_steps_and_callbacks_of_ones_own_report_behind_the_metrics(capsys):
    drive(shown(2), verbose=2, epochs=1, metrics=["loss"], numbers=lambda epoch: {"own": 2.0, "loss": 0.5, "lr": 0.1})
    assert capsys.readouterr().out == "Epoch 1/1\n - 0s - loss: 0.5000 - own: 2.0000\n"


@pytest.mark.parametrize("verbose", [0, 2])
def test_only_a_bar_looks_at_batches(verbose):
    for given in (1, verbose):
        each = CallbackList([ProgbarLogger()])
        each.set_params({"verbose": given})
        hooks = ["on_train_batch_end", "on_test_batch_end", "on_predict_batch_end"]
        assert {each.wants(hook) for hook in hooks} == {given == 1}
    bar = each.callbacks[0]
    bar.set_params({"verbose": 1})
    bar.set_params({"verbose": verbose})
    assert not CallbackList([bar]).wants("on_train_batch_end")


def test_nothing_is_shown(capsys):
    drive([ProgbarLogger()], verbose=0)
    assert capsys.readouterr() == ("", "")


def last_of_each_line(text):
    return [re.split("\r", line)[-1] for line in text.strip().split("\n")]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("count_mode", "end"), [("steps", "3/3"), ("samples", "12/12")])
def test_a_bar_an_epoch(capsys, stream, count_mode, end):
    drive([ProgbarLogger(count_mode, stream=stream)], numbers=numbers)
    captured = capsys.readouterr()
    text, other = (captured.out, captured.err) if stream == "stdout" else (captured.err, captured.out)
    assert other == ""
    lines = last_of_each_line(text)
    assert len(lines) == 2
    for number, line in enumerate(lines, 1):
        assert line.startswith(f"Epoch {number}/2: 100%")
        assert end in line
        assert f"loss: {1 / number:.4f} - val_loss: 2.0000" in line


@pytest.mark.parametrize(
    ("count_mode", "params", "total"),
    [
        ("steps", {"samples": 10, "batch_size": 4}, "/3 "),
        ("steps", {"steps": 7}, "/7 "),
        ("samples", {"steps": 7, "batch_size": 2}, "/14 "),
        ("samples", {"samples": 9}, "/9 "),
        ("samples", {"steps": 7}, "0sample "),
        ("steps", {}, "0batch "),
    ],
)
def test_the_end_of_a_bar(capsys, count_mode, params, total):
    bar = ProgbarLogger(count_mode)
    bar.set_params({"epochs": 1, **params})
    bar.on_epoch_begin(0)
    bar.on_epoch_end(0)
    assert total in capsys.readouterr().out.replace("[", " [")


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("torchkeras.callbacks.progress.time.perf_counter", lambda: now[0])
    return now


def test_a_bar_reads_at_a_rate_in_time(clock, monkeypatch):
    reads = []
    bar = ProgbarLogger("steps", stream="stderr")
    bar.set_params({"epochs": 1, "steps": 100, "metrics": ["loss"]})
    bar.on_epoch_begin(0)
    item = torch.Tensor.item
    monkeypatch.setattr(torch.Tensor, "item", lambda tensor: reads.append(1) or item(tensor))
    for batch in range(100):
        clock[0] += 0.011
        bar.on_train_batch_end(batch, Logs(loss=torch.tensor(0.5), size=2))
    assert 9 <= len(reads) <= 11
    bar.on_epoch_end(0)


def test_a_bar_has_the_means_so_far(clock, capsys):
    bar = ProgbarLogger("steps", stateful_metrics=["auc"])
    bar.set_params({"epochs": 1, "steps": 4, "metrics": ["loss", "auc", "own"]})
    bar.on_epoch_begin(0)
    for batch, (size, loss) in enumerate([(4, 1.0), (4, 2.0), (1, 12.0), (1, 0.0)]):
        clock[0] += 0.2 if batch == 2 else 0.0
        state = torch.tensor(float(batch))
        bar.on_train_batch_end(
            batch, Logs(loss=torch.tensor(loss), auc=state, own=lambda state=state: state, size=size)
        )
    line = capsys.readouterr().out.split("\r")[-1]
    assert "loss: 2.6667 - auc: 2.0000 - own: 2.0000" in line
    assert "3/4" in line
    bar.on_train_end()


def test_bars_of_evaluation_and_prediction(capsys):
    each = CallbackList([ProgbarLogger("steps")])
    each.set_params({"steps": 2})
    for kind in ("test", "predict"):
        getattr(each, f"on_{kind}_begin")()
        for batch in range(2):
            getattr(each, f"on_{kind}_batch_end")(batch)
        getattr(each, f"on_{kind}_end")(logs={"loss": 0.25} if kind == "test" else {})
    evaluation, prediction = capsys.readouterr().out.strip().split("\n")
    assert evaluation.startswith("Evaluate:   0%")
    assert prediction.startswith("\rPredict:   0%")
    assert re.search("2/2.*loss: 0.2500", evaluation)
    assert re.search("2/2", prediction)
    assert "loss" not in prediction


def test_lines_of_evaluation_and_prediction(capsys):
    model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile("sgd", "mse")
    model.evaluate(np.ones((4, 2)), np.zeros((4, 1)), verbose=2)
    model.predict(np.ones((4, 2)), verbose=2)
    assert capsys.readouterr().out == "Evaluate\n - 0s - loss: 4.0000\nPredict\n - 0s\n"


def test_a_validation_has_no_bar_of_its_own(capsys):
    drive(shown(1), epochs=1, verbose=1)
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("together", [1, 4, 5])
def test_a_bar_reaches_its_end_by_groups_of_batches(capsys, together):
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", steps_per_execution=together)
    x, y = np.ones((14, 2)), np.zeros((14, 1))
    model.fit(x, y, batch_size=2, verbose=1)
    model.evaluate(x, y, batch_size=2, verbose=1)
    model.predict(x, batch_size=2, verbose=1)
    lines = last_of_each_line(capsys.readouterr().out)
    assert [line.partition(":")[0] for line in lines] == ["Epoch 1/1", "Evaluate", "Predict"]
    assert all(": 100%" in line and " 7/7 " in line for line in lines)


NAMES = ("loss", "accuracy", "precision", "recall", "val_loss", "val_accuracy", "val_precision", "val_recall")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("count", [0, 1, 2, 4, 8])
def test_a_terminal_has_room_for_all_numbers(capsys, monkeypatch, columns, count):
    monkeypatch.setattr(progress, "tqdm", partial(tqdm, ncols=columns))
    numbers = dict.fromkeys(NAMES[:count], 0.5)
    drive([ProgbarLogger("steps")], epochs=1, metrics=list(numbers), numbers=lambda epoch: numbers)
    first, *rest = last_of_each_line(capsys.readouterr().out)
    assert len(first.rstrip()) <= columns
    assert first.startswith("Epoch 1/1: ")
    assert " 3/3 [" in first
    told = " - ".join(f"{name}: 0.5000" for name in numbers)
    if rest:
        assert "".join(rest) == f" - {told}"
        assert all(len(line) < columns for line in rest if line.count(" - ") > 1)
        assert len(f"Epoch 1/1: 3/3 [00:00, {told}]") >= columns
    else:
        assert told in first
        assert ("%|" in first) is (len(first) > len(f"Epoch 1/1: 3/3 [00:00, {told}]"))


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (120, "Epoch 1/1: 1/4 [00:00, loss: 0.5000 - accuracy: 0.5000 - precision: 0.5000 - recall: 0.5000]"),
        (88, "Epoch 1/1: 1/4, loss: 0.5000 - accuracy: 0.5000 - precision: 0.5000 - recall: 0.5000"),
        (80, "1/4, loss: 0.5000 - accuracy: 0.5000 - precision: 0.5000 - recall: 0.5000"),
        (60, "1/4, loss: 0.5000 - accuracy: 0.5000 - precision: 0.5000"),
        (10, "1/4"),
    ],
)
def test_a_running_bar_has_the_numbers_that_fit(clock, capsys, monkeypatch, columns, shown):
    monkeypatch.setattr(progress, "tqdm", partial(tqdm, ncols=columns))
    bar = ProgbarLogger("steps")
    bar.set_params({"epochs": 1, "steps": 4, "metrics": NAMES[:4]})
    bar.on_epoch_begin(0)
    clock[0] += 0.2
    bar.on_train_batch_end(0, Logs(**dict.fromkeys(NAMES[:4], 0.5), size=1))
    assert capsys.readouterr().out.split("\r")[-1].rstrip() == shown
    bar.on_train_end()


def test_what_is_said_goes_above_the_bar(capsys):
    bar = ProgbarLogger("steps")
    bar.set_params({"epochs": 1, "steps": 2})
    bar.on_epoch_begin(0)
    say("a line")
    bar.on_epoch_end(0)
    lines = [re.split("\r", line)[-1] for line in capsys.readouterr().out.split("\n")]
    assert lines[0] == "a line"
    assert lines[1].startswith("Epoch 1/1")


@pytest.mark.parametrize(("kernel", "widgets"), [(True, True), (True, False), (False, True)])
def test_in_a_notebook(monkeypatch, capsys, kernel, widgets):
    """The numbers stay as text: of a bar by widgets a saved notebook has no more than its beginning."""
    made, written = [], io.StringIO()
    shell = SimpleNamespace(config={"IPKernelApp": {}} if kernel else {})
    ipython: Any = ModuleType("IPython")
    in_notebook: Any = ModuleType("tqdm.notebook")
    ipython.get_ipython = lambda: shell
    in_notebook.tqdm = lambda **options: made.append(options) or tqdm(file=written, **options)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "tqdm.notebook", in_notebook)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name if widgets else None)
    drive([ProgbarLogger("steps")], epochs=1, numbers=numbers)
    out = capsys.readouterr().out
    assert len(made) == (kernel and widgets)
    if kernel and widgets:
        assert out == "Epoch 1/1: 3/3 [00:00, loss: 1.0000 - val_loss: 2.0000]\n"
    elif kernel:
        assert out == "Epoch 1/1\n - 0s - loss: 1.0000 - val_loss: 2.0000\n"
    else:
        assert "Epoch 1/1: 100%" in out


def test_verbose():
    bars = [bar for verbose in (0, 1, 2, True) for bar in shown(verbose, "stderr") if isinstance(bar, ProgbarLogger)]
    assert [(bar.count_mode, bar.stream) for bar in bars] == [("steps", "stderr")] * 3
    with pytest.raises(ValueError, match=re.escape("verbose must be 0, 1 or 2; found 3.")):
        shown(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stream": "file"}, "ProgbarLogger: stream must be one of 'stdout', 'stderr'; found 'file'."),
        ({"count_mode": "epochs"}, "ProgbarLogger: count_mode must be one of 'samples', 'steps'; found 'epochs'."),
    ],
)
def test_bars_refuse(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ProgbarLogger(**options)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.0000"), (12.34567, "12.3457"), (1e-3, "1.0000e-03"), ("NA", "NA"), (-2.0, "-2.0000")]
)
def test_numbers(value, text):
    assert formatted(value) == text
