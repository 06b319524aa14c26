"""The walk along time: `Recurrent`, what all recurrent layers share."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.input_spec import InputSpec
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, one_of
from torchkeras.engine.layer.symbolic import Shape, as_list, unpacked
from torchkeras.engine.layer.tracing import exporting
from torchkeras.layers.exported import scanned, where
from torchkeras.layers.scan import Mask

States = tuple[Tensor, ...]
Constants = Sequence[Tensor]
# (inputs, states) -> (output, states), at one step; the inputs are what `project` made of them
Stepped = tuple[Tensor, States]
StepFunction = Callable[[Any, States], Stepped]
# `project`, the input's part of one step, (batch, ...) -> (batch, ...), or of all at once, time first; and the step
Walk = tuple[Callable[[Tensor], Tensor], StepFunction]

WRITTEN_OUT = 16  # steps that an exported program has one after another, where any runtime knows the operations


class MaskedOutput(Layer, abstract=True):
    """`zero_output_for_mask`: see `Recurrent`. A base of its own, to be put behind the others."""

    zero_output_for_mask: Annotated[Any, one_of(None, False, True), NEWER] = None


class Recurrent(Layer, abstract=True):
    """A layer that walks along time, a step giving an output and the next states.

    Shape: (batch, time, ...) -> (batch, ...), or (batch, time, ...) with `return_sequences`; with `return_state` a
    list: the output and the final states. The initial states (zero otherwise) follow the input in a list, or come as
    `initial_state`; what the step sees beside input and states follows those, or comes as `constants`.

    At a masked step the states stay, and the output is the first of them (with `unroll` that of the step before, zero
    before the first valid step, as in Keras; so it is also where output and first state differ in shape, which Keras
    refuses). With `zero_output_for_mask`, as Keras 3 has it, the output there is zero (True) or that of the step
    before, zero before the first valid one (False). `go_backwards` walks from the last step to the first and leaves the
    outputs in that order. `stateful` begins each batch with the final states of the batch before; `unroll` needs a
    known number of steps.

    A subclass gives `state_shapes` and `begin`; or, where a sequence has a faster way than step by step, `walk`.
    """

    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False
    unroll: bool = False

    supports_masking = True
    state_count = 1
    takes_constants = False
    num_constants: int | None = None  # how many constants end the list of inputs
    zero_output_for_mask = None  # an option of those that have `MaskedOutput`

    class _Facts(Facts):
        input_ndim = 3
        walks = True

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        """The shapes of the states, without the batch axis, for a sequence of this shape (batch, time, ...)."""
        raise NotImplementedError

    def step_shape(self, input_shape: Shape) -> Shape:
        """The shape of one step's output, without the batch axis: that of the first state unless overridden."""
        return self.state_shapes(input_shape)[0]

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        """The functions of one walk, dropout drawn; `input_shape` is that of one step, (batch, ...)."""
        raise NotImplementedError

    # --- making ------------------------------------------------------------------------------------------------------

    def _make_modules(self, input_shape: Any) -> None:
        batch, steps, *_ = shape = shapes_of(input_shape)[0]
        if self.unroll and steps in (None, 1):
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined or equal to 1. Give the number of steps in "
                f"the input's shape (input_length after an Embedding); the input shape is {shape}."
            )
        if self.stateful and batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Give batch_input_shape to the first layer "
                f"of a Sequential, or batch_shape to Input; the input shape is {shape}."
            )
        for index, state in enumerate(self.state_shapes(shape) if self.stateful else ()):
            self.register_buffer(f"state_{index}", torch.zeros(batch, *state), persistent=False)  # type: ignore[arg-type]

    def compute_output_shape(self, input_shape: Any) -> Any:
        batch, steps, *_ = shape = shapes_of(input_shape)[0]
        time = (steps,) if self.return_sequences else ()
        states = self.state_shapes(shape) if self.return_state else ()
        return unpacked([(batch, *time, *self.step_shape(shape)), *((batch, *state) for state in states)])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        found = self.first_mask(mask)
        output_mask = found if self.return_sequences else None
        return [output_mask, *[None] * self.state_count] if self.return_state else output_mask

    def first_mask(self, mask: Any) -> Any:
        """The mask of the sequence, when those of initial states and constants may follow."""
        return (as_list(mask) or [None])[0]

    # --- calls and states --------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        given = as_list(inputs)
        sequence, states, constants = self._parts(given) if constants is None else (given[0], given[1:], constants)
        states, constants = [*states, *as_list(initial_state)], as_list(constants)
        if constants:
            if not self.takes_constants:
                raise ValueError(f"{type(self).__name__} {self.name!r}: its cell takes no constants.")
            self.num_constants = len(constants)
        if states:
            self._check_states(tuple(sequence.shape), [tuple(state.shape) for state in states])
        return super().__call__(unpacked([sequence, *states, *constants]), **kwargs)

    def _parts(self, given: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        """The sequence, the initial states and the constants of a list that holds them in this order."""
        end = max(len(given) - (self.num_constants or 0), 1)
        return given[0], given[1:end], given[end:]

    def _check_states(self, input_shape: Shape, shapes: list[Shape]) -> None:
        own = self.state_shapes(input_shape)
        if len(shapes) != len(own):
            raise ValueError(f"Layer {self.name} has {len(own)} states but was passed {len(shapes)} initial states.")
        for index, (shape, state) in enumerate(zip(shapes, own, strict=True)):
            if InputSpec(shape=(None, *state)).problem(shape):
                text = ", ".join(["batch", *map(str, state)])
                raise ValueError(f"Initial state {index} of layer {self.name} must have shape ({text}); found {shape}.")

    @property
    def states(self) -> list[Any]:
        """What a stateful layer carries to the next batch; None for each state otherwise."""
        return [getattr(self, f"state_{index}", None) for index in range(self.state_count)]

    def reset_states(self, states: Any = None) -> None:
        """Set the states carried from batch to batch to zero, or to the arrays given, one for each state.

        Raises AttributeError unless `stateful`, ValueError before the first call and for another number or shape.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if not self.built:
            raise ValueError(f"Layer {self.name} has no states yet: its batch size is known from its first call on.")
        values = [torch.zeros_like(state) for state in self.states] if states is None else as_list(states)
        if len(values) != self.state_count:
            raise ValueError(
                f"Layer {self.name} expects {self.state_count} states, but it received {len(values)} state values."
            )
        for index, (state, value) in enumerate(zip(self.states, values, strict=True)):
            if tuple(value.shape) != tuple(state.shape):
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected shape={tuple(state.shape)}, "
                    f"found shape={tuple(value.shape)}"
                )
        self._carry([torch.as_tensor(value) for value in values])

    def _carry(self, states: Sequence[Tensor]) -> None:
        for carried, state in zip(self.states, states, strict=True):
            carried.copy_(state)

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """The states that a sequence begins with when none are given or carried: zeros."""
        return [inputs.new_zeros(inputs.shape[0], *shape) for shape in self.state_shapes(tuple(inputs.shape))]  # type: ignore[misc]

    def _first_states(self, sequence: Tensor) -> list[Tensor]:
        if not self.stateful:
            return self.get_initial_state(sequence)
        # Copies: the buffers change after the call, while its gradients still need what it began with.
        states, batch = [state.clone() for state in self.states], sequence.shape[0]
        if states[0].shape[0] != batch:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} is stateful, with {states[0].shape[0]} samples a batch; "
                f"found a batch of {batch}."
            )
        return states

    # --- computing ---------------------------------------------------------------------------------------------------

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: always "loop" here, a loop over the steps."""
        return "loop"

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        sequence, given, constants = self._parts(as_list(inputs))
        mask = self.first_mask(mask)
        if self.go_backwards:
            sequence, mask = sequence.flip(1), None if mask is None else mask.flip(1)
        begin = tuple(given or self._first_states(sequence))
        output, states = self.walk(sequence, mask, begin, constants, self.training if training is None else training)
        if self.stateful:
            with torch.no_grad():
                self._carry(states)
        return [output, *states] if self.return_state else output

    def walk(self, sequence: Tensor, mask: Mask, states: States, constants: Constants, training: bool) -> Stepped:
        """The output (all steps' with `return_sequences`, else the last) and the final states, in the order walked."""
        project, step = self.begin((sequence.shape[0], *sequence.shape[2:]), states, constants, training)
        projected = project(sequence.transpose(0, 1))
        if exporting() and not self.unroll and not _is_short(projected.shape[0]):
            first = states[0].new_zeros(sequence.shape[0], *self.step_shape(tuple(sequence.shape)))  # type: ignore[misc]
            outputs, states = scanned(step, projected, mask, states, first, self._kept_output)
            return outputs.transpose(0, 1) if self.return_sequences else outputs[-1], states
        each: list[Tensor] = []
        for index, inputs in enumerate(projected.unbind(0)):
            output, found = step(inputs, states)
            if mask is not None:
                valid, held = mask[:, index], self._kept_output(output, states, each[-1] if each else None)
                output, found = where(valid, output, held), tuple(map(partial(where, valid), found, states))
            states = found
            each.append(output)
        return torch.stack(each, 1) if self.return_sequences else each[-1], states

    def _kept_output(self, output: Tensor, states: States, before: Tensor | None) -> Tensor:
        """What stands for the output at a masked step; `before`: that of the step before, None at the first."""
        if self.zero_output_for_mask:
            return torch.zeros_like(output)
        if self.unroll or self.zero_output_for_mask is False or output.shape != states[0].shape:
            return torch.zeros_like(output) if before is None else before
        return states[0]


def shapes_of(input_shape: Any) -> list[Shape]:
    """A list of shapes from one or several: that of the sequence, then those of initial states and constants."""
    several = isinstance(input_shape[0], (list, tuple))
    return [tuple(shape) for shape in (input_shape if several else [input_shape])]


def _is_short(steps: Any) -> bool:
    """Whether an exported program may have all its steps written out: few, of a known number."""
    return isinstance(steps, int) and steps <= WRITTEN_OUT
