"""A small network of ours and the same in plain PyTorch, and its loop written by hand."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchkeras import Input, Model
from torchkeras.layers import Dense

RANDOM = np.random.default_rng(3)
X = torch.from_numpy(RANDOM.standard_normal((12, 3)).astype("float32"))
Y = torch.from_numpy(RANDOM.integers(0, 4, 12))
ROWS = list(zip(X.split(4), Y.split(4), strict=True))


def network(kind: type[Model], **options: Any) -> Model:
    inputs = Input((3,))
    return kind(inputs, Dense(4)(Dense(5, activation="tanh", **options)(inputs)))


def by_hand(model: Model) -> nn.Sequential:
    plain = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4))
    arrays = [torch.from_numpy(array.T.copy()) for array in model.get_weights()]
    with torch.no_grad():
        for parameter, array in zip(plain.parameters(), arrays, strict=True):
            parameter.copy_(array)
    return plain


def assert_same(model: Model, plain: nn.Module) -> None:
    for array, parameter in zip(model.get_weights(), plain.parameters(), strict=True):
        np.testing.assert_allclose(array.T, parameter.detach().numpy(), rtol=1e-5, atol=1e-6)


def train_plainly(plain: nn.Module, optimizer: torch.optim.Optimizer, epochs: int = 1) -> None:
    for _ in range(epochs):
        for x, y in ROWS:
            loss = F.cross_entropy(plain(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def plain_momentum(plain: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9)


class Batches:
    """An iterable of batches."""

    def __init__(self, items: list[Any]):
        self.items = items

    def __iter__(self) -> Any:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def refused(kind: type[Exception], text: str) -> Any:
    return pytest.raises(kind, match=f"^{re.escape(text)}$")
