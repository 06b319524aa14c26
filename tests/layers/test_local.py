"""Locally connected layers compute what Keras 2.2.4 does, with every option."""

import copy
import re

import numpy as np
import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras import config
from torchkeras.engine.graph.input import Input
from torchkeras.layers.local import LocallyConnected1D, LocallyConnected2D


@pytest.mark.parametrize("case", cases(LocallyConnected1D, LocallyConnected2D))
def test_values_are_those_of_keras(case):
    check(case, LocallyConnected1D, LocallyConnected2D)


@pytest.mark.parametrize("strides", [1, 2, 3])
def test_every_step_has_a_kernel_of_its_own(strides):
    x = torch.randn(2, 8, 3)
    layer = LocallyConnected1D(4, 3, strides, bias_initializer="normal", activation="tanh")
    y = layer(x).detach().numpy()
    kernel, bias = layer.get_weights()
    assert y.shape[1] == len(kernel) == len(bias) == 1 + (8 - 3) // strides
    for place, weights in enumerate(kernel):
        window = x[:, place * strides : place * strides + 3].reshape(2, 9).numpy()
        np.testing.assert_allclose(y[:, place], np.tanh(window @ weights + bias[place]), rtol=1e-4, atol=1e-5)


# Keras flattens a window as it lies, and for channels_first reads the numbers of the bias as (filters, rows, columns).
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("strides", [1, (1, 2), 3])
def test_every_place_has_a_kernel_of_its_own(data_format, strides):
    first = data_format == "channels_first"
    x = torch.randn((2, 3, 6, 7) if first else (2, 6, 7, 3))
    layer = LocallyConnected2D(4, (2, 3), strides, data_format=data_format, bias_initializer="normal")
    y = layer(x).movedim(1, -1).detach().numpy() if first else layer(x).detach().numpy()
    assert layer.compute_output_shape((None, *x.shape[1:]))[1:] == tuple(layer(x).shape[1:])
    kernel, bias = layer.get_weights()
    if first:
        bias = bias.reshape(4, *y.shape[1:3]).transpose(1, 2, 0)
    for place, weights in enumerate(kernel):
        row, column = divmod(place, y.shape[2])
        rows = slice(row * layer.strides[0], row * layer.strides[0] + 2)
        columns = slice(column * layer.strides[1], column * layer.strides[1] + 3)
        window = (x[:, :, rows, columns] if first else x[:, rows, columns]).reshape(2, -1).numpy()
        np.testing.assert_allclose(y[:, row, column], window @ weights + bias[row, column], rtol=1e-4, atol=1e-5)


def test_activations_over_an_axis_see_the_order_of_keras():
    for data_format in ("channels_last", "channels_first"):
        layer = LocallyConnected2D(4, 2, data_format=data_format, activation="softmax", use_bias=False)
        torch.testing.assert_close(layer(torch.randn(2, 3, 5, 6)).sum(-1)[0, 0, 0], torch.tensor(1.0))
        assert [v.name for v in layer.weights] == ["kernel"]


def test_over_one_axis_the_features_come_last_for_either_data_format():
    before = config.image_data_format()
    config.set_image_data_format("channels_first")
    try:
        layers = LocallyConnected1D(4, 3), LocallyConnected1D(4, 3, data_format="channels_first")
    finally:
        config.set_image_data_format(before)
    for layer in layers:
        assert layer(Input((8, 3))).shape == (None, 6, 4)
        assert remade(layer).data_format == "channels_last"


def test_copies_and_gradients_are_whole():
    x = torch.randn(2, 5, 6, 3)
    layer = LocallyConnected2D(4, 2)
    layer(x).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in layer.parameters())
    torch.testing.assert_close(copy.deepcopy(layer)(x), layer(x))
    compiles(layer, x.movedim(-1, 1))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: LocallyConnected1D(4, 3, padding="same"),
            "LocallyConnected1D: padding must be 'valid'; found 'same'.",
        ),
        (
            lambda: LocallyConnected1D(4, 9, name="own")(Input((8, 3))),
            "LocallyConnected1D 'own': kernel_size (9,) does not fit the input (None, 8, 3): axis 1 is 8 long.",
        ),
        (
            lambda: LocallyConnected2D(4, 3, name="own", data_format="channels_first")(Input((3, None, 8))),
            "LocallyConnected2D 'own': axis 2 of the input must be known; the input shape is (None, 3, None, 8).",
        ),
        (
            lambda: LocallyConnected2D(4, 3, name="own")(Input((8, 3))),
            (
                "Input 0 is incompatible with layer own: expected ndim=4, found ndim=3 (input shape (None, 8, 3)). "
                "Give it an input of 4 axes: samples, rows, columns and channels."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
