"""`plot_history`: which curves stand in which panel, at which epochs."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from torchkeras.callbacks import History, Logs
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.utils import plot_history

plt.switch_backend("agg")

VALUES = {
    "loss": [3.0, 2.0, 1.5, 1.0],
    "acc": [0.1, 0.4, np.float32(0.5), float("nan")],
    "val_loss": [4.0, 3.0, 2.5, 2.0],
    "lr": [0.1, 0.1, 0.01, 0.01],
}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def panels(figure):
    return {
        axes.get_title(): {str(line.get_label()): np.asarray(line.get_xydata()).tolist() for line in axes.get_lines()}
        for axes in figure.axes
    }


def test_a_panel_for_each_metric_with_its_validation():
    found = panels(plot_history(VALUES, ["loss", "lr"]))
    assert found == {
        "loss": {
            "training": [[1, 3.0], [2, 2.0], [3, 1.5], [4, 1.0]],
            "validation": [[1, 4.0], [2, 3.0], [3, 2.5], [4, 2.0]],
        },
        "lr": {"training": [[1, 0.1], [2, 0.1], [3, 0.01], [4, 0.01]]},
    }


def test_all_metrics_unless_told():
    figure = plot_history(VALUES)
    assert list(panels(figure)) == ["loss", "acc", "lr"]
    assert [axes.get_legend() is not None for axes in figure.axes] == [True, False, False]
    assert list(panels(plot_history(VALUES, "acc"))) == ["acc"]
    many = {f"m{index}": [1.0] for index in range(7)}
    assert list(panels(plot_history(many))) == list(many)


def test_what_fit_returns_counts_its_epochs():
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    x, y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")
    history = model.fit(x, y, epochs=5, initial_epoch=2, verbose=0, validation_data=(x, y))
    found = panels(plot_history(history))["loss"]
    assert [epoch for epoch, _ in found["training"]] == [3, 4, 5]
    assert [value for _, value in found["training"]] == history.history["loss"]
    assert [value for _, value in found["validation"]] == history.history["val_loss"]


@pytest.mark.parametrize("frequency", [2, [2, 4], (4, 2, 9)])
def test_validation_of_some_epochs(frequency):
    found = panels(plot_history({"loss": [4, 3, 2, 1], "val_loss": [5, 6]}, validation_freq=frequency))["loss"]
    assert found["validation"] == [[2, 5], [4, 6]]


def test_to_file(tmp_path):
    plot_history(VALUES, to_file=tmp_path / "curves.svg")
    assert "</svg>" in (tmp_path / "curves.svg").read_text()


@pytest.mark.parametrize(
    ("history", "options", "expected"),
    [
        ({}, {}, "plot_history: the history has no epochs; fit the model first."),
        (History(), {}, "plot_history: the history has no epochs; fit the model first."),
        (
            VALUES,
            {"metrics": ["loss", "val_loss"]},
            (
                "plot_history: metrics must be among loss, acc, lr (each is drawn with its val_); "
                "found ['loss', 'val_loss']."
            ),
        ),
        (
            VALUES,
            {"metrics": []},
            "plot_history: metrics must be among loss, acc, lr (each is drawn with its val_); found [].",
        ),
        (
            {"loss": [4, 3, 2], "val_loss": [5]},
            {},
            (
                "plot_history: 'val_loss' has 1 values for 3 of 3 epochs, so that nothing says where they belong. Give "
                "the validation_freq that fit was given."
            ),
        ),
        (
            {"loss": [4, 3, 2], "lr": [5]},
            {},
            "plot_history: 'lr' has 1 values for 3 of 3 epochs, so that nothing says where they belong.",
        ),
        (
            VALUES,
            {"validation_freq": 0},
            "plot_history: validation_freq must be a number of epochs, 1 or more, or a list of epochs; found 0.",
        ),
    ],
)
def test_bad_values(history, options, expected):
    with pytest.raises(ValueError, match="plot_history") as error:
        plot_history(history, **options)
    assert str(error.value) == expected
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([1, 2], "plot_history: history must be what fit returned, or a dictionary; found list."),
        ({"loss": 0.5}, "plot_history: 'loss' must be a list of numbers, one an epoch; found 0.5."),
        ({"loss": ["a"]}, "plot_history: 'loss' must be a list of numbers, one an epoch; found ['a']."),
    ],
)
def test_what_is_no_history(history, expected):
    with pytest.raises(TypeError) as error:
        plot_history(history)
    assert str(error.value) == expected


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError) as error:
        plot_history(VALUES)
    assert str(error.value) == (
        "plot_history: the package matplotlib is missing. Install it with `pip install torchkeras-graph[plot]`."
    )


def test_a_history_tells_its_last_values():
    history = History()
    assert repr(history) == "<History: 0 epochs>"
    history.on_train_begin()
    history.on_epoch_end(0, Logs(loss=0.123456789, acc=1))
    assert repr(history) == "<History: 1 epoch: loss=0.123457, acc=1>"
    history.on_epoch_end(1, {"loss": np.float32(0.5), "per_class": [1, 2]})
    assert repr(history) == "<History: 2 epochs: loss=0.5, acc=1>"


def test_a_notebook_shows_a_figure_once(monkeypatch):
    shown: list[bytes] = []
    shell = SimpleNamespace(config={"IPKernelApp": {}}, execution_count=7)
    ipython: Any = ModuleType("IPython")
    display: Any = ModuleType("IPython.display")
    ipython.get_ipython, ipython.version_info = lambda: shell, (9, 0)  # matplotlib asks for both
    display.Image, display.display = bytes, shown.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    figure = plot_history(VALUES)
    assert len(shown) == 1
    assert shown[0].startswith(b"\x89PNG")
    assert plt.get_fignums() == []  # what is open is shown at the end of the cell
    figure._ipython_display_()  # as the value of the cell
    assert len(shown) == 1
    shell.execution_count = 8
    figure._ipython_display_()  # as that of a later one
    assert shown == [shown[0]] * 2
