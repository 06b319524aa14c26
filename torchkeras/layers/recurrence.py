"""`Recurrent`: a layer that walks along time, one step after another."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import CarriedStates
from torchkeras.base.rules import one_of
from torchkeras.base.tracing import exporting
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.symbolic.tensor import Shape, as_list, unpacked
from torchkeras.layers.exported import scanned, where
from torchkeras.layers.scan import Mask
from torchkeras.world.one_process import CURRENT

States = tuple[Tensor, ...]
Constants = Sequence[Tensor]
# One step: (inputs, states) -> (output, states). The inputs are what `project` made of them.
Stepped = tuple[Tensor, States]
StepFunction = Callable[[Any, States], Stepped]
# `project` and the step. `project` computes the input's part of one step, (batch, ...) -> (batch, ...), or of all steps
# at once, time first.
Walk = tuple[Callable[[Tensor], Tensor], StepFunction]

WRITTEN_OUT = 16  # up to so many steps stand one after another in an exported program: any runtime knows the operations


@replaceable("get_initial_state", "__call__")
class Recurrent(Layer, abstract=True):
    """`output[t], states = step(x[t], states)` along time: the base of all recurrent layers.

    The states begin at zero, unless a call passes `initial_state`, or a list of the input and the states. Every step
    also gets the `constants`, which are an argument of the call, or follow the states in that list.

    At a masked step the states stay as they are, and the output is the first state. With `unroll`, or if the output has
    another shape than the first state, the output of the previous step is repeated, as in Keras; it is zero before the
    first valid step. Most layers have an option `zero_output_for_mask` for this output, as in Keras 3.

    A subclass gives `state_shapes` and `begin`, or overrides `walk` where a sequence has a faster way.

    Options:
        return_sequences (bool, default False): whether the output has every time step, not only the last.
        return_state (bool, default False): whether the final states follow the output, all in a list.
        go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs stay in
            the order of the walk.
        stateful (bool, default False): whether a batch begins with the final states of the batch before. The size of
            the batch must be known; `reset_states` sets the states to zero.
        unroll (bool, default False): Keras's loop written out: the number of steps must be known and above 1. At
            masked steps it changes the output: see `Recurrent`.

    Shapes:
        (batch, time, ...) -> (batch, ...)
        (batch, time, ...) -> (batch, time, ...) with `return_sequences`
        with `return_state` a list: the output, and each state

    Errors:
        ValueError: initial states of another number or shape; constants that the step does not take; `stateful`
            without a known batch size, or called with another one; `unroll` without a known number of steps.

    Example:
        >>> sequences, state = torch.zeros(2, 3, 4), torch.ones(2, 5)
        >>> GRU(5, return_sequences=True)(sequences, initial_state=state).shape
        torch.Size([2, 3, 5])
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
        """The functions of one walk, with its dropout drawn; `input_shape` is that of one step, (batch, ...)."""
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
        """The mask of the sequence, out of a list that may have those of initial states and constants too."""
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
        """The states that a stateful layer carries to the next batch; for other layers None for each."""
        return CarriedStates(getattr(self, f"state_{index}", None) for index in range(self.state_count))

    def reset_states(self, states: Any = None) -> None:
        """Set the states that are carried from batch to batch.

        Arguments:
            states (array or tensor, list of them or None, default None): a value for each state; None sets zeros.

        Errors:
            AttributeError: the layer is not `stateful`.
            ValueError: the layer was not called yet, or the values have another number or other shapes.
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

    def get_initial_state(self, inputs: Any = None, batch_size: int | None = None) -> list[Tensor]:
        """Zeros for each state: what a sequence begins with when no states are passed or carried.

        Arguments:
            inputs (tensor or positive integer, default None): the sequence, or the number of samples.
            batch_size (positive integer or None, default None): the number of samples, where there is no sequence.
        """
        if isinstance(inputs, Tensor):
            return [inputs.new_zeros(inputs.shape[0], *shape) for shape in self.state_shapes(tuple(inputs.shape))]  # type: ignore[misc]
        size = inputs if batch_size is None else batch_size
        return zero_states(self, size, self.state_shapes((size, None, None)))

    def _first_states(self, sequence: Tensor) -> list[Tensor]:
        if not self.stateful:
            return self.get_initial_state(sequence)
        # Copies: the buffers change after the call, while its gradients still need what it began with.
        states, batch = [state.clone() for state in self.states], CURRENT.batch.in_all(sequence.shape[0])
        if states[0].shape[0] != batch:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} is stateful, with {states[0].shape[0]} samples a batch; "
                f"found a batch of {batch}."
            )
        return [CURRENT.batch.own(state) for state in states]

    # --- computing ---------------------------------------------------------------------------------------------------

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: here always "loop", a loop over the steps."""
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
                self._carry([CURRENT.batch.rows(state) for state in states])
        return [output, *states] if self.return_state else output

    def walk(self, sequence: Tensor, mask: Mask, states: States, constants: Constants, training: bool) -> Stepped:
        """The output, as `return_sequences` has it, and the final states; outputs are in the order of the walk."""
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
        """The output at a masked step. `before` is the output of the step before, None at the first step."""
        if self.zero_output_for_mask:
            return torch.zeros_like(output)
        if self.unroll or self.zero_output_for_mask is False or output.shape != states[0].shape:
            return torch.zeros_like(output) if before is None else before
        return states[0]


def zero_states(layer: Layer, size: Any, shapes: Sequence[Shape]) -> list[Tensor]:
    """Zeros for each state of so many samples, in the layer's type of computation."""
    if size is None:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: get_initial_state needs a batch_size; found None.")
    dtype, device = layer._policy.compute_type, config.device()
    return [torch.zeros((size, *shape), dtype=dtype, device=device) for shape in shapes]  # type: ignore[arg-type]


def shapes_of(input_shape: Any) -> list[Shape]:
    """One shape or several as a list: the sequence's, then those of initial states and constants."""
    several = isinstance(input_shape[0], (list, tuple))
    return [tuple(shape) for shape in (input_shape if several else [input_shape])]


def _is_short(steps: Any) -> bool:
    """Whether an exported program may have all its steps written out: their number is known and small."""
    return isinstance(steps, int) and steps <= WRITTEN_OUT


class MaskedOutput(Recurrent, abstract=True):
    """A recurrent layer with an option for its output at masked steps.

    Options:
        zero_output_for_mask (None, False or True, default None): the output at masked steps. True gives zeros, False
            the previous output (zeros before the first valid step), None what `Recurrent` documents for masks.
    """

    zero_output_for_mask: Annotated[Any, one_of(None, False, True), NEWER] = None
