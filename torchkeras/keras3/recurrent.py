"""What recurrent layers and cells of Keras 3 do otherwise: tuples of outputs, the states of stacked cells in lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from torchkeras import layers
from torchkeras.base.nested import leaves
from torchkeras.engine.facts import is_own
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.keras3.layer import Layer
from torchkeras.layers.cells import state_shapes
from torchkeras.layers.recurrence import zero_states


def flat_states(states: Any) -> list[Any]:
    """States in lists and tuples of any depth as one list."""
    if isinstance(states, (list, tuple)):
        return [state for each in states for state in flat_states(each)]
    return as_list(states)


def in_form_of(size: Any, states: Iterator[Any]) -> Any:
    """The next states in the form of a `state_size`: a list for a list."""
    if isinstance(size, (list, tuple)):
        return [in_form_of(each, states) for each in size]
    return next(states)


def own_size(cell: Any) -> Any:
    """The size of the state of a cell, or a list with that of each; those of stacked cells in a list for each cell."""
    if isinstance(cell, layers.StackedRNNCells):
        return list(map(own_size, cell.cells))
    size = cell.state_size
    return [0] * len(size) if isinstance(size, (list, tuple)) else size  # a size may be a shape


def with_states(found: list[Any], sizes: list[Any]) -> tuple[Any, ...]:
    """An output and its states as a tuple, the states in the form of their sizes."""
    output, *states = leaves(found)
    return output, *in_form_of(sizes, iter(states))


class Recurrent(Layer, abstract=True):
    """A recurrent layer; with `return_state` its outputs are a tuple: the output, and each state."""

    @property
    def _sizes(self) -> list[Any]:
        return [0] * self.state_count  # type: ignore[attr-defined]

    def __call__(self, sequences: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        if initial_state is not None:
            kwargs["initial_state"] = flat_states(initial_state)
        return super().__call__(sequences, **kwargs)

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        found = super().forward(inputs, mask, training)  # type: ignore[misc]
        return with_states(found, self._sizes) if self.return_state else found  # type: ignore[attr-defined]

    def _infer_outputs(self, *args: Any) -> tuple[Any, list[Any]]:
        found, masks = super()._infer_outputs(*args)
        return with_states(found, self._sizes) if self.return_state else found, masks  # type: ignore[attr-defined]

    def compute_output_shape(self, input_shape: Any, initial_state_shape: Any = None) -> Any:
        found = super().compute_output_shape(input_shape)
        if not self.return_state:  # type: ignore[attr-defined]
            return found
        output, *states = found
        return output, *in_form_of(self._sizes, iter(states))


class OfUnits(Recurrent, abstract=True):
    """A recurrent layer whose states all have `units` numbers."""

    @property
    def state_size(self) -> list[int]:
        """The size of each state."""
        return [self.units] * self.state_count  # type: ignore[attr-defined]


class OfCell(Recurrent, abstract=True):
    """A recurrent layer around a cell, which may say what a sequence begins with."""

    @property
    def _sizes(self) -> list[Any]:
        return as_list(own_size(self.cell))

    @property
    def state_size(self) -> list[Any]:
        """The size of each state; of stacked cells a size or a list for each cell."""
        return as_list(self.cell.state_size)

    def get_initial_state(self, inputs: Any = None, batch_size: int | None = None) -> Any:  # type: ignore[override]
        """The states that a sequence begins with: those of the cell's `get_initial_state`, or else zeros.

        Arguments:
            inputs (tensor or positive integer, default None): the sequence, or the number of samples.
            batch_size (positive integer or None, default None): the number of samples, where there is no sequence.
        """
        is_sequence, cell = isinstance(inputs, torch.Tensor), self.cell
        if is_sequence and not any(begins_by_itself(each) for each in _cells(cell)):
            return super().get_initial_state(inputs)  # type: ignore[misc]
        size = inputs.shape[0] if is_sequence else inputs if batch_size is None else batch_size
        if not hasattr(cell, "get_initial_state"):
            return super().get_initial_state(batch_size=size)  # type: ignore[misc]
        found = as_list(cell.get_initial_state(batch_size=size))
        return [each.to(inputs.device, inputs.dtype) for each in leaves(found)] if is_sequence else found


def _cells(cell: Any) -> list[Any]:
    """A cell, or those that are stacked."""
    return cell.cells if isinstance(cell, layers.StackedRNNCells) else [cell]


def begins_by_itself(cell: Any) -> bool:
    """Whether a cell of the user's says what a sequence begins with."""
    return not is_own(type(cell)) and hasattr(type(cell), "get_initial_state")


class CellOfUnits(Layer, abstract=True):
    """A cell whose states all have `units` numbers."""

    @property
    def state_size(self) -> Any:
        """The size of the state, or a list with that of each."""
        return self.units if self.state_count == 1 else [self.units] * self.state_count  # type: ignore[attr-defined]


class Stacked(Layer, abstract=True):
    """Cells as one; the states are a list with those of each cell."""

    @property
    def state_size(self) -> list[Any]:
        """The sizes of the states of each cell."""
        return [cell.state_size for cell in self.cells]

    def __call__(self, inputs: Any, states: Any = (), *args: Any, **kwargs: Any) -> Any:
        output, found = super().__call__(inputs, flat_states(states), *args, **kwargs)
        return output, in_form_of(_like(states, own_size(self)), iter(found))

    def get_initial_state(self, inputs: Any = None, batch_size: int | None = None) -> list[Any]:
        """The states that each cell begins with: those of its `get_initial_state`, or else zeros."""
        size = len(inputs) if isinstance(inputs, torch.Tensor) else inputs
        size = size if batch_size is None else batch_size
        return [_begin(self, cell, size) for cell in self.cells]


def _like(states: Any, sizes: list[Any]) -> list[Any]:
    """The form of the states that were given, or of their sizes where they were given as one list."""
    return list(states) if isinstance(states, (list, tuple)) and len(states) == len(sizes) else sizes


def _begin(stacked: Any, cell: Any, size: Any) -> Any:
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=size)
    zeros = zero_states(stacked, size, state_shapes(cell))
    return zeros if isinstance(cell.state_size, (list, tuple)) else zeros[0]


# By the layer of this package: the base of its class of Keras 3.
BASES: Mapping[type, tuple[type[Layer]]] = {
    **dict.fromkeys((layers.GRU, layers.LSTM, layers.SimpleRNN), (OfUnits,)),
    **dict.fromkeys((layers.ConvLSTM1D, layers.ConvLSTM2D, layers.ConvLSTM3D), (Recurrent,)),
    layers.RNN: (OfCell,),
    **dict.fromkeys((layers.GRUCell, layers.LSTMCell, layers.SimpleRNNCell), (CellOfUnits,)),
    layers.StackedRNNCells: (Stacked,),
}
