"""Depthwise and separable convolutions compute what Keras 2.2.4 does, with every option."""

import copy
import pickle
import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats

from torchkeras.engine.graph.input import Input
from torchkeras.layers.conv import Conv1D, Conv2D
from torchkeras.layers.separable import DepthwiseConv1D, DepthwiseConv2D, SeparableConv1D, SeparableConv2D

LAYERS = (DepthwiseConv2D, SeparableConv1D, SeparableConv2D)
OPTIONS = [
    {},
    {"padding": "same"},
    {"strides": 2, "padding": "same"},
    {"strides": 3},
    {"dilation_rate": 2},
    {"dilation_rate": 3, "padding": "same"},
]


@pytest.mark.parametrize("case", cases(*LAYERS))
def test_values_are_those_of_keras(case):
    check(case, *LAYERS)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("cls", "conv", "shape"), [(DepthwiseConv1D, Conv1D, (9,)), (DepthwiseConv2D, Conv2D, (9, 8))])
def test_every_channel_is_convolved_by_itself(cls, conv, shape, options):
    x = torch.randn(2, *shape, 3)
    layer = cls(2, depth_multiplier=2, bias_initializer="normal", **options)
    y = layer(x)
    kernel, bias = layer.get_weights()
    for place in range(6):
        channel, multiplier = divmod(place, 2)
        alone = conv(1, 2, **options)
        alone(x[..., :1])
        alone.set_weights([kernel[..., channel : channel + 1, multiplier : multiplier + 1], bias[place : place + 1]])
        torch.testing.assert_close(y[..., place : place + 1], alone(x[..., channel : channel + 1]))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    ("cls", "depthwise", "conv", "shape"),
    [(SeparableConv1D, DepthwiseConv1D, Conv1D, (9,)), (SeparableConv2D, DepthwiseConv2D, Conv2D, (9, 8))],
)
def test_separable_is_depthwise_and_then_a_mixture(cls, depthwise, conv, shape, options):
    x = torch.randn(2, *shape, 3)
    layer = cls(4, 3, depth_multiplier=2, bias_initializer="normal", activation="tanh", **options)
    first, second = depthwise(3, depth_multiplier=2, use_bias=False, **options), conv(4, 1, activation="tanh")
    layer(x)
    second(first(x))
    kernel, mixture, bias = layer.get_weights()
    first.set_weights([kernel])
    second.set_weights([mixture, bias])
    torch.testing.assert_close(layer(x), second(first(x)))


def test_both_data_formats_agree():
    same_in_both_formats(DepthwiseConv2D, 3, 2, "same", 2, activation="relu")
    same_in_both_formats(DepthwiseConv1D, 3, shape=(2, 3, 9))
    same_in_both_formats(SeparableConv2D, 4, 2, padding="same", dilation_rate=(1, 3))
    same_in_both_formats(SeparableConv1D, 4, 3, 2, shape=(2, 3, 9))


def test_real_torch_modules_hold_the_weights():
    layer = SeparableConv2D(4, 3, depth_multiplier=2, padding="same")
    layer(torch.randn(1, 6, 6, 3))
    assert list(layer.state_dict()) == ["depthwise.weight", "pointwise.weight", "pointwise.bias"]
    assert [v.name for v in layer.weights] == ["depthwise_kernel", "pointwise_kernel", "bias"]
    assert [v.shape for v in layer.weights] == [(3, 3, 3, 2), (1, 1, 6, 4), (4,)]
    assert (layer.depthwise.groups, layer.depthwise.padding) == (3, (1, 1))
    bare = DepthwiseConv1D(2, depth_multiplier=3, use_bias=False)
    bare(torch.randn(1, 6, 4))
    assert list(bare.state_dict()) == ["conv.weight"]
    assert bare.depthwise_kernel.shape == (2, 4, 3)


def test_each_part_has_its_own_rules():
    layer = SeparableConv1D(
        4, 2, depthwise_initializer="ones", pointwise_initializer="zeros", depthwise_constraint="nonneg"
    )
    layer(torch.randn(1, 6, 3))
    depthwise, pointwise, _ = layer.weights
    assert depthwise.numpy().min() == 1
    assert pointwise.numpy().max() == 0
    assert depthwise.constraint is layer.depthwise_constraint is not None
    assert pointwise.constraint is None


def test_copies_and_configs_compute_the_same():
    x = torch.randn(2, 7, 8, 3)
    layer = SeparableConv2D(4, 3, strides=2, padding="same", depth_multiplier=2, pointwise_regularizer="l2")
    expected = layer(x)
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), remade(layer)):  # noqa: S301
        again(x)
        again.set_weights(layer.get_weights())
        torch.testing.assert_close(again(x), expected)
    assert remade(DepthwiseConv2D(3, dilation_rate=2)).dilation_rate == (2, 2)


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_each_layer_compiles_whole():
    layer, x = SeparableConv2D(4, 2, strides=2, padding="same"), torch.randn(2, 3, 8, 9)
    layer(x.permute(0, 2, 3, 1))
    compiles(layer, x)
    layer = DepthwiseConv2D(2, activation="relu")
    layer(x.permute(0, 2, 3, 1))
    compiles(layer, x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: DepthwiseConv2D(3, depth_multiplier=0),
            "DepthwiseConv2D: depth_multiplier must be an integer of at least 1; found 0.",
        ),
        (
            lambda: SeparableConv1D(4, 3, padding="full"),
            "SeparableConv1D: padding must be one of 'valid', 'same', 'half', 'causal'; found 'full'.",
        ),
        (
            lambda: SeparableConv2D(4, 3, strides=2, dilation_rate=2, name="stem")(Input((9, 9, 1))),
            (
                "SeparableConv2D 'stem': strides and dilation_rate cannot both be above 1; "
                "found strides (2, 2) and dilation_rate (2, 2)."
            ),
        ),
        (
            lambda: DepthwiseConv2D(3, strides=(1, 2), dilation_rate=(2, 1), name="stem")(Input((9, 9, 1))),
            (
                "DepthwiseConv2D 'stem': strides and dilation_rate cannot both be above 1; "
                "found strides (1, 2) and dilation_rate (2, 1)."
            ),
        ),
        (
            lambda: DepthwiseConv1D(3, name="stem")(Input((2, 3))),
            "DepthwiseConv1D 'stem': kernel_size (3,) does not fit the input (None, 2, 3): axis 1 is 2 long.",
        ),
        (
            lambda: SeparableConv2D(4, 3, name="stem")(Input((8, 8, None))),
            "SeparableConv2D 'stem': axis -1 of the input must be known; the input shape is (None, 8, 8, None).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
