"""Models of every kind that sharding treats in a way of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchkeras import Input, Model, Sequential, layers
from torchkeras.layers import Layer


def convolutional() -> Model:
    """Kernels in the memory format of images, statistics of batches, two branches that are joined."""
    inputs = Input((8, 8, 3))
    x = layers.Conv2D(6, 3, padding="same", activation="relu")(inputs)
    x = layers.Add()([layers.Conv2D(6, 3, padding="same")(x), layers.Conv2D(6, 1)(x)])
    x = layers.Conv2D(5, 3, use_bias=False)(x)
    return Model(inputs, layers.Dense(3, activation="softmax")(layers.GlobalAveragePooling2D()(x)))


def masked() -> Model:
    """Masks, recurrent layers of torch's own module and of pieces, a layer around layers."""
    inputs = Input((6,), dtype="int64")
    x = layers.Embedding(11, 4, mask_zero=True)(inputs)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.GRU(5, reset_after=True)(x)
    return Model(inputs, layers.Dense(3, activation="softmax")(x))


def nested() -> Model:
    """A model that is called twice, with a softmax of its own at the end, and a layer that is called twice."""
    part = Sequential([layers.Dense(5, activation="tanh", input_shape=(4,)), layers.Dense(4, use_bias=False)])
    shared = layers.Dense(4, activation="tanh")
    head = Sequential([layers.Dense(3, activation="softmax", input_shape=(4,))])
    left, right = Input((4,)), Input((4,))
    x = layers.Add()([part(shared(left)), part(right)])
    return Model([left, right], [head(shared(x)), layers.Dense(2, activation="softmax")(x)])


class Tied(Layer):
    """Multiplies by the transposed weights of an embedding."""

    def __init__(self, embedding: layers.Embedding, **options: Any):
        super().__init__(**options)
        self.embedding = embedding

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs @ self.embedding.embeddings.t()


def tied() -> Model:
    """Two layers that have a weight in common."""
    inputs = Input((6,), dtype="int64")
    embedding = layers.Embedding(11, 4)
    x = layers.Dense(4, activation="tanh")(embedding(inputs))
    return Model(inputs, layers.Activation("softmax")(Tied(embedding)(x)))


class Block(Model):
    def __init__(self) -> None:
        super().__init__()
        self.normalized = layers.LayerNormalization()
        self.inner, self.outer = layers.Dense(8, activation="gelu"), layers.Dense(4)

    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self.outer(self.inner(self.normalized(inputs)))


class Coded(Model):
    """A class that computes by code of its own, with torch's modules and parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [Block(), Block()]
        self.scale = nn.Parameter(torch.ones(4, dtype=torch.float64))
        self.plain = nn.Linear(4, 3, dtype=torch.float64)

    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            inputs = block(inputs) * self.scale
        return torch.softmax(self.plain(inputs), -1)


def coded() -> Model:
    inputs = Input((4,))
    return Model(inputs, Coded()(inputs))


def attending() -> Model:
    """A block of a transformer; a weight without an axis."""
    inputs = Input((5, 6))
    x = layers.LayerNormalization()(inputs)
    x = layers.Add()([inputs, layers.MultiHeadAttention(2, 3)(x, x)])
    x = layers.Attention(use_scale=True)([x, x])
    return Model(inputs, layers.Dense(3, activation="softmax")(layers.GlobalAveragePooling1D()(x)))


def partly_frozen() -> Model:
    """Layers that do not train, among others."""
    inputs = Input((5,))
    x = layers.Dense(6, activation="relu")(inputs)
    x = layers.Dense(6, trainable=False)(x)
    return Model(inputs, layers.Dense(3, activation="softmax")(x))


MODELS = {each.__name__: each for each in (convolutional, masked, nested, tied, coded, attending, partly_frozen)}
