"""`keras.applications.efficientnet`, and the layers of both versions of EfficientNet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from torchkeras.keras3.applications.network import (
    File,
    Options,
    channel_axis,
    multiple,
    normalized,
    padding_before,
    usual,
)
from torchkeras.keras3.initializers import VarianceScaling
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Add,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    GlobalAveragePooling2D,
    Multiply,
    Normalization,
    Rescaling,
    Reshape,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model
from torchkeras.utils.imagenet import DEVIATION

__all__ = [
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
    "decode_predictions",
    "preprocess_input",
]

ACTIVATION = "swish"
DROP_RATE = 0.2  # of the last block; it grows from 0
TOP = 1280  # the filters of the last convolution
BY_FAN_OUT = partial(VarianceScaling, scale=2.0, mode="fan_out", distribution="truncated_normal")
OF_CLASSES = partial(VarianceScaling, scale=1 / 3, mode="fan_out", distribution="uniform")


@dataclass(frozen=True)
class Stage:
    """Blocks of equal form.

    Fields:
        kernel_size (integer): of the depthwise convolution, or of the fused one.
        blocks (integer): how many, before the factor of the depth.
        channels, filters (integers): before and after it, before the factor of the width.
        expansion (integer): the factor of the channels within.
        stride (1 or 2): of the first block.
        squeezed (float): the part of the channels by which channels are weighed; 0 for none.
        is_fused (bool): whether one convolution expands the channels and covers the window.
    """

    kernel_size: int
    blocks: int
    channels: int
    filters: int
    expansion: int
    stride: int
    squeezed: float = 0.25
    is_fused: bool = False


@dataclass(frozen=True)
class Variant:
    """The size of a network.

    Fields:
        size (integer): the rows and columns that it was made for.
        width, depth (floats): the factors of filters and of blocks.
        dropout (float): the rate before the last layer.
        hashes (two texts): of the files.
    """

    size: int
    width: float
    depth: float
    dropout: float
    hashes: tuple[str, str]


@dataclass(frozen=True)
class Form:
    """What the versions do otherwise.

    Fields:
        momentum (float): of the normalizations.
        is_padded (bool): whether a layer pads before a stride of 2.
        depthwise (text): the end of the names of depthwise convolutions.
        at_most_a_tenth_less (bool): how numbers of filters are rounded, as for `multiple`.
    """

    momentum: float
    is_padded: bool
    depthwise: str
    at_most_a_tenth_less: bool

    def convolved(self, x: Any, filters: int, size: int, stride: int, name: str, is_activated: bool = True) -> Any:
        """`swish(norm(conv(x)))`."""
        padding = "same"
        if self.is_padded and stride == 2:
            x = ZeroPadding2D(padding_before(x, size), name=f"{name}_conv_pad")(x)
            padding = "valid"
        x = Conv2D(
            filters,
            size,
            strides=stride,
            padding=padding,
            use_bias=False,
            kernel_initializer=BY_FAN_OUT(),
            name=f"{name}_conv",
        )(x)
        x = normalized(x, f"{name}_bn", momentum=self.momentum)
        return Activation(ACTIVATION, name=f"{name}_activation")(x) if is_activated else x

    def _depthwise(self, x: Any, stage: Stage, name: str) -> Any:
        padding = "same"
        if self.is_padded and stage.stride == 2:
            x = ZeroPadding2D(padding_before(x, stage.kernel_size), name=f"{name}dwconv_pad")(x)
            padding = "valid"
        x = DepthwiseConv2D(
            stage.kernel_size,
            strides=stage.stride,
            padding=padding,
            use_bias=False,
            depthwise_initializer=BY_FAN_OUT(),
            name=f"{name}{self.depthwise}",
        )(x)
        x = normalized(x, f"{name}bn", momentum=self.momentum)
        return Activation(ACTIVATION, name=f"{name}activation")(x)

    def block(self, x: Any, stage: Stage, drop_rate: float, name: str) -> Any:
        """`x + project(squeeze(depthwise(expand(x))))`, where the shapes allow it; a block is a stage of one."""
        before, within = x, stage.channels * stage.expansion
        if stage.is_fused:
            size, stride = stage.kernel_size, stage.stride
            if stage.expansion != 1:
                x = self.convolved(x, within, size, stride, f"{name}expand")
                size = stride = 1
        else:
            size = stride = 1
            if stage.expansion != 1:
                x = self.convolved(x, within, 1, 1, f"{name}expand")
            x = self._depthwise(x, stage, name)
        if stage.squeezed:
            x = _squeezed(x, max(1, int(stage.channels * stage.squeezed)), within, name)
        is_activated = stage.is_fused and stage.expansion == 1
        x = self.convolved(x, stage.filters, size, stride, f"{name}project", is_activated)
        if stage.stride != 1 or stage.channels != stage.filters:
            return x
        if drop_rate > 0:
            x = Dropout(drop_rate, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        return Add(name=f"{name}add")([x, before])

    def rounded(self, filters: int, variant: Variant) -> int:
        """The filters of a variant."""
        return multiple(filters * variant.width, 8, self.at_most_a_tenth_less)

    def _blocks(self, stages: tuple[Stage, ...], variant: Variant) -> Iterator[tuple[str, Stage]]:
        """The blocks with their names."""
        for number, stage in enumerate(stages, start=1):
            filters = self.rounded(stage.filters, variant)
            first = replace(stage, channels=self.rounded(stage.channels, variant), filters=filters)
            for place in range(math.ceil(variant.depth * stage.blocks)):
                block = replace(first, channels=filters, stride=1) if place else first
                yield f"block{number}{chr(ord('a') + place)}_", block

    def features(self, x: Any, stages: tuple[Stage, ...], variant: Variant, count: int) -> Any:
        """From the scaled images to the last channels; `count`: the blocks that the drop rate grows over."""
        x = self.convolved(x, self.rounded(stages[0].channels, variant), 3, 2, "stem")
        for number, (name, block) in enumerate(self._blocks(stages, variant)):
            x = self.block(x, block, DROP_RATE * number / count, name)
        return self.convolved(x, self.rounded(TOP, variant), 1, 1, "top")


def _squeezed(x: Any, squeezed: int, channels: int, name: str) -> Any:
    """`x * sigmoid(conv(swish(conv(mean(x)))))`."""
    options = {"padding": "same", "kernel_initializer": BY_FAN_OUT()}
    scale = GlobalAveragePooling2D(name=f"{name}se_squeeze")(x)
    shape = (channels, 1, 1) if channel_axis() == 1 else (1, 1, channels)
    scale = Reshape(shape, name=f"{name}se_reshape")(scale)
    scale = Conv2D(squeezed, 1, activation=ACTIVATION, name=f"{name}se_reduce", **options)(scale)
    scale = Conv2D(channels, 1, activation="sigmoid", name=f"{name}se_expand", **options)(scale)
    return Multiply(name=f"{name}se_excite")([x, scale])


def ended(options: Options, x: Any, dropout: float) -> Any:
    """The top of both versions, or the features."""
    if not options.include_top:
        return options.pooled(x, named=True)
    x = GlobalAveragePooling2D(name="avg_pool")(x)
    x = Dropout(dropout, name="top_dropout")(x)
    return options.classified(x, kernel_initializer=OF_CLASSES())


STAGES = (
    Stage(3, 1, 32, 16, 1, 1),
    Stage(3, 2, 16, 24, 6, 2),
    Stage(5, 2, 24, 40, 6, 2),
    Stage(3, 3, 40, 80, 6, 2),
    Stage(5, 3, 80, 112, 6, 1),
    Stage(5, 4, 112, 192, 6, 2),
    Stage(3, 1, 192, 320, 6, 1),
)
VARIANTS = {
    "b0": Variant(224, 1.0, 1.0, 0.2, ("902e53a9f72be733fc0bcb005b3ebbac", "50bc09e76180e00e4465e1a485ddc09d")),
    "b1": Variant(240, 1.0, 1.1, 0.2, ("1d254153d4ab51201f1646940f018540", "74c4e6b3e1f6a1eea24c589628592432")),
    "b2": Variant(260, 1.1, 1.2, 0.3, ("b15cce36ff4dcbd00b6dd88e7857a6ad", "111f8e2ac8aa800a7a99e3239f7bfb39")),
    "b3": Variant(300, 1.2, 1.4, 0.3, ("ffd1fdc53d0ce67064dc6a9c7960ede0", "af6d107764bb5b1abb91932881670226")),
    "b4": Variant(380, 1.4, 1.8, 0.4, ("18c95ad55216b8f92d7e70b3a046e2fc", "ebc24e6d6c33eaebbd558eafbeedf1ba")),
    "b5": Variant(456, 1.6, 2.2, 0.4, ("ace28f2a6363774853a83a0b21b9421a", "38879255a25d3c92d5e44e04ae6cec6f")),
    "b6": Variant(528, 1.8, 2.6, 0.5, ("165f6e37dce68623721b423839de8be5", "9ecce42647a20130c1f39a5d4cb75743")),
    "b7": Variant(600, 2.0, 3.1, 0.5, ("8c03f828fec3ef71311cd463b6759d99", "cbcfe4450ddf6f3ad90b1b398090fe4a")),
}
FORM = Form(momentum=0.99, is_padded=True, depthwise="dwconv", at_most_a_tenth_less=True)


def build(options: Options, variant: Variant, file: File) -> Model:
    """An EfficientNet of a variant."""
    inputs = options.input(variant.size, least=32)
    x = Normalization(axis=channel_axis())(Rescaling(1.0 / 255.0)(inputs))
    if options.is_imagenet:  # the variances in the files are deviations: this divides by their roots again
        x = Rescaling([1.0 / math.sqrt(deviation) for deviation in DEVIATION])(x)
    count = sum(math.ceil(variant.depth * stage.blocks) for stage in STAGES)
    return options.model(inputs, ended(options, FORM.features(x, STAGES, variant, count), variant.dropout), file)


def _network(variant: str) -> Callable[..., Model]:
    """The public function of an EfficientNet."""
    function, paper = f"EfficientNet{variant.upper()}", "https://arxiv.org/abs/1905.11946"
    name, sizes = function.lower(), VARIANTS[variant]
    file = File("https://storage.googleapis.com/keras-applications", f"{name}.h5", f"{name}_notop.h5", sizes.hashes)
    title = f"EfficientNet {variant.upper()}, for images of {sizes.size} rows from 0 to 255"
    return usual(function, title, paper, name, partial(build, variant=sizes, file=file))


EfficientNetB0, EfficientNetB1, EfficientNetB2, EfficientNetB3 = map(_network, ("b0", "b1", "b2", "b3"))
EfficientNetB4, EfficientNetB5, EfficientNetB6, EfficientNetB7 = map(_network, ("b4", "b5", "b6", "b7"))
