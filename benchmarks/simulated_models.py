"""The models of `simulated.py`, made of this package's layers: ResNet-50 and a transformer of Llama 2's form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from torchkeras.layers import (
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    GlobalAveragePooling2D,
    Input,
    Layer,
    MaxPooling2D,
    Multiply,
    RMSNormalization,
    ZeroPadding2D,
)
from torchkeras.models import Model


@dataclass(frozen=True)
class Simulated:
    """A model, the batch of one rank, and its loss: a crossentropy of integer targets."""

    make: Callable[[], Model]
    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    of_integers: bool

    def batch(self) -> tuple[Tensor, Tensor]:
        inputs = torch.zeros(self.inputs, dtype=torch.int64) if self.of_integers else torch.zeros(self.inputs)
        return inputs, torch.zeros(self.targets, dtype=torch.int64)

    def batch_on_meta(self) -> tuple[Tensor, Tensor]:
        with torch.device("meta"):
            return self.batch()

    @staticmethod
    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(outputs.flatten(0, -2), targets.flatten())


def resnet50(classes: int = 1000, size: int = 224) -> Model:
    """He and others, 2015, https://arxiv.org/abs/1512.03385; strides in the 3 by 3 convolutions, as torchvision."""

    def convolved(x: Any, filters: int, kernel: int, strides: int = 1, activation: str | None = "relu") -> Any:
        x = ZeroPadding2D(kernel // 2)(x) if kernel > 1 else x
        x = BatchNormalization()(Conv2D(filters, kernel, strides=strides, use_bias=False)(x))
        return Activation(activation)(x) if activation else x

    inputs = Input((size, size, 3))
    x = MaxPooling2D(3, 2)(ZeroPadding2D(1)(convolved(inputs, 64, 7, 2)))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        filters = 64 * 2**stage
        for block in range(blocks):
            strides = 2 if stage and not block else 1
            short = x if block else convolved(x, 4 * filters, 1, strides, None)
            x = convolved(convolved(x, filters, 1), filters, 3, strides)
            x = Activation("relu")(Add()([convolved(x, 4 * filters, 1, 1, None), short]))
    return Model(inputs, Dense(classes)(GlobalAveragePooling2D()(x)))


class RotaryAttention(Layer):
    """Causal attention of queries, keys and values, each (batch, time, features), turned by their places.

    Source: https://arxiv.org/abs/2104.09864
    """

    def __init__(self, heads: int, **options: Any):
        super().__init__(**options)
        self.heads = heads

    def call(self, inputs: list[Tensor]) -> Tensor:
        query, key, value = (each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in inputs)
        found = F.scaled_dot_product_attention(_turned(query), _turned(key), value, is_causal=True)
        return found.transpose(1, 2).flatten(2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape[0]


def _turned(heads: Tensor) -> Tensor:
    time, features = heads.shape[-2:]
    rates = 10_000.0 ** -(torch.arange(0, features, 2, device=heads.device) / features)
    angles = torch.outer(torch.arange(time, device=heads.device), rates)
    cos, sin = angles.cos(), angles.sin()
    even, odd = heads[..., ::2], heads[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def llama(time: int, words: int, features: int, hidden: int, heads: int, blocks: int) -> Model:
    """Touvron and others, 2023, https://arxiv.org/abs/2307.09288. Each block is a model of its own."""
    dense = partial(Dense, use_bias=False)

    def block(number: int) -> Model:
        inputs = Input((time, features))
        x = RMSNormalization()(inputs)
        x = RotaryAttention(heads)([dense(features)(x) for _ in range(3)])
        middle = Add()([inputs, dense(features)(x)])
        x = RMSNormalization()(middle)
        x = Multiply()([dense(hidden, activation="silu")(x), dense(hidden)(x)])
        return Model(inputs, Add()([middle, dense(features)(x)]), name=f"block_{number}")

    inputs = Input((time,), dtype="int64")
    x = Embedding(words, features)(inputs)
    for number in range(blocks):
        x = block(number)(x)
    return Model(inputs, dense(words)(RMSNormalization()(x)))


MODELS = {
    "resnet50": Simulated(resnet50, (32, 224, 224, 3), (32,), of_integers=False),
    "llama7b": Simulated(partial(llama, 2048, 32_000, 4096, 11_008, 32, 32), (1, 2048), (1, 2048), of_integers=True),
}
