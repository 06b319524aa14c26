"""`keras.applications.vgg16`, and the builder of both VGGs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.network import Options, kernels_file, usual
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Conv2D,
    Dense,
    Flatten,
    MaxPooling2D,
)
from torchkeras.keras3.models import Model

__all__ = ["VGG16", "decode_predictions", "preprocess_input"]

FILTERS = (64, 128, 256, 512, 512)
CONVOLUTIONS = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}  # in the five blocks, by the number of layers
HASHES = {
    16: ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    19: ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
}


def build(options: Options, layers: int) -> Model:
    """A VGG of a number of layers."""
    inputs = x = options.input(size=224, least=32)
    for block, (filters, convolutions) in enumerate(zip(FILTERS, CONVOLUTIONS[layers], strict=True), start=1):
        for number in range(1, convolutions + 1):
            name = f"block{block}_conv{number}"
            x = Conv2D(filters, 3, activation="relu", padding="same", name=name)(x)
        x = MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if options.include_top:
        x = Flatten(name="flatten")(x)
        for name in ("fc1", "fc2"):
            x = Dense(4096, activation="relu", name=name)(x)
        x = options.classified(x)
    else:
        x = options.pooled(x)
    return options.model(inputs, x, kernels_file(f"vgg{layers}", HASHES[layers]))


def network(layers: int) -> Callable[..., Model]:
    """The public function of a VGG."""
    made = partial(build, layers=layers)
    paper = "https://arxiv.org/abs/1409.1556"
    return usual(f"VGG{layers}", f"The VGG of {layers} layers", paper, f"vgg{layers}", made)


VGG16 = network(16)
preprocess_input = preprocessing("caffe")
