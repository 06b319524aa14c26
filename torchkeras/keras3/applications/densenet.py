"""`keras.applications.densenet`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import Options, channel_axis, kernels_file, normalized, usual
from torchkeras.keras3.applications.resnet import EPSILON, activated
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    AveragePooling2D,
    Concatenate,
    Conv2D,
    MaxPooling2D,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["DenseNet121", "DenseNet169", "DenseNet201", "decode_predictions", "preprocess_input"]

GROWTH = 32  # channels that a layer adds
BLOCKS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}
HASHES = {
    121: ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    169: ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    201: ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
}


def _layer(x: Any, name: str) -> Any:
    """`[x, conv(conv(x))]`."""
    added = Conv2D(4 * GROWTH, 1, use_bias=False, name=f"{name}_1_conv")(activated(x, f"{name}_0"))
    added = activated(added, f"{name}_1")
    added = Conv2D(GROWTH, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(added)
    return Concatenate(axis=channel_axis(), name=f"{name}_concat")([x, added])


def _transition(x: Any, name: str) -> Any:
    """Half the channels, half the rows and columns."""
    x = activated(x, name)
    x = Conv2D(x.shape[channel_axis()] // 2, 1, use_bias=False, name=f"{name}_conv")(x)
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def build(options: Options, layers: int) -> Model:
    """A DenseNet of a number of layers."""
    options.check_channels_last()
    inputs = options.input(size=224, least=32)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(ZeroPadding2D(3)(inputs))
    x = MaxPooling2D(3, strides=2, name="pool1")(ZeroPadding2D(1)(activated(x, "conv1")))
    for number, blocks in enumerate(BLOCKS[layers], start=2):
        for block in range(1, blocks + 1):
            x = _layer(x, f"conv{number}_block{block}")
        if number < 5:
            x = _transition(x, f"pool{number}")
    x = Activation("relu", name="relu")(normalized(x, "bn", epsilon=EPSILON))
    file = kernels_file(f"densenet{layers}", HASHES[layers], folder="densenet")
    return options.model(inputs, options.ended(x, named=True), file)


def _network(layers: int) -> Callable[..., Model]:
    """The public function of a DenseNet."""
    paper = "https://arxiv.org/abs/1608.06993"
    function = f"DenseNet{layers}"
    made = partial(build, layers=layers)
    return usual(function, f"The densely connected network of {layers} layers", paper, function.lower(), made)


DenseNet121 = _network(121)
DenseNet169 = _network(169)
DenseNet201 = _network(201)
preprocess_input = preprocessing("torch")
