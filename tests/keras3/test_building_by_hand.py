"""`build` of a layer of one's own, called by hand: the first call of the layer keeps its weights."""

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras


class Scaled(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer="zeros", name="scale")

    def call(self, x):
        return x * self.scale


class Joined(keras.layers.Layer):
    """Two inputs, whose shapes `build` gets by name."""

    def build(self, first_shape, second_shape):
        self.kernel = self.add_weight(shape=(first_shape[-1], second_shape[-1]), initializer="zeros")

    def call(self, first, second):
        return keras.ops.matmul(first, self.kernel) + second


def test_values_that_are_set_after_build_stay():
    layer = Scaled()
    layer.build((None, 3))
    assert layer.built
    scale = layer.scale
    layer.set_weights([np.array([1.0, 2.0, 3.0])])
    assert layer(torch.ones(1, 3)).tolist() == [[1.0, 2.0, 3.0]]
    assert layer.scale is scale
    assert layer.get_build_config() == {"input_shape": (None, 3)}


@pytest.mark.parametrize("how", ["by place", "by name"])
def test_several_shapes(how):
    layer, shapes = Joined(), {"first_shape": (None, 2), "second_shape": (None, 3)}
    if how == "by name":
        layer.build(**shapes)
    else:
        layer.build(*shapes.values())
    layer.set_weights([np.ones((2, 3))])
    assert layer(torch.ones(1, 2), torch.zeros(1, 3)).tolist() == [[2.0, 2.0, 2.0]]


def test_an_error_in_build_leaves_the_layer_unbuilt():
    class Picky(Scaled):
        def build(self, input_shape):
            if input_shape[-1] != 4:
                raise ValueError("four features are needed")
            super().build(input_shape)

    layer = Picky(name="picky")
    with pytest.raises(ValueError, match=r"^Picky 'picky': four features are needed$"):
        layer.build((None, 3))
    assert not layer.built
    layer.build((None, 4))
    assert [tuple(weight.shape) for weight in layer.weights] == [(4,)]


class WithoutCode(keras.layers.Layer):
    pass


@pytest.mark.parametrize("inputs", [torch.zeros(2, 3), keras.Input((3,))], ids=["values", "symbols"])
def test_a_layer_without_call_is_refused(inputs):
    with pytest.raises(NotImplementedError, match=r"^WithoutCode 'own': its class has no `call`\.$"):
        WithoutCode(name="own")(inputs)
