"""Cells: SimpleRNNCell, GRUCell, LSTMCell, StackedRNNCells, and what RNN asks of any cell."""

import inspect
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Annotated, Any, ClassVar

from torch import Tensor, nn

from torchkeras import registry
from torchkeras.engine.layer import Layer
from torchkeras.engine.options import NEWER, Rule, rule
from torchkeras.engine.symbol import Shape
from torchkeras.engine.weight import Variable
from torchkeras.layers.recurrence import Project, States, StepFunction, Stepped, first_shape
from torchkeras.layers.steps import GRUStep, LSTMStep, SimpleRNNStep


class Cell(Layer, abstract=True):
    """One step as a layer, `cell.call(x, states) -> (output, [states])`: what RNN walks with.

    Shape: (batch, features) and the states -> the output and the new states, (batch, units) each.
    """

    activity_regularizer: ClassVar[None] = None  # a layer's, which sees whole outputs

    submodule: ClassVar[str]
    begin: Any
    step_weights: Any

    def make(self, input_shape: Any) -> None:
        self.add_module(self.submodule, self.step_weights(self.known(first_shape(input_shape), -1)))

    def call(
        self, inputs: Tensor, states: Sequence[Tensor], constants: Sequence[Tensor] = (), training: bool | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        training = self.training if training is None else training
        project, step = self.begin(inputs.shape, tuple(states), constants, training)
        output, found = step(project(inputs), tuple(states))
        return output, list(found)


class SimpleRNNCell(Cell, SimpleRNNStep):
    """One step of `SimpleRNN`, for RNN.

    Shape: (batch, features), h (batch, units) -> the output h', and [h'].
    """


class GRUCell(Cell, GRUStep):
    """One step of `GRU`, for RNN.

    Shape: (batch, features), h (batch, units) -> the output h', and [h'].
    """


class LSTMCell(Cell, LSTMStep):
    """One step of `LSTM`, for RNN.

    Shape: (batch, features), h and c (batch, units) -> the output h', and [h', c'].
    """


# --- any cell --------------------------------------------------------------------------------------------------------


def _read_cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = registry.layers.from_config(value)
    if not hasattr(value, "call"):
        raise ValueError(f"must have a `call` method; found {value!r}.")
    if not hasattr(value, "state_size"):
        raise ValueError(
            f"must have an attribute `state_size` (an integer, or one for each of its states); found {value!r}."
        )
    return value


def _read_cells(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f"must be a list of cells; found {value!r}.")
    return [_read_cell(cell) for cell in value]


CellOption = Annotated[
    Any,
    Rule(
        lambda v: StackedRNNCells(v) if isinstance(v, (list, tuple)) else _read_cell(v),
        registry.layers.serialize,
        shown=False,
    ),
]
CellsOption = Annotated[
    Any, Rule(_read_cells, lambda cells: [registry.layers.serialize(cell) for cell in cells], shown=False)
]


def state_shapes(cell: Any) -> list[Shape]:
    """The shape of each state of a cell, without the batch axis."""
    sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
    return [tuple(size) if isinstance(size, (list, tuple)) else (int(size),) for size in sizes]


def output_shape(cell: Any) -> Shape:
    """The shape of a cell's output, without the batch axis: that of the first state unless it says `output_size`."""
    size = getattr(cell, "output_size", None)
    return state_shapes(cell)[0] if size is None else tuple(size) if isinstance(size, (list, tuple)) else (int(size),)


def takes(cell: Any, argument: str) -> bool:
    """Whether the call of a cell takes an argument."""
    if isinstance(cell, StackedRNNCells):
        return any(takes(inner, argument) for inner in cell.cells)
    if isinstance(cell, Cell) and type(cell).call is Cell.call:
        return argument == "training"
    return argument in (cell._call_parameters if isinstance(cell, Layer) else inspect.signature(cell.call).parameters)


def begin_cell(
    cell: Any, input_shape: Shape, states: States, constants: Sequence[Tensor], training: bool
) -> tuple[Project, StepFunction]:
    """`begin` of any cell, also of one that has only the `call` and the `state_size` that Keras asks for."""
    if isinstance(cell, Cell) and type(cell).call is Cell.call:
        return cell.begin(input_shape, states, constants, training)
    compute = cell.run if isinstance(cell, Layer) else cell.call
    arguments: dict[str, Any] = {"training": training} if takes(cell, "training") else {}
    if constants and takes(cell, "constants"):
        arguments["constants"] = list(constants)

    def step(inputs: Tensor, states: States) -> Stepped:
        output, found = compute(inputs, list(states), **arguments)
        return output, tuple(found)

    return lambda inputs: inputs, step


def build_cell(cell: Any, input_shapes: list[Shape]) -> None:
    """Build a cell for one step's input, followed by the constants when there are some."""
    if isinstance(cell, Layer):
        cell._build(input_shapes)


class StackedRNNCells(Cell):
    """`cells` as one cell, each taking the output of the one before.

    The states are those of the first cell, then of the second, and so on (from the last to the first with
    `reverse_state_order`). Constants go to the cells that take them.

    Shape: (batch, features) and the states -> the last cell's output, and the new states.
    """

    _declares_options = True

    cells: CellsOption
    reverse_state_order: Annotated[bool, rule("must be True or False", lambda v: v in (0, 1), bool), NEWER] = False

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self._layers = nn.ModuleList(cell for cell in self.cells if isinstance(cell, nn.Module))

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        cells = [registry.layers.from_config(cell, custom_objects) for cell in config["cells"]]
        return cls(**{**config, "cells": cells})

    @property
    def state_size(self) -> tuple[Any, ...]:
        """The sizes of all states."""
        shapes = chain.from_iterable(state_shapes(cell) for cell in self._in_state_order)
        return tuple(shape[0] if len(shape) == 1 else shape for shape in shapes)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        shape = output_shape(self.cells[-1])
        return shape[0] if len(shape) == 1 else shape

    @property
    def _in_state_order(self) -> list[Any]:
        return self.cells[::-1] if self.reverse_state_order else self.cells

    def _split(self, states: States) -> list[States]:
        """The states of each cell."""
        ends = accumulate(len(state_shapes(cell)) for cell in self._in_state_order)
        parts = [states[begin:end] for begin, end in pairwise((0, *ends))]
        return parts[::-1] if self.reverse_state_order else parts

    def build(self, input_shape: Any) -> None:
        shape, *constants = [first_shape(input_shape), *(input_shape[1:] if isinstance(input_shape, list) else ())]
        for cell in self.cells:
            build_cell(cell, [shape, *(constants if takes(cell, "constants") else ())])
            shape = (shape[0], *output_shape(cell))
        self.built = True

    def begin(
        self, input_shape: Shape, states: States, constants: Sequence[Tensor], training: bool
    ) -> tuple[Project, StepFunction]:
        """The functions of one walk: the first cell's `project`, and the steps of all cells."""
        begun = []
        for cell, own in zip(self.cells, self._split(states), strict=True):
            begun.append(begin_cell(cell, input_shape, own, constants, training))
            input_shape = (input_shape[0], *output_shape(cell))

        def step(inputs: Any, states: States) -> Stepped:
            found = []
            for index, ((project, own_step), own) in enumerate(zip(begun, self._split(states), strict=True)):
                inputs, new = own_step(project(inputs) if index else inputs, own)
                found.append(new)
            return inputs, tuple(chain.from_iterable(found[::-1] if self.reverse_state_order else found))

        return begun[0][0], step

    def _ordered_weights(self) -> list[Variable]:
        return [variable for layer in self._layers for variable in layer._ordered_weights()]  # type: ignore[operator]
