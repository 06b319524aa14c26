"""einops: its functions and modules on tensors of a graph and inside layers."""

import numpy as np
import pytest
import torch
from einops import einsum, pack, rearrange, reduce, repeat
from einops.layers.torch import EinMix, Rearrange, Reduce
from shared import BATCH, IMAGES, SERIES, TARGETS, fit, train_by_hand
from torch import nn

from torchkeras import Input, Model
from torchkeras.layers import Dense, Lambda, Layer, TorchModule
from torchkeras.models import clone_model, model_from_json

pytestmark = pytest.mark.slow


class Patches(Layer):
    """Images cut into patches of `size`, each a row."""

    def __init__(self, size: int, **options):
        super().__init__(**options)
        self.size, self.dense = size, Dense(9, activation="tanh")

    def call(self, x):
        patches = rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=self.size, q=self.size)
        return reduce(self.dense(patches), "b n c -> b c", "mean")


class PlainPatches(nn.Module):
    def __init__(self, first: nn.Linear, second: nn.Linear):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x):
        patches = rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=4, q=4)
        return self.second(torch.tanh(self.first(patches)).mean(1))


def test_inside_a_layer_it_trains_as_a_loop_by_hand():
    inputs = Input((8, 8, 3))
    model = Model(inputs, Dense(4, name="head")(Patches(4)(inputs)))
    plain = PlainPatches(nn.Linear(48, 9), nn.Linear(9, 4))
    for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
        parameter.data.copy_(own.data)
    fit(model, IMAGES, TARGETS)
    train_by_hand(plain, plain.parameters(), IMAGES, TARGETS)
    for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(own, parameter, rtol=1e-5, atol=1e-6)


FUNCTIONS = {
    "rearrange": lambda x: rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=2),
    "rearrange of the batch": lambda x: rearrange(x, "b h w c -> b c h w"),
    "reduce": lambda x: reduce(x, "b (h 2) (w 2) c -> b h w c", "max"),
    "reduce to channels": lambda x: reduce(x, "b h w c -> b c", "mean"),
    "repeat": lambda x: repeat(x, "b h w c -> b h w (c k)", k=2),
    "einsum": lambda x: einsum(x, x, "b h w c, b h w d -> b c d"),
    "pack": lambda x: pack([x, x], "b h w *")[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_symbolic_tensors(name):
    function = FUNCTIONS[name]
    inputs = Input((8, 8, 3))
    outputs = function(inputs)
    model = Model(inputs, outputs)
    expected = function(torch.from_numpy(IMAGES))
    assert outputs.shape == (None, *expected.shape[1:])
    np.testing.assert_allclose(model.predict(IMAGES, batch_size=BATCH), expected, rtol=1e-6)
    assert "def forward" in model.code


@pytest.mark.parametrize("name", FUNCTIONS)
def test_in_a_lambda(name):
    function = FUNCTIONS[name]
    inputs = Input((8, 8, 3))
    model = Model(inputs, Lambda(function)(inputs))
    np.testing.assert_allclose(model.predict(IMAGES), function(torch.from_numpy(IMAGES)), rtol=1e-6)


MODULES = {
    "Rearrange": lambda: Rearrange("b t c -> b (t c)"),
    "Reduce": lambda: Reduce("b t c -> b c", "max"),
    "EinMix": lambda: EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=6, d=7),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    module = MODULES[name]()
    inputs = Input((5, 6))
    model = Model(inputs, TorchModule(module)(inputs))
    with torch.no_grad():
        expected = module(torch.from_numpy(SERIES))
    np.testing.assert_allclose(model.predict(SERIES), expected, rtol=1e-6)
    assert len(model.trainable_weights) == len(list(module.parameters()))


PICTURES, STEPS = torch.rand(2, 4, 6, 3), torch.rand(2, 6, 8)
PATTERNS = [
    (PICTURES, lambda x: rearrange(x, "b h w c -> b (h w) c")),
    (PICTURES, lambda x: rearrange(x, "b h w c -> b c h w")),
    (PICTURES, lambda x: rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3)),
    (PICTURES, lambda x: reduce(x, "b h w c -> b c", "mean")),
    (PICTURES, lambda x: reduce(x, "b (h 2) (w 2) c -> b h w c", "max")),
    (STEPS, lambda x: rearrange(x, "b t (h d) -> b h t d", h=2)),
    (STEPS, lambda x: rearrange(x, "b (t p) d -> (b t) p d", p=2)),
    (STEPS, lambda x: repeat(x, "b t d -> b t k d", k=3)),
    (STEPS, lambda x: einsum(x, x, "b i d, b j d -> b i j")),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(("tensor", "compute"), PATTERNS)
def test_as_on_tensors(tensor, compute, known):
    inner = tensor.shape[1:-1] if known else (None,) * (tensor.dim() - 2)
    x = Input((*inner, tensor.shape[-1]))
    model, expected = Model(x, compute(x)), compute(tensor)
    for each in (model, model_from_json(model.to_json()), clone_model(model)):
        torch.testing.assert_close(each(tensor), expected)
