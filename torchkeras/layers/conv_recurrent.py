"""Recurrent layers over images: ConvLSTM over one to three axes, its cell, and ConvRNN2D around any such cell."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras.activations import is_pointwise
from torchkeras.engine.graph.hook_free_calls import called
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, Activation, DataFormat, Positive, Sizes, one_of
from torchkeras.engine.layer.symbolic import Shape, as_list
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.cells import Cell
from torchkeras.layers.conv import CONVOLUTIONS
from torchkeras.layers.recurrence import Constants, MaskedOutput, Recurrent, States, Stepped, Walk, shapes_of
from torchkeras.layers.recurrent import RNN
from torchkeras.layers.spatial import SamePadding, pad
from torchkeras.layers.steps import Drops, Initializers, Penalties, UnitForgetBias

FUNCTIONS: dict[int, Callable[..., Tensor]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def image_states(cell: Any, input_shape: Shape) -> list[Shape]:
    """The shape of each state of a convolutional cell, without the batch axis, for images (..., *image).

    Raises ValueError when the kernel is longer than the image.
    """
    last, image = cell.data_format == "channels_last", input_shape[-len(cell.kernel_size) - 1 :]
    lengths: list[int | None] = []
    for size, k, stride, dilation in zip(
        image[:-1] if last else image[1:], cell.kernel_size, cell.strides, cell.dilation_rate, strict=True
    ):
        reach = (k - 1) * dilation if cell.padding == "valid" else 0
        if size is not None and size <= reach:
            raise ValueError(
                f"kernel_size {tuple(cell.kernel_size)} does not fit the input {tuple(input_shape)}: "
                f"an axis is {size} long."
            )
        lengths.append(None if size is None else (size - reach - 1) // stride + 1)
    return [(*lengths, count) if last else (count, *lengths) for count in as_list(cell.state_size)]


class RecurrentPadding(Layer, abstract=True):
    """`recurrent_padding`, behind the options that Keras has: 'same', or 'half', which was Theano's 'same'."""

    recurrent_padding: Annotated[str, one_of("same", "half"), NEWER] = "same"


class ConvLSTMStep(Initializers, UnitForgetBias, Penalties, Drops, RecurrentPadding, abstract=True):
    """One step of ConvLSTM. Shape: (batch, *sizes, channels), h, c (batch, *new sizes, filters) -> h', and [h', c']."""

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: SamePadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    activation: Activation = "tanh"
    recurrent_activation: Activation = "hard_sigmoid"
    use_bias: bool = True

    kernel = weight("input_conv.weight", keras="... in gates", torch="gates in ...")
    recurrent_kernel = weight("recurrent_conv.weight", keras="... in gates", torch="gates in ...", option="recurrent")
    bias = weight("input_conv.bias", keras="gates", when="use_bias")

    gates = 4
    state_count = 2
    implementation = 1  # dropout is drawn for each gate

    @property
    def state_size(self) -> tuple[int, int]:
        """The channels of h and of c."""
        return self.filters, self.filters

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return image_states(self, input_shape)

    def _follow_theano(self) -> None:
        """Pad as Theano did: for weights that it made."""
        self.recurrent_padding = "half"
        self.padding = "half" if self.padding == "same" else self.padding

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        shape = shapes_of(input_shape)[0]
        self.state_shapes(shape)  # raises ValueError where the kernel does not fit
        channels = self._known_size(shape, -1 if self.data_format == "channels_last" else -1 - self.rank)
        convolution, gates = CONVOLUTIONS[self.rank], self.gates * self.filters
        self.input_conv = convolution(
            channels, gates, self.kernel_size, self.strides, dilation=self.dilation_rate, bias=self.use_bias
        )
        self.recurrent_conv = convolution(self.filters, gates, self.kernel_size, bias=False)

    def begin(self, input_shape: Shape, states: States, constants: Constants, training: bool) -> Walk:
        input_drops = self._factors(states[0], input_shape, self.dropout, training)
        state_drops = self._factors(states[0], states[0].shape, self.recurrent_dropout, training)
        activation, gate = map(self._over_images, (self.activation, self.recurrent_activation))

        def project(images: Tensor) -> Tensor:
            return self._gates(self.input_conv, self._first(images), input_drops, self.padding)

        def step(projected: Tensor, states: States) -> Stepped:
            h, c = map(self._first, states)
            recurrent = self._gates(self.recurrent_conv, h, state_drops, self.recurrent_padding)
            i, f, g, o = (projected + recurrent).chunk(4, 1)
            c = torch.addcmul(gate(f) * c, gate(i), activation(g))
            output = self._last(gate(o) * activation(c))
            return output, (output, self._last(c))

        return project, step

    def _gates(self, convolution: nn.Module, images: Tensor, drops: Tensor | None, padding: str) -> Tensor:
        """The parts of all gates, (..., channels, *sizes) -> (..., gates * filters, *new sizes)."""
        module: Any = convolution
        channels, lead = -1 - self.rank, images.shape[: -1 - self.rank]
        if drops is not None:  # each gate has its own input, so the gates are groups of one convolution
            images = (images.unsqueeze(channels - 1) * drops).flatten(channels - 1, channels)
        padded = pad(images.flatten(0, len(lead) - 1), padding, module.kernel_size, module.stride, module.dilation)
        if drops is None:
            return module(padded).unflatten(0, lead)

        def grouped(images: Tensor) -> Tensor:
            options = (module.stride, 0, module.dilation, self.gates)
            return FUNCTIONS[self.rank](images, module.weight, module.bias, *options)

        return called(module, grouped, padded).unflatten(0, lead)

    def _factors(self, like: Tensor, shape: Sequence[Any], rate: float, training: bool) -> Tensor | None:
        """Dropout's factors for each gate, (batch, gates, channels, *sizes); None without."""
        drops = self.drops(like, shape, rate, training)
        return None if drops is None else self._first(drops).transpose(0, 1)

    def _first(self, value: Tensor) -> Tensor:
        """A value in Keras's order with the channels before the spatial axes."""
        return value.movedim(-1, -1 - self.rank) if self.data_format == "channels_last" else value

    def _last(self, value: Tensor) -> Tensor:
        """The inverse of `_first`."""
        return value.movedim(-1 - self.rank, -1) if self.data_format == "channels_last" else value

    def _over_images(self, function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        """An activation, a function of Keras's order of axes, for channels-first values."""
        if self.data_format == "channels_first" or is_pointwise(function):
            return function
        return lambda value: self._first(function(self._last(value)))


class ConvRecurrent(Recurrent, abstract=True):
    """The options of a walk over images, in Keras's order."""

    return_sequences: bool = False
    go_backwards: bool = False
    stateful: bool = False

    class _Facts(Facts):
        @property
        def input_ndim(self) -> int:  # type: ignore[override]
            return self.layer.rank + 3  # batch, time, the axes of an image, and channels


class ConvLSTM(ConvLSTMStep, ConvRecurrent, Drops, Recurrent, RecurrentPadding, MaskedOutput, abstract=True):
    """`c' = f * c + i * g; h' = o * activation(c')` over images, gates i, f, o by `recurrent_activation`.

    `z = convolution(x, kernel) + bias + convolution(h, recurrent_kernel)`, for i, f, g, o in this order, g by
    `activation`; the second convolution has no strides and padding 'same', or with `recurrent_padding` 'half' Theano's.
    `padding`: 'valid', 'same' or 'half', as for Conv2D. Dropout is drawn for each gate, the same at all steps.
    Source: https://arxiv.org/abs/1506.04214

    Shape: (batch, time, *sizes, channels) -> (batch, *new sizes, filters), or with `return_sequences` (batch, time,
    *new sizes, filters); with data_format='channels_first' the channels stand before the sizes. With `return_state` a
    list: the output, h and c. States and masks: see `Recurrent`.
    """


class ConvRNN2D(RNN):
    """`output[t], states = cell(x[t], states)` along time, for a cell over images, such as ConvLSTM2DCell.

    The cell has `filters`, `kernel_size`, `strides`, `padding`, `data_format` and `dilation_rate`, beside what RNN asks
    for. Shape: (batch, time, rows, columns, channels) -> (batch, new rows, new columns, filters), or with
    `return_sequences` (batch, time, ...).
    """

    class _Facts(Facts):
        input_ndim = 5

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return image_states(self.cell, input_shape)

    step_shape = Recurrent.step_shape


class ConvLSTM1D(ConvLSTM):
    rank = 1


class ConvLSTM2D(ConvLSTM):
    rank = 2


class ConvLSTM3D(ConvLSTM):
    rank = 3


class ConvLSTM2DCell(Cell, ConvLSTMStep):
    __doc__ = ConvLSTMStep.__doc__

    rank = 2
