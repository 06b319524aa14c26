"""Recurrent layers: RNN around any cell, SimpleRNN, GRU and LSTM, and the two that are always torch's kernel."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from torchkeras import activations, registry
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, OptionalPositive, Positive
from torchkeras.engine.layer.symbolic import Shape, as_list, unpacked
from torchkeras.engine.layer.weight import weight
from torchkeras.layers import steps
from torchkeras.layers.cells import CellOption, begin_cell, build_cell, output_shape, state_shapes, takes
from torchkeras.layers.recurrence import (
    Constants,
    MaskedOutput,
    Recurrent,
    States,
    Stepped,
    Walk,
    shapes_of,
)
from torchkeras.layers.torch_recurrence import TorchRecurrent


class RNN(Recurrent, MaskedOutput):
    """`output[t], states = cell(x[t], states)` along time: for any cell, or a list of cells, each on the one before.

    A cell has `state_size`, an integer or one for each of its states, and `call(inputs, states)` that gives the output
    and the list of new states; `call` may take `constants` and `training`. `output_size` is the output's size, where
    that is not the first state's. A cell that is a layer is built for one step's input. Source: Keras 2, `RNN`.

    Shape: (batch, time, features) -> (batch, output_size), each state (batch, size). Options: see `Recurrent`.
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
        sequence, _, constants = self._parts(shapes_of(input_shape))
        build_cell(self.cell, [(sequence[0], *sequence[2:]), *constants])
        super().build(input_shape)

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        return begin_cell(self.cell, input_shape, states, constants, training)


class SimpleRNN(steps.SimpleRNNStep, TorchRecurrent, Recurrent, steps.OldImplementation, MaskedOutput):
    """`h' = activation(x @ kernel + h @ recurrent_kernel + bias)`; the output is h'.

    With `activation` "tanh" (the default) or "relu" the layer holds an `nn.RNN` and runs its kernel. `dropout` and
    `recurrent_dropout` drop features of x and h, the same at all steps. Source: Elman (1990).

    Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
    """

    def torch_options(self) -> dict[str, Any] | None:
        names = {activations.tanh: "tanh", activations.relu: "relu"}
        return {"nonlinearity": names[self.activation]} if self.activation in names else None


class GRU(steps.GRUStep, TorchRecurrent, Recurrent, steps.ResetAfter, MaskedOutput):
    """`h' = z * h + (1 - z) * activation(x_n + (r * h) @ recurrent_kernel_n)`, z and r by `recurrent_activation`.

    `x_z, x_r, x_n = x @ kernel + bias`; z and r are of `x + h @ recurrent_kernel`. With `reset_after` the candidate is
    `activation(x_n + r * (h @ recurrent_kernel_n + recurrent_bias_n))`, and the bias has two rows, the second for the
    product with h; then, with `recurrent_activation="sigmoid"` and `activation="tanh"`, the layer holds an `nn.GRU`
    and runs its kernel on a CUDA device and where no gradients are recorded. `implementation` 1 draws dropout for each
    gate, 2 once. Source: Cho et al. (2014).

    Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
    """

    scans_faster = True

    def torch_options(self) -> dict[str, Any] | None:
        return {} if self.reset_after and self.scan_gate == "sigmoid" else None


class LSTM(steps.LSTMStep, TorchRecurrent, Recurrent, MaskedOutput):
    """`c' = f * c + i * g; h' = o * activation(c')`, gates i, f, o by `recurrent_activation`, g by `activation`.

    `z = x @ kernel + h @ recurrent_kernel + bias`, for i, f, g, o in this order; the states are h and c.
    `unit_forget_bias`: the bias of f begins at 1. With `recurrent_activation="sigmoid"` and `activation="tanh"` the
    layer holds an `nn.LSTM` and runs its kernel; the default is `hard_sigmoid`. `implementation` 1 draws dropout for
    each gate, 2 once. Source: Hochreiter & Schmidhuber (1997).

    Shape: (batch, time, features) -> (batch, units), both states alike. Other options: see `Recurrent`.
    """

    def torch_options(self) -> dict[str, Any] | None:
        return {} if self.scan_gate == "sigmoid" else None


# --- always torch's kernel -------------------------------------------------------------------------------------------


def _cudnn(layer: Any, *tensors: Tensor) -> list[Tensor]:
    """Each gate's part of each tensor in Keras's shape, its elements in torch's order, as cuDNN has them."""
    parts = [tensor.chunk(len(layer.gate_order)) for tensor in tensors]
    return [own[gate].view(own[gate].shape[::-1]) for own in parts for gate in layer.gate_order]


CELLS: dict[str, Any] = {"gru": torch.gru_cell, "lstm": torch.lstm_cell}  # type: ignore[attr-defined]


class TorchKernel(TorchRecurrent, abstract=True):
    """What CuDNNGRU and CuDNNLSTM share: torch's module, on any device, with weights as cuDNN has them; no masks."""

    return_sequences: bool = False
    return_state: bool = False
    stateful: bool = False

    unroll: ClassVar[bool] = False
    supports_masking = False
    gate_order: ClassVar[tuple[int, ...]]  # where torch has each of Keras's gates

    def first_mask(self, mask: Any) -> None:
        if super().first_mask(mask) is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: Masking is not supported for CuDNN RNNs.")

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        """One step by torch's cell, for exporters."""
        compute, module = CELLS[self.submodule], getattr(self, self.submodule)
        weights = [getattr(module, name) for name in module._flat_weights_names]  # those of the exporter

        def step(inputs: Tensor, states: States) -> Stepped:
            found = tuple(as_list(compute(inputs, unpacked(list(states)), *weights)))
            return found[0], found

        return lambda inputs: inputs, step


class CuDNNGRU(steps.Initializers, steps.Penalties, TorchKernel):
    """GRU with `reset_after`, sigmoid gates and tanh, always by the kernel of `nn.GRU`, on any device.

    The weights are as cuDNN has them in Keras's files: each gate's part of a kernel has Keras's shape and torch's order
    of elements; the bias, 6 * units long, holds those of z, r, h for x, then those for h. Raises ValueError for a mask.
    Source: Keras 2, `CuDNNGRU`.

    Shape: (batch, time, features) -> (batch, units), the state alike. Other options: see `Recurrent`.
    """

    units: Positive

    kernel = weight("gru.weight_ih_l0", pieces=_cudnn)
    recurrent_kernel = weight("gru.weight_hh_l0", pieces=_cudnn, option="recurrent")
    bias = weight(("gru.bias_ih_l0", "gru.bias_hh_l0"), pieces=_cudnn)

    submodule = "gru"
    gate_order = (1, 0, 2)


class CuDNNLSTM(steps.Initializers, steps.UnitForgetBias, steps.Penalties, TorchKernel):
    """LSTM with sigmoid gates and tanh, always by the kernel of `nn.LSTM`, on any device.

    The weights are as for CuDNNGRU; the bias, 8 * units long, holds those of i, f, g, o for x, then those for h. Raises
    ValueError for a mask. Source: Keras 2, `CuDNNLSTM`.

    Shape: (batch, time, features) -> (batch, units), both states alike. Other options: see `Recurrent`.
    """

    units: Positive

    kernel = weight("lstm.weight_ih_l0", pieces=_cudnn)
    recurrent_kernel = weight("lstm.weight_hh_l0", pieces=_cudnn, option="recurrent")
    bias = weight(("lstm.bias_ih_l0", "lstm.bias_hh_l0"), pieces=_cudnn)

    submodule = "lstm"
    state_count = 2
    bias_parts = 8
    gate_order = (0, 1, 2, 3)
