"""Recurrent layers: `Recurrent`, what they share, and LSTM.

A layer runs on one of two paths, told by `path`: "torch", the kernel of torch's own module, where it computes the same
function, and "loop", a Python loop over the steps. Torch's modules are no code for torch.compile: where a layer holds
one, it is an island that a compiled model calls in eager mode (so `fullgraph=True` is refused there, by dynamo itself).
The loop of a layer whose function is not torch's compiles whole, unrolled.
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import activations, initializers
from torchkeras.engine.layer import Layer
from torchkeras.engine.options import Activation, Constraint, Fraction, Initializer, Positive, Regularizer, rule
from torchkeras.engine.symbol import Shape, as_list
from torchkeras.engine.weight import weight

States = tuple[Tensor, ...]
Step = Callable[[Tensor, States], States]

# 0 is an old name of 1.
Implementation = Annotated[Any, rule("must be 1 or 2", lambda v: v in (0, 1, 2), lambda v: int(v) or 1)]


class StepWeights(nn.Module):
    """The weights of one direction, by the names that torch's recurrent modules give them."""

    def __init__(self, features: int, units: int, gates: int, use_bias: bool):
        super().__init__()
        self.weight_ih_l0 = nn.Parameter(torch.empty(gates * units, features))
        self.weight_hh_l0 = nn.Parameter(torch.empty(gates * units, units))
        self.bias_ih_l0 = nn.Parameter(torch.empty(gates * units)) if use_bias else None


class Recurrent(Layer, abstract=True):
    """A layer that walks along time, its first state being its output.

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output and the final states, (batch, units) each. The initial states (zero otherwise)
    follow the input in a list, or come as `initial_state`.

    At a masked step the states stay, and the output is that of the step before it (the initial state before the first
    valid step; zero there with `unroll`, as in Keras). `go_backwards` walks from the last step to the first and leaves
    the outputs in that order. `stateful` begins each batch with the final states of the batch before. `dropout` and
    `recurrent_dropout` drop features of the input and of the first state, the same at all steps of a sequence.
    """

    units: Positive
    activation: Activation = "tanh"
    use_bias: bool = True
    kernel_initializer: Initializer = "glorot_uniform"
    recurrent_initializer: Initializer = "orthogonal"
    bias_initializer: Initializer = "zeros"
    kernel_regularizer: Regularizer = None
    recurrent_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    recurrent_constraint: Constraint = None
    bias_constraint: Constraint = None
    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0
    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False
    unroll: bool = False

    submodule: ClassVar[str]
    gates: ClassVar[int] = 1
    state_count: ClassVar[int] = 1
    implementation = 2

    input_ndim = 3
    supports_masking = True
    _fused = False  # torch's own module computes this layer's function

    def torch_module(self, features: int) -> nn.RNNBase | None:
        """Torch's module for these options, or None when it computes another function."""
        return None

    def step_function(self, state: Tensor, training: bool) -> Step:
        """One step, `(projected input, states) -> states`, for a sequence that begins with the first state `state`."""
        raise NotImplementedError

    # --- making ------------------------------------------------------------------------------------------------------

    def make(self, input_shape: Any) -> None:
        batch, steps, _ = shape = _first(input_shape)
        if self.unroll and steps in (None, 1):
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined or equal to 1. Give the number of steps in "
                f"the input's shape (input_length after an Embedding); the input shape is {shape}."
            )
        features = self.known(shape, -1)
        module = self.torch_module(features)
        self._fused = module is not None
        if module is None:
            module = StepWeights(features, self.units, self.gates, self.use_bias)
        self.add_module(self.submodule, module)
        if self.stateful:
            if batch is None:
                raise ValueError(
                    "If a RNN is stateful, it needs to know its batch size. Give batch_input_shape to the first layer "
                    f"of a Sequential, or batch_shape to Input; the input shape is {shape}."
                )
            for name in self._state_names:
                self.register_buffer(name, torch.zeros(batch, self.units), persistent=False)

    def _shape_of_dim(self, input_dim: int, given: dict[str, Any]) -> tuple[int | None, ...]:
        return (given.pop("input_length", None), input_dim)

    def compute_output_shape(self, input_shape: Any) -> Any:
        batch, steps, _ = _first(input_shape)
        output = (batch, steps, self.units) if self.return_sequences else (batch, self.units)
        return [output, *[(batch, self.units)] * self.state_count] if self.return_state else output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        output_mask = (as_list(mask) or [None])[0] if self.return_sequences else None
        return [output_mask, *[None] * self.state_count] if self.return_state else output_mask

    # --- states ------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        if constants is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: its cell takes no constants.")
        given = [*as_list(inputs), *as_list(initial_state)]
        self._check_states([tuple(state.shape) for state in given[1:]])
        return super().__call__(given if len(given) > 1 else given[0], **kwargs)

    def _check_states(self, shapes: list[Shape]) -> None:
        if shapes and len(shapes) != self.state_count:
            raise ValueError(
                f"Layer {self.name} has {self.state_count} states but was passed {len(shapes)} initial states."
            )
        for index, shape in enumerate(shapes):
            if len(shape) != 2 or shape[1] != self.units:
                raise ValueError(
                    f"Initial state {index} of layer {self.name} must have shape (batch, {self.units}); found {shape}."
                )

    @property
    def _state_names(self) -> list[str]:
        return [f"state_{index}" for index in range(self.state_count)]

    @property
    def states(self) -> list[Tensor | None]:
        """What a stateful layer carries to the next batch; None for each state otherwise."""
        return [getattr(self, name) if self.stateful and self.built else None for name in self._state_names]

    def reset_states(self, states: Any = None) -> None:
        """Set the states carried from batch to batch to zero, or to the arrays given, one for each state.

        Raises AttributeError unless `stateful`, ValueError before the first call and for another number or shape.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        carried = [state for state in self.states if state is not None]
        if not carried:
            raise ValueError(f"Layer {self.name} has no states yet: its batch size is known from its first call on.")
        values = (
            [torch.zeros_like(state) for state in carried]
            if states is None
            else list(map(torch.as_tensor, as_list(states)))
        )
        if len(values) != len(carried):
            raise ValueError(
                f"Layer {self.name} expects {len(carried)} states, but it received {len(values)} state values."
            )
        for index, (state, value) in enumerate(zip(carried, values, strict=True)):
            if value.shape != state.shape:
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected shape={tuple(state.shape)}, "
                    f"found shape={tuple(value.shape)}"
                )
        for state, value in zip(carried, values, strict=True):
            state.copy_(value)

    def _initial_states(self, inputs: Tensor) -> States:
        batch = inputs.shape[0]
        if not self.stateful:
            return (inputs.new_zeros(batch, self.units),) * self.state_count
        # Copies: the buffers change after the call, while its gradients still need what it began with.
        states = tuple(getattr(self, name).clone() for name in self._state_names)
        if states[0].shape[0] != batch:
            raise ValueError(
                f"{type(self).__name__} {self.name!r} is stateful, with {states[0].shape[0]} samples a batch; "
                f"found a batch of {batch}."
            )
        return states

    # --- computing ---------------------------------------------------------------------------------------------------

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: "torch" by torch's kernel, "loop" by a loop over the steps.

        The loop is for functions other than torch's, for dropout in training, and for final states under a mask.
        """
        drops = (self.training if training is None else training) and (self.dropout or self.recurrent_dropout)
        final_states = self.state_count > 1 and (self.return_state or self.stateful)
        return "torch" if self._fused and not drops and not (masked and final_states) else "loop"

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        island = self._fused and torch.compiler.is_compiling()
        return (self._compute_in_eager_mode if island else self._compute)(inputs, mask, training)

    def _compute(self, inputs: Any, mask: Any, training: bool | None) -> Any:
        sequence, *given = as_list(inputs)
        mask = (as_list(mask) or [None])[0]
        training = self.training if training is None else training
        if self.go_backwards:
            sequence, mask = sequence.flip(1), None if mask is None else mask.flip(1)
        begin = tuple(given) or self._initial_states(sequence)
        if self.path(mask is not None, training) == "loop":
            outputs, states = self._loop(sequence, mask, begin, training)
        elif mask is None:
            outputs, states = self._kernel(sequence, begin)
        else:
            outputs, states = self._masked_kernel(sequence, mask, begin)
        if self.stateful:
            with torch.no_grad():
                for name, state in zip(self._state_names, states, strict=True):
                    getattr(self, name).copy_(state)
        output = outputs if self.return_sequences else states[0]
        if self.unroll and mask is not None:
            seen = mask.cumsum(1).bool() if self.return_sequences else mask.any(1)
            output = torch.where(seen.unsqueeze(-1), output, 0.0)
        return [output, *states] if self.return_state else output

    def _compute_in_eager_mode(self, inputs: Any, mask: Any, training: bool | None) -> Any:
        compute: Any = torch.compiler.disable(self._compute)
        return compute(inputs, mask, training)

    # What torch.compiler.disable sets. Calling it here would import the compiler: five times what importing this takes.
    _compute_in_eager_mode._torchdynamo_disable = True  # type: ignore[attr-defined]

    def _kernel(self, sequence: Tensor, begin: States) -> tuple[Tensor, States]:
        module = getattr(self, self.submodule)
        states: Any = tuple(state.unsqueeze(0) for state in begin)
        training = module.training
        # cuDNN gives gradients in training mode only; there is no dropout inside that the mode could turn on.
        module.training = training or torch.is_grad_enabled()
        try:
            outputs, final = module(sequence, states if self.state_count > 1 else states[0])
        finally:
            module.training = training
        return outputs, tuple(state.squeeze(0) for state in (final if self.state_count > 1 else (final,)))

    def _masked_kernel(self, sequence: Tensor, mask: Tensor, begin: States) -> tuple[Tensor, States]:
        """The valid steps, moved to the front, in one kernel; only the first of the final states is right.

        The output at step t is that of valid step number `count[t]`; number 0 is the initial state.
        """
        order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)
        outputs, _ = self._kernel(sequence.gather(1, order.unsqueeze(-1).expand_as(sequence)), begin)
        known = torch.cat([begin[0].unsqueeze(1), outputs], 1)
        count = mask.cumsum(1) if self.return_sequences else mask.sum(1, keepdim=True)
        outputs = known.gather(1, count.unsqueeze(-1).expand(-1, -1, self.units))
        return outputs, (outputs[:, -1], *begin[1:])

    def _loop(self, sequence: Tensor, mask: Tensor | None, states: States, training: bool) -> tuple[Any, States]:
        step = self.step_function(states[0], training)
        valid = None if mask is None else mask.unsqueeze(-1).unbind(1)
        outputs = []
        for index, projected in enumerate(self._projected(sequence, training).unbind(0)):
            found = step(projected, states)
            if valid is not None:
                found = tuple(map(torch.where, (valid[index],) * self.state_count, found, states))
            states = found
            outputs.append(states[0])
        return torch.stack(outputs, 1) if self.return_sequences else None, states

    def _projected(self, sequence: Tensor, training: bool) -> Tensor:
        """The input's part of all gates at all steps, time first: (time, batch, gates * units)."""
        weights = getattr(self, self.submodule)
        steps, bias = sequence.transpose(0, 1), self.bias if self.use_bias else None
        drops = self._drops(sequence[:, 0], self.dropout, training)
        if drops is None or len(drops) == 1:
            return F.linear(steps if drops is None else steps * drops[0], weights.weight_ih_l0, bias)
        kernels = weights.weight_ih_l0.chunk(self.gates)
        projected = torch.cat([F.linear(steps * drop, kernel) for drop, kernel in zip(drops, kernels, strict=True)], -1)
        return projected if bias is None else projected + bias

    def _recurrent_product(self, state: Tensor, training: bool) -> Callable[[Tensor, Tensor], Tensor]:
        """`(projected, h) -> projected + h @ recurrent_kernel`, shaped (batch, gates, units)."""
        kernel = getattr(self, self.submodule).weight_hh_l0.t()
        drops = self._drops(state, self.recurrent_dropout, training)
        by_gate = (-1, self.gates, self.units)
        if drops is not None and len(drops) > 1:
            kernels = kernel.view(self.units, self.gates, self.units).transpose(0, 1)
            return lambda projected, h: projected.view(by_gate) + torch.bmm(h * drops, kernels).transpose(0, 1)
        if drops is not None:
            return lambda projected, h: torch.addmm(projected, h * drops[0], kernel).view(by_gate)
        return lambda projected, h: torch.addmm(projected, h, kernel).view(by_gate)

    def _drops(self, like: Tensor, rate: float, training: bool) -> Tensor | None:
        """Dropout's factors, one set for each gate with `implementation` 1, else one: (sets, *like.shape)."""
        if not (training and rate):
            return None
        return F.dropout(like.new_ones(self.gates if self.implementation == 1 else 1, *like.shape), rate)


class Gated(Recurrent, abstract=True):
    """What LSTM and GRU share: `implementation`, 1 (dropout is drawn for each gate) or 2 (once for all gates)."""

    kernel_regularizer: Regularizer = None
    recurrent_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    recurrent_constraint: Constraint = None
    bias_constraint: Constraint = None
    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0
    implementation: Implementation = 1


class LSTM(Gated):
    """`c' = f * c + i * g; h' = o * activation(c')`, gates i, f, o by `recurrent_activation`, g by `activation`.

    `z = x @ kernel + h @ recurrent_kernel + bias`, for i, f, g, o in this order. Shape: see `Recurrent`; the states are
    h and c. `unit_forget_bias`: the bias of f begins at 1. With `recurrent_activation="sigmoid"` the layer holds an
    `nn.LSTM` and runs its kernel; the default is `hard_sigmoid`, a loop. Source: Hochreiter & Schmidhuber (1997).
    """

    units: Positive
    activation: Activation = "tanh"
    recurrent_activation: Activation = "hard_sigmoid"
    use_bias: bool = True
    kernel_initializer: Initializer = "glorot_uniform"
    recurrent_initializer: Initializer = "orthogonal"
    bias_initializer: Initializer = "zeros"
    unit_forget_bias: bool = True

    kernel = weight("lstm.weight_ih_l0", keras="features gates", torch="gates features")
    recurrent_kernel = weight("lstm.weight_hh_l0", keras="units gates", torch="gates units", option="recurrent")
    bias = weight("lstm.bias_ih_l0", keras="gates", when="use_bias", plus="lstm.bias_hh_l0")

    submodule = "lstm"
    gates = 4
    state_count = 2

    def torch_module(self, features: int) -> nn.RNNBase | None:
        if self.activation is not activations.tanh or self.recurrent_activation is not activations.sigmoid:
            return None
        return nn.LSTM(features, self.units, bias=self.use_bias, batch_first=True)

    def initializer_of(self, option: str) -> Any:
        initial = super().initializer_of(option)
        if option != "bias" or not self.unit_forget_bias:
            return initial

        def forget_bias_one(shape: tuple[int, ...]) -> Tensor:
            values = torch.ones(shape)
            inputs, _, others = values.split([self.units, self.units, 2 * self.units])
            initializers.fill(initial, inputs)
            initializers.fill(initial, others)
            return values

        return forget_bias_one

    def step_function(self, state: Tensor, training: bool) -> Step:
        product = self._recurrent_product(state, training)
        activation, gate = self.activation, self.recurrent_activation
        # One call for all gates, the cell's wasted, takes 0.82 of the time of a step that spares it.
        together = activations.is_pointwise(gate)

        def step(projected: Tensor, states: States) -> States:
            z = product(projected, states[0])
            i, f, o = _gates(z, gate, together)
            cell = torch.addcmul(f * states[1], i, activation(z[:, 2]))
            return o * activation(cell), cell

        return step


def _gates(z: Tensor, gate: Callable[[Tensor], Tensor], together: bool) -> tuple[Tensor, Tensor, Tensor]:
    if together:
        i, f, _, o = gate(z).unbind(1)
        return i, f, o
    return gate(z[:, 0]), gate(z[:, 1]), gate(z[:, 3])


def _first(input_shape: Any) -> Shape:
    """The shape of the sequence, when those of the initial states may follow."""
    several = isinstance(input_shape[0], (list, tuple))
    return tuple(input_shape[0] if several else input_shape)
