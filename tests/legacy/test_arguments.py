"""Calls by Keras 1's names make the layers that today's names make."""

import json
import re

import numpy as np
import pytest
import torch

from torchkeras import config, constraints, initializers, layers, regularizers
from torchkeras.engine.weights.weight_lists import KERAS1
from torchkeras.layers import Activation, Dense, Input, Lambda, Merge, merge
from torchkeras.models import Model, Sequential, clone_model, load_model

SAME = [
    ("Convolution1D(4, 3)", "Conv1D(4, 3)"),
    ("Convolution1D(4, 3, border_mode='same', subsample_length=2)", "Conv1D(4, 3, padding='same', strides=2)"),
    ("AtrousConvolution1D(4, 3, atrous_rate=2)", "Conv1D(4, 3, dilation_rate=2)"),
    ("Convolution2D(4, 3, 2)", "Conv2D(4, (3, 2))"),
    ("Conv2D(4, 3, 2, padding='same')", "Conv2D(4, (3, 2), padding='same')"),
    ("Convolution2D(nb_filter=4, nb_row=3, nb_col=2)", "Conv2D(4, (3, 2))"),
    (
        (
            "Convolution2D(64, 3, 3, 'uniform', 'relu', border_mode='same', subsample=(2, 2), dim_ordering='th', "
            "W_regularizer='l2', bias=False)"
        ),
        (
            "Conv2D(64, (3, 3), kernel_initializer='uniform', activation='relu', padding='same', strides=(2, 2), "
            "data_format='channels_first', kernel_regularizer='l2', use_bias=False)"
        ),
    ),
    ("AtrousConvolution2D(4, 3, 3, atrous_rate=(2, 2))", "Conv2D(4, (3, 3), dilation_rate=2)"),
    (
        "Deconvolution2D(4, 3, 3, (None, 7, 8, 4), subsample=(2, 1))",
        "Conv2DTranspose(4, (3, 3), target_shape=(None, 7, 8, 4), strides=(2, 1))",
    ),
    ("Convolution3D(4, 2, 3, 4, dim_ordering='tf')", "Conv3D(4, (2, 3, 4), data_format='channels_last')"),
    ("SeparableConvolution2D(4, 3, 3, depth_multiplier=2)", "SeparableConv2D(4, (3, 3), depth_multiplier=2)"),
    (
        "SeparableConvolution2D(4, 3, 3, init='one')",
        "SeparableConv2D(4, (3, 3), depthwise_initializer='ones', pointwise_initializer='ones')",
    ),
    ("Dense(output_dim=3, init='uniform')", "Dense(3, kernel_initializer='uniform')"),
    (
        "Dense(3, b_constraint='nonneg', W_constraint='maxnorm', b_regularizer='l1l2', bias=True)",
        "Dense(3, bias_constraint='non_neg', kernel_constraint='max_norm', bias_regularizer='l1_l2', use_bias=True)",
    ),
    ("Dense(3, init='one', input_dim=5)", "Dense(3, kernel_initializer='ones', input_shape=(5,))"),
    ("Dropout(p=0.5)", "Dropout(0.5)"),
    ("GaussianNoise(sigma=0.5)", "GaussianNoise(0.5)"),
    ("GaussianDropout(p=0.5)", "GaussianDropout(0.5)"),
    ("SpatialDropout2D(0.5, dim_ordering='th')", "SpatialDropout2D(0.5, data_format='channels_first')"),
    ("MaxPooling1D(pool_length=3, stride=2)", "MaxPooling1D(3, 2)"),
    ("AveragePooling2D((2, 3), border_mode='same')", "AveragePooling2D((2, 3), padding='same')"),
    ("GlobalMaxPooling2D(dim_ordering='th')", "GlobalMaxPooling2D('channels_first')"),
    ("UpSampling1D(length=3)", "UpSampling1D(3)"),
    ("ZeroPadding1D({'left_pad': 2})", "ZeroPadding1D((2, 0))"),
    ("ZeroPadding2D({'top_pad': 1, 'left_pad': 2})", "ZeroPadding2D(((1, 0), (2, 0)))"),
    ("ZeroPadding2D(padding=(1, 2, 3, 4))", "ZeroPadding2D(((1, 2), (3, 4)))"),
    (
        "Embedding(9, 4, init='zero', input_length=7, dropout=0.2, W_constraint='unitnorm')",
        "Embedding(9, 4, 'zeros', input_length=7, dropout=0.2, embeddings_constraint='unit_norm')",
    ),
    ("BatchNormalization(beta_init='one', mode=2)", "BatchNormalization(beta_initializer='ones', mode=2)"),
    ("PReLU(init='one', shared_axes=[1])", "PReLU('ones', shared_axes=[1])"),
    ("MaxoutDense(output_dim=3, nb_feature=2)", "MaxoutDense(3, 2)"),
    (
        (
            "LSTM(4, inner_activation='sigmoid', forget_bias_init='zero', consume_less='gpu', dropout_W=0.1, "
            "dropout_U=0.2, U_regularizer='l1', input_dim=3, input_length=5)"
        ),
        (
            "LSTM(4, recurrent_activation='sigmoid', unit_forget_bias=False, implementation=2, dropout=0.1, "
            "recurrent_dropout=0.2, recurrent_regularizer='l1', input_shape=(5, 3))"
        ),
    ),
    ("GRU(output_dim=4, inner_init='glorot_uniform')", "GRU(4, recurrent_initializer='glorot_uniform')"),
    ("SimpleRNN(4, init='normal', input_dim=3)", "SimpleRNN(4, kernel_initializer='normal', input_shape=(None, 3))"),
    ("Convolution1D(4, 3, input_dim=2)", "Conv1D(4, 3, input_shape=(None, 2))"),
    ("TimeDistributedDense(4, input_dim=3, input_length=5)", "TimeDistributedDense(4, input_shape=(5, 3))"),
]


@pytest.mark.parametrize(("old", "new"), SAME, ids=[old for old, _ in SAME])
def test_an_old_call_makes_todays_layer(old: str, new: str):
    first, second = (eval(text, vars(layers).copy()).get_config() for text in (old, new))
    assert {**first, "name": ""} == {**second, "name": ""}


def test_old_names_of_layers_are_todays_classes():
    assert layers.Convolution2D is layers.AtrousConv2D is layers.Conv2D
    assert layers.Deconvolution2D is layers.Conv2DTranspose


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Dense(3, init="one", kernel_initializer="zeros"),
            "Dense: init and kernel_initializer are one option under two names; give one of them.",
        ),
        (
            lambda: layers.Convolution2D(3, 2, 2, dim_ordering="theano"),
            "Conv2D: dim_ordering must be one of 'tf', 'th', 'default'; found 'theano'.",
        ),
        (
            lambda: layers.LSTM(3, forget_bias_init="glorot_uniform"),
            "LSTM: forget_bias_init must be one of 'one', 'ones', 'zero', 'zeros'; found 'glorot_uniform'.",
        ),
        (
            lambda: layers.ZeroPadding2D({"top": 1}),
            "ZeroPadding2D: padding knows the ends top_pad, bottom_pad, left_pad, right_pad; found 'top'.",
        ),
        (
            lambda: merge([Input((2,)), Input((2,))], mode="difference"),
            (
                "merge: mode must be a function or one of 'sum', 'mul', 'concat', 'ave', 'cos', 'dot', 'max'; "
                "found 'difference'."
            ),
        ),
        (
            lambda: merge([Input((2,)), Input((2,))], mode="sum", output_shape=(2,)),
            "merge: output_shape goes with a function as mode; found (2,) with mode 'sum'.",
        ),
        (
            lambda: Dense(3, input_dim=5, input_shape=(4,), name="d"),
            (
                "Dense 'd': input_dim 5 does not fit the input shape (4,). "
                "Give input_dim and input_length together, or input_shape alone."
            ),
        ),
        (
            lambda: layers.LSTM(3, input_length=5, name="l"),
            (
                "LSTM 'l': input_length 5 does not fit the input shape None. "
                "Give input_dim and input_length together, or input_shape alone."
            ),
        ),
        (
            lambda: Model(**dict.fromkeys(("input", "inputs", "output"), Input((2,)))),
            "Model: input and inputs are one argument under two names; give one of them.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        call()


def test_weights_given_by_an_old_call_have_the_old_shapes():
    kernel = np.arange(4 * 2 * 3 * 5, dtype="float32").reshape(4, 2, 3, 5)  # filters, channels, rows, columns
    layer = layers.Convolution2D(4, 3, 5, weights=[kernel, np.zeros(4)], dim_ordering="th")
    layer(torch.zeros(1, 2, 6, 6))
    np.testing.assert_array_equal(layer.get_weights()[0], kernel.transpose(2, 3, 1, 0))
    again = layers.Conv2D(4, (3, 5), weights=layer.get_weights(), data_format="channels_first")
    again(torch.zeros(1, 2, 6, 6))
    np.testing.assert_array_equal(again.get_weights()[0], layer.get_weights()[0])


def test_model_and_fit_take_old_names():
    a = Input((3,))
    model = Model(input=a, output=Dense(2)(a))  # type: ignore[call-arg]
    model.compile("sgd", "mse")
    history = model.fit(np.zeros((4, 3)), np.zeros((4, 2)), verbose=0, nb_epoch=3)  # type: ignore[call-arg]
    assert len(history.history["loss"]) == 3


def test_names_of_regularizers_constraints_and_initializers():
    assert regularizers.activity_l2(0.1) == regularizers.l2(0.1)
    assert regularizers.l1l2(0.1, 0.2) == regularizers.get("l1l2").__class__(0.1, 0.2)
    assert constraints.maxnorm(m=3) == constraints.max_norm(3)
    assert isinstance(constraints.get("nonneg"), constraints.NonNeg)
    assert isinstance(constraints.get("maxnorm"), constraints.MaxNorm)
    for name in ("zero", "one", "uniform", "normal", "glorot_uniform", "orthogonal", "identity", "lecun_uniform"):
        assert initializers.get(name) is not None


def test_image_dim_ordering():
    before = config.image_data_format()
    try:
        config.set_image_dim_ordering("th")
        assert (config.image_data_format(), config.image_dim_ordering()) == ("channels_first", "th")
        with pytest.raises(ValueError, match=r"^config: image_dim_ordering must be one of 'tf', 'th'; found 'TF'\.$"):
            config.set_image_dim_ordering("TF")
    finally:
        config.set_image_data_format(before)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"image_dim_ordering": "th"}, "channels_first"), ({"image_dim_ordering": "tf"}, "channels_last")],
)
def test_keras_json_of_keras_1(settings, expected, tmp_path, monkeypatch):
    (tmp_path / "keras.json").write_text(json.dumps(settings))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    before = config.image_data_format()
    try:
        config._read_keras_json()
        assert config.image_data_format() == expected
        assert layers.Convolution2D(2, 3, 3).data_format == expected
        assert layers.Convolution2D(2, 3, 3, dim_ordering="default").data_format == expected
    finally:
        config.set_image_data_format(before)


def test_dropped_embeddings_are_dropped_for_the_whole_batch():
    torch.manual_seed(0)
    layer = layers.Embedding(50, 4, init="one", dropout=0.5).train()
    integers = torch.arange(50).repeat(3, 1)
    found = layer(integers)
    assert torch.equal(found[0], found[1])
    assert set(found.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(layer.eval()(integers), torch.ones(3, 50, 4))


# --- merge -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("sum", lambda a, b: a + b),
        ("mul", lambda a, b: a * b),
        ("ave", lambda a, b: (a + b) / 2),
        ("max", np.maximum),
        ("concat", lambda a, b: np.concatenate([a, b], -1)),
        ("dot", lambda a, b: (a * b).sum(-1, keepdims=True)),
        (
            "cos",
            lambda a, b: ((a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))[:, None, None],
        ),
        (lambda tensors: tensors[0] - tensors[1], lambda a, b: a - b),
    ],
)
def test_merge(mode, expected):
    a, b = Input((4,)), Input((4,))
    model = Model([a, b], merge([a, b], mode=mode, name="merged"))
    assert model.get_layer("merged") is model.layers[-1]
    arrays = [np.random.default_rng(k).normal(size=(3, 4)).astype("float32") for k in range(2)]
    np.testing.assert_allclose(model.predict(arrays), expected(*arrays), rtol=1e-5)


def test_merge_by_a_function_with_arguments_shape_and_mask():
    a, b = Input((4, 2)), Input((4, 2))
    masked = layers.Masking()(a)
    merged = merge(
        [masked, b],
        mode=lambda tensors, factor: factor * torch.cat(tensors, -1),
        output_shape=(4, 4),
        output_mask=lambda masks: masks[0],
        arguments={"factor": 2.0},
    )
    assert merged.shape == (None, 4, 4)
    assert merged._keras_mask is not None
    assert isinstance(merged._keras_history.layer, Lambda)


def branches():
    left, right = Sequential(), Sequential()
    for branch in (left, right):
        branch.add(Dense(4, input_dim=5))
        branch.add(Dense(3, activation="tanh"))
    return left, right


def test_sequential_of_merged_branches():
    left, right = branches()
    model = Sequential()
    model.add(Merge([left, right], mode="concat"))
    model.add(Activation("tanh"))
    assert model._layers_in(KERAS1) == [*left.layers, *right.layers, *model.layers[4:]]
    assert [array.shape for array in model.get_weights()] == [(5, 4), (4,), (4, 3), (3,)] * 2
    assert (model.input_shape, model.output_shape) == ([(None, 5), (None, 5)], (None, 6))
    arrays = [np.random.default_rng(k).normal(size=(3, 5)).astype("float32") for k in range(2)]
    expected = np.tanh(np.concatenate([left.predict(arrays[0]), right.predict(arrays[1])], -1))
    np.testing.assert_allclose(model.predict(arrays), expected, rtol=1e-5, atol=1e-6)


def test_sequential_of_merged_branches_is_saved_as_the_model_it_is(tmp_path):
    left, right = branches()
    model = Sequential([Merge([left, right], mode="sum"), Dense(2)])
    arrays = [np.random.default_rng(k).normal(size=(3, 5)).astype("float32") for k in range(2)]
    model.save(tmp_path / "merged.h5")
    from_file = load_model(tmp_path / "merged.h5")
    np.testing.assert_allclose(from_file.predict(arrays), model.predict(arrays), rtol=1e-6)
    assert [layer.name for layer in clone_model(model).layers if layer.weights] != []


def test_merge_takes_which_call_of_a_layer():
    shared, a, b = Dense(4), Input((5,)), Input((5,))
    for tensor in (a, b):
        shared(tensor)
    merged = Merge([shared, shared], mode="sum", node_indices=[0, 1])
    assert merged.input == [shared.get_output_at(0), shared.get_output_at(1)]
