"""`keras.applications.convnext`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchkeras.keras3 import ops, random
from torchkeras.keras3.applications.imagenet_utils import decode_predictions, unchanged as preprocess_input
from torchkeras.keras3.applications.network import CLASSES, FILES, IMAGENET, File, Options, page, within
from torchkeras.keras3.initializers import Constant
from torchkeras.keras3.layers import (  # pyright: ignore[reportAttributeAccessIssue]
    Activation,
    Conv2D,
    Dense,
    GlobalAveragePooling2D,
    Layer,
    LayerNormalization,
    Normalization,
)
from torchkeras.keras3.models import Model, Sequential
from torchkeras.utils.imagenet import DEVIATION, MEAN

__all__ = [
    "ConvNeXtBase",
    "ConvNeXtLarge",
    "ConvNeXtSmall",
    "ConvNeXtTiny",
    "ConvNeXtXLarge",
    "decode_predictions",
    "preprocess_input",
]

EPSILON = 1e-6
SCALE = 1e-6  # of each channel, at first


@dataclass(frozen=True)
class Variant:
    """The size of a network: the blocks and the channels of its four stages, and the hashes of its files."""

    blocks: tuple[int, int, int, int]
    channels: tuple[int, int, int, int]
    hashes: tuple[str, str]


VARIANTS = {
    "Tiny": Variant(
        (3, 3, 9, 3),
        (96, 192, 384, 768),
        (
            "8ae6e78ce2933352b1ef4008e6dd2f17bc40771563877d156bc6426c7cf503ff",
            "d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1",
        ),
    ),
    "Small": Variant(
        (3, 3, 27, 3),
        (96, 192, 384, 768),
        (
            "ce1277d8f1ee5a0ef0e171469089c18f5233860ceaf9b168049cb9263fd7483c",
            "6fc8009faa2f00c1c1dfce59feea9b0745eb260a7dd11bee65c8e20843da6eab",
        ),
    ),
    "Base": Variant(
        (3, 3, 27, 3),
        (128, 256, 512, 1024),
        (
            "52cbb006d3dadd03f6e095a8ca1aca47aecdd75acb4bc74bce1f5c695d0086e6",
            "40a20c5548a5e9202f69735ecc06c990e6b7c9d2de39f0361e27baeb24cb7c45",
        ),
    ),
    "Large": Variant(
        (3, 3, 27, 3),
        (192, 384, 768, 1536),
        (
            "070c5ed9ed289581e477741d3b34beffa920db8cf590899d6d2c67fba2a198a6",
            "96f02b6f0753d4f543261bc9d09bed650f24dd6bc02ddde3066135b63d23a1cd",
        ),
    ),
    "XLarge": Variant(
        (3, 3, 27, 3),
        (256, 512, 1024, 2048),
        (
            "c1f5ccab661354fc3a79a10fa99af82f0fbf10ec65cb894a3ae0815f17a889ee",
            "de3f8a54174130e0cecdc71583354753d557fcf1f4487331558e2a16ba0cfe05",
        ),
    ),
}


@within("convnext")
class StochasticDepth(Layer, abstract=True):
    """`x / (1 - rate)` for some samples and 0 for the others in training; `x` else.

    Options:
        drop_path_rate (float): the part of samples that become 0.

    Example:
        >>> StochasticDepth(0.5)(torch.ones(2))
        tensor([1., 1.])

    Source: https://arxiv.org/abs/1603.09382
    """

    def __init__(self, drop_path_rate: float, **options: Any) -> None:
        super().__init__(**options)
        self.drop_path_rate = drop_path_rate

    def call(self, x: Any, training: bool | None = None) -> Any:
        if not training:
            return x
        rest = 1 - self.drop_path_rate
        shape = (ops.shape(x)[0], *(1,) * (len(x.shape) - 1))
        return x / rest * ops.floor(rest + random.uniform(shape))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "drop_path_rate": self.drop_path_rate}


@within("convnext")
class LayerScale(Layer, abstract=True):
    """`gamma * x`, with a weight for each channel.

    Options:
        init_values (float): the weights at first.
        projection_dim (positive integer): how many channels there are.

    Example:
        >>> LayerScale(0.5, 2)(torch.ones(1, 2)).tolist()
        [[0.5, 0.5]]

    Source: https://arxiv.org/abs/2103.17239
    """

    def __init__(self, init_values: float, projection_dim: int, **options: Any) -> None:
        super().__init__(**options)
        self.init_values = init_values
        self.projection_dim = projection_dim

    def build(self, _: Any) -> None:
        self.gamma = self.add_weight(shape=(self.projection_dim,), initializer=Constant(self.init_values))

    def call(self, x: Any) -> Any:
        return x * self.gamma

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "init_values": self.init_values, "projection_dim": self.projection_dim}


def _normalized(name: str | None) -> LayerNormalization:
    return LayerNormalization(epsilon=EPSILON, name=name)


def _halving(number: int, channels: int, name: str) -> Sequential:
    """The layers before a stage: they quarter the rows and columns before the first, halve them before the others."""
    if number == 0:
        layers = [Conv2D(channels, 4, strides=4, name=f"{name}_stem_conv"), _normalized(f"{name}_stem_layernorm")]
        return Sequential(layers, name=f"{name}_stem")
    name, which = f"{name}_downsampling", number - 1
    layers = [
        _normalized(f"{name}_layernorm_{which}"),
        Conv2D(channels, 2, strides=2, name=f"{name}_conv_{which}"),
    ]
    return Sequential(layers, name=f"{name}_block_{which}")


def _block(x: Any, channels: int, name: str) -> Any:
    """`x + gamma * dense(gelu(dense(norm(depthwise(x)))))`."""
    added = Conv2D(channels, 7, padding="same", groups=channels, name=f"{name}_depthwise_conv")(x)
    added = _normalized(f"{name}_layernorm")(added)
    added = Dense(4 * channels, name=f"{name}_pointwise_conv_1")(added)
    added = Activation("gelu", name=f"{name}_gelu")(added)
    added = Dense(channels, name=f"{name}_pointwise_conv_2")(added)
    added = LayerScale(SCALE, channels, name=f"{name}_layer_scale")(added)
    return x + Activation("linear", name=f"{name}_identity")(added)


def _scaled(x: Any, name: str) -> Any:
    """Images as the network wants them, from 0 to 255."""
    means = [255 * mean for mean in MEAN]
    variances = [(255 * deviation) ** 2 for deviation in DEVIATION]
    return Normalization(mean=means, variance=variances, name=f"{name}_prestem_normalization")(x)


def _ended(options: Options, x: Any, name: str) -> Any:
    if not options.include_top:
        return _normalized(None)(options.pooled(x))
    x = _normalized(f"{name}_head_layernorm")(GlobalAveragePooling2D(name=f"{name}_head_gap")(x))
    return Dense(options.classes, activation=options.classifier_activation, name=f"{name}_head_dense")(x)


def _network(variant: str) -> Callable[..., Model]:
    """The public function of a ConvNeXt."""
    function, sizes, usual_name = f"ConvNeXt{variant}", VARIANTS[variant], f"convnext_{variant.lower()}"
    file = File(f"{FILES}/convnext", f"{usual_name}.h5", f"{usual_name}_notop.h5", sizes.hashes)

    def network(
        include_top: bool = True,
        include_preprocessing: bool = True,
        weights: Any = IMAGENET,
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = CLASSES,
        classifier_activation: Any = "softmax",
        name: str = usual_name,
    ) -> Model:
        given = include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name
        options = Options(function, *given)
        options.check_channels_last()
        inputs = x = options.input(size=224, least=32)
        if include_preprocessing and x.shape[-1] == 3:
            x = _scaled(x, name)
        before = [_halving(number, channels, name) for number, channels in enumerate(sizes.channels)]
        for stage, (blocks, channels) in enumerate(zip(sizes.blocks, sizes.channels, strict=True)):
            x = before[stage](x)
            for number in range(blocks):
                x = _block(x, channels, f"{name}_stage_{stage}_block_{number}")
        return options.model(inputs, _ended(options, x, name), file)

    network.__name__ = network.__qualname__ = function
    return page(network, f"The {variant} ConvNeXt", "https://arxiv.org/abs/2201.03545", usual_name, MORE)


MORE = """
        include_preprocessing (bool, default True): whether the first layer scales the images, from 0 to 255."""
ConvNeXtTiny, ConvNeXtSmall = _network("Tiny"), _network("Small")
ConvNeXtBase, ConvNeXtLarge, ConvNeXtXLarge = map(_network, ("Base", "Large", "XLarge"))
