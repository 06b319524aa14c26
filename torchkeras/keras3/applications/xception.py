"""`keras.applications.xception`."""

from __future__ import annotations

from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import Options, kernels_file, normalized, usual
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Add,
    Conv2D,
    MaxPooling2D,
    SeparableConv2D,
)
from torchkeras.keras3.models import Model

__all__ = ["Xception", "decode_predictions", "preprocess_input"]

HASHES = ("0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97")
# The filters of each block's convolutions; the blocks 2 to 4 and 13 halve the rows and columns.
BLOCKS = {
    2: (128, 128),
    3: (256, 256),
    4: (728, 728),
    **dict.fromkeys(range(5, 13), (728, 728, 728)),
    13: (728, 1024),
}
HALVING = (2, 3, 4, 13)


def _relu(x: Any, name: str) -> Any:
    return Activation("relu", name=f"{name}_act")(x)


def _separable(x: Any, filters: int, name: str) -> Any:
    x = SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return normalized(x, f"{name}_bn")


def _convolution(x: Any, filters: int, name: str, strides: int = 1) -> Any:
    x = Conv2D(filters, 3, strides=strides, use_bias=False, name=name)(x)
    return _relu(normalized(x, f"{name}_bn"), name)


def _block(x: Any, number: int, filters: tuple[int, ...]) -> Any:
    """`shortcut + convolutions(x)`."""
    shortcut = x
    if number in HALVING:
        shortcut = Conv2D(filters[-1], 1, strides=2, padding="same", use_bias=False)(x)
        shortcut = normalized(shortcut)
    for place, count in enumerate(filters, start=1):
        name = f"block{number}_sepconv{place}"
        if number > 2 or place > 1:  # the first of all follows an activation
            x = _relu(x, name)
        x = _separable(x, count, name)
    if number in HALVING:
        x = MaxPooling2D(3, strides=2, padding="same", name=f"block{number}_pool")(x)
    return Add()([x, shortcut])


def build(options: Options) -> Model:
    """Xception."""
    inputs = options.input(size=299, least=71)
    x = _convolution(inputs, 32, "block1_conv1", strides=2)
    x = _convolution(x, 64, "block1_conv2")
    for number, filters in BLOCKS.items():
        x = _block(x, number, filters)
    for place, filters in enumerate((1536, 2048), start=1):
        name = f"block14_sepconv{place}"
        x = _relu(_separable(x, filters, name), name)
    return options.model(inputs, options.ended(x), kernels_file("xception", HASHES))


Xception = usual("Xception", "Xception", "https://arxiv.org/abs/1610.02357", "xception", build)
preprocess_input = preprocessing("tf")
