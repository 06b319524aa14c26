"""`keras.applications.inception_resnet_v2`."""

from __future__ import annotations

from typing import Any

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.inception_v3 import HALVED, STEM, STEM_TO_35, Branch, branch, joined
from torchkeras.keras3.applications.network import Options, channel_axis, kernels_file, normalized, usual, within
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Conv2D,
    Layer,
)
from torchkeras.keras3.models import Model

__all__ = ["InceptionResNetV2", "decode_predictions", "preprocess_input"]

HASHES = ("e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4")
FIRST: list[Branch] = [[(96, 1)], [(48, 1), (64, 5)], [(64, 1), (96, 3), (96, 3)], [("average",), (64, 1)]]
TO_17: list[Branch] = [[(384, 3, HALVED)], [(256, 1), (256, 3), (384, 3, HALVED)], [("max",)]]
TO_8: list[Branch] = [
    [(256, 1), (384, 3, HALVED)],
    [(256, 1), (288, 3, HALVED)],
    [(256, 1), (288, 3), (320, 3, HALVED)],
    [("max",)],
]
BLOCK35: list[Branch] = [[(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]]
BLOCK17: list[Branch] = [[(192, 1)], [(128, 1), (160, (1, 7)), (192, (7, 1))]]
BLOCK8: list[Branch] = [[(192, 1)], [(192, 1), (224, (1, 3)), (256, (3, 1))]]


@within("inception_resnet_v2")
class CustomScaleLayer(Layer, abstract=True):
    """`a + scale * b` of two tensors.

    Options:
        scale (float): the factor.

    Example:
        >>> CustomScaleLayer(0.5)([torch.ones(1), torch.ones(1)])
        tensor([1.5000])

    Source: https://arxiv.org/abs/1602.07261
    """

    def __init__(self, scale: float, **options: Any) -> None:
        super().__init__(**options)
        self.scale = scale

    def call(self, inputs: Any) -> Any:
        return inputs[0] + inputs[1] * self.scale

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "scale": self.scale}


def _mixed(x: Any, branches: list[Branch], name: str) -> Any:
    return joined([branch(x, steps) for steps in branches], name)


def _residual(x: Any, branches: list[Branch], scale: float, name: str, is_activated: bool = True) -> Any:
    """`relu(x + scale * conv(branches(x)))`."""
    added = _mixed(x, branches, f"{name}_mixed")
    added = Conv2D(x.shape[channel_axis()], 1, padding="same", name=f"{name}_conv")(added)
    x = CustomScaleLayer(scale)([x, added])
    return Activation("relu", name=f"{name}_ac")(x) if is_activated else x


def build(options: Options) -> Model:
    """Inception-ResNet, version 2."""
    inputs = options.input(size=299, least=75)
    x = branch(branch(inputs, STEM), STEM_TO_35)
    x = _mixed(x, FIRST, "mixed_5b")
    for number in range(1, 11):
        x = _residual(x, BLOCK35, 0.17, f"block35_{number}")
    x = _mixed(x, TO_17, "mixed_6a")
    for number in range(1, 21):
        x = _residual(x, BLOCK17, 0.1, f"block17_{number}")
    x = _mixed(x, TO_8, "mixed_7a")
    for number in range(1, 10):
        x = _residual(x, BLOCK8, 0.2, f"block8_{number}")
    x = _residual(x, BLOCK8, 1.0, "block8_10", is_activated=False)
    x = Conv2D(1536, 1, padding="same", use_bias=False, name="conv_7b")(x)
    x = Activation("relu", name="conv_7b_ac")(normalized(x, "conv_7b_bn", scale=False))
    return options.model(inputs, options.ended(x), kernels_file("inception_resnet_v2", HASHES))


InceptionResNetV2 = usual(
    "InceptionResNetV2",
    "Inception with residual connections, version 2",
    "https://arxiv.org/abs/1602.07261",
    "inception_resnet_v2",
    build,
)
preprocess_input = preprocessing("tf")
