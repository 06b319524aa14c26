"""What scripts take from `keras.layers.recurrent` for layers of their own: the base `Recurrent` of Keras 1 and early 2,
masks of dropout, and arguments in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.keras2 import backend as K

__all__ = ["Recurrent", "_generate_dropout_mask", "_standardize_args"]


class Recurrent(Layer, abstract=True):
    """The base of recurrent layers before Keras 2.1: a subclass has `units`, `states` and `step(x, states)`.

    It may also have `preprocess_input`, `get_constants` and `get_initial_state`. A step returns its output and the list
    of new states; the constants follow the states that it gets.
    """

    units: int
    input_spec: Any
    states: Any

    def __init__(
        self,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        implementation: int = 0,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim", None))
        super().__init__(**kwargs)
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.implementation, self.supports_masking = implementation, True
        self.input_spec, self.state_spec = [InputSpec(ndim=3)], None
        self.dropout = self.recurrent_dropout = 0

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(batch, units), or (batch, time, units) with `return_sequences`; and each state with `return_state`."""
        batch, steps, *_ = input_shape[0] if isinstance(input_shape, list) else input_shape
        time = (steps,) if self.return_sequences else ()
        states = [(batch, self.units) for _ in self.states] if self.return_state else []
        return unpacked([(batch, *time, self.units), *states])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the sequence with `return_sequences`, else None."""
        found = (as_list(mask) or [None])[0] if self.return_sequences else None
        return [found, *[None] * len(self.states)] if self.return_state else found

    def step(self, inputs: Any, states: Any) -> Any:
        """The output and the new states of one step. Raises NotImplementedError: a subclass has its own."""
        raise NotImplementedError(f"{type(self).__name__} {self.name!r} has no step.")

    def get_constants(self, inputs: Any, training: Any = None) -> list[Any]:
        """What each step gets after the states: nothing."""
        return []

    def get_initial_state(self, inputs: Tensor) -> list[Any]:
        """Zeros (batch, units) for each state."""
        return [inputs.new_zeros(inputs.shape[0], self.units) for _ in self.states]

    def preprocess_input(self, inputs: Any, training: Any = None) -> Any:
        """The sequence that the steps see: the input itself."""
        return inputs

    def __call__(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        given = [*as_list(inputs), *([] if initial_state is None else as_list(initial_state))]
        return super().__call__(unpacked(given), **kwargs)

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        """Walk along time."""
        sequence, *given = as_list(inputs)
        states = given or ([] if initial_state is None else as_list(initial_state))
        if not states:
            states = self.states if self.stateful else self.get_initial_state(sequence)
        if len(states) != len(self.states):
            raise ValueError(f"Layer {self.name} has {len(self.states)} states; found {len(states)} initial states.")
        last, outputs, states = K.rnn(
            self.step,
            self.preprocess_input(sequence, training=None),
            list(states),
            go_backwards=self.go_backwards,
            mask=(as_list(mask) or [None])[0],
            constants=self.get_constants(sequence, training=None),
            unroll=self.unroll,
            input_length=sequence.shape[1],
        )
        if self.stateful:
            for own, new in zip(self.states, states, strict=True):
                if not new.is_meta:
                    own.data.copy_(new.detach())
        output = outputs if self.return_sequences else last
        return [output, *states] if self.return_state else output

    def reset_states(self, states: Any = None) -> None:
        """Set the states that a stateful layer carries from batch to batch, to zero or to values."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch = as_list(self.input_spec)[0].shape[0]
        if not batch:
            raise ValueError(f"Layer {self.name} is stateful, so it needs the size of its batches: batch_input_shape.")
        if self.states[0] is None:
            self.states = [K.zeros((batch, self.units)) for _ in self.states]
        values = [np.zeros((batch, self.units))] * len(self.states) if states is None else as_list(states)
        for own, value in zip(self.states, values, strict=True):
            K.set_value(own, value)

    def get_config(self) -> dict[str, Any]:
        """The options as a dictionary."""
        names = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "implementation")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


def _generate_dropout_mask(ones: Any, rate: Any, training: Any = None, count: int = 1) -> Any:
    """Ones with dropout in training; a list of `count` of them, where that is above 1."""
    masks = [K.in_train_phase(lambda: K.dropout(ones, rate), ones, training=training) for _ in range(count)]
    return masks if count > 1 else masks[0]


def _standardize_args(
    inputs: Any, initial_state: Any, constants: Any, num_constants: int
) -> tuple[Any, list[Any] | None, list[Any] | None]:
    """Inputs, states and constants, which may all stand in the list `inputs`; states and constants as lists or None."""
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError("states and constants stand in the list of inputs or beside it, not in both.")
        end = len(inputs) - num_constants if num_constants else None
        constants = inputs[end:] if num_constants else None
        inputs, initial_state = inputs[0], inputs[1:end] or None
    return inputs, _as_list(initial_state), _as_list(constants)


def _as_list(values: Any) -> list[Any] | None:
    if values is None or isinstance(values, list):
        return values
    return list(values) if isinstance(values, tuple) else [values]
