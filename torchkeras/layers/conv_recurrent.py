"""Recurrent layers over images: ConvLSTM1D to ConvLSTM3D, the cell ConvLSTM2DCell, and ConvRNN2D around such a cell."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras.activations import is_pointwise
from torchkeras.base.rules import one_of
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.layer_calls import called
from torchkeras.engine.options import NEWER, Activation, DataFormat, Positive, Sizes
from torchkeras.engine.symbolic.tensor import Shape, as_list
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.cells import Cell
from torchkeras.layers.conv import CONVOLUTIONS
from torchkeras.layers.recurrence import Constants, MaskedOutput, Recurrent, States, Stepped, Walk, shapes_of
from torchkeras.layers.recurrent import RNN
from torchkeras.layers.spatial import SamePadding, pad
from torchkeras.layers.steps import WEIGHT_OPTIONS, Drops, RecurrentWeights, UnitForgetBias

FUNCTIONS: dict[int, Callable[..., Tensor]] = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}


def image_states(cell: Any, input_shape: Shape) -> list[Shape]:
    """The shape of each state of a convolutional cell, without the batch axis, for an input of this shape.

    Errors:
        ValueError: the kernel is longer than the image.
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


class ConvLSTMStep(UnitForgetBias, RecurrentWeights, Drops, abstract=True):
    """One step of ConvLSTM.

    Options:
        filters (positive integer): the number of channels of the output, and of each state.
        kernel_size (integer or a list of one for each axis): the size of both kernels.
        strides (integer or a list of one for each axis, default 1): the steps of the input's convolution.
        padding ("valid", "same" or "half", default "valid"): the padding of the input's convolution, as for Conv2D.
        data_format ("channels_last", "channels_first" or None, default None): the axis of the channels; None takes
            `config.image_data_format()`.
        dilation_rate (integer or a list of one for each axis, default 1): the distance between the values that the
            input's kernel is applied to.
        activation (name, function or None, default "tanh"): applied to the candidate and to the cell state.
        recurrent_activation (name, function or None, default "hard_sigmoid"): applied to the gates. Keras's
            `hard_sigmoid` is `clip(0.2 * x + 0.5, 0, 1)`.
        use_bias (bool, default True): whether a bias is added.
        recurrent_padding ("same" or "half", default "same"): the padding of the state's convolution; "half" is what
            Theano did for "same".
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: SamePadding = "valid"
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    activation: Activation = "tanh"
    recurrent_activation: Activation = "hard_sigmoid"
    use_bias: bool = True
    recurrent_padding: Annotated[str, one_of("same", "half"), NEWER] = "same"

    _changed_defaults: ClassVar[Mapping[str, Any]] = {"recurrent_activation": ("sigmoid", (3, 0))}

    _option_order = (
        *(*WEIGHT_OPTIONS, "return_sequences", "go_backwards", "stateful"),
        *("dropout", "recurrent_dropout", "return_state", "unroll"),
    )

    kernel = weight("input_conv.weight", keras="... in gates", torch="gates in ...")
    recurrent_kernel = weight("recurrent_conv.weight", keras="... in gates", torch="gates in ...", option="recurrent")
    bias = weight("input_conv.bias", keras="gates", when="use_bias")

    gates = 4
    state_count = 2
    implementation = 1  # dropout is drawn for each gate

    @property
    def state_size(self) -> tuple[int, int]:
        """The numbers of channels of h and of c."""
        return self.filters, self.filters

    def state_shapes(self, input_shape: Shape) -> list[Shape]:
        return image_states(self, input_shape)

    def _follow_theano(self) -> None:
        """Pad as Theano did, for weights that were trained on it."""
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
        if drops is not None:  # each gate has an input of its own, so the gates are groups of one convolution
            images = (images.unsqueeze(channels - 1) * drops).flatten(channels - 1, channels)
        padded = pad(images.flatten(0, len(lead) - 1), padding, module.kernel_size, module.stride, module.dilation)
        if drops is None:
            return module(padded).unflatten(0, lead)

        def grouped(images: Tensor) -> Tensor:
            options = (module.stride, 0, module.dilation, self.gates)
            return FUNCTIONS[self.rank](images, module.weight, module.bias, *options)

        return called(module, grouped, padded).unflatten(0, lead)

    def _factors(self, like: Tensor, shape: Sequence[Any], rate: float, training: bool) -> Tensor | None:
        """Factors of dropout for each gate, (batch, gates, channels, *sizes); None for no dropout."""
        drops = self.drops(like, shape, rate, training)
        return None if drops is None else self._first(drops).transpose(0, 1)

    def _first(self, value: Tensor) -> Tensor:
        """A value in Keras's order of axes, with the channels moved before the spatial axes."""
        return value.movedim(-1, -1 - self.rank) if self.data_format == "channels_last" else value

    def _last(self, value: Tensor) -> Tensor:
        """The inverse of `_first`."""
        return value.movedim(-1 - self.rank, -1) if self.data_format == "channels_last" else value

    def _over_images(self, function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        """An activation, which expects Keras's order of axes, as a function of channels-first values."""
        if self.data_format == "channels_first" or is_pointwise(function):
            return function
        return lambda value: self._first(function(self._last(value)))


class ConvLSTM(ConvLSTMStep, MaskedOutput, abstract=True):
    """`c' = f * c + i * g; h' = o * activation(c')` over images, whose gates are convolutions.

    `convolution(x, kernel) + bias + convolution(h, recurrent_kernel)` has the parts i, f, g and o, in this order. The
    gates i, f and o go through `recurrent_activation`, the candidate g through `activation`. The second convolution has
    no strides and no dilation. Dropout is drawn for each gate, and is the same at all steps. `Recurrent` explains
    states and masks.

    Shapes:
        (batch, time, *sizes, channels) -> (batch, *new sizes, filters)
        (batch, time, *sizes, channels) -> (batch, time, *new sizes, filters) with `return_sequences`
        each state (batch, *new sizes, filters); with data_format="channels_first" the channels stand before the sizes

    Errors:
        ValueError: a kernel that is longer than the image.

    Example:
        >>> ConvLSTM2D(4, 3, padding="same")(torch.zeros(2, 5, 8, 8, 1)).shape
        torch.Size([2, 8, 8, 4])

    Source: https://arxiv.org/abs/1506.04214
    """

    class _Facts(Facts):
        @property
        def input_ndim(self) -> int:  # type: ignore[override]
            return self.layer.rank + 3  # batch, time, the axes of an image, and channels


class ConvRNN2D(RNN):
    """`output[t], states = cell(x[t], states)` along time, for a cell over images, such as ConvLSTM2DCell.

    The cell has what `RNN` asks for, with numbers of channels for `state_size`, and also `kernel_size`, `strides`,
    `padding`, `data_format` and `dilation_rate`.

    Shapes:
        (batch, time, rows, columns, channels) -> (batch, new rows, new columns, filters)
        (batch, time, rows, columns, channels) -> (batch, time, new rows, new columns, filters) with `return_sequences`

    Example:
        >>> ConvRNN2D(ConvLSTM2DCell(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
        torch.Size([2, 6, 6, 4])
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
    """One step of `ConvLSTM2D`: `c' = f * c + i * g; h' = o * activation(c')`.

    Shapes:
        (batch, rows, columns, channels), [h, c (batch, new rows, new columns, filters)] -> h', [h', c']

    Example:
        >>> ConvLSTM2DCell(4, 3).state_size
        (4, 4)
        >>> ConvRNN2D(ConvLSTM2DCell(4, 3))(torch.zeros(2, 5, 8, 8, 1)).shape
        torch.Size([2, 6, 6, 4])
    """

    rank = 2
