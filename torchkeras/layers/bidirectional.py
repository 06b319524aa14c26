"""Bidirectional: a recurrent layer forwards and backwards along time."""

import copy
from collections.abc import Callable
from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras.engine.layer import Layer
from torchkeras.engine.options import NEWER, OptionalPositive, one_of
from torchkeras.engine.symbol import Shape, as_list, unpacked
from torchkeras.layers.recurrence import Recurrent, TorchRecurrent
from torchkeras.layers.wrappers import InnerLayer, Wrapper

MERGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "mul": torch.mul,
    "ave": lambda forward, backward: (forward + backward) / 2,
    "concat": lambda forward, backward: torch.cat([forward, backward], -1),
}
KERNELS: dict[str, Any] = {
    "LSTM": torch._VF.lstm,
    "GRU": torch._VF.gru,
    "RNN_TANH": torch._VF.rnn_tanh,
    "RNN_RELU": torch._VF.rnn_relu,
}


class Bidirectional(Wrapper):
    """`merge(layer(x), flip(layer'(flip(x))))`, `layer'` being the same layer with weights of its own.

    `merge_mode`: "concat" (along the last axis), "sum", "mul", "ave", or None for both outputs as a list. Initial and
    final states are those of the forward layer, then those of the backward one. Where torch's kernel computes both
    directions, it does so in one call: see `path`. `weights`: the forward layer's, then the backward one's.

    Shape: (batch, time, ...) -> as `layer` has it, the last axis doubled with "concat"; with the layer's `return_state`
    a list. Raises ValueError for a layer that is not recurrent, or has been called already. Source:
    https://doi.org/10.1109/78.650093
    """

    _declares_options = True

    layer: InnerLayer
    merge_mode: Annotated[Any, one_of(*MERGES, None)] = "concat"
    # How many constants end the inputs: set by a call, and written for the calls of a config.
    num_constants: Annotated[OptionalPositive, NEWER] = None

    supports_masking = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        # The layer itself tells the config; the two that compute are copies of it.
        layer = self._modules.pop("layer")
        self.__dict__["layer"] = layer
        if not isinstance(layer, Recurrent) or layer.built:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: layer must be a recurrent layer that was not called yet; "
                f"found {layer!r}."
            )
        self.forward_layer, self.backward_layer = copy.deepcopy(layer), copy.deepcopy(layer)
        self.forward_layer.name, self.backward_layer.name = f"forward_{layer.name}", f"backward_{layer.name}"
        self.backward_layer.go_backwards = not layer.go_backwards

    @property
    def inner_layers(self) -> list[Layer]:
        """The forward and the backward layer."""
        return [self.forward_layer, self.backward_layer] if "backward_layer" in self._modules else []

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        """Whether the states are carried from batch to batch."""
        return self.forward_layer.stateful

    @property
    def return_sequences(self) -> bool:
        """Whether the output has a time axis."""
        return self.forward_layer.return_sequences

    @property
    def return_state(self) -> bool:
        """Whether the final states follow the output."""
        return self.forward_layer.return_state

    def build(self, input_shape: Any) -> None:
        for layer, given in zip(self.inner_layers, self._shared(_shapes(input_shape)), strict=True):
            layer._build(given)
        self.built = True

    # --- shapes and masks --------------------------------------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        sequence = _shapes(input_shape)[0]
        output, *states = _shapes(self.forward_layer.compute_output_shape(sequence))
        if self.merge_mode == "concat":
            output = (*output[:-1], None if output[-1] is None else 2 * output[-1])
        return unpacked([*[output] * (1 if self.merge_mode else 2), *states, *states])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        output = (as_list(mask) or [None])[0] if self.return_sequences else None
        states = [None] * (2 * self.forward_layer.state_count if self.return_state else 0)
        return unpacked([*[output] * (1 if self.merge_mode else 2), *states])

    # --- calls -------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        given = [*as_list(inputs), *as_list(initial_state), *as_list(constants)]
        if constants is not None:
            self.num_constants = len(as_list(constants))
        for layer in (self.forward_layer, self.backward_layer):
            if self.num_constants:
                layer.num_constants = self.num_constants
        states = len(given) - 1 - (self.num_constants or 0)
        if states not in (0, 2 * self.forward_layer.state_count):
            raise ValueError(
                f"Layer {self.name} has {2 * self.forward_layer.state_count} states, those of both directions, but was "
                f"passed {states} initial states."
            )
        return super().__call__(unpacked(given), **kwargs)

    def _shared(self, given: list[Any]) -> list[list[Any]]:
        """What each direction gets of a sequence, initial states and constants."""
        sequence, *others = given
        end = len(others) - (self.num_constants or 0)
        constants, half = others[end:], end // 2
        return [[sequence, *others[:half], *constants], [sequence, *others[half:end], *constants]]

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: "together" by one call of torch's kernel, else "apart", layer by layer."""
        layer, training = self.forward_layer, self.training if training is None else training
        if not isinstance(layer, TorchRecurrent) or layer.path(masked, training) != "torch":
            return "apart"
        special = masked or layer.stateful or layer.go_backwards or (training and layer.dropout)
        return "apart" if special or torch.compiler.is_compiling() else "together"

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        mask = (as_list(mask) or [None])[0]
        shared = self._shared(as_list(inputs))
        if self.path(mask is not None, training) == "together":
            found = self._together(*shared)
        else:
            found = [
                as_list(layer.run(unpacked(given), mask=mask, training=training))
                for layer, given in zip(self.inner_layers, shared, strict=True)
            ]
            if self.return_sequences:
                found[1][0] = found[1][0].flip(1)
        (forward, *first), (backward, *second) = found
        merged = [MERGES[self.merge_mode](forward, backward)] if self.merge_mode else [forward, backward]
        return unpacked([*merged, *first, *second])

    def _together(self, forward: list[Tensor], backward: list[Tensor]) -> list[list[Tensor]]:
        """Output and final states of both directions, by one call of torch's kernel."""
        sequence, layer = forward[0], self.forward_layer
        modules: list[Any] = [getattr(each, each.submodule) for each in (layer, self.backward_layer)]  # type: ignore[attr-defined]
        begin = [given[1:] or layer.get_initial_state(sequence) for given in (forward, backward)]
        states = tuple(torch.stack(pair) for pair in zip(*begin, strict=True))
        kind, several = modules[0].mode, len(states) > 1
        # cuDNN gives gradients in training mode only; there is no dropout inside that the mode could turn on.
        outputs, *final = KERNELS[kind](
            sequence,
            states if several else states[0],
            [weight for module in modules for weight in module._flat_weights],
            modules[0].bias,
            1,
            0.0,
            layer.training or torch.is_grad_enabled(),
            True,
            True,
        )
        both = outputs.chunk(2, -1) if self.return_sequences else final[0].unbind(0)
        ends = zip(*(state.unbind(0) for state in final), strict=True) if self.return_state else ((), ())
        return [[output, *end] for output, end in zip(both, ends, strict=True)]


def _shapes(shapes: Any) -> list[Shape]:
    """A list of shapes from one, or from a list."""
    return [tuple(shape) for shape in shapes] if isinstance(shapes[0], (list, tuple)) else [tuple(shapes)]
