"""Bidirectional: a recurrent layer that walks along time in both directions."""

import copy
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import torch
from torch import Tensor

from torchkeras import registry
from torchkeras.base.nested import leaves
from torchkeras.base.rules import one_of, optional
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_module
from torchkeras.engine.options import NEWER, Called, OptionalPositive
from torchkeras.engine.symbolic.tensor import Shape, as_list, unpacked
from torchkeras.engine.weights.weight import Variable
from torchkeras.engine.weights.weight_lists import FrozenModels, Order
from torchkeras.layers.recurrence import Recurrent, shapes_of
from torchkeras.layers.torch_module import TorchModule
from torchkeras.layers.torch_recurrence import TorchRecurrent
from torchkeras.layers.wrappers import INNER_LAYER, Wrapper

MERGES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "sum": torch.add,
    "mul": torch.mul,
    "ave": lambda forward, backward: (forward + backward) / 2,
    "concat": lambda forward, backward: torch.cat([forward, backward], -1),
}
KERNELS: dict[str, Any] = {"LSTM": torch.lstm, "GRU": torch.gru, "RNN_TANH": torch.rnn_tanh, "RNN_RELU": torch.rnn_relu}
THEIRS = " Torch's own go both ways by an option: TorchModule(nn.LSTM(..., batch_first=True, bidirectional=True))."


class Bidirectional(Wrapper):
    """`merge(layer(x), flip(layer'(flip(x))))`, where `layer'` is the same layer with separate weights.

    The layers that compute are copies of `layer`: `forward_layer` and `backward_layer`. Weights, initial states and
    final states are listed for the forward layer first, then for the backward layer. If torch's kernel can compute both
    directions, it does so in one call: see `path`.

    Options:
        layer (recurrent layer): a layer that has not been called yet.
        merge_mode ("concat", "sum", "mul", "ave" or None, default "concat"): how the outputs of the two directions
            become one: "concat" joins them along the last axis, "ave" is their mean, None returns both.
        num_constants (positive integer or None, default None): how many constants stand at the end of the list of
            inputs. A call with `constants` sets it; configs of such layers have it.
        backward_layer (recurrent layer or None, default None): the layer for the backward direction, if its options
            differ. Its `go_backwards` must be the opposite of the layer's. None takes `layer` for both.

    Shapes:
        (batch, time, ...) -> that of `layer`, with the last axis twice as long for "concat"
        with the layer's `return_state` a list: the output, and each state

    Errors:
        ValueError: a layer that is not recurrent or has been called already; a `backward_layer` that does not fit;
            initial states for one direction only.

    Example:
        >>> Bidirectional(LSTM(4))(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 8])
        >>> Bidirectional(GRU(4), merge_mode="sum")(torch.zeros(2, 5, 3)).shape
        torch.Size([2, 4])

    Source: https://doi.org/10.1109/78.650093
    """

    merge_mode: Annotated[Any, one_of(*MERGES, None)] = "concat"
    num_constants: Annotated[OptionalPositive, NEWER] = None

    own_backward: Annotated[Any, optional(INNER_LAYER), Called("backward_layer"), NEWER] = None

    supports_masking = True

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        # The layer itself is kept for the config; the two that compute are copies of it.
        layer = self._modules.pop("layer")
        self.__dict__["layer"] = layer
        if not isinstance(layer, Recurrent) or layer.built:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: layer must be a recurrent layer that was not called yet; "
                f"found {layer!r}.{THEIRS if isinstance(layer, TorchModule) else ''}"
            )
        backward = self.own_backward
        self.forward_layer, self.backward_layer = copy.deepcopy(layer), copy.deepcopy(backward or layer)
        self.forward_layer.name, self.backward_layer.name = f"forward_{layer.name}", f"backward_{layer.name}"
        if backward is None:
            self.backward_layer.go_backwards = not layer.go_backwards
        else:
            self._check_backward(layer, backward)
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.stateful = layer.stateful

    def _check_backward(self, layer: Layer, backward: Any) -> None:
        same = ("return_sequences", "return_state", "stateful", *(("state_count",) if layer.return_state else ()))
        fits = isinstance(backward, Recurrent) and not backward.built and backward.go_backwards != layer.go_backwards
        if not fits or any(getattr(backward, option) != getattr(layer, option) for option in same):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: backward_layer must be a recurrent layer that was not called "
                f"yet, with the layer's {', '.join(same)} and with go_backwards the other way; found {backward!r}."
            )

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Layer:
        inner = {key: config[key] for key in ("layer", "backward_layer") if config.get(key) is not None}
        made = {key: registry.layers.from_config(value, custom_objects) for key, value in inner.items()}
        return cls(**{**config, **made})

    @property
    def inner_layers(self) -> list[Layer]:
        """The forward and the backward layer."""
        return [self.forward_layer, self.backward_layer] if "backward_layer" in self._modules else []

    def _list_by_kind(
        self, training: list[Variable], others: list[Variable], order: Order, frozen: bool = False
    ) -> None:
        if order.frozen is not FrozenModels.CONFIG:
            super()._list_by_kind(training, others, order, frozen)
            return
        # The config says of both layers alike whether they train.
        listed = training if self.trainable and not frozen else others
        listed += [variable for layer in self.inner_layers for variable in layer.weights]

    def build(self, input_shape: Any) -> None:
        for layer, given in zip(self.inner_layers, self._shared(shapes_of(input_shape)), strict=True):
            layer._build(given)
        self.built = True

    # --- shapes and masks --------------------------------------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        sequence = shapes_of(input_shape)[0]
        output, *states = _flat(self.forward_layer.compute_output_shape(sequence))
        other, *other_states = _flat(self.backward_layer.compute_output_shape(sequence))
        if self.merge_mode == "concat":
            sizes: Any = output[-1], other[-1]
            output = (*output[:-1], None if None in sizes else sum(sizes))
        return unpacked([output, *([] if self.merge_mode else [other]), *states, *other_states])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        output, *states = as_list(self.forward_layer.compute_mask(inputs, mask)) or [None]
        return unpacked([*[output] * (1 if self.merge_mode else 2), *states, *states])

    # --- calls -------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        given = [*as_list(inputs), *as_list(initial_state), *as_list(constants)]
        if constants is not None:
            self.num_constants = len(as_list(constants))
        for layer in self.inner_layers if self.num_constants else ():
            layer.num_constants = self.num_constants
        states, expected = len(self.forward_layer._parts(given)[1]), 2 * self.forward_layer.state_count
        if states not in (0, expected):
            raise ValueError(
                f"Layer {self.name} has {expected} states, those of both directions, but was passed {states} initial "
                "states."
            )
        return super().__call__(unpacked(given), **kwargs)

    def _shared(self, given: list[Any]) -> list[list[Any]]:
        """The inputs of each direction: the sequence, its own half of the initial states, the constants."""
        sequence, states, constants = self.forward_layer._parts(given)
        half = len(states) // 2
        return [[sequence, *own, *constants] for own in (states[:half], states[half:])]

    def path(self, masked: bool = False, training: bool | None = None) -> str:
        """How a call computes: "together", by one call of torch's kernel, or "apart", layer by layer.

        Arguments:
            masked (bool, default False): whether the call has a mask.
            training (bool or None, default None): the mode of the call; None is that of the layer.
        """
        layer = self.forward_layer
        training = self.training if training is None else training
        if not isinstance(layer, TorchRecurrent) or layer.path(masked, training) != "torch":
            return "apart"
        if masked or (training and layer.dropout) or is_compiling():
            return "apart"
        return "together" if self._is_one_kernel(layer) else "apart"

    def _is_one_kernel(self, layer: TorchRecurrent) -> bool:
        """Whether torch's kernel computes both directions: they have the same options, and modules as torch made them.

        `layer`: the forward one.
        """
        if self.own_backward is not None or layer.stateful or layer.go_backwards:
            return False
        return all(each._is_plain for each in self.inner_layers)

    def forward(self, inputs: Any, mask: Any = None, training: bool | None = None) -> Any:
        mask = self.forward_layer.first_mask(mask)
        shared = self._shared(as_list(inputs))
        if self.path(mask is not None, training) == "together":
            found = self._together(*shared)
        else:
            found = [
                leaves(call_module(layer, unpacked(given), mask=mask, training=training))
                for layer, given in zip(self.inner_layers, shared, strict=True)
            ]
            if self.return_sequences:
                found[1][0] = found[1][0].flip(1)
        (forward, *first), (backward, *second) = found
        merged = [MERGES[self.merge_mode](forward, backward)] if self.merge_mode else [forward, backward]
        return unpacked([*merged, *first, *second])

    def _first_states(self, forward: list[Tensor], backward: list[Tensor]) -> Any:
        """The states that both directions begin with, in the form of torch's kernel."""
        begin = [given[1:] or self.forward_layer.get_initial_state(forward[0]) for given in (forward, backward)]
        return unpacked([torch.stack(pair) for pair in zip(*begin, strict=True)])

    def _together(self, forward: list[Tensor], backward: list[Tensor]) -> list[list[Tensor]]:
        """Output and final states of both directions, by one call of torch's kernel."""
        sequence, layer = forward[0], self.forward_layer
        modules: list[Any] = [getattr(each, layer.submodule) for each in self.inner_layers]
        states = self._first_states(forward, backward)
        weights = [weight for module in modules for weight in module._flat_weights]
        # cuDNN gives gradients in training mode only. The kernel has no dropout here that this mode would turn on.
        train = layer.training or torch.is_grad_enabled()
        outputs, *final = KERNELS[modules[0].mode](sequence, states, weights, layer.use_bias, 1, 0.0, train, True, True)
        both = outputs.chunk(2, -1) if self.return_sequences else final[0].unbind(0)
        ends = zip(*(state.unbind(0) for state in final), strict=True) if self.return_state else ((), ())
        return [[output, *end] for output, end in zip(both, ends, strict=True)]


def _flat(shapes: Any) -> list[Shape]:
    """One shape, or shapes in lists of any depth, as one list."""
    if not isinstance(shapes[0], (list, tuple)):
        return [tuple(shapes)]
    return [shape for each in shapes for shape in _flat(each)]
