"""The article "A Guide to Keras Functional API", snippet by snippet: what it runs, prints and fails on."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.callbacks import TensorBoard
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node
from torchkeras.layers import LSTM, Activation, BatchNormalization, Conv2D, Dense, Input
from torchkeras.models import Model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def test_keras_tensor():
    x = Input(batch_shape=(10000, 100))
    assert repr(x) == "<KerasTensor 'input_1' shape=(10000, 100) dtype=float32>"
    assert type(x) is KerasTensor
    assert x._keras_shape == (10000, 100)
    assert x.dtype == torch.float32
    layer, node_index, tensor_index = x._keras_history
    assert isinstance(layer, InputLayer)
    assert (node_index, tensor_index) == (0, 0)


def test_layer():
    dense_layer = Dense(units=10, activation="relu")
    assert type(dense_layer) is Dense
    assert dense_layer.weights == []

    dense_layer(Input(shape=(100,)))
    assert [repr(weight) for weight in dense_layer.weights] == [
        "<Variable 'dense_1/kernel:0' shape=(100, 10) dtype=float32>",
        "<Variable 'dense_1/bias:0' shape=(10,) dtype=float32>",
    ]


def test_activation_layer_has_no_weights():
    activation_layer = Activation("relu")
    assert activation_layer.weights == []
    output = activation_layer(Input(shape=(100,)))
    assert repr(output) == "<KerasTensor 'activation_1' shape=(?, 100) dtype=float32>"
    assert activation_layer.weights == []


def test_input_is_a_function_and_input_layer_a_layer():
    assert not isinstance(Input, type)
    assert issubclass(InputLayer, Layer)


def article_layers():
    return (
        Dense(units=20, activation="relu", name="dense_layer_1"),
        Dense(units=20, activation="relu", name="dense_layer_2"),
        Dense(units=1, activation="sigmoid", name="sigmoid_layer"),
        Input(shape=(10,), name="input"),
    )


def test_unconnected_layers():
    dense_layer_1, *_ = article_layers()
    assert dense_layer_1._inbound_nodes == []
    assert dense_layer_1._outbound_nodes == []
    assert not hasattr(dense_layer_1, "input_shape")
    assert not hasattr(dense_layer_1, "output_shape")
    with pytest.raises(AttributeError) as error:
        _ = dense_layer_1.input_shape
    assert str(error.value) == "The layer has never been called and thus has no defined input shape."


def test_connected_layers():
    dense_layer_1, dense_layer_2, sigmoid_layer, input_tensor = article_layers()
    output_tensor = sigmoid_layer(dense_layer_2(dense_layer_1(input_tensor)))
    assert output_tensor.shape == (None, 1)
    assert [type(node) for node in dense_layer_1._inbound_nodes] == [Node]
    assert [type(node) for node in dense_layer_1._outbound_nodes] == [Node]
    assert dense_layer_1._outbound_nodes[0].layer is dense_layer_2
    assert hasattr(dense_layer_1, "input_shape")
    assert hasattr(dense_layer_1, "output_shape")
    assert dense_layer_1.input_shape == (None, 10)
    assert dense_layer_1.output_shape == (None, 20)


def test_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # TensorBoard() writes to ./logs
    dense_layer_1, dense_layer_2, sigmoid_layer, input_tensor = article_layers()
    output_tensor = sigmoid_layer(dense_layer_2(dense_layer_1(input_tensor)))
    model = Model(inputs=[input_tensor], outputs=[output_tensor])
    assert model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"]) is None

    input_numpy = np.random.rand(1000, 10)
    output_numpy = np.random.choice(2, 1000)
    assert input_numpy.shape == (1000, 10)
    assert input_tensor.shape == (None, 10)
    assert output_numpy.shape == (1000,)
    assert output_tensor.shape == (None, 1)
    history = model.fit(
        x=[input_numpy], y=[output_numpy], epochs=5, batch_size=64, callbacks=[TensorBoard()], verbose=0
    )
    assert list(history.history) == ["loss", "acc"]
    assert len(history.history["loss"]) == 5
    assert list((tmp_path / "logs").iterdir())


def check_batch_size(input_numpy, output_numpy, lines):
    n_features = 10
    input_tensor = Input((n_features,))
    output_tensor = Dense(units=1)(Dense(units=20)(input_tensor))
    model = Model(inputs=[input_tensor], outputs=[output_tensor])
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    model.summary(print_fn=lines.append)
    model.fit(x=[input_numpy], y=[output_numpy], epochs=5, verbose=0)
    return model


def test_batch_dimension():
    lines: list[str] = []
    model = check_batch_size(np.random.rand(1, 10), np.random.choice(2, 1), lines)
    assert model.history.epoch == [0, 1, 2, 3, 4]
    assert lines == [
        "_________________________________________________________________",
        "Layer (type)                 Output Shape              Param #   ",
        "=================================================================",
        "input_1 (InputLayer)         (None, 10)                0         ",
        "_________________________________________________________________",
        "dense_2 (Dense)              (None, 20)                220       ",
        "_________________________________________________________________",
        "dense_1 (Dense)              (None, 1)                 21        ",
        "=================================================================",
        "Total params: 241",
        "Trainable params: 241",
        "Non-trainable params: 0",
        "_________________________________________________________________",
    ]


def test_missing_batch_dimension_is_refused():
    with pytest.raises(ValueError, match="input_1") as error:
        check_batch_size(np.random.rand(10), np.random.choice(2, 1), [])
    assert str(error.value) == (
        "Error when checking input: expected input_1 to have shape (10,) but got array with shape (1,). "
        "It has no axis of samples: give x[None] for one sample, or leave that axis out of the Input's shape."
    )


def test_batch_size_may_be_left_open():
    assert repr(Input(shape=(10,))) == "<KerasTensor 'input_1' shape=(?, 10) dtype=float32>"
    assert repr(Input(batch_shape=(100, 10))) == "<KerasTensor 'input_2' shape=(100, 10) dtype=float32>"
    assert Input(shape=(10,)).shape == (None, 10)


def test_convolutional_layer():
    input_tensor = Input((64, 64, 3))
    conv_layer = Conv2D(filters=17, kernel_size=(3, 3))
    conv_layer(input_tensor)
    assert conv_layer.input_shape == (None, 64, 64, 3)
    assert conv_layer.output_shape == (None, 62, 62, 17)


def test_recurrent_layer_on_one_hot_sequences():
    input_sequence_length, vocab_size = 4, 5
    input_tensor = Input(shape=(input_sequence_length, vocab_size))
    lstm_layer = LSTM(units=10, return_sequences=False, return_state=False)
    dense_layer = Dense(vocab_size, activation="softmax")
    output_tensor = dense_layer(lstm_layer(input_tensor))
    assert lstm_layer.output_shape == (None, 10)
    assert output_tensor.shape == (None, 5)


def test_recurrent_layer_on_scalar_sequences():
    input_tensor = Input(shape=(5, 1))
    lstm_layer = LSTM(units=10, return_sequences=False, return_state=False)
    assert Dense(1, activation="softmax")(lstm_layer(input_tensor)).shape == (None, 1)


def test_recurrent_layer_refuses_a_matrix():
    input_tensor = Input(shape=(5,))
    lstm_layer = LSTM(units=10, return_sequences=False, return_state=False)
    with pytest.raises(ValueError, match="incompatible") as error:
        lstm_layer(input_tensor)
    assert str(error.value) == (
        "Input 0 is incompatible with layer lstm_1: expected ndim=3, found ndim=2 (input shape (None, 5)). Give it an "
        "input of 3 axes: samples, steps and features, as a recurrent layer gives with return_sequences=True."
    )


@pytest.mark.parametrize(("axis", "features"), [(1, 2), (0, 3)])
def test_batch_normalization_of_a_matrix(axis, features):
    layer = BatchNormalization(axis=axis)
    output_tensor = layer(Input(batch_shape=(3, 2)))
    assert repr(output_tensor) == "<KerasTensor 'batch_normalization_1' shape=(3, 2) dtype=float32>"
    assert [weight.shape for weight in layer.weights] == [(features,)] * 4
    assert_normalizes(layer, axis, torch.randn(3, 2))


@pytest.mark.parametrize(("axis", "features"), [(1, 2), (2, 4), (3, 5)])
def test_batch_normalization_of_more_axes(axis, features):
    layer = BatchNormalization(axis=axis)
    input_tensor = Input(batch_shape=(3, 2, 4, 5))
    assert repr(input_tensor) == "<KerasTensor 'input_1' shape=(3, 2, 4, 5) dtype=float32>"
    assert layer(input_tensor).shape == (3, 2, 4, 5)
    assert [weight.shape for weight in layer.weights] == [(features,)] * 4
    assert_normalizes(layer, axis, torch.randn(3, 2, 4, 5))


def assert_normalizes(layer, axis, x):
    """The axis is the one kept: over all others the output has mean 0, and the variance that epsilon leaves."""
    others = [other for other in range(x.dim()) if other != axis]
    y = layer.train()(x)
    variance = x.var(others, unbiased=False)
    torch.testing.assert_close(y.mean(others), torch.zeros(x.shape[axis]), atol=1e-5, rtol=0)
    torch.testing.assert_close(y.var(others, unbiased=False), variance / (variance + 1e-3), atol=1e-4, rtol=1e-3)
