"""`keras.applications.nasnet`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import (
    CLASSES,
    FILES,
    IMAGENET,
    File,
    Options,
    channel_axis,
    normalized,
    padding_before,
    page,
)
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Add,
    AveragePooling2D,
    Concatenate,
    Conv2D,
    Cropping2D,
    GlobalAveragePooling2D,
    MaxPooling2D,
    SeparableConv2D,
    ZeroPadding2D,
)
from torchkeras.keras3.models import Model

__all__ = ["NASNetLarge", "NASNetMobile", "decode_predictions", "preprocess_input"]

NORM = {"momentum": 0.9997, "epsilon": 1e-3}


@dataclass(frozen=True)
class Variant:
    """The size of a network.

    Fields:
        size (integer): the rows and columns that it was made for.
        filters (integer): the channels of the last features; a branch of the first cells has one in 24 of them.
        cells (integer): the cells of each of the three stages.
        stem (integer): the channels of the first convolution.
        skips (bool): whether the cell after a reduction sees what came before it.
        file (File): ImageNet's weights.
    """

    size: int
    filters: int
    cells: int
    stem: int
    skips: bool
    file: File


def _file(name: str, hashes: tuple[str, str]) -> File:
    kept_as = f"nasnet_{name}.h5", f"nasnet_{name}_no_top.h5"
    return File(f"{FILES}/nasnet", f"NASNet-{name}.h5", f"NASNet-{name}-no-top.h5", hashes, kept_as)


MOBILE = Variant(
    *(224, 1056, 4, 32, False),
    _file("mobile", ("020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63")),
)
LARGE = Variant(
    *(331, 4032, 6, 96, True),
    _file("large", ("11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5")),
)


def _pointwise(x: Any, filters: int, name: str) -> Any:
    return Conv2D(filters, 1, padding="same", use_bias=False, kernel_initializer="he_normal", name=name)(x)


def _squeezed(x: Any, filters: int, kind: str, number: str) -> Any:
    """`norm(conv(relu(x)))`, with the channels of the cell."""
    x = _pointwise(Activation("relu")(x), filters, f"{kind}_conv_1_{number}")
    return normalized(x, f"{kind}_bn_1_{number}", **NORM)


def _separable(x: Any, filters: int, size: int, name: str, stride: int = 1) -> Any:
    """`norm(separable(relu(...)))`, twice; the first has the stride."""
    x, padding = Activation("relu")(x), "same"
    if stride == 2:
        x = ZeroPadding2D(padding_before(x, size), name=f"separable_conv_1_pad_{name}")(x)
        padding = "valid"
    x = SeparableConv2D(
        filters, size, strides=stride, padding=padding, use_bias=False, name=f"separable_conv_1_{name}"
    )(x)
    x = Activation("relu")(normalized(x, f"separable_conv_1_bn_{name}", **NORM))
    x = SeparableConv2D(filters, size, padding="same", use_bias=False, name=f"separable_conv_2_{name}")(x)
    return normalized(x, f"separable_conv_2_bn_{name}", **NORM)


def _mean(x: Any, name: str, stride: int = 1) -> Any:
    padding = "same" if stride == 1 else "valid"
    return AveragePooling2D(3, strides=stride, padding=padding, name=name)(x)


def _joined(branches: list[Any], name: str | None = None) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(branches)


def _halved(x: Any, filters: int, number: str) -> Any:
    """Half the rows and columns, from every second and from those between."""
    x = Activation("relu", name=f"adjust_relu_1_{number}")(x)
    halves = []
    for which in (1, 2):
        if which == 2:
            x = Cropping2D(((1, 0), (1, 0)))(ZeroPadding2D(((0, 1), (0, 1)))(x))
        half = AveragePooling2D(1, strides=2, padding="valid", name=f"adjust_avg_pool_{which}_{number}")(x)
        halves.append(_pointwise(half, filters // 2, f"adjust_conv_{which}_{number}"))
    return normalized(_joined(halves), f"adjust_bn_{number}", **NORM)


def _adjusted(before: Any, x: Any, filters: int, number: str) -> Any:
    """What came before, with the rows, columns and channels of a cell."""
    if before is None:
        return x
    if before.shape[-2] != x.shape[-2]:
        return _halved(before, filters, number)
    if before.shape[channel_axis()] == filters:
        return before
    before = _pointwise(Activation("relu")(before), filters, f"adjust_conv_projection_{number}")
    return normalized(before, f"adjust_bn_{number}", **NORM)


def _cell(x: Any, before: Any, filters: int, number: str) -> Any:
    """A cell that keeps the rows and columns."""

    def added(place: int, one: Any, other: Any) -> Any:
        return Add(name=f"normal_add_{place}_{number}")([one, other])

    before = _adjusted(before, x, filters, number)
    h = _squeezed(x, filters, "normal", number)
    one = _separable(h, filters, 5, f"normal_left1_{number}")
    first = added(1, one, _separable(before, filters, 3, f"normal_right1_{number}"))
    one = _separable(before, filters, 5, f"normal_left2_{number}")
    second = added(2, one, _separable(before, filters, 3, f"normal_right2_{number}"))
    third = added(3, _mean(h, f"normal_left3_{number}"), before)
    one = _mean(before, f"normal_left4_{number}")
    fourth = added(4, one, _mean(before, f"normal_right4_{number}"))
    fifth = added(5, _separable(h, filters, 3, f"normal_left5_{number}"), h)
    return _joined([before, first, second, third, fourth, fifth], f"normal_concat_{number}")


def _reduction(x: Any, before: Any, filters: int, number: str) -> Any:
    """A cell that halves the rows and columns."""
    before = _adjusted(before, x, filters, number)
    h = _squeezed(x, filters, "reduction", number)
    padded = ZeroPadding2D(padding_before(h, 3), name=f"reduction_pad_1_{number}")(h)
    one = _separable(h, filters, 5, f"reduction_left1_{number}", stride=2)
    other = _separable(before, filters, 7, f"reduction_right1_{number}", stride=2)
    first = Add(name=f"reduction_add_1_{number}")([one, other])
    one = MaxPooling2D(3, strides=2, name=f"reduction_left2_{number}")(padded)
    other = _separable(before, filters, 7, f"reduction_right2_{number}", stride=2)
    second = Add(name=f"reduction_add_2_{number}")([one, other])
    one = _mean(padded, f"reduction_left3_{number}", stride=2)
    other = _separable(before, filters, 5, f"reduction_right3_{number}", stride=2)
    third = Add(name=f"reduction_add3_{number}")([one, other])
    fourth = Add()([second, _mean(first, f"reduction_left4_{number}")])
    one = _separable(first, filters, 3, f"reduction_left4_{number}")
    other = MaxPooling2D(3, strides=2, name=f"reduction_right5_{number}")(padded)
    fifth = Add(name=f"reduction_add4_{number}")([one, other])
    return _joined([second, third, fourth, fifth], f"reduction_concat_{number}")


def _features(x: Any, variant: Variant) -> Any:
    """From images to the last channels."""
    filters, cells = variant.filters // 24, variant.cells
    x = Conv2D(variant.stem, 3, strides=2, use_bias=False, kernel_initializer="he_normal", name="stem_conv1")(x)
    x, before = normalized(x, "stem_bn1", **NORM), None
    for number in (1, 2):
        x, before = _reduction(x, before, filters // (4 // number), f"stem_{number}"), x
    for stage in range(3):
        if stage:
            whole = x
            x = _reduction(x, before, filters * 2**stage, f"reduce_{stage * cells}")
            before = before if variant.skips else whole
        for number in range(cells):
            cell = str(stage * cells + number + (1 if stage else 0))
            x, before = _cell(x, before, filters * 2**stage, cell), x
    return Activation("relu")(x)


def _build(options: Options, variant: Variant) -> Model:
    options.check_channels_last()
    inputs = options.input(variant.size, least=32)
    x = _features(inputs, variant)
    x = options.classified(GlobalAveragePooling2D()(x)) if options.include_top else options.pooled(x)
    return options.model(inputs, x, variant.file)


def NASNetMobile(  # noqa: N802  (Keras's name)
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = IMAGENET,
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = CLASSES,
    classifier_activation: Any = "softmax",
    name: str = "nasnet_mobile",
) -> Model:
    if not include_top and input_shape is None:
        input_shape = (MOBILE.size, MOBILE.size, 3)
    given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
    return _build(Options("NASNetMobile", *given), MOBILE)


def NASNetLarge(  # noqa: N802  (Keras's name)
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = IMAGENET,
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = CLASSES,
    classifier_activation: Any = "softmax",
    name: str = "nasnet_large",
) -> Model:
    given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
    return _build(Options("NASNetLarge", *given), LARGE)


page(NASNetMobile, "The NASNet for mobile devices", "https://arxiv.org/abs/1707.07012", "nasnet_mobile")
page(NASNetLarge, "The large NASNet", "https://arxiv.org/abs/1707.07012", "nasnet_large")
preprocess_input = preprocessing("tf")
