"""What layers over images and sequences share: where the channels lie, and TensorFlow's padding."""

from collections.abc import Iterable
from typing import Annotated, Any

from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.options import DataFormat, Rule
from torchkeras.engine.symbol import Shape

PADDINGS = {1: ("valid", "same", "causal"), 2: ("valid", "same"), 3: ("valid", "same")}


class Spatial(Layer, abstract=True):
    """A layer with a batch axis, `rank` spatial axes and a channel axis, whose place `data_format` tells.

    Its `forward` has the channels at axis 1 for either `data_format`.
    """

    _declares_options = True

    data_format: DataFormat = None

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        self.input_ndim = self.rank + 2

    @property
    def native_layout(self) -> Layout:
        return Layout.CHANNELS_FIRST if self.data_format == "channels_last" else Layout.KERAS

    @property
    def channel_axis(self) -> int:
        """Where the channels lie in Keras's order: -1 or 1."""
        return -1 if self.data_format == "channels_last" else 1

    def check_window(self, option: str, spans: Iterable[int], input_shape: Shape) -> None:
        """Raise ValueError when the input is shorter than a window, whose length along each spatial axis is given."""
        first = 1 if self.data_format == "channels_last" else 2
        for axis, span in enumerate(spans, first):
            size = input_shape[axis]
            if size is not None and size < span:
                raise ValueError(
                    f"{option} {getattr(self, option)} does not fit the input {tuple(input_shape)}: "
                    f"axis {axis} is {size} long."
                )


def same_padding(size: int, window: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """What TensorFlow's 'same' puts before and after an axis, so that the output is ceil(size / stride) long."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def torch_padding(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """(before, after) of each spatial axis in the order of `F.pad`: the last axis first."""
    return [amount for pair in reversed(list(pairs)) for amount in pair]


def read_padding(allowed: tuple[str, ...], value: Any) -> str:
    """'valid', 'same' or 'causal' in any case, as Keras takes it. Raises ValueError for others."""
    found = value.lower() if isinstance(value, str) else value
    if found not in allowed:
        raise ValueError(f"must be one of {', '.join(map(repr, allowed))}; found {value!r}.")
    return found


ConvPadding = Annotated[str, Rule(lambda value, rank: read_padding(PADDINGS[rank], value), by_rank=True)]
PoolPadding = Annotated[str, Rule(lambda value: read_padding(("valid", "same"), value))]
