"""Masks that real tensors carry outside of a graph: what layers that take no mask do, and what a call refuses."""

from typing import Any

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras
from torchkeras.keras3 import layers


def _masked():
    return layers.Embedding(5, 3, mask_zero=True)(np.array([[1, 2, 0], [3, 0, 0]]))


def test_a_layer_that_supports_no_masking_warns_that_it_drops_the_mask():
    with pytest.warns(UserWarning, match="Conv1D 'conv' does not support masking: its outputs carry no mask"):
        outputs = layers.Conv1D(2, 1, name="conv")(_masked())
    assert not hasattr(outputs, "_keras_mask")


def test_a_mask_reaches_the_argument_of_a_layer_of_ones_own():
    class Counts(keras.Layer):
        def call(self, inputs, mask: Any = None):
            return mask.sum(-1)

    with pytest.warns(UserWarning, match="does not support masking"):
        assert Counts()(_masked()).tolist() == [2, 1]


def test_masks_of_several_inputs_reach_arguments_by_their_names():
    class Joined(keras.Layer):
        supports_masking = True

        def call(self, first, second, first_mask: Any = None, second_mask: Any = None):
            assert second_mask is None
            return first_mask.sum(-1)

    assert Joined()(_masked(), torch.ones(2, 3, 3)).tolist() == [2, 1]


@pytest.mark.torch("2.13", "its compiler follows layers of your own for Keras 3")
def test_a_compiled_layer_carries_masks():
    class Inside(keras.Layer):
        def __init__(self):
            super().__init__()
            self.embed, self.drop = layers.Embedding(5, 3, mask_zero=True), layers.Dropout(0.5)

        def call(self, inputs):
            return self.drop(self.embed(inputs))._keras_mask

    layer, inputs = Inside(), torch.tensor([[1, 2, 0], [3, 0, 0]])
    expected = layer(inputs)
    assert torch.equal(torch.compile(layer, backend="eager", fullgraph=True)(inputs), expected)


def test_softmax_refuses_a_mask_that_does_not_broadcast():
    with pytest.raises(
        ValueError, match=r"Softmax 's': the mask must broadcast to the input \(2, 3\); found \(2, 2\)."
    ):
        layers.Softmax(name="s")(np.ones((2, 3)), mask=np.ones((2, 2)))


def test_build_refuses_a_name_that_is_none_of_its_shapes():
    with pytest.raises(
        TypeError,
        match=r"MultiHeadAttention 'm': build takes query_shape, value_shape, key_shape; found 'shape'.",
    ):
        layers.MultiHeadAttention(2, 3, name="m").build(shape=(2, 3, 4))


def test_build_needs_a_shape():
    with pytest.raises(ValueError, match=r"Dense 'd': build needs the shape of the input."):
        layers.Dense(2, name="d").build()


def test_a_layer_with_a_build_of_its_own_is_not_built_at_first():
    class Scaled(layers.Dropout):  # type: ignore[misc]
        def build(self, input_shape):
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones")

    layer = Scaled(0.5)
    assert not layer.built
    assert layer(np.ones((2, 3))).shape == (2, 3)
    assert len(layer.weights) == 1


def test_a_layer_without_weights_checks_the_shape_of_its_first_input():
    layer = layers.MaxPooling2D(4, name="pool")
    assert layer.built
    with pytest.raises(ValueError, match="pool_size"):
        layer(np.ones((1, 2, 2, 1)))
    assert layers.MaxPooling2D(2).compute_output_shape((None, 4, 4, 3)) == (None, 2, 2, 3)


@pytest.mark.parametrize("inputs", [{"batch_size": 2, "batch_shape": (2, 3)}])
def test_an_input_takes_batch_size_or_batch_shape(inputs):
    with pytest.raises(ValueError, match=r"Input 'i': give batch_size or batch_shape, not both."):
        layers.InputLayer(**inputs, name="i")
