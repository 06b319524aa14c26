"""What a user can get wrong, family by family: the error names layer, option, rule and what was found."""

import re

import pytest
import torch

from torchkeras import layers
from torchkeras.layers import Input
from torchkeras.models import Model

SEQUENCE = (
    "Give it an input of 3 axes: samples, steps and features, as a recurrent layer gives with return_sequences=True."
)
CASES = [
    # a kernel or window that is longer than the input
    (
        "Conv2D(4, 3, name='stem')",
        [(2, 8, 3)],
        "Conv2D 'stem': kernel_size (3, 3) does not fit the input (None, 2, 8, 3): axis 1 is 2 long.",
    ),
    (
        "Conv1D(4, 5, name='c', data_format='channels_first')",
        [(3, 4)],
        "Conv1D 'c': kernel_size (5,) does not fit the input (None, 3, 4): axis 2 is 4 long.",
    ),
    (
        "DepthwiseConv2D(4, name='d')",
        [(5, 3, 2)],
        "DepthwiseConv2D 'd': kernel_size (4, 4) does not fit the input (None, 5, 3, 2): axis 2 is 3 long.",
    ),
    (
        "LocallyConnected1D(4, 5, name='l')",
        [(4, 3)],
        "LocallyConnected1D 'l': kernel_size (5,) does not fit the input (None, 4, 3): axis 1 is 4 long.",
    ),
    (
        "ConvLSTM2D(4, 3, name='cl')",
        [(5, 4, 2, 3)],
        "ConvLSTM2D 'cl': kernel_size (3, 3) does not fit the input (None, 5, 4, 2, 3): an axis is 2 long.",
    ),
    (
        "MaxPooling2D(3, name='p')",
        [(2, 8, 3)],
        "MaxPooling2D 'p': pool_size (3, 3) does not fit the input (None, 2, 8, 3): axis 1 is 2 long.",
    ),
    # channels
    (
        "Conv2D(4, 3, groups=2, name='g')",
        [(8, 8, 3)],
        "Conv2D 'g': groups must divide the 3 channels of the input (None, 8, 8, 3); found 2.",
    ),
    (
        "Conv2D(4, 3, name='u')",
        [(8, 8, None)],
        "Conv2D 'u': axis -1 of the input must be known; the input shape is (None, 8, 8, None).",
    ),
    # merging
    (
        "Add(name='a')",
        [(3, 4), (3, 5)],
        "Add 'a': operands could not be broadcast together with shapes (3, 4) and (3, 5). Bring them to one shape.",
    ),
    (
        "Concatenate(axis=1, name='cat')",
        [(3, 4), (3, 5)],
        (
            "Concatenate 'cat': the inputs must have matching shapes except for axis 1; "
            "found the shapes [(None, 3, 4), (None, 3, 5)]."
        ),
    ),
    ("Add(name='one')", [(3, 4)], "Add 'one': must be called on a list of at least 2 inputs; found 1."),
    (
        "Dot(1, name='dot')",
        [(3, 4), (5, 4)],
        "Dot 'dot': dimension incompatibility 3 != 5 along axes 1 of inputs [(None, 3, 4), (None, 5, 4)].",
    ),
    # recurrent layers
    (
        "LSTM(4, name='r')",
        [(3,)],
        f"Input 0 is incompatible with layer r: expected ndim=3, found ndim=2 (input shape (None, 3)). {SEQUENCE}",
    ),
    (
        "Bidirectional(GRU(4, name='gru'), name='b')",
        [(3,)],
        (
            "Bidirectional 'b': Input 0 is incompatible with layer forward_gru: expected ndim=3, found ndim=2 "
            f"(input shape (None, 3)). {SEQUENCE}"
        ),
    ),
    (
        "ConvLSTM2D(4, 3, name='cl2')",
        [(5, 4, 3)],
        (
            "Input 0 is incompatible with layer cl2: expected ndim=5, found ndim=4 (input shape (None, 5, 4, 3)). Give "
            "it an input of 5 axes."
        ),
    ),
    (
        "GRU(4, stateful=True, name='s')",
        [(5, 3)],
        (
            "GRU 's': If a RNN is stateful, it needs to know its batch size. Give batch_input_shape to the first layer "
            "of a Sequential, or batch_shape to Input; the input shape is (None, 5, 3)."
        ),
    ),
    # normalization and attention
    (
        "BatchNormalization(axis=4, name='bn')",
        [(8, 3)],
        "BatchNormalization 'bn': axis 4 is not an axis of the input (None, 8, 3).",
    ),
    (
        "Reshape((5, 2), name='re')",
        [(3, 4)],
        "Reshape 're': target_shape (5, 2) does not fit the input (None, 3, 4): a sample has 12 values.",
    ),
]


@pytest.mark.parametrize(("call", "shapes", "message"), CASES, ids=[call for call, _, _ in CASES])
def test_inputs_that_do_not_fit(call, shapes, message):
    layer, inputs = eval(call, vars(layers).copy()), [Input(shape) for shape in shapes]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        layer(inputs if len(inputs) > 1 else inputs[0])
    # Nothing is half made: the layer has no call and no weights.
    assert layer._inbound_nodes == []
    assert layer.weights == []


@pytest.mark.parametrize("call", ["Conv1D(3, 2)", "Flatten()", "MaxPooling1D()", "LocallyConnected1D(3, 2)"])
def test_a_mask_where_none_is_supported(call):
    layer = eval(call, vars(layers).copy())
    masked = layers.Masking()(Input((5, 4)))
    message = (
        f"Layer {layer.name} does not support masking, but was passed an input_mask. Take the mask away before it, or "
        "set supports_masking in a layer of your own."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        layer(masked)


def test_a_mask_at_a_cudnn_layer():
    layer = layers.CuDNNLSTM(3, name="fast")
    with pytest.raises(ValueError, match=r"^CuDNNLSTM 'fast': Masking is not supported for CuDNN RNNs\.$"):
        layer(layers.Masking()(Input((5, 4))))


def test_a_mask_that_is_not_the_inputs():
    inputs, other = Input((5, 4)), layers.Masking()(Input((5, 4)))
    with pytest.raises(ValueError, match="the mask of a symbolic call is that of its inputs; found another one"):
        layers.LSTM(3)(inputs, mask=other._keras_mask)


def test_a_batch_of_another_size_at_a_stateful_layer():
    inputs = Input(batch_shape=(2, 5, 4))
    model = Model(inputs, layers.LSTM(3, stateful=True, name="kept")(inputs))
    message = "LSTM 'kept' is stateful, with 2 samples a batch; found a batch of 3."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model(torch.zeros(3, 5, 4))


OPTIONS = [
    ("Conv2D(4, (3, 3, 3))", "Conv2D: kernel_size must be an integer or 2 integers; found (3, 3, 3)."),
    ("Conv2D(4, 3, padding='edge')", "Conv2D: padding must be one of 'valid', 'same', 'half', 'full'; found 'edge'."),
    ("Conv2D(4, 3, groups=3, name='g')", "Conv2D 'g': groups must divide filters 4; found 3."),
    ("Dropout(1.5)", "Dropout: rate must be a number from 0 to below 1; found 1.5."),
    ("LSTM(0)", "LSTM: units must be an integer of at least 1; found 0."),
    ("LSTM(3, implementation=4)", "LSTM: implementation must be 1 or 2; found 4."),
    ("Dense(3, activation='rulu')", None),
    ("Bidirectional(LSTM(3), merge_mode='max')", None),
    ("RNN(Dense(3))", None),
]


@pytest.mark.parametrize(("call", "message"), OPTIONS, ids=[call for call, _ in OPTIONS])
def test_options_that_break_their_rule(call, message):
    with pytest.raises(ValueError, match="found|Unknown" if message is None else f"^{re.escape(message)}$"):
        eval(call, vars(layers).copy())


def test_an_unknown_option_is_refused():
    with pytest.raises(
        TypeError, match=r"^Conv2D: unknown option 'kernel'\. Did you mean 'kernel_size'\? Its options are filters, "
    ):
        layers.Conv2D(4, 3, kernel=1)
