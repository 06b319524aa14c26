"""`keras.applications.efficientnet_v2`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchkeras.keras3.applications.efficientnet import Form, Stage, Variant, ended
from torchkeras.keras3.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from torchkeras.keras3.applications.network import CLASSES, FILES, IMAGENET, File, Options, channel_axis, page
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Normalization,
    Rescaling,
)
from torchkeras.keras3.models import Model
from torchkeras.utils.imagenet import DEVIATION, MEAN

__all__ = [
    "EfficientNetV2B0",
    "EfficientNetV2B1",
    "EfficientNetV2B2",
    "EfficientNetV2B3",
    "EfficientNetV2L",
    "EfficientNetV2M",
    "EfficientNetV2S",
    "decode_predictions",
    "preprocess_input",
]


def _fused(kernel_size: int, blocks: int, channels: int, filters: int, expansion: int, stride: int) -> Stage:
    return Stage(kernel_size, blocks, channels, filters, expansion, stride, squeezed=0, is_fused=True)


_OF_B = (
    _fused(3, 1, 32, 16, 1, 1),
    _fused(3, 2, 16, 32, 4, 2),
    _fused(3, 2, 32, 48, 4, 2),
    Stage(3, 3, 48, 96, 4, 2),
    Stage(3, 5, 96, 112, 6, 1),
    Stage(3, 8, 112, 192, 6, 2),
)
STAGES = {
    **dict.fromkeys(("b0", "b1", "b2", "b3"), _OF_B),
    "s": (
        _fused(3, 2, 24, 24, 1, 1),
        _fused(3, 4, 24, 48, 4, 2),
        _fused(3, 4, 48, 64, 4, 2),
        Stage(3, 6, 64, 128, 4, 2),
        Stage(3, 9, 128, 160, 6, 1),
        Stage(3, 15, 160, 256, 6, 2),
    ),
    "m": (
        _fused(3, 3, 24, 24, 1, 1),
        _fused(3, 5, 24, 48, 4, 2),
        _fused(3, 5, 48, 80, 4, 2),
        Stage(3, 7, 80, 160, 4, 2),
        Stage(3, 14, 160, 176, 6, 1),
        Stage(3, 18, 176, 304, 6, 2),
        Stage(3, 5, 304, 512, 6, 1),
    ),
    "l": (
        _fused(3, 4, 32, 32, 1, 1),
        _fused(3, 7, 32, 64, 4, 2),
        _fused(3, 7, 64, 96, 4, 2),
        Stage(3, 10, 96, 192, 4, 2),
        Stage(3, 19, 192, 224, 6, 1),
        Stage(3, 25, 224, 384, 6, 2),
        Stage(3, 7, 384, 640, 6, 1),
    ),
}
VARIANTS = {
    "b0": Variant(224, 1.0, 1.0, 0.2, ("21ecbf6da12460d5c40bb2f29ceb2188", "893217f2bb855e2983157299931e43ff")),
    "b1": Variant(240, 1.0, 1.1, 0.2, ("069f0534ff22adf035c89e2d9547a9dc", "0e80663031ca32d657f9caa404b6ec37")),
    "b2": Variant(260, 1.1, 1.2, 0.2, ("424e49f28180edbde1e94797771950a7", "1dfe2e7a5d45b6632553a8961ea609eb")),
    "b3": Variant(300, 1.2, 1.4, 0.2, ("1f1fc43bd98a6e4fd8fdfd551e02c7a0", "f6abf7b5849ac99a89b50dd3fd532856")),
    "s": Variant(384, 1.0, 1.0, 0.2, ("e1d88a8495beba45748fedd0cecbe016", "af0682fb74e8c54910f2d4393339c070")),
    "m": Variant(480, 1.0, 1.0, 0.2, ("a3bf6aa3276309f4fc6a34aa114c95cd", "1b8dc055df72dde80d614482840fe342")),
    "l": Variant(480, 1.0, 1.0, 0.2, ("27e6d408b53c7ebc868fefa357689935", "b0b66b5c863aef5b46e8608fe1711615")),
}
FORM = Form(momentum=0.9, is_padded=False, depthwise="dwconv2", at_most_a_tenth_less=False)
MORE = """
        include_preprocessing (bool, default True): whether the first layers scale the images, from 0 to 255."""


def _scaled(x: Any, variant: str) -> Any:
    """Images as the network wants them, from 0 to 255."""
    if variant.startswith("b") and x.shape[channel_axis()] == 3:
        variances = [deviation**2 for deviation in DEVIATION]
        return Normalization(mean=list(MEAN), variance=variances, axis=channel_axis())(Rescaling(1.0 / 255)(x))
    return Rescaling(scale=1.0 / 128.0, offset=-1)(x)


def _network(variant: str) -> Callable[..., Model]:
    """The public function of an EfficientNetV2."""
    function, sizes, stages = f"EfficientNetV2{variant.upper()}", VARIANTS[variant], STAGES[variant]
    usual_name = f"efficientnetv2-{variant}"
    file = File(f"{FILES}/efficientnet_v2", f"{usual_name}.h5", f"{usual_name}_notop.h5", sizes.hashes)
    count = sum(stage.blocks for stage in stages)

    def network(
        include_top: bool = True,
        weights: Any = IMAGENET,
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = CLASSES,
        classifier_activation: Any = "softmax",
        include_preprocessing: bool = True,
        name: str = usual_name,
    ) -> Model:
        given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
        options = Options(function, *given)
        inputs = x = options.input(sizes.size, least=32)
        if include_preprocessing:
            x = _scaled(x, variant)
        return options.model(inputs, ended(options, FORM.features(x, stages, sizes, count), sizes.dropout), file)

    network.__name__ = network.__qualname__ = function
    title = f"EfficientNetV2 {variant.upper()}, for images of {sizes.size} rows"
    return page(network, title, "https://arxiv.org/abs/2104.00298", usual_name, MORE)


EfficientNetV2B0, EfficientNetV2B1, EfficientNetV2B2, EfficientNetV2B3 = map(_network, ("b0", "b1", "b2", "b3"))
EfficientNetV2S, EfficientNetV2M, EfficientNetV2L = map(_network, ("s", "m", "l"))
