"""Steps, what SimpleRNN, GRU and LSTM compute at one time step, with the options and weights that it takes.

A step is written once for the cell and the layer of its name: `class LSTMCell(Cell, LSTMStep)` and
`class LSTM(LSTMStep, TorchRecurrent)`. Its weights lie as in torch's recurrent modules, one of which holds them where
torch computes the same function.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import activations, initializers
from torchkeras.engine.layer import Layer
from torchkeras.engine.options import (
    NEWER,
    Activation,
    Constraint,
    Fraction,
    Initializer,
    Positive,
    Regularizer,
    rule,
)
from torchkeras.engine.symbol import Shape
from torchkeras.engine.weight import weight
from torchkeras.layers.recurrence import Project, States, StepFunction, Stepped
from torchkeras.layers.scan import gru_scan, lstm_scan

Product = Callable[[Tensor, Tensor], Tensor]
IMPLEMENTATION = rule("must be 1 or 2", lambda v: v in (0, 1, 2), lambda v: int(v) or 1)

# --- groups of options, in the order in which Keras has them ----------------------------------------------------------


class Initializers(Layer, abstract=True):
    """How the weights of a recurrent layer begin."""

    kernel_initializer: Initializer = "glorot_uniform"
    recurrent_initializer: Initializer = "orthogonal"
    bias_initializer: Initializer = "zeros"


class UnitForgetBias(Layer, abstract=True):
    """`unit_forget_bias`: the bias of the forget gate, the third from the end of `bias_parts` alike, begins at 1."""

    unit_forget_bias: bool = True

    bias_parts = 4

    def initializer_of(self, option: str) -> Any:
        initial = super().initializer_of(option)
        if option != "bias" or not self.unit_forget_bias:
            return initial

        def forget_bias_one(shape: tuple[int, ...]) -> Tensor:
            values, units = torch.ones(shape), shape[0] // self.bias_parts
            initializers.fill(initial, values[: -3 * units])
            initializers.fill(initial, values[-2 * units :])
            return values

        return forget_bias_one


class Penalties(Layer, abstract=True):
    """Regularizers and constraints of the weights of a recurrent layer."""

    kernel_regularizer: Regularizer = None
    recurrent_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    recurrent_constraint: Constraint = None
    bias_constraint: Constraint = None


class Drops(Layer, abstract=True):
    """`dropout` of the input's features and `recurrent_dropout` of the first state's, the same at all steps."""

    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0

    gates: ClassVar[int]

    @property
    def drop_sets(self) -> int:
        """How many sets of factors are drawn: one for each gate with `implementation` 1."""
        return self.gates if getattr(self, "implementation", 2) == 1 else 1

    def drops(self, like: Tensor, shape: Sequence[Any], rate: float, training: bool) -> Tensor | None:
        """Factors for a value of this shape, (sets, *shape), with the dtype and device of `like`; None without."""
        return F.dropout(like.new_ones(self.drop_sets, *shape), rate) if training and rate else None


class Implementation(Layer, abstract=True):
    """`implementation`: 1, dropout is drawn for each gate, or 2, once for all gates. 0 is an old name of 1."""

    implementation: Annotated[Any, IMPLEMENTATION] = 1


class OldImplementation(Layer, abstract=True):
    """`implementation` of a layer without gates: 1 and 2 are the same. Keras takes it from old code and old files."""

    implementation: Annotated[Any, IMPLEMENTATION, NEWER] = 1


class ResetAfter(Layer, abstract=True):
    """`reset_after`: where GRU's reset gate stands. A base of its own, for GRU to put behind the others."""

    reset_after: bool = False


# --- steps -----------------------------------------------------------------------------------------------------------


class StepWeights(nn.Module):
    """The weights of one direction, by the names that torch's recurrent modules give them."""

    def __init__(self, features: int, units: int, gates: int, biases: int):
        super().__init__()
        self.weight_ih_l0 = nn.Parameter(torch.empty(gates * units, features))
        self.weight_hh_l0 = nn.Parameter(torch.empty(gates * units, units))
        self.bias_ih_l0 = nn.Parameter(torch.empty(gates * units)) if biases else None
        self.bias_hh_l0 = nn.Parameter(torch.empty(gates * units)) if biases > 1 else None


class Step(Drops, abstract=True):
    """What happens at one step, of a cell or of a layer: the input's part by `project`, then `step_function`."""

    units: Positive
    activation: Activation = "tanh"
    use_bias: bool = True

    submodule: ClassVar[str]
    gates: ClassVar[int] = 1
    state_count = 1

    def step_function(self, drops: Tensor | None) -> StepFunction:
        """One step, for what `project` made of the input, with these factors of the first state."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state, or of each of several."""
        return self.units if self.state_count == 1 else (self.units,) * self.state_count

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self.units

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return [(self.units,)] * self.state_count

    def step_weights(self, features: int) -> nn.Module:
        return StepWeights(features, self.units, self.gates, int(self.use_bias))

    @property
    def _tensors(self) -> Any:
        return getattr(self, self.submodule)

    def begin(
        self, input_shape: Shape, states: States, constants: Sequence[Tensor], training: bool
    ) -> tuple[Project, StepFunction]:
        """The functions of one walk, dropout drawn; `input_shape` is that of one step, (batch, features)."""
        first = states[0]
        project = partial(self.project, drops=self.drops(first, input_shape, self.dropout, training))
        return project, self.step_function(self.drops(first, first.shape, self.recurrent_dropout, training))

    def project(self, inputs: Tensor, drops: Tensor | None) -> Tensor:
        """The input's part of all gates, (..., features) -> (..., gates * units)."""
        kernel, bias = self._tensors.weight_ih_l0, self._tensors.bias_ih_l0 if self.use_bias else None
        if drops is None or len(drops) == 1:
            return F.linear(inputs if drops is None else inputs * drops[0], kernel, bias)
        kernels = kernel.chunk(self.gates)
        projected = torch.cat([F.linear(inputs * drop, part) for drop, part in zip(drops, kernels, strict=True)], -1)
        return projected if bias is None else projected + bias


def _product(kernel: Tensor, drops: Tensor | None) -> Product:
    """`(projected, h) -> projected + h @ kernel`; with several sets of factors each for its part of the kernel."""
    if drops is None:
        return lambda projected, h: torch.addmm(projected, h, kernel)
    if len(drops) == 1:
        return lambda projected, h: torch.addmm(projected, h * drops[0], kernel)
    kernels = torch.stack(kernel.chunk(len(drops), -1))
    return lambda projected, h: projected + torch.bmm(h * drops, kernels).transpose(0, 1).flatten(1)


class SimpleRNNStep(Step, Initializers, Penalties, Drops, abstract=True):
    """`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'."""

    kernel = weight("rnn.weight_ih_l0", keras="features units", torch="units features")
    recurrent_kernel = weight("rnn.weight_hh_l0", keras="units out", torch="out units", option="recurrent")
    bias = weight("rnn.bias_ih_l0", keras="units", when="use_bias", plus="rnn.bias_hh_l0")

    submodule = "rnn"

    def step_function(self, drops: Tensor | None) -> StepFunction:
        product, activation = _product(self._tensors.weight_hh_l0.t(), drops), self.activation

        def step(projected: Tensor, states: States) -> Stepped:
            h = activation(product(projected, states[0]))
            return h, (h,)

        return step


class GatedStep(Step, abstract=True):
    """What the steps of LSTM and GRU share."""

    units: Positive
    activation: Activation = "tanh"
    recurrent_activation: Activation = "hard_sigmoid"
    use_bias: bool = True

    @property
    def scan_gate(self) -> Any:
        """The gates' activation as `torchkeras.layers.scan` names it, where it has this step."""
        names = {activations.hard_sigmoid: "hard_sigmoid", activations.sigmoid: "sigmoid"}
        return names.get(self.recurrent_activation) if self.activation is activations.tanh else None

    def gate_function(self, parts: int) -> Callable[[Tensor], Sequence[Tensor]]:
        """`recurrent_activation` of each of the parts of the last axis; one call for all where it is pointwise."""
        gate = self.recurrent_activation
        if activations.is_pointwise(gate):
            return lambda z: gate(z).chunk(parts, -1)
        return lambda z: [gate(part) for part in z.chunk(parts, -1)]


def _zrn_matrix(layer: Layer, kernel: Tensor) -> list[Tensor]:
    """The matrix of GRU's gates, which torch has in the order r, z, n, as Keras has it."""
    return _zrn(kernel.t())


def _zrn_biases(layer: Any, *biases: Tensor) -> Any:
    rows = [_zrn(bias) for bias in biases]
    return rows if layer.reset_after else rows[0]


def _zrn(value: Tensor) -> list[Tensor]:
    r, z, n = value.chunk(3, -1)
    return [z, r, n]


class GRUStep(GatedStep, Initializers, Penalties, Drops, Implementation, ResetAfter, abstract=True):
    """`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`; the output is h'."""

    kernel = weight("gru.weight_ih_l0", pieces=_zrn_matrix)
    recurrent_kernel = weight("gru.weight_hh_l0", pieces=_zrn_matrix, option="recurrent")
    bias = weight(("gru.bias_ih_l0", "gru.bias_hh_l0"), pieces=_zrn_biases, when="use_bias")

    submodule = "gru"
    gates = 3

    def step_weights(self, features: int) -> nn.Module:
        return StepWeights(features, self.units, self.gates, int(self.use_bias) * (1 + self.reset_after))

    @property
    def scan_gate(self) -> Any:
        """As for all gated steps; there is no scan for `reset_after`."""
        return None if self.reset_after else super().scan_gate

    def scan(self, projected: Tensor, states: States, valid: Tensor | None) -> Stepped:
        projected, kernel = torch.cat(_zrn(projected), -1), torch.cat(_zrn(self._tensors.weight_hh_l0.t()), -1).t()
        outputs, h = gru_scan(projected, states[0], kernel, self.scan_gate, valid)
        return outputs, (h,)

    def step_function(self, drops: Tensor | None) -> StepFunction:
        # With one set of factors Keras goes on with what was dropped, in the mix of old and new state too.
        whole = drops[0] if drops is not None and len(drops) == 1 else None
        new_state = (self._after if self.reset_after else self._before)(None if whole is not None else drops)

        def step(projected: Tensor, states: States) -> Stepped:
            h = new_state(projected, states[0] if whole is None else states[0] * whole)
            return h, (h,)

        return step

    def _before(self, drops: Tensor | None) -> Product:
        """The reset gate before the product."""
        both, gates, activation = 2 * self.units, self.gate_function(2), self.activation
        kernel = self._tensors.weight_hh_l0.t()
        product = _product(kernel[:, :both], None if drops is None else drops[:2])
        candidate = _product(kernel[:, both:], None if drops is None else drops[2:])

        def new_state(projected: Tensor, h: Tensor) -> Tensor:
            x_gates, x_n = projected.tensor_split((both,), -1)
            r, z = gates(product(x_gates, h))
            new = activation(candidate(x_n, r * h))
            return torch.addcmul(new, z, h - new)

        return new_state

    def _after(self, drops: Tensor | None) -> Product:
        """The reset gate after the product, which has a bias of its own."""
        both, gates, activation = 2 * self.units, self.gate_function(2), self.activation
        weights = self._tensors
        product = _product(weights.weight_hh_l0.t(), drops)
        bias = weights.bias_hh_l0 if self.use_bias else weights.weight_hh_l0.new_zeros(3 * self.units)

        def new_state(projected: Tensor, h: Tensor) -> Tensor:
            (x_gates, x_n), (h_gates, h_n) = (v.tensor_split((both,), -1) for v in (projected, product(bias, h)))
            r, z = gates(x_gates + h_gates)
            new = activation(torch.addcmul(x_n, r, h_n))
            return torch.addcmul(new, z, h - new)

        return new_state


class LSTMStep(GatedStep, Initializers, UnitForgetBias, Penalties, Drops, Implementation, abstract=True):
    """`c' = f * c + i * g; h' = o * activation(c')`; the output is h'."""

    kernel = weight("lstm.weight_ih_l0", keras="features gates", torch="gates features")
    recurrent_kernel = weight("lstm.weight_hh_l0", keras="units gates", torch="gates units", option="recurrent")
    bias = weight("lstm.bias_ih_l0", keras="gates", when="use_bias", plus="lstm.bias_hh_l0")

    submodule = "lstm"
    gates = 4
    state_count = 2

    def scan(self, projected: Tensor, states: States, valid: Tensor | None) -> Stepped:
        h, c = states
        outputs, h, c = lstm_scan(projected, h, c, self._tensors.weight_hh_l0, self.scan_gate, valid)
        return outputs, (h, c)

    def step_function(self, drops: Tensor | None) -> StepFunction:
        product, activation = _product(self._tensors.weight_hh_l0.t(), drops), self.activation
        # One call for all gates, the cell's wasted, takes 0.82 of the time of a step that spares it.
        gates, cell = self.gate_function(4), slice(2 * self.units, 3 * self.units)

        def step(projected: Tensor, states: States) -> Stepped:
            z = product(projected, states[0])
            i, f, _, o = gates(z)
            c = torch.addcmul(f * states[1], i, activation(z[:, cell]))
            h = o * activation(c)
            return h, (h, c)

        return step
