"""TimeDistributed computes as in genuine Keras 2.2.4, whose files and values stand in golden/keras-2.2.4-tensorflow."""

import copy
import pickle
import re

import numpy as np
import pytest
import torch
from golden import FOLDER, layer_weights

from torchkeras import registry
from torchkeras.engine.graph.input import Input
from torchkeras.layers.conv import Conv1D
from torchkeras.layers.core import Dense, Masking
from torchkeras.layers.embedding import Embedding
from torchkeras.layers.noise import Dropout
from torchkeras.layers.normalization import BatchNormalization
from torchkeras.layers.pooling import MaxPooling2D
from torchkeras.layers.recurrent import LSTM
from torchkeras.layers.shaping import Flatten
from torchkeras.layers.wrappers import TimeDistributed
from torchkeras.models import Model

CASES = {
    "wrappers_00": lambda: TimeDistributed(Dense(3)),
    "wrappers_02": lambda: TimeDistributed(Dense(3, activation="relu", kernel_regularizer="l1")),
    "wrappers_04": lambda: TimeDistributed(BatchNormalization()),
    "wrappers_06": lambda: TimeDistributed(MaxPooling2D()),
}


@pytest.mark.parametrize("case", CASES)
def test_files_of_keras(case):
    data, layer = np.load(FOLDER / case / "io.npz"), CASES[case]()
    x = torch.from_numpy(data["x0"])
    output = layer(Input(tuple(x.shape[1:])))
    assert output.shape[1:] == data["y0"].shape[1:]
    layer.set_weights(layer_weights(case, "time_distributed_1"))
    np.testing.assert_allclose(layer.eval()(x).detach().numpy(), data["y0"], atol=1e-4)


@pytest.mark.parametrize(
    ("inner", "shape"),
    [
        (lambda: Dense(3), (2, 4, 5)),
        (lambda: BatchNormalization(), (2, 4, 5)),
        (lambda: Conv1D(3, 2), (2, 4, 5, 3)),
        (lambda: MaxPooling2D(), (2, 4, 6, 6, 2)),
        (lambda: Flatten(), (2, 4, 3, 2)),
        (lambda: LSTM(3), (2, 4, 5, 3)),
        (lambda: LSTM(3, return_sequences=True, recurrent_activation="sigmoid"), (2, 4, 5, 3)),
        (lambda: TimeDistributed(Dense(3)), (2, 4, 5, 3)),
        (lambda: Model(x := Input((5,)), Dense(3)(Dense(4)(x))), (2, 4, 5)),
    ],
)
def test_every_step_goes_through_the_layer(inner, shape):
    layer = TimeDistributed(inner()).eval()
    x = torch.randn(shape, requires_grad=True)
    output = layer(x)
    steps = torch.stack([layer.layer(x[:, step]) for step in range(shape[1])], 1)
    torch.testing.assert_close(output, steps)
    assert layer(Input(shape[1:])).shape == (None, *output.shape[1:])
    assert layer.compute_output_shape((None, None, *shape[2:])) == (None, None, *output.shape[2:])
    output.sum().backward()
    assert all(t.grad is not None for v in layer.trainable_weights for t in v.tensors)


def test_the_weights_are_those_of_the_layer():
    layer = TimeDistributed(Dense(3, name="inner"))
    layer(torch.zeros(2, 4, 5))
    assert [v.full_name for v in layer.weights] == ["inner/kernel:0", "inner/bias:0"]
    assert set(layer.state_dict()) == {"layer.linear.weight", "layer.linear.bias"}
    layer.trainable = False
    assert not layer.layer.trainable
    assert not layer.layer.linear.weight.requires_grad
    layer.layer.trainable = True
    layer.trainable = True
    assert layer.layer.linear.weight.requires_grad
    assert len(layer.trainable_weights) == 2
    frozen = TimeDistributed(Dense(3, trainable=False))
    assert not frozen.trainable
    assert not TimeDistributed(Dense(3), trainable=False).layer.trainable


def test_training_reaches_the_layer():
    layer = TimeDistributed(Dropout(0.5)).eval()
    x = torch.ones(2, 4, 50)
    assert torch.equal(layer(x), x)
    assert not layer(x, training=True).all()
    assert layer(x, training=True).shape == x.shape


def test_config_copy_and_pickle():
    layer = TimeDistributed(Dense(3, activation="relu"), name="t", input_shape=(4, 5), trainable=False)
    x = torch.randn(2, 4, 5)
    expected = layer(x)
    config = layer.get_config()
    assert config["layer"]["class_name"] == "Dense"
    again = TimeDistributed.from_config(config)
    assert again.get_config() == config
    assert not again.layer.trainable
    assert isinstance(config["layer"], dict)
    again = registry.layers.from_config({"class_name": "TimeDistributed", "config": config})
    again(x)
    again.set_weights(layer.get_weights())
    for same in (again, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301  (our own)
        torch.testing.assert_close(same(x), expected)


def test_a_custom_inner_layer_is_found():
    class Twice(Dense):
        pass

    config = TimeDistributed(Twice(3)).get_config()
    assert isinstance(TimeDistributed.from_config(config, {"Twice": Twice}).layer, Twice)


def test_the_penalty_on_the_output_is_the_layers():
    layer = Dense(3, activity_regularizer="l2")
    assert TimeDistributed(layer).activity_regularizer is layer.activity_regularizer
    assert TimeDistributed(Dense(3)).activity_regularizer is None


@pytest.mark.parametrize(
    ("inner", "mask_shape"),
    [
        (lambda: Dense(3), (None, 4)),  # gives no mask... of its own: the input's goes on
        (lambda: LSTM(3), (None, 4)),
        (lambda: LSTM(3, return_sequences=True), (None, 4, 5)),
    ],
)
def test_masks_in_a_graph(inner, mask_shape):
    layer = TimeDistributed(inner())
    assert layer(Masking()(Input((4, 5, 3))))._keras_mask.shape == (
        (None, 4, 5) if type(layer.layer) is Dense else mask_shape
    )


def test_masks_reach_a_layer_that_takes_them():
    layer = TimeDistributed(LSTM(3, return_sequences=True)).eval()
    x = torch.randn(2, 4, 5, 3)
    mask = torch.rand(2, 4, 5) > 0.4
    output = layer(x, mask=mask)
    for step in range(4):
        torch.testing.assert_close(output[:, step], layer.layer(x[:, step], mask=mask[:, step]))
    assert torch.equal(layer.compute_mask(x, mask), mask)
    assert torch.equal(TimeDistributed(LSTM(3)).compute_mask(x, mask), mask.any(-1))
    assert TimeDistributed(Dense(3)).compute_mask(x) is None


def test_a_layer_that_makes_a_mask():
    words = torch.tensor([[[1, 0], [2, 2]]])
    layer = TimeDistributed(Embedding(3, 2, mask_zero=True))
    assert layer(Input((2, 2), dtype="int64")).shape == (None, 2, 2, 2)
    assert layer.compute_mask(words).tolist() == [[[True, False], [True, True]]]


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_compiles_whole():
    layer = TimeDistributed(Dense(3))
    x = torch.randn(2, 4, 5)
    expected = layer(x)
    torch.testing.assert_close(torch.compile(layer, backend="eager", fullgraph=True)(x), expected)


SEQUENCE = (
    "Give it an input of 3 axes: samples, steps and features, as a recurrent layer gives with return_sequences=True."
)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: TimeDistributed(Dense(3), name="t")(Input((5,))),
            (
                "Input 0 is incompatible with layer t: expected min_ndim=3, found ndim=2 (input shape (None, 5)). "
                f"{SEQUENCE}"
            ),
        ),
        (
            lambda: TimeDistributed(LSTM(3, name="l"), name="t")(Input((4, 5))),
            (
                "TimeDistributed 't': Input 0 is incompatible with layer l: expected ndim=3, found ndim=2 "
                f"(input shape (None, 5)). {SEQUENCE}"
            ),
        ),
        (lambda: TimeDistributed(3), "TimeDistributed: layer must be a layer or the config of one; found 3."),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


def test_a_mask_needs_a_layer_that_supports_masking():
    with pytest.raises(TypeError, match=r"^Layer c does not support masking, but was passed an input_mask\."):
        TimeDistributed(Conv1D(4, 2, name="c"))(Masking()(Input((4, 3, 2))))
