"""Steps: what SimpleRNN, GRU and LSTM compute at one time step, with the options and weights of this computation.

A step is written once, for the cell and the layer of its name: `class LSTMCell(Cell, LSTMStep)` and
`class LSTM(LSTMStep, TorchRecurrent)`. Its weights lie as in torch's recurrent modules. Where torch computes the same
function, such a module holds them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import activations, initializers
from torchkeras.base.rules import rule
from torchkeras.base.tracing import exporting
from torchkeras.engine.graph.layer_calls import renew_weights
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Activation, Constraint, Fraction, Initializer, Positive, Regularizer
from torchkeras.engine.symbolic.tensor import Shape, unpacked
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.recurrence import Constants, States, StepFunction, Stepped, Walk, shapes_of
from torchkeras.layers.scan import Mask, gru_scan, gru_scan_reset_after, lstm_scan

IMPLEMENTATION = rule("must be 1 or 2", lambda v: v in (0, 1, 2), lambda v: int(v) or 1, "Literal[0, 1, 2]")

# --- groups of options ------------------------------------------------------------------------------------------------


WEIGHT_OPTIONS = (
    *("kernel_initializer", "recurrent_initializer", "bias_initializer", "unit_forget_bias"),
    *("kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "activity_regularizer"),
    *("kernel_constraint", "recurrent_constraint", "bias_constraint"),
)


class RecurrentWeights(Layer, abstract=True):
    """The options of the weights of a recurrent layer.

    Options:
        kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the input's kernel.
        recurrent_initializer (name or Initializer, default "orthogonal"): the first values of the state's kernel.
        bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
        kernel_regularizer (name, Regularizer or None, default None): a penalty on the input's kernel, added to the
            loss.
        recurrent_regularizer (name, Regularizer or None, default None): a penalty on the state's kernel.
        bias_regularizer (name, Regularizer or None, default None): a penalty on the bias.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output.
        kernel_constraint (name, Constraint or None, default None): applied to the input's kernel after each update.
        recurrent_constraint (name, Constraint or None, default None): applied to the state's kernel after each update.
        bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
    """

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


class UnitForgetBias(Layer, abstract=True):
    """The first value of the forget gate's bias: the third from the end of `bias_parts` parts of one size.

    Options:
        unit_forget_bias (bool, default True): whether the bias of the forget gate begins at 1.
    """

    unit_forget_bias: bool = True

    bias_parts = 4

    def _initializer_of(self, option: str) -> Any:
        initial = super()._initializer_of(option)
        if option != "bias" or not self.unit_forget_bias:
            return initial

        def forget_bias_one(shape: tuple[int, ...]) -> Tensor:
            values, units = torch.ones(shape), shape[0] // self.bias_parts
            initializers.fill(initial, values[: -3 * units])
            initializers.fill(initial, values[-2 * units :])
            return values

        return forget_bias_one


class Drops(Layer, abstract=True):
    """Dropout of the input and of the state. What is dropped is the same at all steps.

    Options:
        dropout (float from 0 to below 1, default 0.0): the share of the input's features that are dropped in training.
        recurrent_dropout (float from 0 to below 1, default 0.0): the share of the features of the first state that are
            dropped in training.
    """

    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0

    gates: ClassVar[int]

    @property
    def drop_sets(self) -> int:
        """How many sets of factors are drawn: with `implementation` 1 one for each gate, else one."""
        return self.gates if getattr(self, "implementation", 2) == 1 else 1

    def drops(self, like: Tensor, shape: Sequence[Any], rate: float, training: bool) -> Tensor | None:
        """Factors for a value of this shape, (sets, *shape), with dtype and device of `like`; None for no dropout."""
        return F.dropout(like.new_ones(self.drop_sets, *shape), rate) if training and rate else None


# --- steps -----------------------------------------------------------------------------------------------------------


class StepWeights(nn.Module):
    """The weights of one direction, by the names that torch's recurrent modules give them."""

    def __init__(self, features: int, units: int, gates: int, biases: int):
        super().__init__()
        self.weight_ih_l0 = nn.Parameter(torch.empty(gates * units, features))
        self.weight_hh_l0 = nn.Parameter(torch.empty(gates * units, units))
        self.bias_ih_l0 = nn.Parameter(torch.empty(gates * units)) if biases else None
        self.bias_hh_l0 = nn.Parameter(torch.empty(gates * units)) if biases > 1 else None


class CellStep(RecurrentWeights, Drops, abstract=True):
    """One step of a cell or of a layer: `project` computes the input's part, `step_function` the rest.

    Options:
        units (positive integer): the size of the output, and of each state.
        use_bias (bool, default True): whether a bias is added.
    """

    units: Positive
    activation: Activation = "tanh"
    use_bias: bool = True

    submodule: ClassVar[str]
    gates = 1
    state_count = 1
    reset_after = False

    def step_function(self, drops: Tensor | None) -> StepFunction:
        """The function of one step, which takes what `project` made of the input; `drops` are for the first state."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state, or of each of several."""
        return self.units if self.state_count == 1 else (self.units,) * self.state_count

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self.units

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        if self.submodule not in self._modules:  # a layer may hold torch's own
            features, biases = self._known_size(shapes_of(input_shape)[0], -1), self.use_bias * (1 + self.reset_after)
            self.add_module(self.submodule, StepWeights(features, self.units, self.gates, biases))

    @property
    def _tensors(self) -> Any:
        return getattr(self, self.submodule)

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        """The functions of one walk, with its dropout drawn; `input_shape` is that of one step, (batch, features)."""
        project, drops = self.drawn(input_shape, states, training)
        return project, self.step_function(drops)

    def drawn(
        self, input_shape: Shape, states: States, training: bool
    ) -> tuple[Callable[[Tensor], Tensor], Tensor | None]:
        """`project` with its dropout, and the factors for the first state; both are drawn here, once for a walk."""
        first = states[0]
        renew_weights(self._tensors)
        project = partial(self.project, drops=self.drops(first, input_shape, self.dropout, training))
        return project, self.drops(first, first.shape, self.recurrent_dropout, training)

    def project(self, inputs: Tensor, drops: Tensor | None) -> Tensor:
        """The input's part of all gates, (..., features) -> (..., gates * units)."""
        kernel, bias = self._tensors.weight_ih_l0, self._tensors.bias_ih_l0 if self.use_bias else None
        if drops is None or len(drops) == 1:
            return F.linear(inputs if drops is None else inputs * drops[0], kernel, bias)
        kernels = kernel.chunk(self.gates)
        projected = torch.cat([F.linear(inputs * drop, part) for drop, part in zip(drops, kernels, strict=True)], -1)
        return projected if bias is None else projected + bias


def _product(kernel: Tensor, drops: Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    """`(projected, h) -> projected + h @ kernel`; of several sets of factors, each is for its part of the kernel."""
    if drops is None:
        return lambda projected, h: torch.addmm(projected, h, kernel)
    if len(drops) == 1:
        return lambda projected, h: torch.addmm(projected, h * drops[0], kernel)
    kernels = torch.stack(kernel.chunk(len(drops), -1))
    return lambda projected, h: projected + torch.bmm(h * drops, kernels).transpose(0, 1).flatten(1)


class SimpleRNNStep(CellStep, abstract=True):
    """One step of SimpleRNN.

    Options:
        activation (name, function or None, default "tanh"): applied to the sum; None applies nothing.
    """

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


SIGMOID_GATES: Mapping[str, Any] = {"recurrent_activation": ("sigmoid", (2, 3))}


class GatedStep(CellStep, abstract=True):
    """What the steps of LSTM and GRU share.

    Options:
        activation (name, function or None, default "tanh"): applied to the candidate, and in LSTM to the cell state.
        recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
            `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
        implementation (1 or 2, default 1): 1 draws dropout for each gate, 2 once for all gates. 0 is an old name of 1.
    """

    units: Positive
    activation: Activation = "tanh"
    recurrent_activation: Activation = "hard_sigmoid"
    implementation: Annotated[Any, IMPLEMENTATION] = 1

    _option_order = (
        *("use_bias", *WEIGHT_OPTIONS, "dropout", "recurrent_dropout", "implementation"),
        *("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "reset_after"),
    )

    _changed_defaults = SIGMOID_GATES

    time_loop: ClassVar[Callable[..., Any]]  # the function of `torchkeras.layers.scan` for this step

    @property
    def scan_gate(self) -> str | None:
        """The gates' activation as `torchkeras.layers.scan` names it; None where it has no such scan."""
        names = {activations.hard_sigmoid: "hard_sigmoid", activations.sigmoid: "sigmoid"}
        return names.get(self.recurrent_activation) if self.activation is activations.tanh else None

    def scan(self, projected: Tensor, states: States, valid: Mask, drops: Tensor | None) -> Stepped:
        """The outputs of all steps, time first, and the final states, for what `project` made of the sequence."""
        factors = {} if drops is None else {"drops": drops}
        kernel = self._tensors.weight_hh_l0
        outputs, *final = self.time_loop(projected, *states, kernel, self.scan_gate, valid, **factors)
        return outputs, tuple(final)

    def gate_function(self, parts: int) -> Callable[[Tensor], Sequence[Tensor]]:
        """`recurrent_activation` of each part of the last axis, in one call for all where it is pointwise."""
        gate = self.recurrent_activation
        if activations.is_pointwise(gate):
            return lambda z: gate(z).chunk(parts, -1)
        return lambda z: [gate(part) for part in z.chunk(parts, -1)]


def _zrn(layer: Layer, *tensors: Tensor) -> Any:
    """GRU's gates in Keras's order z, r, n, from torch's r, z, n; for two biases, a row for each."""
    return unpacked([[z, r, n] for r, z, n in (tensor.t().chunk(3, -1) for tensor in tensors)])


class GRUStep(GatedStep, abstract=True):
    """One step of GRU.

    Options:
        reset_after (bool, default False): whether the reset gate multiplies the product of the state and the recurrent
            kernel, not the state itself. The bias then has two rows.
    """

    reset_after: bool = False

    kernel = weight("gru.weight_ih_l0", pieces=_zrn)
    recurrent_kernel = weight("gru.weight_hh_l0", pieces=_zrn, option="recurrent")
    bias = weight(("gru.bias_ih_l0", "gru.bias_hh_l0"), pieces=_zrn, when="use_bias")

    submodule = "gru"
    gates = 3
    _changed_defaults = {**SIGMOID_GATES, "reset_after": (True, (2, 3))}
    time_loop = staticmethod(gru_scan)

    def scan(self, projected: Tensor, states: States, valid: Mask, drops: Tensor | None) -> Stepped:
        if not self.reset_after:
            return super().scan(projected, states, valid, drops)
        kernel = self._tensors.weight_hh_l0
        bias = self._tensors.bias_hh_l0 if self.use_bias else kernel.new_zeros(len(kernel))
        outputs, h = gru_scan_reset_after(projected, states[0], kernel, bias, str(self.scan_gate), valid)
        return outputs, (h,)

    def step_function(self, drops: Tensor | None) -> StepFunction:
        both, gates, activation, after = 2 * self.units, self.gate_function(2), self.activation, self.reset_after
        kernel, whole = self._tensors.weight_hh_l0.t(), None
        bias = self._tensors.bias_hh_l0 if after and self.use_bias else kernel.new_zeros(3 * self.units)
        if drops is not None and len(drops) == 1:
            # Keras uses the dropped state in the mix of old and new state too.
            whole, drops = drops[0], None
        product = _product(kernel, drops)
        of_gates, of_new = kernel[:, :both], kernel[:, both:]
        if exporting():  # a step must not capture two views of one tensor
            of_gates, of_new = of_gates.clone(), of_new.clone()
        gates_product = _product(of_gates, None if drops is None else drops[:2])
        new_product = _product(of_new, None if drops is None else drops[2:])

        def step(projected: Tensor, states: States) -> Stepped:
            h = states[0] if whole is None else states[0] * whole
            x_gates, x_n = projected.tensor_split((both,), -1)
            if after:
                h_gates, h_n = product(bias, h).tensor_split((both,), -1)
                r, z = gates(x_gates + h_gates)
                new = activation(torch.addcmul(x_n, r, h_n))
            else:
                r, z = gates(gates_product(x_gates, h))
                new = activation(new_product(x_n, r * h))
            h = torch.addcmul(new, z, h - new)
            return h, (h,)

        return step


class LSTMStep(UnitForgetBias, GatedStep, abstract=True):
    """One step of LSTM."""

    kernel = weight("lstm.weight_ih_l0", keras="features gates", torch="gates features")
    recurrent_kernel = weight("lstm.weight_hh_l0", keras="units gates", torch="gates units", option="recurrent")
    bias = weight("lstm.bias_ih_l0", keras="gates", when="use_bias", plus="lstm.bias_hh_l0")

    submodule = "lstm"
    gates = 4
    state_count = 2
    time_loop = staticmethod(lstm_scan)
    scan_drops = True

    def step_function(self, drops: Tensor | None) -> StepFunction:
        product, activation = _product(self._tensors.weight_hh_l0.t(), drops), self.activation
        # One call for all four parts, the candidate's wasted, takes 0.82 of the time of calls for the gates alone.
        gates, cell = self.gate_function(4), slice(2 * self.units, 3 * self.units)

        def step(projected: Tensor, states: States) -> Stepped:
            z = product(projected, states[0])
            i, f, _, o = gates(z)
            c = torch.addcmul(f * states[1], i, activation(z[:, cell]))
            h = o * activation(c)
            return h, (h, c)

        return step
