"""Recurrent layers: RNN around any cell, SimpleRNN, GRU and LSTM, and CuDNNGRU and CuDNNLSTM by torch's kernel."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from torchkeras import activations, registry
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER, OptionalPositive, Positive
from torchkeras.engine.symbolic.tensor import Shape, as_list, unpacked
from torchkeras.engine.weights.weight import weight
from torchkeras.layers import steps
from torchkeras.layers.cells import CellOption, begin_cell, build_cell, output_shape, state_shapes, takes
from torchkeras.layers.recurrence import (
    Constants,
    MaskedOutput,
    States,
    Stepped,
    Walk,
    shapes_of,
)
from torchkeras.layers.torch_recurrence import TorchRecurrent


class RNN(MaskedOutput):
    """`output[t], states = cell(x[t], states)` along time, for any cell.

    A cell has a `state_size`, an integer or a list with one for each state, and a method `call(inputs, states)`, which
    returns the output and the list of new states. `call` may take `constants` and `training` as well. A cell whose
    output does not have the size of the first state has an `output_size`. A cell that is a layer is built for one
    step's input.

    `Recurrent` explains initial states, constants and masks.

    Options:
        cell (cell or list of cells): what each step computes; a list becomes `StackedRNNCells`.
        num_constants (positive integer or None, default None): how many constants stand at the end of the list of
            inputs. A call with `constants` sets it; configs of such layers have it.

    Shapes:
        (batch, time, features) -> (batch, output_size)
        (batch, time, features) -> (batch, time, output_size) with `return_sequences`; each state (batch, size)

    Errors:
        ValueError: a cell without `call` or `state_size`.

    Example:
        >>> class Sum:
        ...     state_size = 3
        ...
        ...     def call(self, inputs, states):
        ...         total = states[0] + inputs
        ...         return total, [total]
        >>> RNN(Sum())(torch.ones(1, 4, 3))
        tensor([[4., 4., 4.]])
        >>> RNN([LSTMCell(3), GRUCell(5)])(torch.ones(1, 4, 3)).shape
        torch.Size([1, 5])

    Source: https://keras.io/api/layers/recurrent_layers/rnn/
    """

    cell: CellOption
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
        sequence, _, constants = self._parts(shapes_of(input_shape))
        build_cell(self.cell, [(sequence[0], *sequence[2:]), *constants])
        super().build(input_shape)

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        return begin_cell(self.cell, input_shape, states, constants, training)


class SimpleRNN(steps.SimpleRNNStep, TorchRecurrent, MaskedOutput):
    """`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'.

    With `activation` "tanh" (the default) or "relu" the layer holds an `nn.RNN` and runs its kernel. `Recurrent`
    explains states and masks.

    Options:
        implementation (1 or 2, default 1): accepted for old code and files: without gates, 1 and 2 compute the same.

    Shapes:
        (batch, time, features) -> (batch, units)
        (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

    Example:
        >>> SimpleRNN(4)(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 4])

    Source: Elman (1990), Finding Structure in Time
    """

    implementation: Annotated[Any, steps.IMPLEMENTATION, NEWER] = 1

    def torch_options(self) -> dict[str, Any] | None:
        names = {activations.tanh: "tanh", activations.relu: "relu"}
        return {"nonlinearity": names[self.activation]} if self.activation in names else None


class GRU(steps.GRUStep, TorchRecurrent, MaskedOutput):
    """`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`; the output is h'.

    `x @ kernel + bias` has the parts x_z, x_r and x_n, in this order. A gate is
    `z = recurrent_activation(x_z + h @ recurrent_kernel_z)`; r has the same formula. With `reset_after` the candidate
    is `activation(x_n + r * (h @ recurrent_kernel_n + recurrent_bias_n))`. The bias then has a second row, which is
    added to the product with h.

    With `reset_after=True`, `recurrent_activation="sigmoid"` and `activation="tanh"` the layer holds an `nn.GRU`. It
    runs that kernel on a CUDA device, and on the CPU where no gradients are recorded. `Recurrent` explains states and
    masks.

    Shapes:
        (batch, time, features) -> (batch, units)
        (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

    Example:
        >>> GRU(4, return_sequences=True)(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 5, 4])

    Source: https://arxiv.org/abs/1406.1078
    """

    scans_faster = True

    def torch_options(self) -> dict[str, Any] | None:
        return {} if self.reset_after and self.scan_gate == "sigmoid" else None


class LSTM(steps.LSTMStep, TorchRecurrent, MaskedOutput):
    """`c' = f * c + i * g; h' = o * activation(c')`; the output is h', the states are h and c.

    `x @ kernel + h @ recurrent_kernel + bias` has the parts i, f, g and o, in this order. The gates i, f and o go
    through `recurrent_activation`, the candidate g through `activation`.

    With `recurrent_activation="sigmoid"` and `activation="tanh"` the layer holds an `nn.LSTM` and runs its kernel. The
    default is not "sigmoid" but Keras 2's `hard_sigmoid`. `Recurrent` explains states and masks.

    Shapes:
        (batch, time, features) -> (batch, units)
        (batch, time, features) -> (batch, time, units) with `return_sequences`; each state (batch, units)

    Example:
        >>> output, h, c = LSTM(4, return_state=True)(torch.zeros(2, 5, 3))
        >>> output.shape, h.shape, c.shape
        (torch.Size([2, 4]), torch.Size([2, 4]), torch.Size([2, 4]))

    Source: Hochreiter & Schmidhuber (1997), https://doi.org/10.1162/neco.1997.9.8.1735
    """

    def torch_options(self) -> dict[str, Any] | None:
        return {} if self.scan_gate == "sigmoid" else None


# --- always torch's kernel -------------------------------------------------------------------------------------------


def _cudnn(layer: Layer, *tensors: Tensor) -> list[Tensor]:
    """Each gate's part of each tensor, in Keras's shape but with its elements in torch's order, as cuDNN has them."""
    parts = [tensor.chunk(len(layer.gate_order)) for tensor in tensors]
    return [own[gate].view(own[gate].shape[::-1]) for own in parts for gate in layer.gate_order]


CELLS: dict[str, Any] = {"gru": torch.gru_cell, "lstm": torch.lstm_cell}  # type: ignore[attr-defined]


class TorchKernel(steps.RecurrentWeights, TorchRecurrent, abstract=True):
    """What CuDNNGRU and CuDNNLSTM share: torch's module on any device, weights as cuDNN has them, and no masks.

    Options:
        units (positive integer): the size of the output, and of each state.
    """

    units: Positive

    _option_order = (*steps.WEIGHT_OPTIONS, "return_sequences", "return_state", "stateful", "go_backwards")
    unroll: ClassVar[bool] = False
    supports_masking = False
    gate_order: ClassVar[tuple[int, ...]]  # where torch has each of Keras's gates

    def first_mask(self, mask: Any) -> None:
        if super().first_mask(mask) is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: Masking is not supported for CuDNN RNNs.")

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        """One step by torch's cell, for exporters."""
        compute, module = CELLS[self.submodule], getattr(self, self.submodule)
        weights = [
            getattr(module, name) for name in module._flat_weights_names
        ]  # by name: an exporter may replace them

        def step(inputs: Tensor, states: States) -> Stepped:
            found = tuple(as_list(compute(inputs, unpacked(list(states)), *weights)))
            return found[0], found

        return lambda inputs: inputs, step


class CuDNNGRU(TorchKernel):
    """GRU with `reset_after`, sigmoid gates and tanh, always by the kernel of `nn.GRU`, on any device.

    Its weights are those of Keras's files for cuDNN: each gate's part of a kernel has Keras's shape, but its elements
    are in torch's order. The bias is 6 * units long: for z, r and the candidate the biases added to the product with x,
    then those added to the product with h.

    Shapes:
        (batch, time, features) -> (batch, units)
        (batch, time, features) -> (batch, time, units) with `return_sequences`; the state h (batch, units)

    Errors:
        ValueError: a call with a mask.

    Example:
        >>> CuDNNGRU(4)(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 4])

    Source: Keras 2, `CuDNNGRU`
    """

    kernel = weight("gru.weight_ih_l0", pieces=_cudnn)
    recurrent_kernel = weight("gru.weight_hh_l0", pieces=_cudnn, option="recurrent")
    bias = weight(("gru.bias_ih_l0", "gru.bias_hh_l0"), pieces=_cudnn)

    submodule = "gru"
    gate_order = (1, 0, 2)


class CuDNNLSTM(steps.UnitForgetBias, TorchKernel):
    """LSTM with sigmoid gates and tanh, always by the kernel of `nn.LSTM`, on any device.

    Its weights are as in `CuDNNGRU`. The bias is 8 * units long: for i, f, g and o the biases added to the product with
    x, then those added to the product with h; `unit_forget_bias` is for the latter.

    Shapes:
        (batch, time, features) -> (batch, units)
        (batch, time, features) -> (batch, time, units) with `return_sequences`; each state (batch, units)

    Errors:
        ValueError: a call with a mask.

    Example:
        >>> CuDNNLSTM(4, return_sequences=True)(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 5, 4])

    Source: Keras 2, `CuDNNLSTM`
    """

    kernel = weight("lstm.weight_ih_l0", pieces=_cudnn)
    recurrent_kernel = weight("lstm.weight_hh_l0", pieces=_cudnn, option="recurrent")
    bias = weight(("lstm.bias_ih_l0", "lstm.bias_hh_l0"), pieces=_cudnn)

    submodule = "lstm"
    state_count = 2
    bias_parts = 8
    gate_order = (0, 1, 2, 3)
