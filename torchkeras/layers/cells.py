"""Cells: SimpleRNNCell, GRUCell, LSTMCell, StackedRNNCells, and what RNN needs to know of any cell."""

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Annotated, Any, ClassVar

from torch import Tensor, nn

from torchkeras import registry
from torchkeras.base.extensions import replaceable
from torchkeras.base.rules import Rule
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_in_mode, call_module, in_its_mode
from torchkeras.engine.options import NEWER
from torchkeras.engine.symbolic.tensor import Shape, as_list
from torchkeras.engine.weights.weight import Variable
from torchkeras.engine.weights.weight_lists import ordered_weights
from torchkeras.layers.recurrence import Constants, States, Stepped, Walk, shapes_of, zero_states
from torchkeras.layers.steps import GRUStep, LSTMStep, SimpleRNNStep


@replaceable("get_initial_state")
class Cell(Layer, abstract=True):
    """One step as a layer, `cell.call(x, states) -> (output, [states])`: what RNN repeats along time."""

    activity_regularizer: ClassVar[None] = None  # an option of layers, which see whole outputs

    begin: Any

    def call(
        self, inputs: Tensor, states: Sequence[Tensor], constants: Constants = (), training: bool | None = None
    ) -> tuple[Tensor, list[Tensor]]:
        training = self.training if training is None else training
        project, step = self.begin(inputs.shape, tuple(states), constants, training)
        output, found = step(project(inputs), tuple(states))
        return output, list(found)

    def get_initial_state(self, inputs: Any = None, batch_size: int | None = None) -> Any:
        """Zeros for each state: what the first step takes.

        Arguments:
            inputs (tensor or positive integer, default None): the inputs of a step, or the number of samples.
            batch_size (positive integer or None, default None): the number of samples, where there are no inputs.
        """
        size = len(inputs) if isinstance(inputs, Tensor) else inputs
        return zero_states(self, size if batch_size is None else batch_size, state_shapes(self))


class SimpleRNNCell(Cell, SimpleRNNStep):
    """One step of `SimpleRNN`: `h' = activation(x @ kernel + h @ recurrent_kernel + bias)`.

    Shapes:
        (batch, features), [h (batch, units)] -> h', [h']

    Example:
        >>> output, states = SimpleRNNCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4)])
        >>> output.shape, len(states)
        (torch.Size([2, 4]), 1)
        >>> RNN(SimpleRNNCell(4))(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 4])
    """


class GRUCell(Cell, GRUStep):
    """One step of `GRU`: `h' = z * h + (1 - z) * candidate`.

    Shapes:
        (batch, features), [h (batch, units)] -> h', [h']

    Example:
        >>> output, states = GRUCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4)])
        >>> output.shape, len(states)
        (torch.Size([2, 4]), 1)
    """


class LSTMCell(Cell, LSTMStep):
    """One step of `LSTM`: `c' = f * c + i * g; h' = o * activation(c')`.

    Shapes:
        (batch, features), [h (batch, units), c (batch, units)] -> h', [h', c']

    Example:
        >>> output, states = LSTMCell(4)(torch.zeros(2, 3), [torch.zeros(2, 4), torch.zeros(2, 4)])
        >>> output.shape, len(states)
        (torch.Size([2, 4]), 2)
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


def _read_one_or_several(value: Any) -> Any:
    return StackedRNNCells(value) if isinstance(value, (list, tuple)) else _read_cell(value)


CellOption = Annotated[Any, Rule(_read_one_or_several, registry.layers.serialize, shown=False)]
CellsOption = Annotated[Any, Rule(_read_cells, lambda cells: list(map(registry.layers.serialize, cells)), shown=False)]


def _as_shape(size: Any) -> Shape:
    return tuple(size) if isinstance(size, (list, tuple)) else (int(size),)


def state_shapes(cell: Any) -> list[Shape]:
    """The shape of each state of a cell, without the batch axis."""
    if isinstance(cell, StackedRNNCells):
        return [shape for inner in cell._in_state_order for shape in state_shapes(inner)]
    return [_as_shape(size) for size in as_list(cell.state_size)]


def output_shape(cell: Any) -> Shape:
    """The shape of a cell's output, without the batch axis: its `output_size`, or else that of the first state."""
    size = getattr(cell, "output_size", None)
    return state_shapes(cell)[0] if size is None else _as_shape(size)


def _is_own_cell(cell: Any) -> bool:
    return isinstance(cell, Cell) and type(cell).call is Cell.call


def takes(cell: Any, argument: str) -> bool:
    """Whether the call of a cell takes an argument."""
    if isinstance(cell, StackedRNNCells):
        return any(takes(inner, argument) for inner in cell.cells)
    if _is_own_cell(cell):
        return argument == "training"
    return argument in (cell._call_parameters if isinstance(cell, Layer) else inspect.signature(cell.call).parameters)


def build_cell(cell: Any, input_shapes: list[Shape]) -> Shape:
    """Build a cell for one step's input, and for the constants where it takes them; the shape of its output."""
    if isinstance(cell, Layer):
        cell._build(input_shapes if takes(cell, "constants") else input_shapes[:1])
    return (input_shapes[0][0], *output_shape(cell))


def begin_cell(cell: Any, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
    """`begin` of any cell, also of one that has no more than Keras's `call` and `state_size`."""
    if _is_own_cell(cell):
        project, step = call_in_mode(cell, cell.begin, input_shape, states, constants, training)
        return in_its_mode(cell, project), in_its_mode(cell, step)
    compute = partial(call_module, cell) if isinstance(cell, Layer) else cell.call
    given = {"training": training, "constants": list(constants) or None}
    arguments = {name: value for name, value in given.items() if value is not None and takes(cell, name)}

    def step(inputs: Tensor, states: States) -> Stepped:
        output, found = compute(inputs, list(states), **arguments)
        return output, tuple(as_list(found))

    return lambda inputs: inputs, step


class StackedRNNCells(Cell):
    """`cells` as one cell, in which each cell takes the output of the one before.

    Constants go to the cells that take them.

    Options:
        cells (list of cells): in the order of the computation.
        reverse_state_order (bool, default False): whether the list of states begins with those of the last cell, as in
            older versions of Keras 2, not those of the first.

    Shapes:
        (batch, features), [states] -> the last cell's output, [new states]

    Example:
        >>> cell = StackedRNNCells([LSTMCell(3), GRUCell(4)])
        >>> cell.state_size, cell.output_size
        ((3, 3, 4), 4)
        >>> RNN(cell)(torch.zeros(2, 5, 6)).shape
        torch.Size([2, 4])
    """

    cells: CellsOption
    reverse_state_order: Annotated[bool, NEWER] = False

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
        return tuple(chain.from_iterable(as_list(cell.state_size) for cell in self._in_state_order))

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        shape = output_shape(self.cells[-1])
        return shape[0] if len(shape) == 1 else shape

    @property
    def _in_state_order(self) -> list[Any]:
        return self.cells[::-1] if self.reverse_state_order else self.cells

    def build(self, input_shape: Any) -> None:
        shape, *constants = shapes_of(input_shape)
        for cell in self.cells:
            shape = build_cell(cell, [shape, *constants])
        self.built = True

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        """The functions of one walk: the first cell's `project`, and the steps of all cells."""
        ends = accumulate([len(state_shapes(cell)) for cell in self._in_state_order])
        places = [slice(*pair) for pair in pairwise((0, *ends))]
        begun = []
        for cell, place in zip(self.cells, places[::-1] if self.reverse_state_order else places, strict=True):
            begun.append((place, *begin_cell(cell, input_shape, states[place], constants, training)))
            input_shape = (input_shape[0], *output_shape(cell))

        def step(inputs: Any, states: States) -> Stepped:
            found = list(states)
            for index, (place, project, own_step) in enumerate(begun):
                inputs, found[place] = own_step(project(inputs) if index else inputs, states[place])
            return inputs, tuple(found)

        return begun[0][1], step

    def _ordered_weights(self) -> list[Variable]:
        return [variable for layer in self._layers for variable in ordered_weights(layer)]  # type: ignore[arg-type]
