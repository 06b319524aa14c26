"""`keras.applications.resnet`, and the builder of both versions of ResNet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import Options, kernels_file, normalized, usual
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Add,
    Conv2D,
    MaxPooling2D,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["ResNet50", "ResNet101", "ResNet152", "decode_predictions", "preprocess_input"]

BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}  # in the four stages, by the number of layers
EPSILON = 1.001e-5
HASHES = {
    "resnet50": ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "resnet101": ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "resnet152": ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "resnet50v2": ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "resnet101v2": ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "resnet152v2": ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
}


def activated(x: Any, name: str) -> Any:
    """`relu(BatchNormalization(x))`."""
    return Activation("relu", name=f"{name}_relu")(normalized(x, f"{name}_bn", epsilon=EPSILON))


def _block(x: Any, filters: int, stride: int, is_first: bool, name: str) -> Any:
    """`relu(shortcut + conv(conv(conv(x))))`, each convolution normalized."""
    shortcut = x
    if is_first:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x)
        shortcut = normalized(shortcut, f"{name}_0_bn", epsilon=EPSILON)
    x = activated(Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x), f"{name}_1")
    x = activated(Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x), f"{name}_2")
    x = normalized(Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x), f"{name}_3_bn", epsilon=EPSILON)
    return Activation("relu", name=f"{name}_out")(Add(name=f"{name}_add")([shortcut, x]))


def stack(x: Any, filters: int, blocks: int, stride: int, name: str) -> Any:
    """A stage, whose first block has the stride."""
    for number in range(1, blocks + 1):
        x = _block(x, filters, stride if number == 1 else 1, number == 1, f"{name}_block{number}")
    return x


def _block_v2(x: Any, filters: int, stride: int, is_first: bool, name: str) -> Any:
    """`shortcut + conv(conv(conv(relu(norm(x)))))`: what is added is not activated."""
    before = activated(x, f"{name}_preact")
    if is_first:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = activated(Conv2D(filters, 1, use_bias=False, name=f"{name}_1_conv")(before), f"{name}_1")
    x = ZeroPadding2D(1, name=f"{name}_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(activated(x, f"{name}_2"))
    return Add(name=f"{name}_out")([shortcut, x])


def stack_v2(x: Any, filters: int, blocks: int, stride: int, name: str) -> Any:
    """A stage, whose last block has the stride."""
    for number in range(1, blocks + 1):
        x = _block_v2(x, filters, stride if number == blocks else 1, number == 1, f"{name}_block{number}")
    return x


def build(options: Options, layers: int, version: int) -> Model:
    """A ResNet of a number of layers and a version, 1 or 2."""
    is_second = version == 2
    inputs = options.input(size=224, least=32)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(ZeroPadding2D(3, name="conv1_pad")(inputs))
    if not is_second:
        x = activated(x, "conv1")
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(ZeroPadding2D(1, name="pool1_pad")(x))
    strides = (2, 2, 2, 1) if is_second else (1, 2, 2, 2)
    make = stack_v2 if is_second else stack
    for number, (blocks, stride) in enumerate(zip(BLOCKS[layers], strides, strict=True)):
        x = make(x, 64 * 2**number, blocks, stride, f"conv{number + 2}")
    if is_second:
        x = activated(x, "post")
    name = f"resnet{layers}v2" if is_second else f"resnet{layers}"
    return options.model(inputs, options.ended(x, named=True), kernels_file(name, HASHES[name], folder="resnet"))


def network(layers: int, version: int = 1) -> Callable[..., Model]:
    """The public function of a ResNet."""
    of_version, paper = {1: ("", "1512.03385"), 2: ("V2", "1603.05027")}[version]
    function = f"ResNet{layers}{of_version}"
    title = f"The residual network of {layers} layers{', version 2' if version == 2 else ''}"
    made = partial(build, layers=layers, version=version)
    return usual(function, title, f"https://arxiv.org/abs/{paper}", function.lower(), made)


ResNet50 = network(50)
ResNet101 = network(101)
ResNet152 = network(152)
preprocess_input = preprocessing("caffe")
