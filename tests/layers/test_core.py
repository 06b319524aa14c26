"""Core layers compute what Keras 2.2.4 does, with every option."""

import re

import numpy as np
import pytest
import torch
from golden import cases, check, compiles, remade
from torch import nn

from torchkeras.engine.graph.input import Input
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers.activation import LeakyReLU
from torchkeras.layers.core import Activation, ActivityRegularization, Dense, Masking
from torchkeras.layers.functions import Lambda
from torchkeras.layers.shaping import Flatten, Permute, RepeatVector, Reshape
from torchkeras.models import Model
from torchkeras.regularizers import L1L2

CLASSES = (Dense, Activation, Flatten, Reshape, Permute, RepeatVector)
X = torch.arange(12.0).reshape(1, 3, 2, 2)


@pytest.mark.parametrize("case", cases(*CLASSES))
def test_values_are_those_of_keras(case):
    check(case, *CLASSES)


def test_activation_works_in_any_order_of_axes_only_when_pointwise():
    assert Activation("relu")._facts.layout is Layout.ANY
    assert Activation("softmax")._facts.layout is Layout.KERAS
    assert Activation(torch.relu)._facts.layout is Layout.KERAS
    assert remade(Activation("tanh"))(Input((3,))).shape == (None, 3)


@pytest.mark.parametrize("options", [{}, {"l1": 0.1}, {"l2": 0.01}, {"l1": 0.1, "l2": 0.01}])
def test_activity_regularization_adds_to_the_loss(options):
    x = np.array([[1.0, -2.0], [3.0, 4.0]], dtype="float32")
    inputs = Input((2,))
    model = Model(inputs, ActivityRegularization(**options)(inputs))
    model.compile("sgd", "mse")
    assert model.predict(x).tolist() == x.tolist()
    # Keras 2.2.4 gives 1.3 for both factors: the sum over the batch, divided by nothing.
    expected = options.get("l1", 0) * 10 + options.get("l2", 0) * 30
    assert model.evaluate(x, x, verbose=0) == pytest.approx(expected, abs=1e-6)


def test_activity_regularization_passes_everything_on():
    layer = ActivityRegularization(0.5, 0.25)
    assert layer._facts.layout is Layout.ANY
    assert layer(Masking()(Input((4, 3))))._keras_mask.shape == (None, 4)
    again = remade(layer)
    assert (again.l1, again.l2, again.activity_regularizer) == (0.5, 0.25, L1L2(0.5, 0.25))
    compiles(layer, torch.randn(2, 3))


def test_a_layer_or_module_without_weights_can_be_an_activation():
    x = torch.randn(2, 3)
    for activation in (LeakyReLU(0.5), nn.LeakyReLU(0.5)):
        torch.testing.assert_close(Activation(activation)(x), nn.functional.leaky_relu(x, 0.5))
        layer = Dense(4, activation=activation)
        torch.testing.assert_close(layer(x), nn.functional.leaky_relu(layer.linear(x), 0.5))
        compiles(layer, x)
    assert remade(Dense(4, activation=LeakyReLU(0.5))).activation.alpha == 0.5
    text = "Dense: activation must have no weights: call PReLU as the next layer; found PReLU(num_parameters=1)."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Dense(4, activation=nn.PReLU())


def test_flatten_moves_channels_to_the_end_first():
    # Values of Keras 2.2.4.
    assert Flatten("channels_first")(X).tolist() == [[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]]
    assert Flatten()(X).tolist() == [list(range(12))]
    assert Flatten()(Input((3, 2, 2))).shape == (None, 12)
    compiles(Flatten("channels_first"), X)


def test_reshape_works_out_one_size():
    assert Reshape((-1, 4))(X).shape == (1, 3, 4)
    assert Reshape((2, -1))(Input((3, 4))).shape == (None, 2, 6)
    assert Reshape((2, -1))(Input((None, 4))).shape == (None, 2, None)
    assert Reshape((2, 6))(Input((None, 4))).shape == (None, 2, 6)
    assert remade(Reshape([3, 4])).target_shape == (3, 4)
    compiles(Reshape((-1, 4)), X)


def test_permute_and_repeat():
    assert torch.equal(Permute((3, 1, 2))(X), X.permute(0, 3, 1, 2))
    assert Permute((2, 1))(Input((None, 4))).shape == (None, 4, None)
    assert RepeatVector(3)(Input((4,))).shape == (None, 3, 4)
    assert RepeatVector(2)(torch.tensor([[1.0, 2]])).tolist() == [[[1, 2], [1, 2]]]


def test_masking_zeroes_what_it_masks():
    x = torch.tensor([[[1.0, 5], [5, 5], [2, 0]]])
    layer = Masking(5)
    assert layer(x).tolist() == [[[1, 5], [0, 0], [2, 0]]]
    assert layer.compute_mask(x).tolist() == [[True, False, True]]
    assert Masking()(Input((4, 3)))._keras_mask.shape == (None, 4)
    compiles(layer, x)


def double(x, factor=2.0):
    return x * factor


def last(shape):
    return (shape[0], shape[-1])


def zero_outside(x, mask=None):
    return x if mask is None else x * mask.unsqueeze(-1)


def test_lambda_computes_in_the_order_of_keras():
    assert Lambda(double, arguments={"factor": 3.0})(torch.ones(1, 2)).tolist() == [[3, 3]]
    layer = Lambda(lambda x: x[:, -1])
    assert layer(Input((4, 3))).shape == (None, 3)
    assert Lambda(lambda x: x[:, -1]).compute_output_shape((None, 4, 3)) == (None, 3)
    assert Lambda(lambda x: x[:, -1], output_shape=last)(Input((4, 3))).shape == (None, 3)
    assert Lambda(lambda x: x[:, -1], output_shape=[3])(Input((4, 3))).shape == (None, 3)
    assert Lambda(lambda both: both[0] + both[1])([Input((3,)), Input((3,))]).shape == (None, 3)
    compiles(layer, torch.randn(2, 4, 3))


def test_lambda_is_given_the_mask_and_gives_one():
    x, mask = torch.ones(1, 2, 1), torch.tensor([[True, False]])
    assert Lambda(zero_outside)(x, mask=mask).tolist() == [[[1], [0]]]
    assert Lambda(double).compute_mask(x, mask) is None
    assert Lambda(double, mask=lambda x, mask: ~mask).compute_mask(x, mask).tolist() == [[False, True]]
    assert Lambda(double)(Masking()(Input((4, 3))))._keras_mask is None


def test_lambda_is_written_by_name_and_read_from_custom_objects():
    config = Lambda(double, output_shape=last, arguments={"factor": 3.0}, name="twice").get_config()
    assert (config["function"], config["output_shape"]) == ("double", "last")
    layer = Lambda.from_config(config, custom_objects={"double": double, "last": last})
    assert (layer.function, layer.told_shape, layer.arguments) == (double, last, {"factor": 3.0})
    unnamed = Lambda(lambda x: x, name="same").get_config()
    assert unnamed["function"] == "same"
    assert Lambda.from_config(unnamed, custom_objects={"same": double}).function is double
    array = {**config, "output_shape_type": "raw", "output_shape": None}
    array["arguments"] = {"factor": {"type": "ndarray", "value": [1.0, 2.0]}}
    found = Lambda.from_config(array, custom_objects={"double": double}).arguments["factor"]
    np.testing.assert_array_equal(found, [1.0, 2.0])


BYTECODE = {"name": "old", "function": ["4wEA...", None, None], "function_type": "lambda", "output_shape": None}


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ActivityRegularization("a"), "ActivityRegularization: l1 must be a number; found 'a'."),
        (
            lambda: Flatten(name="f")(Input((None, 3))),
            (
                "Flatten 'f': the input must be fully defined but for the batch axis; found (None, None, 3). "
                "Give the first layer a complete input_shape or batch_input_shape."
            ),
        ),
        (
            lambda: Flatten("last"),
            "Flatten: data_format must be one of 'channels_last', 'channels_first', None; found 'last'.",
        ),
        (
            lambda: Reshape((-1, -1)),
            "Reshape: target_shape must hold positive integers and at most one -1; found (-1, -1).",
        ),
        (
            lambda: Reshape((3, 5), name="r")(Input((4, 3))),
            "Reshape 'r': target_shape (3, 5) does not fit the input (None, 4, 3): a sample has 12 values.",
        ),
        (
            lambda: Reshape((-1, 5), name="r")(Input((4, 3))),
            "Reshape 'r': target_shape (-1, 5) does not fit the input (None, 4, 3): a sample has 12 values.",
        ),
        (lambda: Permute((0, 1)), "Permute: dims must hold each of 1, 2, ... once; found (0, 1)."),
        (
            lambda: Permute((2, 1), name="p")(Input((3,))),
            (
                "Input 0 is incompatible with layer p: expected ndim=3, found ndim=2 (input shape (None, 3)). Give it "
                "an input of 3 axes: samples, steps and features, as a recurrent layer gives with "
                "return_sequences=True."
            ),
        ),
        (lambda: RepeatVector(0), "RepeatVector: n must be an integer of at least 1; found 0."),
        (lambda: Masking("0"), "Masking: mask_value must be a number; found '0'."),
        (lambda: Lambda("double"), "Lambda: function must be callable; found 'double'."),
        (
            lambda: Lambda(double, arguments=[1]),
            "Lambda: arguments must be a dictionary, or None; found [1].",
        ),
        (
            lambda: Lambda(double, output_shape=3),
            "Lambda: output_shape must be a tuple, a list or a function, or None; found 3.",
        ),
        (
            lambda: Lambda(double, output_shape=lambda shape: 3, name="l")(Input((3,))),
            "Lambda 'l': the output_shape function must return a tuple or a list of tuples; found 3.",
        ),
        (
            lambda: Lambda.from_config(Lambda(double, name="l").get_config()),
            (
                "Lambda 'l': its function is stored by the name 'double'; "
                "pass the function itself: custom_objects={'double': function}."
            ),
        ),
        (
            lambda: Lambda.from_config(BYTECODE),
            (
                "Lambda 'old': its function is stored as Python bytecode, which is never run; it is no formula that "
                "can be read (its data are damaged, or of an unknown Python: an object of type '4'); "
                "pass the function itself: custom_objects={'old': function}."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
