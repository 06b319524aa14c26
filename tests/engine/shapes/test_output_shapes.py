"""The shapes of outputs, found by running a layer: sizes that are unknown stay so, and layers inside follow."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Dense, Input, ReLU
from torchkeras.models import Model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


class Twice(Layer):
    """The least of all: no options, no weights, the shape found by running."""

    def call(self, inputs):
        return torch.cat([inputs, inputs], -1)


class Inner(Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = Dense(units)

    def call(self, inputs):
        return torch.relu(self.dense(inputs))


def test_a_shape_that_is_not_told_is_found():
    assert Twice()(Input((None, 4))).shape == (None, None, 8)
    assert Twice().compute_output_shape((None, 4)) == (None, 8)


def test_an_unknown_axis_stays_unknown_inside():
    model = Model(x := Input((None, 6)), Inner(3)(x))
    assert model.output_shape == (None, None, 3)
    for length in (3, 2520):
        assert model(torch.randn(2, length, 6)).shape == (2, length, 3)


def test_a_weight_cannot_depend_on_an_unknown_axis():
    with pytest.raises(ValueError, match="must be known"):
        Inner(3, name="inner")(Input((4, None)))


def test_a_build_that_asks_for_several_shapes():
    class Bilinear(Layer):
        def build(self, query_shape, value_shape):
            self.kernel = self.add_weight("kernel", (query_shape[-1], value_shape[-1]))

        def call(self, query, value):
            return torch.einsum("bi,ij,bj->b", query, self.kernel, value)

    a, b = Input((3,)), Input((5,))
    layer = Bilinear()
    assert layer(a, b).shape == (None,)
    assert layer.kernel.shape == (3, 5)


def test_a_users_forward_may_change_the_shape_that_the_base_keeps():
    class Both(ReLU):
        def forward(self, inputs):
            return torch.cat([super().forward(inputs), super().forward(-inputs)], -1)

    inputs = Input((3,))
    outputs = Both()(inputs)
    assert outputs.shape == (None, 6)
    model, x = Model(inputs, Dense(2)(outputs)), np.array([[1, -2, 3]], "float32")
    np.testing.assert_allclose(model.predict(x), model(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-6)
