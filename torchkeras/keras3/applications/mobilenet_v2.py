"""`keras.applications.mobilenet_v2`."""

from __future__ import annotations

from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.mobilenet import WIDTH, default_size, rows_of_weights
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
    Add,
    Conv2D,
    DepthwiseConv2D,
    GlobalAveragePooling2D,
    ReLU,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["MobileNetV2", "decode_predictions", "preprocess_input"]

SIZES = (96, 128, 160, 192, 224)
WIDTHS = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)
# The filters, the number of blocks and the stride of the first of them.
STAGES = ((16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1))
EXPANSION = 6  # of all blocks but the first
NORM = {"epsilon": 1e-3, "momentum": 0.999}


def _block(x: Any, filters: int, stride: int, number: int) -> Any:
    """`x + project(depthwise(expand(x)))`, where the shapes allow it."""
    before, channels = x, x.shape[channel_axis()]
    name = f"block_{number}_" if number else "expanded_conv_"
    if number:
        x = Conv2D(EXPANSION * channels, 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = ReLU(6.0, name=f"{name}expand_relu")(normalized(x, f"{name}expand_BN", **NORM))
    if stride == 2:
        x = ZeroPadding2D(padding_before(x, 3), name=f"{name}pad")(x)
    padding = "same" if stride == 1 else "valid"
    x = DepthwiseConv2D(3, strides=stride, use_bias=False, padding=padding, name=f"{name}depthwise")(x)
    x = ReLU(6.0, name=f"{name}depthwise_relu")(normalized(x, f"{name}depthwise_BN", **NORM))
    x = Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = normalized(x, f"{name}project_BN", **NORM)
    return Add(name=f"{name}add")([before, x]) if channels == filters and stride == 1 else x


def _file(alpha: float, rows: int | None) -> File:
    stem = f"mobilenet_v2_weights_tf_dim_ordering_tf_kernels_{float(alpha)}_{rows}"
    return File(f"{FILES}/mobilenet_v2", f"{stem}.h5", f"{stem}_no_top.h5")


def MobileNetV2(  # noqa: N802  (Keras's name)
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: Any = IMAGENET,
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = CLASSES,
    classifier_activation: Any = "softmax",
    name: str | None = None,
) -> Model:
    given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
    options = Options("MobileNetV2", *given)
    if options.is_imagenet and alpha not in WIDTHS:
        options.refuse("alpha", alpha, f"must be one of {WIDTHS} with the weights {IMAGENET!r}")
    known = input_tensor.shape[1:] if input_shape is None and input_tensor is not None else input_shape
    shape = options.shape(default_size(known, SIZES), least=32)
    rows = rows_of_weights(options, shape, SIZES)
    inputs = options.input_of(shape)
    x = Conv2D(multiple(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="Conv1")(inputs)
    x = ReLU(6.0, name="Conv1_relu")(normalized(x, "bn_Conv1", **NORM))
    number = 0
    for filters, blocks, first_stride in STAGES:
        for place in range(blocks):
            x = _block(x, multiple(int(filters * alpha)), 1 if place else first_stride, number)
            number += 1
    x = Conv2D(multiple(1280 * alpha) if alpha > 1 else 1280, 1, use_bias=False, name="Conv_1")(x)
    x = ReLU(6.0, name="out_relu")(normalized(x, "Conv_1_bn", **NORM))
    x = options.classified(GlobalAveragePooling2D()(x)) if include_top else options.pooled(x)
    return options.model(inputs, x, _file(alpha, rows), f"mobilenetv2_{alpha:0.2f}_{rows}")


page(
    MobileNetV2,
    "MobileNet, version 2",
    "https://arxiv.org/abs/1801.04381",
    "mobilenetv2_{alpha}_{rows}",
    WIDTH,
    example="mobilenetv2_1.00_None",
)
preprocess_input = preprocessing("tf")
