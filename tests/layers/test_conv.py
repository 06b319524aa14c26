"""Convolutions compute what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, same_in_both_formats

from torchkeras import activations
from torchkeras.engine.input import Input
from torchkeras.layers.conv import Conv1D, Conv2D
from torchkeras.layers.spatial import same_padding


@pytest.mark.parametrize("case", cases(Conv1D, Conv2D))
def test_values_are_those_of_keras(case):
    check(case, Conv1D, Conv2D)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kernel", [1, 2, 3, (4, 5)])
@pytest.mark.parametrize("options", [{}, {"strides": 2}, {"strides": (3, 1)}, {"dilation_rate": (1, 2)}])
def test_both_data_formats_agree(kernel, padding, options):
    same_in_both_formats(Conv2D, 4, kernel, padding=padding, shape=(2, 3, 10, 11), **options)


@pytest.mark.parametrize("options", [{"strides": 2}, {"dilation_rate": 3}, {"padding": "same", "strides": 3}, {}])
def test_both_data_formats_agree_over_one_axis(options):
    same_in_both_formats(Conv1D, 4, 3, shape=(2, 3, 11), **options)


# What TensorFlow 1.14 puts before and after: (size, window, stride, dilation).
@pytest.mark.parametrize(
    ("given", "pair"),
    [
        ((7, 3, 1, 1), (1, 1)),
        ((8, 3, 2, 1), (0, 1)),
        ((7, 3, 2, 1), (1, 1)),
        ((7, 4, 1, 1), (1, 2)),
        ((8, 2, 4, 1), (0, 0)),
    ],
)
def test_same_padding_gives_the_end_the_larger_half(given, pair):
    assert same_padding(*given) == pair


def test_causal_output_does_not_see_what_comes_later():
    layer = Conv1D(2, 3, padding="CAUSAL", dilation_rate=2)
    x = torch.randn(1, 9, 3)
    before = layer(x)
    x[:, 5:] = 0
    torch.testing.assert_close(layer(x)[:, :5], before[:, :5])
    assert layer.padding == "causal"
    assert layer.compute_output_shape((None, None, 3)) == (None, None, 2)


def test_a_real_torch_module_holds_the_weights_and_pads_when_it_can():
    layer = Conv2D(4, (3, 5), padding="same", name="stem")
    layer(torch.randn(1, 6, 6, 3))
    assert list(layer.state_dict()) == ["conv.weight", "conv.bias"]
    assert layer.conv.padding == (1, 2)
    assert [tuple(v.shape) for v in layer.get_weights()] == [(3, 5, 3, 4), (4,)]
    bare = Conv2D(4, 2, padding="same", use_bias=False)
    bare(torch.randn(1, 6, 6, 3))
    assert list(bare.state_dict()) == ["conv.weight"]
    assert bare.conv.padding == (0, 0)


def test_activations_over_an_axis_see_the_order_of_keras():
    x = torch.randn(2, 5, 6, 3)
    layer = Conv2D(4, 2, activation="softmax")
    torch.testing.assert_close(layer(x).sum(-1), torch.ones(2, 4, 5))
    flipped = Conv2D(4, 2, activation=lambda y: y.flip(-1))
    flipped(x)
    plain = Conv2D(4, 2)
    plain(x)
    plain.set_weights(flipped.get_weights())
    torch.testing.assert_close(flipped(x), plain(x).flip(-1))
    assert Conv2D(1, 1).activation is activations.linear


def test_symbolic_shape_is_the_real_one_and_unknown_sizes_stay_unknown():
    output = Conv2D(4, 3, strides=2, padding="same")(Input((None, 9, 3)))
    assert output.shape == (None, None, 5, 4)
    assert Conv2D(4, 3, data_format="channels_first")(Input((3, None, 9))).shape == (None, 4, None, 7)
    assert Conv1D(4, 3, padding="same")(Input((7, 3))).shape == (None, 7, 4)


def test_each_layer_compiles_whole():
    for options in ({"padding": "same", "strides": 2}, {"padding": "same"}, {"activation": "relu"}):
        layer, x = Conv2D(4, 2, **options), torch.randn(2, 3, 8, 9)
        layer(x.permute(0, 2, 3, 1))
        torch.testing.assert_close(torch.compile(layer.run, fullgraph=True, backend="eager")(x), layer.run(x))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Conv2D(0, 3), "Conv2D: filters must be a positive integer; found 0."),
        (lambda: Conv2D(4, (3, 3, 3)), "Conv2D: kernel_size must be an integer or 2 integers; found (3, 3, 3)."),
        (lambda: Conv2D(4, 0), "Conv2D: kernel_size must hold integers of at least 1; found 0."),
        (lambda: Conv2D(4, 3, strides=0), "Conv2D: strides must hold integers of at least 1; found 0."),
        (lambda: Conv2D(4, 3, dilation_rate=1.5), "Conv2D: dilation_rate must be an integer or 2 integers; found 1.5."),
        (lambda: Conv2D(4, 3, padding="causal"), "Conv2D: padding must be one of 'valid', 'same'; found 'causal'."),
        (lambda: Conv1D(4, 3, padding=1), "Conv1D: padding must be one of 'valid', 'same', 'causal'; found 1."),
        (
            lambda: Conv2D(4, 3, data_format="first"),
            "Conv2D: data_format must be one of 'channels_last', 'channels_first', or None; found 'first'.",
        ),
        (lambda: Conv2D(4, 3, use_bias="yes"), "Conv2D: use_bias must be True or False; found 'yes'."),
        (
            lambda: Conv2D(4, 3, strides=2, dilation_rate=(1, 2), name="stem"),
            (
                "Conv2D 'stem': strides and dilation_rate cannot both be above 1; "
                "found strides (2, 2) and dilation_rate (1, 2)."
            ),
        ),
        (
            lambda: Conv1D(4, 3, padding="causal", data_format="channels_first", name="stem"),
            "Conv1D 'stem': padding 'causal' needs data_format 'channels_last'; found 'channels_first'.",
        ),
        (
            lambda: Conv2D(4, 3, name="stem")(Input((2, 8, 3))),
            "Conv2D 'stem': kernel_size (3, 3) does not fit the input (None, 2, 8, 3): axis 1 is 2 long.",
        ),
        (
            lambda: Conv2D(4, 3, name="stem", data_format="channels_first")(Input((3, 8, 2))),
            "Conv2D 'stem': kernel_size (3, 3) does not fit the input (None, 3, 8, 2): axis 3 is 2 long.",
        ),
        (
            lambda: Conv2D(4, 3, name="stem")(Input((8, 8, None))),
            "Conv2D 'stem': axis -1 of the input must be known; the input shape is (None, 8, 8, None).",
        ),
        (
            lambda: Conv2D(4, 3, name="stem")(Input((8, 3))),
            "Input 0 is incompatible with layer stem: expected ndim=4, found ndim=3 (input shape (None, 8, 3)).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match=re.escape("Conv2D: activation Unknown activation function: 'rely'.")):
        Conv2D(4, 3, activation="rely")
