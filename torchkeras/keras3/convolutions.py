"""What classes of the user's may replace in a convolution: `convolution_op`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import layers
from torchkeras.engine.facts import is_own
from torchkeras.keras3.layer import Layer
from torchkeras.keras3.operations import FUNCTIONS
from torchkeras.layers.conv import Conv
from torchkeras.layers.spatial import fixed_padding


def convolution_op(layer: Conv, inputs: Any, kernel: Any) -> Any:
    """The convolution of the inputs with a kernel, by the layer's strides, padding and dilation.

    A class of your own may replace it; the layer then adds the bias and applies the activation. Or its `call` may
    call it with another kernel.

    Arguments:
        inputs (tensor): the inputs, with the axes of the layer's `data_format`.
        kernel (tensor): the kernel, of the shape of the layer's own.

    Source: https://keras.io/api/layers/convolution_layers/
    """
    padding = layer.padding
    if padding not in ("valid", "same"):
        pairs = fixed_padding(padding, layer.kernel_size, layer.strides, layer.dilation_rate)
        inputs, padding = FUNCTIONS["pad"](inputs, _of_all_axes(pairs, layer.data_format)), "valid"
    return FUNCTIONS["conv"](inputs, kernel, layer.strides, padding, layer.data_format, layer.dilation_rate)


class Convolution(Layer, abstract=True):
    """A layer that computes `activation(convolution_op(inputs, kernel) + bias)`."""

    def __init_subclass__(cls, **options: Any) -> None:
        if "convolution_op" in vars(cls) and not (is_own(cls) or cls._by_call or "call" in vars(cls)):
            cls.call = _computed_by_op  # type: ignore[attr-defined]
        super().__init_subclass__(**options)

    convolution_op = convolution_op


def _of_all_axes(pairs: Any, data_format: str) -> list[Any]:
    """The padding of the spatial axes, and none for the others."""
    return [(0, 0), *pairs, (0, 0)] if data_format == "channels_last" else [(0, 0), (0, 0), *pairs]


def _computed_by_op(layer: Any, inputs: Any) -> Any:
    """`call` of a class with a `convolution_op` of its own."""
    outputs = layer.convolution_op(inputs, layer.kernel)
    if layer.use_bias:
        places = (1,) * layer.rank
        shape = (1, *places, layer.filters) if layer.data_format == "channels_last" else (1, layer.filters, *places)
        outputs = outputs + FUNCTIONS["reshape"](layer.bias, shape)
    return outputs if layer.activation is None else layer.activation(outputs)


# By the layer of this package: the base of its class of Keras 3.
BASES: Mapping[type, tuple[type[Layer]]] = dict.fromkeys((layers.Conv1D, layers.Conv2D, layers.Conv3D), (Convolution,))
