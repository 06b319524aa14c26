"""Recurrent layers: RNN around any cell, SimpleRNN, GRU and LSTM, and the two that are always torch's kernel."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from torch import Tensor, nn

from torchkeras import activations, registry
from torchkeras.engine.layer import Layer
from torchkeras.engine.options import NEWER, OptionalPositive, Positive
from torchkeras.engine.symbol import Shape, as_list
from torchkeras.engine.weight import weight
from torchkeras.layers.cells import CellOption, begin_cell, build_cell, output_shape, state_shapes, takes
from torchkeras.layers.recurrence import Project, Recurrent, States, StepFunction, Stepped, TorchRecurrent, first_shape
from torchkeras.layers.steps import (
    GRUStep,
    Initializers,
    LSTMStep,
    OldImplementation,
    Penalties,
    ResetAfter,
    SimpleRNNStep,
    UnitForgetBias,
)


class RNN(Recurrent):
    """`output[t], states = cell(x[t], states)` along time: for any cell, or a list of cells, each on the one before.

    A cell has `state_size`, an integer or one for each of its states, and `call(inputs, states)` that gives the output
    and the list of new states; `call` may take `constants` and `training`. `output_size` is the output's size, where
    that is not the first state's. A cell that is a layer is built for one step's input. Source: Keras 2, `RNN`.

    Shape: (batch, time, features) -> (batch, output_size), or (batch, time, output_size) with `return_sequences`; with
    `return_state` a list: the output and the final states, (batch, size) each. States and masks: see `Recurrent`.
    """

    cell: CellOption
    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False
    unroll: bool = False
    # How many constants end the inputs: set by a call, and written for the calls of a config.
    num_constants: Annotated[OptionalPositive, NEWER] = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        return cls(**{**config, "cell": registry.layers.from_config(config["cell"], custom_objects)})

    @property
    def takes_constants(self) -> bool:
        """Whether the cell takes constants."""
        return takes(self.cell, "constants")

    @property
    def state_count(self) -> int:
        """The number of the cell's states."""
        return len(state_shapes(self.cell))

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return state_shapes(self.cell)

    def step_shape(self, input_shape: Shape) -> Shape:
        return output_shape(self.cell)

    def build(self, input_shape: Any) -> None:
        shape = first_shape(input_shape)
        *_, constants = self._parts(input_shape if isinstance(input_shape, list) else [input_shape])
        build_cell(self.cell, [(shape[0], *shape[2:]), *constants])
        super().build(input_shape)

    def begin(
        self, input_shape: Shape, states: States, constants: Sequence[Tensor], training: bool
    ) -> tuple[Project, StepFunction]:
        return begin_cell(self.cell, input_shape, states, constants, training)


class SimpleRNN(SimpleRNNStep, TorchRecurrent, Recurrent, OldImplementation):
    """`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'.

    With `activation` "tanh" (the default) or "relu" the layer holds an `nn.RNN` and runs its kernel. `dropout` and
    `recurrent_dropout` drop features of x and h, the same at all steps. Source: Elman (1990).

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output and h. States and masks: see `Recurrent`.
    """

    def torch_module(self, features: int) -> nn.RNNBase | None:
        kinds = {activations.tanh: "tanh", activations.relu: "relu"}
        if self.activation not in kinds:
            return None
        return nn.RNN(features, self.units, nonlinearity=kinds[self.activation], bias=self.use_bias, batch_first=True)


class GRU(GRUStep, TorchRecurrent, Recurrent, ResetAfter):
    """`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`, z and r by `recurrent_activation`.

    `x_z, x_r, x_n = x @ kernel + bias`; z and r are of `x + h @ recurrent_kernel`. With `reset_after` the candidate is
    `activation(x_n + r * (h @ recurrent_kernel_n + recurrent_bias_n))`, and the bias has two rows, the second for the
    product with h; then, with `recurrent_activation="sigmoid"` and `activation="tanh"`, the layer holds an `nn.GRU`
    and runs its kernel. `implementation` 1 draws dropout for each gate, 2 once. Source: Cho et al. (2014).

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output and h. States and masks: see `Recurrent`.
    """

    def torch_module(self, features: int) -> nn.RNNBase | None:
        gates = (self.activation, self.recurrent_activation)
        if not self.reset_after or gates != (activations.tanh, activations.sigmoid):
            return None
        return nn.GRU(features, self.units, bias=self.use_bias, batch_first=True)


class LSTM(LSTMStep, TorchRecurrent):
    """`c' = f * c + i * g; h' = o * activation(c')`, gates i, f, o by `recurrent_activation`, g by `activation`.

    `z = x @ kernel + h @ recurrent_kernel + bias`, for i, f, g, o in this order; the states are h and c.
    `unit_forget_bias`: the bias of f begins at 1. With `recurrent_activation="sigmoid"` and `activation="tanh"` the
    layer holds an `nn.LSTM` and runs its kernel; the default is `hard_sigmoid`. `implementation` 1 draws dropout for
    each gate, 2 once. Source: Hochreiter & Schmidhuber (1997).

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output, h and c. States and masks: see `Recurrent`.
    """

    def torch_module(self, features: int) -> nn.RNNBase | None:
        if (self.activation, self.recurrent_activation) != (activations.tanh, activations.sigmoid):
            return None
        return nn.LSTM(features, self.units, bias=self.use_bias, batch_first=True)


# --- always torch's kernel -------------------------------------------------------------------------------------------


def _cudnn_kernel(layer: Any, kernel: Tensor) -> list[Tensor]:
    """Each gate's part in the shape that Keras gives it, its elements in torch's order, as cuDNN has them."""
    parts = [part.view(part.shape[::-1]) for part in kernel.chunk(len(layer.gate_order))]
    return [parts[gate] for gate in layer.gate_order]


def _cudnn_bias(layer: Any, *biases: Tensor) -> list[Tensor]:
    """Torch's two biases, one behind the other."""
    return [bias.chunk(len(layer.gate_order))[gate] for bias in biases for gate in layer.gate_order]


class TorchKernel(TorchRecurrent, abstract=True):
    """What CuDNNGRU and CuDNNLSTM share: torch's module, on any device, with weights as cuDNN has them; no masks."""

    return_sequences: bool = False
    return_state: bool = False
    stateful: bool = False

    unroll: ClassVar[bool] = False
    supports_masking = False
    units: Any
    gate_order: ClassVar[tuple[int, ...]]  # where torch has each of Keras's gates

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return [(self.units,)] * self.state_count

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        self._refuse((as_list(mask) or [None])[0])
        return super().compute_mask(inputs, mask)

    def walk(
        self, sequence: Tensor, mask: Tensor | None, states: States, constants: Sequence[Tensor], training: bool
    ) -> Stepped:
        self._refuse(mask)
        return super().walk(sequence, mask, states, constants, training)

    def _refuse(self, mask: Any) -> None:
        if mask is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: Masking is not supported for CuDNN RNNs.")


class CuDNNGRU(Initializers, Penalties, TorchKernel):
    """GRU with `reset_after`, sigmoid gates and tanh, always by the kernel of `nn.GRU`, on any device.

    The weights are as cuDNN has them in Keras's files: each gate's part of a kernel has Keras's shape and torch's order
    of elements; the bias, 6 * units long, holds those of z, r, h for x, then those for h. Raises ValueError for a mask.
    Source: Keras 2, `CuDNNGRU`.

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output and h. States: see `Recurrent`.
    """

    units: Positive

    kernel = weight("gru.weight_ih_l0", pieces=_cudnn_kernel)
    recurrent_kernel = weight("gru.weight_hh_l0", pieces=_cudnn_kernel, option="recurrent")
    bias = weight(("gru.bias_ih_l0", "gru.bias_hh_l0"), pieces=_cudnn_bias)

    submodule = "gru"
    gate_order = (1, 0, 2)

    def torch_module(self, features: int) -> nn.RNNBase:
        return nn.GRU(features, self.units, batch_first=True)


class CuDNNLSTM(Initializers, UnitForgetBias, Penalties, TorchKernel):
    """LSTM with sigmoid gates and tanh, always by the kernel of `nn.LSTM`, on any device.

    The weights are as cuDNN has them in Keras's files: each gate's part of a kernel has Keras's shape and torch's order
    of elements; the bias, 8 * units long, holds those of i, f, g, o for x, then those for h. Raises ValueError for a
    mask. Source: Keras 2, `CuDNNLSTM`.

    Shape: (batch, time, features) -> (batch, units), or (batch, time, units) with `return_sequences`; with
    `return_state` a list: the output, h and c. States: see `Recurrent`.
    """

    units: Positive

    kernel = weight("lstm.weight_ih_l0", pieces=_cudnn_kernel)
    recurrent_kernel = weight("lstm.weight_hh_l0", pieces=_cudnn_kernel, option="recurrent")
    bias = weight(("lstm.bias_ih_l0", "lstm.bias_hh_l0"), pieces=_cudnn_bias)

    submodule = "lstm"
    state_count = 2
    bias_parts = 8
    gate_order = (0, 1, 2, 3)

    def torch_module(self, features: int) -> nn.RNNBase:
        return nn.LSTM(features, self.units, batch_first=True)
