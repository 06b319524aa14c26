"""What layers over images and sequences share: the axis of the channels, and TensorFlow's padding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

import torch
import torch.nn.functional as F

from torchkeras.activations import is_pointwise
from torchkeras.base.rules import Rule, literal, word
from torchkeras.base.tracing import exporting
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import DataFormat
from torchkeras.engine.symbolic.axis_order import Layout, convert, to_channels_first, to_keras
from torchkeras.engine.symbolic.tensor import Shape

# How much each padding adds before and after an axis, by how far the window reaches beyond its first value.
FIXED_PADDINGS: dict[str, Callable[[int], tuple[int, int]]] = {
    "valid": lambda reach: (0, 0),
    "same": lambda reach: (reach // 2, reach - reach // 2),
    "half": lambda reach: (reach - reach // 2, reach // 2),  # Keras's 'same' on Theano, with strides too
    "full": lambda reach: (reach, reach),
    "causal": lambda reach: (reach, 0),
}
PADDINGS = {1: ("valid", "same", "half", "full", "causal")} | dict.fromkeys((2, 3), ("valid", "same", "half", "full"))
SEPARABLE_PADDINGS = {rank: tuple(name for name in PADDINGS[rank] if name != "full") for rank in (1, 2)}


class Spatial(Layer, abstract=True):
    """A layer with a batch axis, `rank` spatial axes and a channel axis.

    Its `forward` has the channels at axis 1 for either `data_format`.

    Options:
        data_format (string or None, default None): "channels_last", with the channels at the last axis, or
            "channels_first", with the channels at axis 1; None takes `config.image_data_format()`.
    """

    data_format: DataFormat = None

    class _Facts(Facts):
        @property
        def input_ndim(self) -> int:  # type: ignore[override]
            return self.layer.rank + 2  # batch, the spatial axes, and channels

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.CHANNELS_FIRST if self.layer.data_format == "channels_last" else Layout.KERAS

    @property
    def _axis_of_channels(self) -> int:
        """The channel axis in Keras's order: -1 or 1."""
        return -1 if self.data_format == "channels_last" else 1

    @property
    def _spatial_axes(self) -> range:
        """The spatial axes in Keras's order."""
        first = 1 if self.data_format == "channels_last" else 2
        return range(first, first + self.rank)

    def _check_window(self, option: str, spans: Iterable[int], input_shape: Shape) -> None:
        """Raise ValueError when the input is shorter than a window; `spans` are its lengths along the spatial axes."""
        for axis, span in zip(self._spatial_axes, spans, strict=True):
            size = input_shape[axis]
            if size is not None and size < span:
                channels = input_shape[self._axis_of_channels]
                turned = self.rank > 1 and size in (1, 3) and channels is not None and channels > 4
                other = "channels_first" if self.data_format == "channels_last" else "channels_last"
                raise ValueError(
                    f"{option} {getattr(self, option)} does not fit the input {tuple(input_shape)}: "
                    f"axis {axis} is {size} long."
                    + f" If that is the axis of channels, give data_format={other!r}."
                    * turned
                )

    def _windowed(self, input_shape: Shape, channels: int | None, *windows_of_axes: Sequence[int]) -> Shape:
        """The shape of an output with a value for each window, from lengths, strides and dilations along the axes."""
        each = zip(self._spatial_axes, *windows_of_axes, strict=True)
        sizes = [windows(input_shape[axis], self.padding, *one) for axis, *one in each]
        return self._shaped(input_shape, sizes, channels)

    def _shaped(self, input_shape: Shape, sizes: Iterable[int | None], channels: int | None) -> Shape:
        """The shape of an output with these spatial sizes and channels."""
        if self.data_format == "channels_last":
            return (input_shape[0], *sizes, channels)
        return (input_shape[0], channels, *sizes)

    def _activated(self, outputs: torch.Tensor) -> torch.Tensor:
        """The activation of outputs in the layout of `forward`, applied in Keras's order of axes where that matters."""
        if self._facts.native_layout is Layout.KERAS or is_pointwise(self.activation):
            return self.activation(outputs)
        return convert(self.activation(convert(outputs, to_keras)), to_channels_first)


def axis_of_channels(layer: Spatial) -> int:
    """The channel axis of a layer in Keras's order: -1 or 1."""
    return layer._axis_of_channels


def pad(
    inputs: torch.Tensor, padding: str, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> torch.Tensor:
    """Channels-first inputs with the zeros around them that `padding` adds for a window."""
    pairs = fixed_padding(padding, window, strides, dilation)
    if pairs is None:
        amounts = torch_padding(map(same_padding, inputs.shape[2:], window, strides, dilation))
        if exporting():  # an exported program may not depend on whether there is something to pad
            return F.pad(inputs, amounts)
    else:
        amounts = torch_padding(pairs)
    return F.pad(inputs, amounts) if any(amounts) else inputs  # F.pad copies even for nothing


def fixed_padding(
    padding: str, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> list[tuple[int, int]] | None:
    """(before, after) of each axis; None when they depend on the size of the input, as for 'same' with strides."""
    reaches = [(w - 1) * d for w, d in zip(window, dilation, strict=True)]
    if padding == "same" and any(reach and stride > 1 for reach, stride in zip(reaches, strides, strict=True)):
        return None
    return [FIXED_PADDINGS[padding](reach) for reach in reaches]


def same_padding(size: int, window: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """What TensorFlow's 'same' adds before and after an axis, so that the output is ceil(size / stride) long."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def windows(size: int | None, padding: str, window: int, stride: int, dilation: int = 1) -> int | None:
    """The number of windows along an axis; None where its size is unknown."""
    if size is None:
        return None
    if padding in ("same", "theano"):
        return -(-size // stride)
    reach = (window - 1) * dilation
    return (size + sum(FIXED_PADDINGS[padding](reach)) - reach - 1) // stride + 1


def torch_padding(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """(before, after) of each spatial axis in the order of `F.pad`: the last axis first."""
    return [amount for pair in reversed(list(pairs)) for amount in pair]


def _by_rank(words: Mapping[int, tuple[str, ...]]) -> Rule:
    return Rule(
        lambda value, rank: word(*words[rank]).read(value), by_rank=True, takes=lambda rank: literal(*words[rank])
    )


CONV_PADDING, SEPARABLE_PADDING = _by_rank(PADDINGS), _by_rank(SEPARABLE_PADDINGS)
ConvPadding = Annotated[str, CONV_PADDING]
SeparablePadding = Annotated[str, SEPARABLE_PADDING]
SamePadding = Annotated[str, word("valid", "same", "half")]
PoolPadding = Annotated[str, word("valid", "same", "theano")]
