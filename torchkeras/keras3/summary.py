"""The table that `summary` prints in the form of Keras 3: box lines, wrapped columns and sizes in bytes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, prod
from typing import Any

import torch

from torchkeras.engine.facts import is_own
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.trace import Graph, graph_if_any
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.keras3.operation_names import class_of
from torchkeras.models import Model, Sequential
from torchkeras.visualization.summary import CHAIN, GRAPH, in_range, is_chain, printer, shape_of

COLUMN_ENDS = {CHAIN: (0.45, 0.80, 1.0), GRAPH: (0.3, 0.56, 0.74, 1.0)}  # as shares of the width
TABLE_WIDTHS = {CHAIN: 88, GRAPH: 108}
TRAINABLE = "Trainable"
TRAINABLE_WIDTH = 12
ALIGNED = {"Param #": str.rjust, TRAINABLE: str.center}  # the others are aligned on the left
UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
LEAST_WIDTH = 3  # of a column with a space on both sides


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Callable[[str], Any] | None = None,
    expand_nested: bool = False,
    show_trainable: bool = False,
    layer_range: Any = None,
) -> None:
    """Print the layers of a model as a table, then how many numbers its weights and its optimizer hold.

    Of several processes the main one prints, unless `print_fn` is given.
    """
    say = printer(line_length, positions, print_fn, show_trainable, expand_nested)
    contents = Contents(_graph_of_calls(model), bool(expand_nested), bool(show_trainable))
    widths = _widths(contents.titles, line_length, positions)
    rows = [row for layer in in_range(model.operations, layer_range) for row in contents.rows(layer)]
    for line in (f'Model: "{model.name}"', *_table(contents.titles, rows, widths), *_totals(model)):
        say(line)


def _graph_of_calls(model: Any) -> Graph | None:
    """The graph whose calls have a column of their own: that of a functional model with a branch."""
    graph = graph_if_any(model)
    return None if graph is None or isinstance(model, Sequential) or is_chain(graph) else graph


@dataclass(frozen=True)
class Contents:
    """What stands in the table. `graph`: that of the column of connections, None without one."""

    graph: Graph | None
    expand_nested: bool
    show_trainable: bool

    @property
    def titles(self) -> tuple[str, ...]:
        titles = CHAIN if self.graph is None else GRAPH
        return (*titles, TRAINABLE) if self.show_trainable else titles

    def rows(self, layer: Any, level: int = 0) -> Iterator[list[str]]:
        """The row of a layer, and those of the layers inside where they are asked for."""
        prefix = "   " * level + "└ " if level else ""
        kind = class_of(layer.function) if isinstance(layer, Operation) else type(layer).__name__
        row = [f"{prefix}{layer.name} ({kind})", _shape(layer), _count(layer)]
        if self.graph is not None:
            row.append(_connections(layer, self.graph))
        if self.show_trainable:
            row.append(_trains(layer))
        yield row
        inside = getattr(layer, "operations", None) or getattr(layer, "layers", None) if self.expand_nested else None
        for each in inside or ():
            yield from self.rows(each, level + 1)


def _shape(layer: Any) -> str:
    """The output shape, of a call in a graph or for the shape that the layer was built for; "?" where neither tells."""
    found = shape_of(layer)
    if found != "multiple":
        return found
    if layer._call_nodes or not _tells_shape(layer):
        return "?"
    (first, *others), further = layer._shapes_built_for
    shape = layer.compute_output_shape(first if not (others or further) else [first, *others, *further])
    return f"({', '.join(map(str, shape))})"


def _tells_shape(layer: Any) -> bool:
    """Whether a layer was built for shapes and finds that of its output by them, without code of the user's."""
    if getattr(layer, "_shapes_built_for", None) is None or not layer.weights:
        return False
    return is_own(type(layer)) or overrides(layer, "compute_output_shape")


def _count(layer: Any) -> str:
    return f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"


def _trains(layer: Any) -> str:
    if not layer.weights:
        return "-"
    return "Y" if layer.trainable else "N"


def _connections(layer: Any, graph: Graph) -> str:
    """What a layer takes, call by call: `name[call][output]`."""
    sources = [tensor.keras_history for node in graph.nodes_of(layer) for tensor in node.input_tensors]
    return ", ".join(f"{each.layer.name}[{_call_of(each)}][{each.tensor_index}]" for each in sources) or "-"


def _call_of(source: Any) -> int:
    """The number of a call. Of a graph's own node, from its making, Keras 3 does not count any."""
    own = isinstance(source.layer, Model) and graph_if_any(source.layer) is not None
    return source.node_index - own


def _widths(titles: tuple[str, ...], line_length: int | None, positions: Any) -> list[int]:
    """The width of each column, with a space on both sides, in a table that is `line_length` wide."""
    own = titles[:-1] if TRAINABLE in titles else titles
    added = TRAINABLE_WIDTH if TRAINABLE in titles else 0
    length = line_length or min(TABLE_WIDTHS[own] + added, shutil.get_terminal_size().columns - 4)
    ends = list(positions or COLUMN_ENDS[own])
    if len(ends) != len(own):
        raise ValueError(f"summary: positions must hold {len(own)} column ends for this model; found {positions!r}.")
    if ends[-1] > 1:
        ends = [end / length for end in ends]
    if added:
        ends = [*(end * 0.90 for end in ends), 1.0]
    at = pairwise([0, *(int(end * length) for end in ends)])
    widths = _fitted([end - start + 2 for start, end in at], length - len(titles) - 1)
    if min(widths) < LEAST_WIDTH:
        raise ValueError(
            f"summary: each column must be at least {LEAST_WIDTH} wide; found the widths {widths}. Give a larger "
            "line_length or other positions."
        )
    return widths


def _fitted(widths: list[int], total: int) -> list[int]:
    """Widths that add up to `total`: all columns lose alike, and gain by their widths."""
    surplus, fitted = sum(widths) - total, []
    for number, width in enumerate(widths):
        if surplus > 0:
            change = min(width, round(surplus / (len(widths) - number)))
        else:
            change = -ceil(-surplus * width / sum(widths[number:]))
        fitted.append(width - change)
        surplus -= change
    return fitted


def _table(titles: tuple[str, ...], rows: list[list[str]], widths: list[int]) -> Iterator[str]:
    """The lines of the table: heavy around the titles, light around the rows."""

    def rule(left: str, line: str, middle: str, right: str) -> str:
        return left + middle.join(line * width for width in widths) + right

    yield rule("┏", "━", "┳", "┓")
    yield from _lines(titles, titles, widths, "┃")
    yield rule("┡", "━", "╇", "┩")
    for number, row in enumerate(rows):
        if number:
            yield rule("├", "─", "┼", "┤")
        yield from _lines(titles, row, widths, "│")
    yield rule("└", "─", "┴", "┘")


def _lines(titles: Any, row: Any, widths: list[int], border: str) -> Iterator[str]:
    """A row as lines: each text is wrapped in its column."""
    cells = [_wrapped(text, width - 2) for text, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    if row is titles:  # they stand at the bottom of their cells
        cells = [[""] * (height - len(cell)) + cell for cell in cells]
    for number in range(height):
        texts = [cell[number] if number < len(cell) else "" for cell in cells]
        aligned = (
            ALIGNED.get(title, str.ljust)(text, width - 2)
            for title, text, width in zip(titles, texts, widths, strict=True)
        )
        yield border + border.join(f" {text} " for text in aligned) + border


def _wrapped(text: str, width: int) -> list[str]:
    """A text as lines of at most `width` characters; what of a longer word does not fit stands as an ellipsis."""
    lines = [""]
    for word in re.findall(r"\s*\S+\s*", text):
        if not lines[-1] or len(lines[-1]) + len(word.rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    stripped = [line.rstrip() for line in lines]
    return [line if len(line) <= width else line[: width - 1] + "…" for line in stripped]


def _totals(model: Any) -> list[str]:
    """How many numbers the weights and the optimizer's variables hold, and their sizes."""
    kinds = {"Trainable": model.trainable_weights, "Non-trainable": model.non_trainable_weights}
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and optimizer.built:
        kinds["Optimizer"] = optimizer.variables
    lines = {"Total": [each for variables in kinds.values() for each in variables], **kinds}
    return [f" {kind} params: {_numbers(variables)}" for kind, variables in lines.items()]


def _numbers(variables: Any) -> str:
    counts = {each: prod(each.shape) for each in variables}
    return f"{sum(counts.values()):,} ({_size(sum(count * _item_size(each) for each, count in counts.items()))})"


def _item_size(variable: Any) -> int:
    return getattr(torch, str(variable.dtype).removeprefix("torch.")).itemsize


def _size(number: float) -> str:
    """A number of bytes in the unit that leaves less than 1024."""
    for unit in UNITS[:-1]:
        if number < 1024:
            return f"{number:.2f} {unit}"
        number /= 1024
    return f"{number:.2f} {UNITS[-1]}"
