"""Convolutions compute what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats

from torchkeras import activations
from torchkeras.engine.graph.input import Input
from torchkeras.layers.conv import Conv1D, Conv2D, Conv3D
from torchkeras.layers.spatial import pad, same_padding


@pytest.mark.parametrize("case", cases(Conv1D, Conv2D, Conv3D))
def test_values_are_those_of_keras(case):
    check(case, Conv1D, Conv2D, Conv3D)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kernel", [1, 2, 3, (4, 5)])
@pytest.mark.parametrize("options", [{}, {"strides": 2}, {"strides": (3, 1)}, {"dilation_rate": (1, 2)}])
def test_both_data_formats_agree(kernel, padding, options):
    same_in_both_formats(Conv2D, 4, kernel, padding=padding, shape=(2, 3, 10, 11), **options)


@pytest.mark.parametrize("options", [{"strides": 2}, {"dilation_rate": 3}, {"padding": "same", "strides": 3}, {}])
def test_both_data_formats_agree_over_one_axis(options):
    same_in_both_formats(Conv1D, 4, 3, shape=(2, 3, 11), **options)


@pytest.mark.parametrize("options", [{"padding": "same", "strides": 2}, {"padding": "same", "dilation_rate": 2}, {}])
def test_both_data_formats_agree_over_three_axes(options):
    same_in_both_formats(Conv3D, 4, (2, 3, 2), shape=(2, 3, 5, 6, 4), **options)


# What Keras's 'same' put before and after (rows, columns) on Theano.
@pytest.mark.parametrize(
    ("options", "around"),
    [
        ({"kernel_size": 4, "strides": 2}, ((2, 1), (2, 1))),
        ({"kernel_size": (2, 3), "strides": (1, 2)}, ((1, 0), (1, 1))),
        ({"kernel_size": (1, 2), "dilation_rate": (1, 3)}, ((0, 0), (2, 1))),
    ],
)
def test_half_padding_is_same_as_on_theano(options, around):
    x = torch.randn(2, 7, 8, 3)
    layer, bare = Conv2D(4, padding="half", **options), Conv2D(4, **options)
    padded = torch.nn.functional.pad(x, (0, 0, *around[1], *around[0]))
    layer(x)
    bare(padded)
    bare.set_weights(layer.get_weights())
    torch.testing.assert_close(layer(x), bare(padded))
    assert layer(x).shape[1:3] == tuple(-(-n // s) for n, s in zip((7, 8), layer.strides, strict=True))


@pytest.mark.parametrize("options", [{"strides": (2, 1)}, {"dilation_rate": 2}])
def test_full_padding_lets_the_kernel_reach_over_both_ends(options):
    layer, x = Conv2D(4, (2, 3), padding="full", **options), torch.randn(2, 7, 8, 3)
    around = 2 * layer.dilation_rate[0]
    wide = Conv2D(4, (2, 3), **options)
    padded = torch.nn.functional.pad(x, (0, 0, around, around, around // 2, around // 2))
    layer(x)
    wide(padded)
    wide.set_weights(layer.get_weights())
    torch.testing.assert_close(layer(x), wide(padded))
    assert layer.compute_output_shape((None, 7, None, 3)) == (None, wide(padded).shape[1], None, 4)
    assert layer.conv.padding == (around // 2, around)


def test_groups_convolve_their_own_channels_only():
    x = torch.randn(2, 7, 8, 6)
    same_in_both_formats(Conv2D, 4, 3, groups=2, shape=(2, 6, 5, 7))
    layer = Conv2D(4, 3, padding="same", strides=2, groups=2)
    layer(x)
    kernel, bias = layer.get_weights()
    assert kernel.shape == (3, 3, 3, 4)
    for group in range(2):
        alone = Conv2D(2, 3, padding="same", strides=2)
        alone(x[..., :3])
        filters = slice(2 * group, 2 * group + 2)
        alone.set_weights([kernel[..., filters], bias[filters]])
        torch.testing.assert_close(layer(x)[..., filters], alone(x[..., 3 * group : 3 * group + 3]))


def test_a_config_that_keras_2_can_read_has_groups_only_when_they_are_used():
    assert "groups" not in Conv2D(4, 3).get_config()
    assert remade(Conv2D(4, 3, groups=2)).groups == 2
    assert remade(Conv1D(4, 3, padding="Full", strides=2, activation="relu")).padding == "full"


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


def test_padding_is_there_for_others_too():
    x = torch.ones(1, 1, 4, 5)
    padded = pad(x, "same", (3, 2), (2, 1), (1, 1))
    torch.testing.assert_close(padded, torch.nn.functional.pad(x, (0, 1, 0, 1)))
    assert pad(x, "valid", (3, 2), (2, 1), (1, 1)) is x
    assert pad(x, "same", (1, 1), (2, 2), (1, 1)) is x


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


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_each_layer_compiles_whole():
    for options in ({"padding": "same", "strides": 2}, {"padding": "full"}, {"activation": "softmax"}):
        layer, x = Conv2D(4, 2, **options), torch.randn(2, 3, 8, 9)
        layer(x.permute(0, 2, 3, 1))
        compiles(layer, x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Conv2D(0, 3), "Conv2D: filters must be an integer of at least 1; found 0."),
        (lambda: Conv2D(4, (3, 3, 3)), "Conv2D: kernel_size must be an integer or 2 integers; found (3, 3, 3)."),
        (lambda: Conv2D(4, 0), "Conv2D: kernel_size must hold integers of at least 1; found 0."),
        (lambda: Conv2D(4, 3, strides=0), "Conv2D: strides must hold integers of at least 1; found 0."),
        (lambda: Conv2D(4, 3, dilation_rate=1.5), "Conv2D: dilation_rate must be an integer or 2 integers; found 1.5."),
        (
            lambda: Conv2D(4, 3, padding="causal"),
            "Conv2D: padding must be one of 'valid', 'same', 'half', 'full'; found 'causal'.",
        ),
        (
            lambda: Conv1D(4, 3, padding=1),
            "Conv1D: padding must be one of 'valid', 'same', 'half', 'full', 'causal'; found 1.",
        ),
        (
            lambda: Conv2D(4, 3, data_format="first"),
            "Conv2D: data_format must be one of 'channels_last', 'channels_first', None; found 'first'.",
        ),
        (lambda: Conv2D(4, 3, use_bias="yes"), "Conv2D: use_bias must be True, False, 1 or 0; found 'yes'."),
        (
            lambda: Conv2D(4, 3, strides=2, dilation_rate=(1, 2), name="stem")(Input((9, 9, 1))),
            (
                "Conv2D 'stem': strides and dilation_rate cannot both be above 1; "
                "found strides (2, 2) and dilation_rate (1, 2)."
            ),
        ),
        (
            lambda: Conv1D(4, 3, padding="causal", data_format="channels_first", name="stem"),
            "Conv1D 'stem': padding 'causal' needs data_format 'channels_last'; found 'channels_first'.",
        ),
        (lambda: Conv2D(4, 3, groups=0), "Conv2D: groups must be an integer of at least 1; found 0."),
        (lambda: Conv2D(4, 3, groups=3, name="stem"), "Conv2D 'stem': groups must divide filters 4; found 3."),
        (
            lambda: Conv2D(4, 3, groups=2, name="stem")(Input((8, 8, 3))),
            "Conv2D 'stem': groups must divide the 3 channels of the input (None, 8, 8, 3); found 2.",
        ),
        (
            lambda: Conv3D(4, 2, dilation_rate=2, name="stem")(Input((8, 2, 8, 3))),
            "Conv3D 'stem': kernel_size (2, 2, 2) does not fit the input (None, 8, 2, 8, 3): axis 2 is 2 long.",
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
            (
                "Input 0 is incompatible with layer stem: expected ndim=4, found ndim=3 (input shape (None, 8, 3)). "
                "Give it an input of 4 axes: samples, rows, columns and channels."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match=re.escape("Conv2D: activation: Unknown activation function: 'rely'.")):
        Conv2D(4, 3, activation="rely")
