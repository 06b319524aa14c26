"""einops, once it is imported, finds a backend for symbolic tensors; shown with a stand-in for its module."""

import sys
from types import SimpleNamespace

import pytest
import torch

from torchkeras.engine.adapters import einops_backend
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.layers import Input
from torchkeras.models import Model


class TorchBackend:
    """What einops has for torch, in so far as it is used here."""

    framework_name = "torch"

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, torch.Tensor)

    def shape(self, x):
        return x.shape

    def reshape(self, x, shape):
        return x.reshape(shape)


@pytest.fixture
def einops(monkeypatch):
    monkeypatch.setitem(sys.modules, "einops._backends", SimpleNamespace(TorchBackend=TorchBackend))
    monkeypatch.setattr(einops_backend, "_made", [])


def test_one_backend_for_symbolic_tensors(einops):
    x = Input((None, 4), name="x")
    Input((3,))
    (made,) = einops_backend._made
    backend = made()
    assert (made.framework_name, made.__mro__[1]) == ("torchkeras", TorchBackend)
    assert backend.is_appropriate_type(x)
    assert not backend.is_appropriate_type(torch.ones(2))
    batch, time, features = backend.shape(x)
    assert (type(batch), type(time), features) == (SymbolicSize, SymbolicSize, 4)
    model = Model(x, backend.reshape(x, [batch, time * 2, 2]))
    assert model(torch.rand(2, 3, 4)).shape == (2, 6, 2)


def test_none_without_einops(monkeypatch):
    monkeypatch.delitem(sys.modules, "einops._backends", raising=False)
    monkeypatch.setattr(einops_backend, "_made", [])
    Input((3,))
    assert einops_backend._made == []
