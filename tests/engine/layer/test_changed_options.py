"""An option that is set after its layer was built counts from then on, or an error says why it cannot."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from jitted import Graphs
from torch import nn
from torch.nn import functional as F

from torchkeras import layers, optimizers
from torchkeras.callbacks import LambdaCallback
from torchkeras.layers import Activation, BatchNormalization, Conv2D, Dense, Input, MaxPooling2D
from torchkeras.models import Model

IMAGES, ROWS = torch.randn(4, 8, 8, 4), torch.randn(6, 5, 4)
X, KINDS = torch.randn(16, 3), torch.randint(0, 4, (16,))

# A layer, the option, its new value.
COUNTS = [
    (lambda: Conv2D(4, 3), "strides", 2),
    (lambda: Conv2D(4, 3), "padding", "same"),
    (lambda: Conv2D(4, 4, strides=2), "padding", "same"),
    (lambda: Conv2D(4, 3), "dilation_rate", (2, 2)),
    (lambda: Conv2D(4, 3), "activation", "softmax"),
    (lambda: layers.DepthwiseConv2D(3), "strides", (2, 2)),
    (lambda: layers.SeparableConv2D(4, 3), "padding", "same"),
    (lambda: layers.Conv2DTranspose(4, 3), "strides", 2),
    (lambda: layers.Conv2DTranspose(4, 3, strides=2), "output_padding", 1),
    (lambda: MaxPooling2D(2), "pool_size", 4),
    (lambda: MaxPooling2D(3), "padding", "same"),
    (lambda: layers.AveragePooling2D(2), "strides", 1),
    (lambda: BatchNormalization(), "epsilon", 0.5),
    (lambda: layers.LayerNormalization(), "epsilon", 0.5),
    (lambda: layers.RMSNormalization(), "epsilon", 0.5),
    (lambda: layers.GroupNormalization(2), "groups", 4),
    (lambda: layers.Normalization(mean=1.0, variance=2.0), "mean", np.float32(5)),
    (lambda: Activation("relu"), "activation", "softmax"),
]
RECURRENT = [
    (lambda: layers.SimpleRNN(3), "activation", "relu"),
    (lambda: layers.SimpleRNN(3), "activation", "softplus"),
    (lambda: layers.LSTM(3, recurrent_activation="sigmoid"), "activation", "relu"),
    (lambda: layers.LSTM(3), "recurrent_activation", "sigmoid"),
    (lambda: layers.GRU(3, reset_after=True, recurrent_activation="sigmoid"), "recurrent_activation", "tanh"),
]


def made_with(layer, shape):
    """A new layer of the same options and weights."""
    made = type(layer).from_config({**layer.get_config(), "name": "made"})
    made.build((None, *shape[1:]))
    made.set_weights(layer.get_weights())
    return made.eval()


@pytest.mark.filterwarnings("ignore:.*its output has another shape")
@pytest.mark.parametrize(("make", "option", "value"), COUNTS + RECURRENT)
def test_it_computes_as_a_layer_that_was_made_with_it(make, option, value):
    data = ROWS if (make, option, value) in RECURRENT else IMAGES
    x, layer = Input(data.shape[1:]), make()
    model = Model(x, layer(x)).eval()
    before = model(data)
    model.predict(data.numpy(), verbose=0)
    setattr(layer, option, value)
    expected = made_with(layer, data.shape)(data)
    assert expected.shape != before.shape or not torch.equal(expected, before)
    torch.testing.assert_close(layer(data), expected)
    torch.testing.assert_close(model(data), expected)
    np.testing.assert_allclose(model.predict(data.numpy(), verbose=0), expected.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("make", "option", "value"), RECURRENT)
def test_back_again_it_computes_as_before(make, option, value):
    layer = make().eval()
    before, old = layer(ROWS), getattr(layer, option)
    for each in (value, old, value, old):
        setattr(layer, option, each)
    torch.testing.assert_close(layer(ROWS), before)


def test_modules_their_hooks_and_weights_stay():
    x, layer = Input((8, 8, 4)), Conv2D(4, 3, name="conv")
    model, seen = Model(x, layer(x)), []
    conv, kernel = layer.conv, layer.conv.weight
    conv.register_forward_hook(lambda *_: seen.append(1))
    text = (
        "Conv2D 'conv': with strides (2, 2) its output has another shape than its graph says: make the model again, "
        "such as by clone_model."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$") as caught:
        layer.strides = 2
    assert caught[0].filename == __file__
    assert (layer.conv, conv.weight) == (conv, kernel)
    assert model(IMAGES).shape == (4, 3, 3, 4)
    assert seen == [1]
    layer.strides = 1
    assert model(IMAGES).shape == (4, 6, 6, 4)


def test_what_torch_was_told_by_hand_stays():
    layer = Conv2D(4, 3)
    layer(IMAGES)
    layer.conv.padding_mode = "circular"
    layer.conv.padding = (1, 1)
    layer.strides = 2
    assert (layer.conv.padding_mode, layer.conv.padding, layer.conv.stride) == ("circular", (1, 1), (2, 2))


def test_a_momentum_counts_from_the_next_batch_on():
    layer = BatchNormalization()
    layer(X, training=True)
    before = layer.moving_mean.clone()
    layer.momentum = 0.5
    layer(X, training=True)
    torch.testing.assert_close(layer.moving_mean, 0.5 * before + 0.5 * X.mean(0))


def test_dropout_of_attention_and_a_seed():
    x = Input((5, 4))
    layer = layers.MultiHeadAttention(2, 2, dropout=0.9)
    model = Model(x, layer(x, x))
    layer.dropout = 0.0
    torch.testing.assert_close(model(ROWS, training=True), model(ROWS))
    drop = layers.Dropout(0.5, seed=1)
    drop(ROWS, training=True)
    drop.seed = 2
    assert torch.equal(drop(ROWS, training=True), layers.Dropout(0.5, seed=2)(ROWS, training=True))


REFUSED = "{} cannot change from {} to {} any more, since {}: make a layer with that option."
OTHERS, AS_THEY_WERE = "its weights are made, and would differ", "graphs have its outputs and masks as they were"


@pytest.mark.parametrize(
    ("layer", "option", "value", "text"),
    [
        (Dense(2, name="d"), "units", 3, "Dense 'd': " + REFUSED.format("units", 2, 3, OTHERS)),
        (Dense(2, name="d"), "use_bias", False, "Dense 'd': " + REFUSED.format("use_bias", True, False, OTHERS)),
        (Dense(2, name="d"), "units", 0, "Dense: units must be an integer of at least 1; found 0."),
        (
            layers.LSTM(2, name="l"),
            *("return_state", True),
            "LSTM 'l': " + REFUSED.format("return_state", False, True, AS_THEY_WERE),
        ),
        (
            layers.MaxPooling1D(2, name="p"),
            *("pool_size", 9),
            "MaxPooling1D 'p': pool_size (9,) does not fit the input (None, 5, 4): axis 1 is 5 long.",
        ),
        (layers.GRU(2, name="g"), "units", 3, "GRU 'g': " + REFUSED.format("units", 2, 3, OTHERS)),
    ],
)
def test_what_cannot_follow_is_refused_and_stays_as_it_was(layer, option, value, text):
    x = Input((5, 4))
    model = Model(x, layer(x))
    before, old = model(ROWS), getattr(layer, option)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        setattr(layer, option, value)
    assert getattr(layer, option) == old
    torch.testing.assert_close(model(ROWS), before)


def test_a_mask_that_a_graph_does_not_know_is_refused():
    x, layer = Input((5,), dtype="int32"), layers.Embedding(9, 4, name="e")
    Model(x, layers.LSTM(3)(layer(x)))
    text = f"Embedding 'e': {REFUSED.format('mask_zero', False, True, AS_THEY_WERE)}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        layer.mask_zero = True


def test_before_the_first_call_it_is_read_as_the_constructor_would():
    layer = Dense(3)
    layer.activation, layer.units = "relu", 4
    assert (layer(X) >= 0).all()
    assert layer(X).shape == (16, 4)
    with pytest.raises(ValueError, match=r"^Dense: units must be an integer of at least 1; found 0\.$"):
        layer.units = 0


def test_a_module_as_activation_is_read_too():
    layer = Activation(nn.Hardtanh())
    layer(X)
    layer.activation = "relu"
    assert not list(layer.children())
    assert torch.equal(layer(X), X.relu())
    layer.activation = nn.Hardtanh()
    assert torch.equal(layer(X), F.hardtanh(X))


def test_the_generated_code_is_written_anew():
    x = Input((8, 8, 4))
    conv, activation = Conv2D(4, 3, name="conv"), Activation("relu", name="last")
    inner = Model(x, activation(conv(x)), name="inner")
    y = Input((8, 8, 4))
    model = Model(y, MaxPooling2D()(inner(y)))
    model(IMAGES)
    conv.activation, activation.activation = "tanh", "softmax"  # what relu may not overwrite; along the channels
    values = torch.softmax(torch.tanh(conv.conv(IMAGES.permute(0, 3, 1, 2))), 1)
    expected = F.max_pool2d(values, 2).permute(0, 2, 3, 1)
    for each in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        torch.testing.assert_close(each(IMAGES), expected)
        np.testing.assert_allclose(each.predict(IMAGES.numpy(), verbose=0), expected.detach(), rtol=1e-5, atol=1e-6)
    activation.activation = "relu"
    model(IMAGES).sum().backward()


def classifier(activation="softmax"):
    torch.manual_seed(0)
    x = Input((3,))
    hidden = Activation("relu", name="between")(Dense(5, name="hidden")(x))
    return Model(x, Dense(4, activation=activation, name="last")(hidden))


def fitted(model, **options):
    model.fit(X, KINDS, batch_size=16, shuffle=False, verbose=0, **options)
    return [parameter.detach().clone() for parameter in model.parameters()]


CHANGES = [
    ("last", "activation", "sigmoid"),
    ("between", "activation", "tanh"),
    ("hidden", "kernel_regularizer", "l2"),
    ("hidden", "kernel_constraint", "non_neg"),
    ("hidden", "activity_regularizer", "l2"),
]


@pytest.mark.torch("2.8", "compiled steps")
@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(("layer", "option", "value"), CHANGES)
def test_training_that_was_compiled_before_follows(layer, option, value, graph):
    setting = Graphs().setting if graph else False

    def change(epoch, logs=None):
        if epoch == 1:
            setattr(model.get_layer(layer), option, value)

    model = classifier()
    model.compile(optimizers.SGD(0.5), "sparse_categorical_crossentropy", jit_compile=setting)
    found = fitted(model, epochs=2, callbacks=[LambdaCallback(on_epoch_begin=change)])
    expected = classifier()
    expected.compile(optimizers.SGD(0.5), "sparse_categorical_crossentropy", jit_compile=False)
    fitted(expected)
    again = Model.from_config(model.get_config())
    again.set_weights(expected.get_weights())
    again.compile(optimizers.SGD(0.5), "sparse_categorical_crossentropy", jit_compile=False)
    torch.testing.assert_close(found, fitted(again))
    kinds = KINDS.numpy()
    assert model.evaluate(X, kinds, verbose=0) == pytest.approx(again.evaluate(X, kinds, verbose=0), abs=1e-5)


def test_a_penalty_that_is_taken_away_counts_no_more():
    model = classifier()
    model.get_layer("hidden").activity_regularizer = "l2"
    model.compile("sgd", "sparse_categorical_crossentropy")
    model.get_layer("hidden").activity_regularizer = None
    loss = F.nll_loss(model(X).log(), KINDS).item()
    assert model.evaluate(X, KINDS, verbose=0) == pytest.approx(loss, abs=1e-5)


def test_an_option_of_ones_own_class_is_read_and_what_its_build_adds_is_made_once():
    class Scaled(Dense):
        factor: float = 2.0

        def build(self, input_shape):
            built.append(input_shape)
            super().build(input_shape)
            self.gain = self.add_weight("gain", (self.units,), initializer="ones")

        def call(self, inputs):
            return super().call(inputs) * self.gain * self.factor

    built: list[Any] = []
    layer = Scaled(units=3)
    layer(X)
    layer.factor, layer.activation = 3, "relu"
    assert torch.equal(layer(X), layer.linear(X).relu() * 3)
    assert (len(layer.weights), len(built)) == (3, 1)
    with pytest.raises(ValueError, match=r"^Scaled: factor must be a number; found 'a'\.$"):
        layer.factor = "a"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="units cannot change from 3 to 7 any more, since its weights are made"):
        layer.units = 7
