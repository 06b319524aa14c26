"""The printed table of a model, and its rows."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from torchkeras.base.rules import FLAG_OR_DIGIT, FUNCTION, check, integer, is_number, optional, read, rule
from torchkeras.engine.graph.trace import Graph, graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import is_frozen_layer, sublayers
from torchkeras.world.processes import is_main

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Row = list[str]
CHAIN = ("Layer (type)", "Output Shape", "Param #")
GRAPH = (*CHAIN, "Connected to")
TABLE_WIDTHS = {CHAIN: 65, GRAPH: 98}
COLUMN_ENDS = {CHAIN: (0.45, 0.85, 1.0), GRAPH: (0.33, 0.55, 0.67, 1.0)}  # as shares of the width
WIDTHS = {"Trainable": 11, "FLOPs": 20}  # of the columns that are asked for, each with a space before it
LEAST_WIDTH = 30  # that is left to the other columns
LENGTH = optional(integer(1))
POSITIONS = optional(
    rule("must be a list of numbers", lambda v: isinstance(v, (list, tuple)) and all(map(is_number, v)))
)


@dataclass(frozen=True)
class Entry:
    """A layer of the table: the graph that it stands in, and how many models that is inside the printed one."""

    layer: Layer
    graph: Graph
    level: int


def print_summary(
    model: Model,
    graph: Graph,
    line_length: int | None = None,
    positions: Any = None,
    print_fn: Callable[[str], Any] | None = None,
    show_trainable: bool = False,
    expand_nested: bool = False,
    flops: bool | int = False,
    layer_range: Any = None,
) -> None:
    """Print name and type, output shape and parameters of every layer, then the totals of the whole model.

    Of several processes the main one prints, unless `print_fn` is given.
    """
    say = printer(line_length, positions, print_fn, show_trainable, expand_nested)
    entries: list[Entry] = []
    for layer in in_range(model.layers, layer_range):
        entries += _with_nested(Entry(layer, graph, 0), expand_nested)
    counts = _counts_of_models(entries) if expand_nested else {}
    chain = all(map(is_chain, {graph, *(entry.graph for entry in entries)}))
    titles = CHAIN if chain else GRAPH
    counted = None if flops is False else _count_flops(model, flops)
    extra = _extra_columns(show_trainable, counted)
    ends, width = _columns(titles, list(extra), line_length, positions)
    others = _rows_of_others(model) if layer_range is None else []
    blocks = list(_blocks(entries, others, chain, counts, list(extra.values())))
    below = totals(model)
    if counted is not None:
        below.append(f"FLOPs: {counted}")
    for line in (*_table([*titles, *extra], blocks, ends, width), *below, "_" * width):
        say(line)


def printer(
    line_length: Any, positions: Any, print_fn: Any, show_trainable: Any, expand_nested: Any
) -> Callable[[str], Any]:
    """What prints a line: `print_fn`, or `print` in the main one of several processes.

    Raises ValueError for an option of `summary` with a bad value.
    """
    read("summary", "line_length", LENGTH, line_length)
    read("summary", "positions", POSITIONS, positions)
    read("summary", "print_fn", FUNCTION, print_fn)
    check("summary", FLAG_OR_DIGIT, show_trainable=show_trainable, expand_nested=expand_nested)
    return print_fn or (print if is_main() else _print_nothing)


def _table(titles: list[str], blocks: list[list[Row]], ends: list[int], width: int) -> Iterator[str]:
    """The lines of the table: its titles, and the rows of each block with a line below."""
    yield "_" * width
    yield _line(titles, ends)
    yield "=" * width
    for number, rows in enumerate(blocks, 1):
        for row in rows:
            yield _line(row, ends)
        yield ("=" if number == len(blocks) else "_") * width


def _print_nothing(line: str) -> None:
    pass


def _count_flops(model: Model, flops: Any) -> Any:
    """The operations of each layer. Imported on demand: it would add a hundredth to `import torchkeras`."""
    return importlib.import_module("torchkeras.visualization.flops").count(model, flops)


def _extra_columns(show_trainable: bool, counted: Any) -> dict[str, Callable[[Layer], str]]:
    """The columns that are asked for: the title, and what gives the text for a layer. `counted`: FLOPs, or None."""
    extra: dict[str, Callable[[Layer], str]] = {}
    if show_trainable:
        extra["Trainable"] = trained
    if counted is not None:
        extra["FLOPs"] = lambda layer: str(counted.by_layer.get(layer, 0))
    return extra


def _blocks(
    entries: list[Entry],
    others: list[Row],
    chain: bool,
    counts: dict[Layer, int],
    extra: list[Callable[[Layer], str]],
) -> Iterator[list[Row]]:
    """The rows between two lines: those of each layer, its first row with the `extra` columns, then each other row."""
    for entry in entries:
        added = [text(entry.layer) for text in extra]
        first, *further = _rows(entry, chain, counts)
        yield [[*first, *added], *further]
    for row in others:
        yield [row]


def _rows_of_others(model: Model) -> list[Row]:
    """A row for each torch module and parameter that is an attribute of the model itself, and no layer."""
    sizes: dict[str, int] = {}
    for variable in own_variables(model):
        name = variable.paths[0].partition(".")[0]
        sizes[name] = sizes.get(name, 0) + prod(variable.shape)
    return [[f"{name} ({type(getattr(model, name)).__name__})", "-", str(size)] for name, size in sizes.items()]


def totals(model: Layer) -> list[str]:
    """How many scalars the weights have, and how many of them train."""
    trainable = sum(prod(variable.shape) for variable in model.trainable_weights)
    other = sum(prod(variable.shape) for variable in model.non_trainable_weights)
    return [
        f"Total params: {trainable + other:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {other:,}",
    ]


def is_chain(graph: Graph) -> bool:
    """Whether the graph is one layer after another, each called once, so that connections need no column."""
    by_depth: dict[int, int] = {}
    for node in graph.nodes:
        by_depth[graph.depths[node]] = by_depth.get(graph.depths[node], 0) + 1
        if len(node.input_tensors) > 1 or len(graph.nodes_of(node.layer)) > 1:
            return False
    return all(count == 1 for count in by_depth.values())


def nested_model(layer: Layer) -> Any:
    """The model that a layer is, or that it applies as `TimeDistributed(model)` does; None when it is neither."""
    for found in (layer, getattr(layer, "layer", None)):
        if isinstance(found, Layer) and getattr(found, "_graph", None) is not None:
            return found
    return None


def in_range(layers: list[Layer], layer_range: Any) -> list[Layer]:
    """The layers from the first that `layer_range[0]` names to the last that `layer_range[1]` names, both included.

    Each names the layer of that name; without one, all whose names it matches from their beginning, as a regular
    expression. Raises ValueError for another form, or when no layer fits.
    """
    if layer_range is None:
        return layers
    ends = list(layer_range) if isinstance(layer_range, (list, tuple)) else []
    if len(ends) != 2 or not all(isinstance(name, str) for name in ends):
        raise ValueError(f"summary: layer_range must hold two names of layers; found {layer_range!r}.")
    first, last = (_matches(layers, name) for name in ends)
    if min(first) > max(last):
        first, last = last, first
    return layers[min(first) : max(last) + 1]


def _matches(layers: list[Layer], name: str) -> list[int]:
    names = [layer.name for layer in layers]
    try:
        found = [names.index(name)] if name in names else [k for k, own in enumerate(names) if re.match(name, own)]
    except re.error as error:
        raise ValueError(f"summary: layer_range: {name!r} is no name of a layer and no pattern: {error}.") from error
    if not found:
        raise ValueError(f"summary: layer_range: no layer is called {name!r}; the layers are {', '.join(names)}.")
    return found


def _with_nested(entry: Entry, expand: bool) -> Iterator[Entry]:
    yield entry
    inner = nested_model(entry.layer) if expand else None
    if inner is not None:
        for layer in inner.layers:
            yield from _with_nested(Entry(layer, graph_of(inner), entry.level + 1), expand)


def trained(layer: Layer) -> str:
    """Whether a layer trains, alone and in the model that it is part of: "Y", "N", or "-" for one without weights.

    "some" if some of its weights are frozen.
    """
    if not layer.weights:
        return "-"
    if is_frozen_layer(layer):
        return "N"
    trains = [variable.trains for variable in layer.weights if variable.made_to_train]
    if all(trains):
        return "Y"
    return "some" if any(trains) else "N"


def _columns(
    titles: tuple[str, ...], extra: list[str], line_length: int | None, positions: Any
) -> tuple[list[int], int]:
    """Where each column ends, and the width of the table."""
    added = sum(WIDTHS[title] for title in extra)
    width = line_length or TABLE_WIDTHS[titles] + added
    if extra and width - added < LEAST_WIDTH:
        raise ValueError(
            f"summary: line_length must be at least {LEAST_WIDTH + added} with the columns {' and '.join(extra)}; "
            f"found {line_length!r}."
        )
    if positions:
        return _ends_at(positions, len(titles) + len(extra), width), width
    ends = [int((width - added) * end) for end in COLUMN_ENDS[titles]]
    for title in extra:
        ends.append(ends[-1] + WIDTHS[title])
    return ends, width


def _ends_at(positions: Any, columns: int, width: int) -> list[int]:
    """The ends that `positions` gives: characters, or shares of the width where the last is at most 1."""
    if len(positions) != columns:
        raise ValueError(f"summary: positions must hold {columns} column ends for this model; found {positions!r}.")
    if positions[-1] <= 1:
        return [int(width * end) for end in positions]
    return [int(end) for end in positions]


def _counts_of_models(entries: list[Entry]) -> dict[Layer, int]:
    """How many scalars the weights of each model in the table have."""
    counts: dict[Layer, int] = {}
    for layer in dict.fromkeys(entry.layer for entry in entries if entry.level == 0):
        _count_weights(layer, counts)
    return counts


def _count_weights(layer: Layer, counts: dict[Layer, int]) -> tuple[dict[Any, int], int]:
    """The sizes of the distinct weights of a layer, and their sum; the sums of models inside go to `counts`.

    The larger of two dicts takes the smaller one: models in models are not gone through at every level.
    """
    held = {variable.identity: prod(variable.shape) for variable in own_variables(layer)}
    total = sum(held.values())
    for inside in sublayers(layer):
        others, sum_of_others = _count_weights(inside, counts)
        if len(others) > len(held):
            held, others, total = others, held, sum_of_others
        for identity, size in others.items():
            if identity not in held:
                held[identity] = size
                total += size
    if isinstance(layer, Layer) and nested_model(layer) is not None:
        counts[layer] = total
    return held, total


def _rows(entry: Entry, chain: bool, counts: dict[Layer, int]) -> list[Row]:
    layer = entry.layer
    count = counts[layer] if layer in counts else layer.count_params()
    row = ["  " * entry.level + f"{layer.name} ({type(layer).__name__})", shape_of(layer), str(count)]
    if chain:
        return [row]
    first, *further = sources(layer, entry.graph) or [""]
    return [[*row, first], *(["", "", "", source] for source in further)]


def shape_of(layer: Layer) -> str:
    """The output shape, or "multiple" when calls differ in it."""
    try:
        return str(layer.output_shape)
    except AttributeError:
        return "multiple"


def sources(layer: Layer, graph: Graph) -> list[str]:
    """What a layer is connected to, call by call: `name[call][output]`."""
    return [
        f"{history.layer.name}[{history.node_index}][{history.tensor_index}]"
        for node in graph.nodes_of(layer)
        for history in (tensor.keras_history for tensor in node.input_tensors)
    ]


def _line(fields: Row, ends: list[int]) -> str:
    """A line of the table; columns without a field are empty."""
    line = ""
    filled = [*fields, *[""] * (len(ends) - len(fields))]
    for index, (field, end) in enumerate(zip(filled, ends, strict=True)):
        line = (line[:-1] + " " if index else "") + field
        line = line[:end] + " " * (end - len(line))
    return line
