"""BatchNormalization computes what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras.engine.input import Input
from torchkeras.engine.layout import Layout
from torchkeras.layers.normalization import BatchNormalization


@pytest.mark.parametrize("case", cases(BatchNormalization))
def test_values_are_those_of_keras(case):
    check(case, BatchNormalization)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("ndim", [2, 3, 4, 5, 6])
def test_every_axis_of_every_rank(ndim, training):
    x = torch.randn(4, 3, 2, 5, 2, 3)[(..., *(0,) * (6 - ndim))]
    for axis in range(-ndim, ndim):
        layer = BatchNormalization(axis).train(training)
        found = layer(x, training=training)
        others = [a for a in range(ndim) if a != axis % ndim]
        mean, variance = (x.mean(others, True), x.var(others, correction=0, keepdim=True)) if training else (0, 1)
        torch.testing.assert_close(found, (x - mean) / (variance + torch.tensor(1e-3)) ** 0.5)
        assert layer.compute_output_shape(x.shape) == tuple(x.shape)


def test_the_last_axis_is_computed_channels_first():
    layer = BatchNormalization()
    assert layer(Input((4, 5, 3))).shape == (None, 4, 5, 3)
    assert layer.layout is Layout.CHANNELS_FIRST
    assert type(layer.norm) is torch.nn.BatchNorm2d
    first = BatchNormalization(axis=1)
    first(Input((4, 5, 3)))
    assert first.layout is Layout.KERAS


def test_moving_statistics_follow_the_batch():
    layer = BatchNormalization(momentum=0.9)
    x = torch.randn(8, 3)
    layer(x, training=True)
    torch.testing.assert_close(layer.moving_mean, 0.1 * x.mean(0))
    torch.testing.assert_close(layer.moving_variance, 0.9 + 0.1 * x.var(0))
    before = layer.get_weights()
    layer(x, training=False)
    layer.eval()(x)
    assert all((a == b).all() for a, b in zip(before, layer.get_weights(), strict=True))


def test_a_frozen_layer_normalizes_by_the_batch_and_keeps_its_statistics():
    layer = BatchNormalization(trainable=False)
    x = 5 + torch.randn(8, 3)
    assert layer(x, training=True).mean().abs() < 1e-5
    assert (layer.moving_mean == 0).all()
    assert (layer.moving_variance == 1).all()


def test_a_single_value_per_channel_has_no_variance():
    layer = BatchNormalization(momentum=0.5)
    result = layer(torch.tensor([[1.0, 2, 3]]), training=True)
    assert layer.moving_mean.tolist() == [0.5, 1, 1.5]
    assert layer.moving_variance.tolist() == [0.5, 0.5, 0.5]
    torch.testing.assert_close(result, torch.zeros(1, 3), rtol=0, atol=1e-5)
    compiles(layer, torch.ones(1, 3), training=True)


@pytest.mark.parametrize(("scale", "center"), [(True, False), (False, True), (False, False)])
def test_scale_and_center_are_apart(scale, center):
    layer = BatchNormalization(scale=scale, center=center)
    layer(torch.randn(4, 3))
    names = ["gamma"] * scale + ["beta"] * center + ["moving_mean", "moving_variance"]
    assert [w.name for w in layer.weights] == names
    assert (layer.norm.weight is not None, layer.norm.bias is not None) == (scale, center)
    assert "norm.running_var" in layer.state_dict()
    compiles(layer, torch.randn(4, 3), training=True)


def test_options_reach_the_weights():
    layer = BatchNormalization(
        epsilon=0.5,
        beta_initializer="ones",
        gamma_initializer="zeros",
        moving_mean_initializer="ones",
        moving_variance_initializer="zeros",
        gamma_regularizer="l2",
        beta_constraint="non_neg",
    ).eval()
    layer(torch.randn(4, 3))
    assert [w.tolist() for w in layer.get_weights()] == [[0] * 3, [1] * 3, [1] * 3, [0] * 3]
    assert layer.norm.eps == 0.5
    remade(layer)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: BatchNormalization([1]), "BatchNormalization: axis must be an integer; found [1]."),
        (lambda: BatchNormalization(1, 1.5), "BatchNormalization: momentum must be a number from 0 to 1; found 1.5."),
        (
            lambda: BatchNormalization(epsilon=-1),
            "BatchNormalization: epsilon must be a number of at least 0; found -1.",
        ),
        (lambda: BatchNormalization(center=2), "BatchNormalization: center must be True or False; found 2."),
        (lambda: BatchNormalization(scale=None), "BatchNormalization: scale must be True or False; found None."),
        (
            lambda: BatchNormalization(3, name="bn")(Input((4, 3))),
            "BatchNormalization 'bn': axis 3 is not an axis of the input (None, 4, 3).",
        ),
        (
            lambda: BatchNormalization(name="bn")(Input((4, None))),
            "BatchNormalization 'bn': axis -1 of the input must be known; the input shape is (None, 4, None).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
