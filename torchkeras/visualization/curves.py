"""`plot_history`: losses and metrics, epoch by epoch, as curves. Needs the package matplotlib."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from numbers import Real
from typing import Any

from torchkeras.base.extras import extra
from torchkeras.base.rules import NAMES, is_integer, known_options, read, read_path

VALIDATION = "val_"
ACROSS = 2  # panels side by side; more would be too small to read on a page


@known_options
def plot_history(
    history: Any,
    metrics: str | Iterable[str] | None = None,
    validation_freq: int | Iterable[int] = 1,
    to_file: str | os.PathLike[str] | None = None,
) -> Any:
    """Draw a panel for each metric: its values by epoch, counted from 1, and those of the validation.

    A notebook shows the figure at once. Elsewhere close it with `matplotlib.pyplot.close(figure)` when you no longer
    need it.

    Arguments:
        history (History or dict): what `fit` returned, or a list of numbers for each name.
        metrics (name, names or None, default None): what to draw, without "val_"; None draws all.
        validation_freq (integer or list of epochs, default 1): the option that `fit` was called with.
        to_file (path or None, default None): a file to write the picture to as well; its suffix determines the format.

    Returns:
        The matplotlib figure.

    Errors:
        ImportError: the package matplotlib is missing: `pip install torchkeras-graph[plot]`.
        TypeError: `history` is something else, or `to_file` no path.
        ValueError: an unknown metric, an empty history, or validation values that do not fit the epochs.

    Example:
        >>> figure = plot_history({"loss": [0.9, 0.4], "val_loss": [1.0, 0.6]})
        >>> [axes.get_title() for axes in figure.axes]
        ['loss']
    """
    if to_file is not None and not hasattr(to_file, "write"):
        read_path("plot_history", "to_file", to_file)
    values, epochs = _values_by_name(history)
    names = _metric_names(values, metrics)
    at = {name: _epochs_of(name, values, epochs, validation_freq) for name in _drawn(names, values)}
    pyplot = extra("matplotlib.pyplot", "plot_history")
    across = min(len(names), ACROSS)
    down = ceil(len(names) / across)
    figure, axes = pyplot.subplots(down, across, figsize=(5 * across, 3.5 * down), squeeze=False, layout="tight")
    for panel, name in zip(axes.flat, names, strict=False):
        _draw(panel, name, values, at)
    for panel in axes.flat[len(names) :]:
        panel.remove()
    figure.draw_without_rendering()  # the layout settles at the second drawing
    if to_file is not None:
        figure.savefig(to_file)
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if "IPKernelApp" in getattr(shell, "config", {}):
        _show(figure)
        pyplot.close(figure)  # which a notebook would show again at the end of the cell, and as the cell's value
        figure._ipython_display_ = partial(_show_in_later_cell, figure, shell, shell.execution_count)
    return figure


def _show(figure: Any) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    notebook = importlib.import_module("IPython.display")
    notebook.display(notebook.Image(picture.getvalue()))


def _show_in_later_cell(figure: Any, shell: Any, cell: int) -> None:
    if shell.execution_count != cell:
        _show(figure)


def _draw(panel: Any, name: str, values: Mapping[str, Any], at: Mapping[str, list[int]]) -> None:
    for curve, label, style in ((name, "training", "-"), (VALIDATION + name, "validation", "--")):
        if curve in values:
            # A dot shows an epoch that no line can show: a single one, or one between two NaN.
            panel.plot(at[curve], values[curve], style, label=label, marker=".")
    panel.set_xlabel("epoch")
    panel.set_title(name)
    panel.xaxis.get_major_locator().set_params(integer=True)
    if VALIDATION + name in values:
        panel.legend()


def _values_by_name(history: Any) -> tuple[Mapping[str, Any], list[int]]:
    """The values by name, and the epochs counted from 1."""
    values = getattr(history, "history", history)
    if not isinstance(values, Mapping):
        raise TypeError(
            f"plot_history: history must be what fit returned, or a dictionary; found {type(history).__name__}."
        )
    for name, numbers in values.items():
        if not isinstance(numbers, Sequence) or not all(isinstance(number, Real) for number in numbers):
            raise TypeError(f"plot_history: {name!r} must be a list of numbers, one an epoch; found {numbers!r}.")
    count = max((len(numbers) for numbers in values.values()), default=0)
    if count == 0:
        raise ValueError("plot_history: the history has no epochs; fit the model first.")
    epochs = getattr(history, "epoch", None)
    return values, [epoch + 1 for epoch in epochs] if epochs else list(range(1, count + 1))


def _metric_names(values: Mapping[str, Any], metrics: str | Iterable[str] | None) -> list[str]:
    known = list(dict.fromkeys(name.removeprefix(VALIDATION) for name in values))
    if metrics is None:
        return known
    names = [metrics] if isinstance(metrics, str) else read("plot_history", "metrics", NAMES, metrics)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(
            f"plot_history: metrics must be among {', '.join(known)} (each is drawn with its {VALIDATION}); "
            f"found {metrics!r}."
        )
    return names


def _drawn(names: list[str], values: Mapping[str, Any]) -> list[str]:
    return [curve for name in names for curve in (name, VALIDATION + name) if curve in values]


def _epochs_of(name: str, values: Mapping[str, Any], epochs: list[int], frequency: Any) -> list[int]:
    """The epochs at which a curve has its values."""
    found = epochs
    if name.startswith(VALIDATION):
        if is_integer(frequency) and frequency > 0:
            found = [epoch for epoch in epochs if epoch % frequency == 0]
        elif isinstance(frequency, Iterable) and not isinstance(frequency, str):
            validated = set(frequency)
            found = [epoch for epoch in epochs if epoch in validated]
        else:
            raise ValueError(
                f"plot_history: validation_freq must be a number of epochs, 1 or more, or a list of epochs; "
                f"found {frequency!r}."
            )
    if len(values[name]) != len(found):
        hint = " Give the validation_freq that fit was given." if name.startswith(VALIDATION) else ""
        raise ValueError(
            f"plot_history: {name!r} has {len(values[name])} values for {len(found)} of {len(epochs)} epochs, so that "
            f"nothing says where they belong.{hint}"
        )
    return found
