"""`keras.applications.mobilenet_v3`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchkeras import config
from torchkeras.keras3.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from torchkeras.keras3.applications.mobilenet import WIDTH
from torchkeras.keras3.applications.network import (
    CLASSES,
    FILES,
    IMAGENET,
    File,
    Options,
    channel_axis,
    multiple,
    normalized,
    padding_before,
    page,
)
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Add,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    Flatten,
    GlobalAveragePooling2D,
    Multiply,
    ReLU,
    Rescaling,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["MobileNetV3Large", "MobileNetV3Small", "decode_predictions", "preprocess_input"]

SIZE = 224
SQUEEZED = 0.25  # of the channels
NORM = {"epsilon": 1e-3, "momentum": 0.999}
HASHES = {
    "large_224_0.75_float": ("765b44a33ad4005b3ac83185abf1d0eb", "40af19a13ebea4e2ee0c676887f69a2e"),
    "large_224_1.0_float": ("59e551e166be033d707958cf9e29a6a7", "07fb09a5933dd0c8eaafa16978110389"),
    "large_minimalistic_224_1.0_float": ("675e7b876c45c57e9e63e6d90a36599c", "ec5221f64a2f6d1ef965a614bdae7973"),
    "small_224_0.75_float": ("cb65d4e5be93758266aa0a7f2c6708b7", "ebdb5cc8e0b497cd13a7c275d475c819"),
    "small_224_1.0_float": ("8768d4c2e7dee89b9d02b2d03d65d862", "d3e8ec802a04aa4fc771ee12a9a9b836"),
    "small_minimalistic_224_1.0_float": ("99cd97fb2fcdad2bf028eb838de69e37", "cde8136e733e811080d9fcd8a252f7e4"),
}


@dataclass(frozen=True)
class Block:
    """One block: `x + project(squeeze(depthwise(expand(x))))`.

    Fields:
        expansion (float): the factor of the channels within.
        filters (integer): the channels after it, before `alpha`.
        kernel_size (integer): of the depthwise convolution; 3 throughout with `minimalistic`.
        stride (1 or 2): of the same.
        is_squeezed (bool): whether channels are weighed by their means; never with `minimalistic`.
        activation ("relu" or "hard_swish"): "relu" throughout with `minimalistic`.
    """

    expansion: float
    filters: int
    kernel_size: int
    stride: int
    is_squeezed: bool
    activation: str

    def minimalistic(self) -> Block:
        """The same for devices without fast operations for these."""
        return Block(self.expansion, self.filters, 3, self.stride, False, "relu")


SMALL = (
    Block(1, 16, 3, 2, True, "relu"),
    Block(72 / 16, 24, 3, 2, False, "relu"),
    Block(88 / 24, 24, 3, 1, False, "relu"),
    Block(4, 40, 5, 2, True, "hard_swish"),
    *(Block(6, 40, 5, 1, True, "hard_swish"),) * 2,
    *(Block(3, 48, 5, 1, True, "hard_swish"),) * 2,
    Block(6, 96, 5, 2, True, "hard_swish"),
    *(Block(6, 96, 5, 1, True, "hard_swish"),) * 2,
)
LARGE = (
    Block(1, 16, 3, 1, False, "relu"),
    Block(4, 24, 3, 2, False, "relu"),
    Block(3, 24, 3, 1, False, "relu"),
    Block(3, 40, 5, 2, True, "relu"),
    *(Block(3, 40, 5, 1, True, "relu"),) * 2,
    Block(6, 80, 3, 2, False, "hard_swish"),
    Block(2.5, 80, 3, 1, False, "hard_swish"),
    *(Block(2.3, 80, 3, 1, False, "hard_swish"),) * 2,
    *(Block(6, 112, 3, 1, True, "hard_swish"),) * 2,
    Block(6, 160, 5, 2, True, "hard_swish"),
    *(Block(6, 160, 5, 1, True, "hard_swish"),) * 2,
)


def _activated(x: Any, activation: str) -> Any:
    return ReLU()(x) if activation == "relu" else Activation(activation)(x)


def _squeezed(x: Any, channels: int, name: str) -> Any:
    """`x * hard_sigmoid(conv(relu(conv(mean(x)))))`."""
    name = f"{name}squeeze_excite_"
    scale = GlobalAveragePooling2D(keepdims=True, name=f"{name}avg_pool")(x)
    scale = Conv2D(multiple(channels * SQUEEZED), 1, padding="same", name=f"{name}conv")(scale)
    scale = ReLU(name=f"{name}relu")(scale)
    scale = Conv2D(channels, 1, padding="same", name=f"{name}conv_1")(scale)
    return Multiply(name=f"{name}mul")([x, ReLU(6.0)(scale + 3.0) * (1.0 / 6.0)])


def _block(x: Any, block: Block, filters: int, number: int) -> Any:
    before, channels = x, x.shape[channel_axis()]
    within = multiple(channels * block.expansion)
    name = f"expanded_conv_{number}_" if number else "expanded_conv_"
    if number:
        x = Conv2D(within, 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = _activated(normalized(x, f"{name}expand_bn", **NORM), block.activation)
    if block.stride == 2:
        x = ZeroPadding2D(padding_before(x, block.kernel_size), name=f"{name}depthwise_pad")(x)
    padding = "same" if block.stride == 1 else "valid"
    x = DepthwiseConv2D(
        block.kernel_size, strides=block.stride, padding=padding, use_bias=False, name=f"{name}depthwise"
    )(x)
    x = _activated(normalized(x, f"{name}depthwise_bn", **NORM), block.activation)
    if block.is_squeezed:
        x = _squeezed(x, within, name)
    x = Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = normalized(x, f"{name}project_bn", **NORM)
    return Add(name=f"{name}add")([before, x]) if block.stride == 1 and channels == filters else x


def _top(options: Options, x: Any, filters: int, activation: str, rate: float) -> Any:
    x = GlobalAveragePooling2D(keepdims=True)(x)
    x = _activated(Conv2D(filters, 1, padding="same", name="conv_2")(x), activation)
    if rate > 0:
        x = Dropout(rate)(x)
    x = Flatten()(Conv2D(options.classes, 1, padding="same", name="logits")(x))
    return Activation(options.classifier_activation, name="predictions")(x)


def _shape(options: Options) -> tuple[int | None, ...]:
    """The shape of an image: any size is the default, with the top, too."""
    first = config.image_data_format() == "channels_first"
    given = options.input_shape if options.input_tensor is None else tuple(options.input_tensor.shape[1:])
    if given is None:
        return (3, None, None) if first else (None, None, 3)
    sizes = given[1:] if first else given[:2]
    if any(size is not None and size < 32 for size in sizes):
        options.refuse("input_shape", given, "must have at least 32 rows and columns")
    if options.is_imagenet and tuple(sizes) != (SIZE, SIZE):
        warnings.warn(f"{options.function}: the weights are those for images of {SIZE} rows.", stacklevel=4)
    return tuple(given)


def _file(options: Options, size: str, alpha: float, minimalistic: bool) -> File | None:
    name = f"{size}{'_minimalistic' if minimalistic else ''}_{SIZE}_{float(alpha)}_float"
    if name not in HASHES:
        if options.is_imagenet:
            options.refuse("alpha", alpha, f"must be 1.0, or 0.75 if not minimalistic, with the weights {IMAGENET!r}")
        return None
    stem = f"weights_mobilenet_v3_{name}"
    return File(f"{FILES}/mobilenet_v3", f"{stem}.h5", f"{stem}_no_top_v2.h5", HASHES[name])


def _network(function: str, size: str, blocks: tuple[Block, ...], last_filters: int) -> Callable[..., Model]:
    """The public function of a MobileNetV3."""

    def network(
        input_shape: Any = None,
        alpha: float = 1.0,
        minimalistic: bool = False,
        include_top: bool = True,
        weights: Any = IMAGENET,
        input_tensor: Any = None,
        classes: int = CLASSES,
        pooling: str | None = None,
        dropout_rate: float = 0.2,
        classifier_activation: Any = "softmax",
        include_preprocessing: bool = True,
        name: str = function,
    ) -> Model:
        given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
        options = Options(function, *given)
        file = _file(options, size, alpha, minimalistic)
        inputs = x = options.input_of(_shape(options))
        activation = "relu" if minimalistic else "hard_swish"
        if include_preprocessing:
            x = Rescaling(scale=1.0 / 127.5, offset=-1.0)(x)
        x = Conv2D(16, 3, strides=2, padding="same", use_bias=False, name="conv")(x)
        x = _activated(normalized(x, "conv_bn", **NORM), activation)
        for number, block in enumerate(blocks):
            block = block.minimalistic() if minimalistic else block
            x = _block(x, block, multiple(block.filters * alpha), number)
        x = Conv2D(multiple(x.shape[channel_axis()] * 6), 1, padding="same", use_bias=False, name="conv_1")(x)
        x = _activated(normalized(x, "conv_1_bn", **NORM), activation)
        if include_top:
            filters = multiple(last_filters * alpha) if alpha > 1 else last_filters
            x = _top(options, x, filters, activation, dropout_rate)
        else:
            x = options.pooled(x, named=True)
        return options.model(inputs, x, file)

    network.__name__ = network.__qualname__ = function
    title = f"The {size} MobileNet, version 3"
    return page(network, title, "https://arxiv.org/abs/1905.02244", function, MORE)


MORE = (
    WIDTH
    + """
        minimalistic (bool, default False): whether it has neither larger windows nor `hard_swish` nor the weighing of
            channels.
        dropout_rate (float, default 0.2): with the top: the rate.
        include_preprocessing (bool, default True): whether the first layer scales the images, from 0 to 255."""
)
MobileNetV3Small = _network("MobileNetV3Small", "small", SMALL, 1024)
MobileNetV3Large = _network("MobileNetV3Large", "large", LARGE, 1280)
