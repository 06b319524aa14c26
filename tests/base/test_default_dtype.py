"""`torch.set_default_dtype` sets the type of new models, as of any module of torch, unless `set_floatx` does."""

import numpy as np
import pytest
import torch

from torchkeras import config
from torchkeras.layers import GRU, LSTM, BatchNormalization, Conv2D, Dense, Embedding, Input, MultiHeadAttention
from torchkeras.models import Model, load_model


@pytest.fixture(autouse=True)
def default_of_float64():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


LAYERS = {
    "dense": (lambda: Dense(3), (4,)),
    "batch_normalization": (lambda: BatchNormalization(), (4,)),
    "lstm": (lambda: LSTM(3), (5, 4)),
    "gru": (lambda: GRU(3), (5, 4)),
    "conv": (lambda: Conv2D(2, 3), (5, 5, 1)),
    "embedding": (lambda: Embedding(3, 2), (4,)),
    "attention": (lambda: lambda x: MultiHeadAttention(2, 2)(x, x), (5, 4)),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_a_model_computes_and_trains_in_torchs_default_type(kind):
    make, shape = LAYERS[kind]
    inputs = Input(shape)
    model = Model(inputs, make()(inputs))
    x = np.ones((2, *shape))
    assert {each.dtype for each in [*model.parameters(), *model.buffers()] if each.is_floating_point()} == {
        torch.float64
    }
    assert (config.floatx(), model.predict(x).dtype) == ("float64", np.float64)
    model.compile("adam", "mse")
    model.fit(x, np.zeros(model.predict(x).shape), verbose=0)
    assert model(torch.ones(2, *shape)).dtype is torch.float64


def test_a_file_has_its_own_type(tmp_path):
    inputs = Input((4,))
    Model(inputs, Dense(3)(inputs)).save(tmp_path / "model.keras")
    torch.set_default_dtype(torch.float32)
    assert {each.dtype for each in load_model(tmp_path / "model.keras").parameters()} == {torch.float64}


def test_set_floatx_comes_before(monkeypatch):
    monkeypatch.setattr(config.SETTINGS, "floatx", None)
    config.set_floatx("float32")
    assert Input((4,)).dtype is torch.float32
    assert (config.floatx(), config.dtype_policy().compute_dtype) == ("float32", "float32")
