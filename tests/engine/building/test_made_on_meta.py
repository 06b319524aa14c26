"""Modules that are made on `meta`: without values, and without the work of drawing them."""

from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras.engine.building.meta_run import MadeOnMeta
from torchkeras.layers import Conv2D, Dense


class Counted(TorchDispatchMode):
    """The operations that ran."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names[str(func.overloadpacket)] += 1
        return func(*args, **(kwargs or {}))


MAKES = {
    "conv": lambda: nn.Conv2d(3, 4, 3),
    "linear": lambda: nn.Linear(3, 4),
    "embedding": lambda: nn.Embedding(3, 4),
    "batch norm": lambda: nn.BatchNorm2d(4),
    "layer norm": lambda: nn.LayerNorm(4),
    "lstm": lambda: nn.LSTM(3, 4),
}


@pytest.mark.parametrize("name", MAKES)
def test_nothing_is_drawn_on_meta(name: str):
    with MadeOnMeta(), Counted() as counted:
        module = MAKES[name]()
    assert all(tensor.is_meta for tensor in module.parameters())
    drawing = {"aten.uniform_", "aten.normal_", "aten.fill_", "aten.zero_"}
    assert not drawing & set(counted.names)


def test_what_has_values_is_drawn():
    tensor = torch.zeros(3)
    with MadeOnMeta():
        nn.init.constant_(tensor, 2.0)
        tensor[1:].fill_(3.0)
    assert tensor.tolist() == [2.0, 3.0, 3.0]


def test_layers_draw_by_their_own_initializers():
    torch.manual_seed(0)
    layer = Conv2D(4, 3, kernel_initializer="ones", bias_initializer="zeros")
    layer.build((None, 5, 5, 3))
    assert [float(weight.numpy().mean()) for weight in layer.weights] == [1.0, 0.0]
    dense = Dense(4)
    dense.build((None, 3))
    assert float(dense.weights[0].numpy().std()) > 0
