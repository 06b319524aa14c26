"""A build makes torch's modules without the values that they would draw: the declared weights draw their own."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Conv2D,
    Conv2DTranspose,
    ConvLSTM2D,
    Dense,
    EinsumDense,
    Embedding,
    GroupNormalization,
    Input,
    LayerNormalization,
    RMSNormalization,
    SeparableConv2D,
)
from torchkeras.layers.embedding import Vectors
from torchkeras.layers.layer_normalization import RMSNorm


class DrawnOnMeta(TorchDispatchMode):
    """Lists the operations that draw values into a tensor on `meta`, for which torch has no kernel but Python code."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags and getattr(args[0], "is_meta", False):
            self.names.append(str(func))
        return func(*args, **kwargs or {})


IMAGES, SEQUENCES = (8, 8, 4), (8, 4)


@pytest.mark.parametrize(
    ("layer", "shape", "kinds"),
    [
        (Dense(3), IMAGES, [nn.Linear]),
        (EinsumDense("abc,cd->abd", (None, 3)), SEQUENCES, [nn.Linear]),
        (Conv2D(3, 2), IMAGES, [nn.Conv2d]),
        (Conv2DTranspose(3, 2), IMAGES, [nn.ConvTranspose2d]),
        (SeparableConv2D(3, 2), IMAGES, [nn.Conv2d, nn.Conv2d]),
        (ConvLSTM2D(3, 2), (5, *IMAGES), [nn.Conv2d, nn.Conv2d]),
        (BatchNormalization(), IMAGES, [nn.BatchNorm2d]),
        (GroupNormalization(2), IMAGES, [nn.GroupNorm]),
        (LayerNormalization(), IMAGES, [nn.LayerNorm]),
        (RMSNormalization(), IMAGES, [RMSNorm]),
        (LSTM(3, recurrent_activation="sigmoid"), SEQUENCES, [nn.LSTM]),
        (GRU(3, recurrent_activation="sigmoid", reset_after=True), SEQUENCES, [nn.GRU]),
        (Embedding(9, 3), (5,), [Vectors]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Layer) else "",
)
def test_nothing_is_drawn_on_meta(layer: Layer, shape: tuple[int, ...], kinds: list[type]):
    inputs = Input(shape)
    with DrawnOnMeta() as drawn:
        layer(inputs)
    assert drawn.names == []
    modules = [module for module in layer.children() if next(module.parameters(), None) is not None]
    assert [type(module) for module in modules] == kinds
    assert all(torch.isfinite(weight).all() for weight in layer.parameters())


def test_what_torch_draws_is_seen():
    with DrawnOnMeta() as drawn, torch.device("meta"):
        nn.Linear(2, 2)
    assert drawn.names == ["aten.uniform_.default"] * 2
