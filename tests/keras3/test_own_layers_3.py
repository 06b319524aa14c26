"""Layers of one's own, where genuine Keras 3 does another thing than it says, or none."""

import numpy as np
import pytest
import torch

from torchkeras import keras3 as keras

X = np.ones((2, 3), "float32")


class Counting(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
        self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")

    def call(self, inputs):
        self.count.assign_add(1.0)
        return inputs * self.scale


class Seeing(keras.layers.Layer):
    seen: tuple = ()

    def call(self, inputs, mask=None):
        type(self).seen = type(inputs), type(mask)
        return inputs[0] + inputs[1]


def test_a_variable_is_assigned_under_a_mixed_policy_too():
    # Genuine Keras on torch assigns to a cast copy, and the variable keeps its value.
    layer = Counting(dtype="mixed_bfloat16")
    assert layer(X).dtype is torch.bfloat16
    layer(X)
    assert float(layer.count) == 2.0
    assert layer.scale.dtype == "float32"
    assert layer.scale.numpy().dtype == np.float32


def test_gradients_flow_through_the_cast_to_the_variable():
    layer = Counting(dtype="mixed_bfloat16")
    layer(X).sum().backward()
    gradient = layer.scale.value.grad
    assert gradient is not None
    assert gradient.tolist() == [2.0, 2.0, 2.0]
    assert gradient.dtype is torch.float32


def test_a_model_of_own_layers_trains_under_a_mixed_policy():
    inputs = keras.Input((3,))
    model = keras.Model(inputs, Counting(dtype="mixed_bfloat16")(inputs))
    model.compile(keras.optimizers.SGD(0.5), "mse", jit_compile=False)
    model.fit(X, 0 * X, verbose=0)
    assert model.trainable_weights[0].numpy() == pytest.approx(np.full(3, 2 / 3), abs=1e-2)


def test_a_graph_gives_a_tuple_as_a_tuple_and_a_list_as_a_list():
    for kind in (tuple, list):
        inputs = kind((keras.Input((3,)), keras.Input((3,))))
        model = keras.Model(inputs, Seeing()(inputs))
        assert model.predict(kind((X, X)), verbose=0).tolist() == (2 * X).tolist()
        assert Seeing.seen == (kind, kind)


def test_cells_in_a_list_come_back_from_a_config():
    layer = keras.layers.RNN([keras.layers.LSTMCell(2), keras.layers.GRUCell(3)])
    made = keras.layers.RNN.from_config(layer.get_config())
    assert type(made.cell) is type(layer.cell) is keras.layers.StackedRNNCells
    assert made(np.ones((1, 2, 3), "float32")).shape == (1, 3)
