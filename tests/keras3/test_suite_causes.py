"""What genuine Keras contradicts its own documentation in, where its tests name what is documented."""

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras


@pytest.mark.parametrize("name", ["LayerNormalization", "GroupNormalization"])
def test_normalization_of_integers_is_that_of_the_same_floats(name):
    # Genuine Keras on torch rounds in between.
    layer = getattr(keras.layers, name)(**({"groups": 1} if name == "GroupNormalization" else {}))
    whole = np.arange(12).reshape(2, 3, 2)
    torch.testing.assert_close(layer(whole), layer(whole.astype("float32")))


def test_roll_takes_one_shift_for_several_axes():
    # Genuine Keras takes it for symbolic tensors alone.
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(keras.ops.roll(x, 1, axis=[0, 1]), np.roll(x, 1, axis=[0, 1]))


def test_the_type_of_a_loss_or_metric_is_settled_when_it_is_made():
    class Zero(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return y_pred * 0

    with pytest.raises(AttributeError, match=r"^Zero: dtype is settled when the object is made\.$"):
        Zero().dtype = "float16"


def test_the_thresholds_of_auc_cannot_be_set_later():
    with pytest.raises(AttributeError, match=r"thresholds"):
        keras.metrics.AUC().thresholds = [0.5]


def test_a_mask_goes_on_where_the_input_is_cast():
    class Masked(keras.layers.Layer):
        supports_masking = True

        def call(self, x, mask=None):
            assert x.dtype is torch.float16
            return x if mask is None else x * mask.unsqueeze(-1)

    x = keras.layers.Masking()(np.array([[[0.0], [2.0]]], "float32"))
    assert Masked(dtype="float16")(x)._keras_mask.tolist() == [[False, True]]


def test_a_value_of_a_dict_may_be_none():
    class First(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)

        def call(self, xs):
            return self.dense(xs["a"])

    layer = First()
    layer({"a": keras.Input(batch_shape=(3, 4)), "b": None})
    assert len(layer.weights) == 2


def test_a_pipeline_needs_its_layers_in_the_config():
    with pytest.raises(ValueError, match=r"^Pipeline: layers must be a list in the config; found None\.$"):
        keras.layers.Pipeline.from_config({"name": "test"})


def test_softmax_refuses_an_axis_in_a_graph_that_there_is_not():
    with pytest.raises(ValueError, match=r"axis 10 is out of range for a tensor of 2 axes"):
        keras.ops.softmax(keras.Input((4,)), axis=10)


def test_a_metric_takes_a_tensor_for_its_first_values():
    metric = keras.metrics.Mean()
    state = metric.add_variable((2,), initializer=torch.tensor([1.0, 2.0]), name="more")
    assert state.tolist() == [1.0, 2.0]
