"""Masks inside code of one's own: layers there get the masks of their inputs, as in a graph."""

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import Input
from torchkeras.initializers import Constant
from torchkeras.layers import (
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    Layer,
    Masking,
    SimpleRNN,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential

TOKENS = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]])
OF_KERAS_2 = [0.932001, 0.9223493]  # what a subclassed model of genuine Keras 2.2.4 predicts


def parts():
    embedding = Embedding(10, 4, mask_zero=True, embeddings_initializer=Constant(0.3))
    options = {"recurrent_initializer": Constant(0.2), "bias_initializer": "ones"}
    return embedding, SimpleRNN(3, kernel_initializer=Constant(0.1), **options)


class OfParts(Model):
    def __init__(self):
        super().__init__()
        self.embedding, self.recurrent = parts()


class Subclassed(OfParts):
    def call(self, x):
        return self.recurrent(self.embedding(x))


class ByTorch(OfParts):
    """The same in torch's spelling."""

    def forward(self, x):
        return self.recurrent(self.embedding(x))


class Reader(Layer):
    """A layer of one's own around the recurrent one, which gets the mask of its input."""

    def __init__(self):
        super().__init__()
        self.recurrent = parts()[1]
        self.supports_masking = True

    def call(self, x):
        return self.recurrent(x)

    def compute_mask(self, inputs, mask=None):
        return None


def functional():
    inputs = Input((5,))
    embedding, recurrent = parts()
    return Model(inputs, recurrent(embedding(inputs)))


def with_reader():
    inputs = Input((5,))
    return Model(inputs, Reader()(parts()[0](inputs)))


@pytest.mark.parametrize("make", [Subclassed, ByTorch, functional, with_reader])
def test_masks_reach_layers_inside_own_code(make):
    model = make()
    np.testing.assert_allclose(model.predict(TOKENS, verbose=0)[:, 0], OF_KERAS_2, rtol=1e-6)
    found = model(torch.from_numpy(TOKENS)).detach()
    np.testing.assert_allclose(found[:, 0], OF_KERAS_2, rtol=1e-6)


def test_layers_called_one_after_another_pass_their_masks_on():
    embedding, recurrent = parts()
    found = recurrent(Dense(4, kernel_initializer="identity")(embedding(torch.from_numpy(TOKENS))))
    np.testing.assert_allclose(found.detach()[:, 0], OF_KERAS_2, rtol=1e-6)


def test_a_mask_that_is_given_comes_before_the_one_that_is_carried():
    embedding, recurrent = parts()
    x = embedding(torch.from_numpy(TOKENS))
    whole = recurrent(x, mask=torch.ones(2, 5, dtype=torch.bool)).detach()
    torch.testing.assert_close(whole, recurrent(x.clone()).detach())
    assert not torch.allclose(whole, recurrent(x).detach())


def test_a_model_called_by_hand_gives_its_outputs_with_their_masks():
    tagger = Sequential([parts()[0], TimeDistributed(Dense(2))])
    tagger.build((None, 5))
    found = tagger(torch.from_numpy(TOKENS))
    assert found._keras_mask.tolist() == (TOKENS != 0).tolist()
    recurrent = parts()[1]
    assert torch.allclose(recurrent(found), recurrent(found.clone(), mask=torch.from_numpy(TOKENS != 0)))


def test_a_layer_without_support_for_masks_refuses_one_in_own_code_too():
    x = Masking()(torch.zeros(2, 3, 4))
    with pytest.raises(TypeError, match=r"^Layer flatten_\d+ does not support masking, but was passed an input_mask\."):
        Flatten()(x)


def test_losses_of_own_code_leave_masked_steps_out():
    class Tagger(Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.dense = parts()[0], Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.dense(self.embedding(x))

    inputs = Input((5,))
    embedding, dense = parts()[0], Dense(1, kernel_initializer="ones")
    in_graph, y = Model(inputs, dense(embedding(inputs))), np.arange(10.0).reshape(2, 5, 1)
    found = []
    for model in (Tagger(), in_graph):
        model.compile("sgd", "mse", metrics=["mae"])
        found.append(model.fit(TOKENS, y, epochs=2, shuffle=False, verbose=0).history)
    for name, values in found[1].items():
        assert found[0][name] == pytest.approx(values)


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_masks_inside_own_code_compile_without_a_break():
    class Averaged(Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.dense, self.average = parts()[0], Dense(2), GlobalAveragePooling1D()

        def call(self, x):
            return self.average(self.dense(self.embedding(x)))

    model, x = Averaged(), torch.from_numpy(TOKENS)
    expected = model(x).detach()
    with torch.no_grad():
        model.embedding.embeddings[0] += 1.0  # the tokens that are masked
    torch.testing.assert_close(model(x).detach(), expected)
    found = torch.compile(model, backend="eager", fullgraph=True)(x).detach()
    torch.testing.assert_close(found, expected)


def test_torch_modules_in_own_code_see_plain_tensors():
    class Mixed(Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.linear = parts()[0], nn.Linear(4, 2)

        def forward(self, x):
            return self.linear(self.embedding(x))

    model = Mixed()
    assert not hasattr(model(torch.from_numpy(TOKENS)), "_keras_mask")
    assert torchkeras.layers.Dense(2)(torch.zeros(1, 2)).shape == (1, 2)
