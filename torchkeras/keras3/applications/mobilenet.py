"""`keras.applications.mobilenet`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from torchkeras import config
from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import CLASSES, FILES, IMAGENET, File, Options, normalized, page
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Conv2D,
    DepthwiseConv2D,
    Dropout,
    GlobalAveragePooling2D,
    ReLU,
    Reshape,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["MobileNet", "decode_predictions", "preprocess_input"]

SIZES = (128, 160, 192, 224)  # of the images that weights were trained on
WIDTHS = {0.25: "2_5", 0.5: "5_0", 0.75: "7_5", 1.0: "1_0"}  # `alpha` in names of files
# The filters and the stride of each block.
BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)
WIDTH = """
        alpha (float, default 1.0): the factor of the numbers of filters."""


def default_size(shape: Any, sizes: Sequence[int]) -> int:
    """The rows and columns of images with weights of their own, else the largest such."""
    rows, columns = _rows_and_columns(shape) if shape is not None and len(shape) == 3 else (None, None)
    return rows if rows is not None and rows == columns and rows in sizes else max(sizes)


def _rows_and_columns(shape: Sequence[int | None]) -> tuple[int | None, int | None]:
    first = config.image_data_format() == "channels_first"
    return (shape[1], shape[2]) if first else (shape[0], shape[1])


def rows_of_weights(options: Options, shape: Sequence[int | None], sizes: Sequence[int]) -> int | None:
    """The rows in the names of a model and of its files; of ImageNet's weights those that they were trained on."""
    rows, columns = _rows_and_columns(shape)
    if options.is_imagenet and (rows != columns or rows not in sizes):
        message = f"{options.function}: the weights are those for images of {max(sizes)} rows, since there are none"
        warnings.warn(f"{message} for the input_shape {tuple(shape)}.", stacklevel=3)
        return max(sizes)
    return rows


def _relu(x: Any, name: str) -> Any:
    return ReLU(6.0, name=f"{name}_relu")(normalized(x, f"{name}_bn"))


def _block(x: Any, filters: int, stride: int, depth_multiplier: int, number: int) -> Any:
    """A convolution of each channel, then one of each place."""
    if stride == 2:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{number}")(x)
    x = DepthwiseConv2D(
        3,
        padding="same" if stride == 1 else "valid",
        depth_multiplier=depth_multiplier,
        strides=stride,
        use_bias=False,
        name=f"conv_dw_{number}",
    )(x)
    x = _relu(x, f"conv_dw_{number}")
    x = Conv2D(filters, 1, padding="same", use_bias=False, name=f"conv_pw_{number}")(x)
    return _relu(x, f"conv_pw_{number}")


def _top(options: Options, x: Any, dropout: float) -> Any:
    x = GlobalAveragePooling2D(keepdims=True)(x)
    x = Dropout(dropout, name="dropout")(x)
    x = Conv2D(options.classes, 1, padding="same", name="conv_preds")(x)
    x = Reshape((options.classes,), name="reshape_2")(x)
    return Activation(options.classifier_activation, name="predictions")(x)


def _file(alpha: float, rows: int | None) -> File:
    stem = f"mobilenet_{WIDTHS.get(alpha)}_{rows}_tf"
    return File(f"{FILES}/mobilenet", f"{stem}.h5", f"{stem}_no_top.h5")


def MobileNet(  # noqa: N802  (Keras's name)
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: Any = IMAGENET,
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = CLASSES,
    classifier_activation: Any = "softmax",
    name: str | None = None,
) -> Model:
    given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
    options = Options("MobileNet", *given)
    if options.is_imagenet and depth_multiplier != 1:
        options.refuse("depth_multiplier", depth_multiplier, f"must be 1 with the weights {IMAGENET!r}")
    if options.is_imagenet and alpha not in WIDTHS:
        options.refuse("alpha", alpha, f"must be one of {(*WIDTHS,)} with the weights {IMAGENET!r}")
    shape = options.shape(default_size(input_shape, SIZES), least=32)
    rows = rows_of_weights(options, shape, SIZES)
    inputs = options.input_of(shape)
    x = Conv2D(int(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="conv1")(inputs)
    x = _relu(x, "conv1")
    for number, (filters, stride) in enumerate(BLOCKS, start=1):
        x = _block(x, int(filters * alpha), stride, depth_multiplier, number)
    x = _top(options, x, dropout) if include_top else options.pooled(x)
    return options.model(inputs, x, _file(alpha, rows), f"mobilenet_{alpha:0.2f}_{rows}")


page(
    MobileNet,
    "MobileNet",
    "https://arxiv.org/abs/1704.04861",
    "mobilenet_{alpha}_{rows}",
    WIDTH
    + """
        depth_multiplier (positive integer, default 1): the channels that a depthwise convolution makes of each.
        dropout (float, default 0.001): with the top: the rate.""",
    example="mobilenet_1.00_None",
)
preprocess_input = preprocessing("tf")
