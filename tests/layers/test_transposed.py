"""Transposed convolutions compute what Keras 2.2.4 on TensorFlow does: the gradient of a convolution."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats

from torchkeras.engine.graph.input import Input
from torchkeras.layers.conv import Conv1D, Conv2D, Conv3D
from torchkeras.layers.transposed import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose

CONVOLUTIONS = {Conv1DTranspose: Conv1D, Conv2DTranspose: Conv2D, Conv3DTranspose: Conv3D}


@pytest.mark.parametrize("case", cases(Conv2DTranspose, Conv3DTranspose))
def test_values_are_those_of_keras(case):
    check(case, Conv2DTranspose, Conv3DTranspose)


def is_gradient_of_convolution(layer, x):
    """TensorFlow's definition: what a convolution of the output's size hands back for the gradient `x`."""
    layer(x)
    layer.double()
    x = x.double()
    kernel, bias = layer.get_weights()
    same_options = {name: getattr(layer, name) for name in ("strides", "padding", "dilation_rate", "data_format")}
    forward = CONVOLUTIONS[type(layer)](
        x.shape[layer._axis_of_channels], layer.kernel_size, use_bias=False, **same_options
    )
    y = torch.zeros(layer.compute_output_shape(x.shape), dtype=x.dtype, requires_grad=True)
    forward(y.float())
    forward.double().set_weights([kernel])
    (expected,) = torch.autograd.grad(forward(y), y, x)
    spread = [1] * x.dim()
    spread[layer._axis_of_channels] = -1
    torch.testing.assert_close(layer(x), expected + torch.from_numpy(bias).view(spread))


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kernel", [1, 2, 3, (4, 5)])
@pytest.mark.parametrize(
    "options",
    [{}, {"strides": 2}, {"strides": (3, 1)}, {"strides": 6}, {"dilation_rate": (2, 3)}],
)
def test_the_length_that_keras_infers(kernel, padding, options):
    layer = Conv2DTranspose(2, kernel, padding=padding, bias_initializer="normal", **options)
    is_gradient_of_convolution(layer, torch.randn(2, 4, 5, 3))


@pytest.mark.parametrize("kernel", [1, 3, (5, 3)])
@pytest.mark.parametrize(
    "options", [{}, {"strides": 2}, {"strides": 4, "output_padding": (1, 0)}, {"dilation_rate": 2}]
)
def test_half_padding_is_that_of_theano(kernel, options):
    layer = Conv2DTranspose(2, kernel, padding="half", bias_initializer="normal", **options)
    is_gradient_of_convolution(layer, torch.randn(2, 4, 5, 3))


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kernel", [1, 3, (2, 5)])
@pytest.mark.parametrize("output_padding", [1, 2, (1, 2)])
def test_output_padding_tells_the_length(kernel, padding, output_padding):
    options = {"output_padding": output_padding, "data_format": "channels_first", "bias_initializer": "normal"}
    layer = Conv2DTranspose(2, kernel, strides=3, padding=padding, **options)
    is_gradient_of_convolution(layer, torch.randn(2, 3, 4, 5))
    shape = layer.compute_output_shape((None, 3, 4, 5))
    for length, size, k, extra in zip(shape[2:], (4, 5), layer.kernel_size, layer.output_padding, strict=True):
        assert length == 3 * (size - 1) + k - (k // 2 * 2 if padding == "same" else 0) + extra


def test_no_output_padding_with_an_even_kernel_leaves_out_half_of_it_at_both_ends():
    x = torch.randn(2, 5, 3)
    layer, whole = Conv1DTranspose(2, 4, 2, "same", output_padding=0), Conv1DTranspose(2, 4, 2)
    layer(x)
    whole(x)
    whole.set_weights(layer.get_weights())
    torch.testing.assert_close(layer(x), whole(x)[:, 2:-2])


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ((6, 7, 8, 4), {}),
        ((None, 10, 12, None), {"strides": 2, "padding": "same"}),
        ([None, 9, 11, 4], {"strides": 2, "padding": "same"}),
        ((None, 12, 14, 4), {"strides": 2}),
        ((None, 11, 14, 4), {"strides": 2}),
    ],
)
def test_target_shape_tells_the_length(target, options):
    layer = Conv2DTranspose(4, 3, target_shape=target, data_format="channels_last", **options)
    is_gradient_of_convolution(layer, torch.randn(6, 5, 6, 3))
    assert layer.compute_output_shape((6, 5, 6, 3)) == (6, *target[1:3], 4)
    assert remade(layer).target_shape == tuple(target)
    first = Conv2DTranspose(
        4, 3, target_shape=[target[0], target[3], *target[1:3]], data_format="channels_first", **options
    )
    assert first(Input((3, 5, 6))).shape == (None, 4, *target[1:3])


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("options", [{}, {"strides": 3}, {"dilation_rate": 2}, {"strides": 2, "output_padding": 1}])
def test_one_axis_and_three(padding, options):
    is_gradient_of_convolution(Conv1DTranspose(2, 3, padding=padding, **options), torch.randn(2, 5, 3))
    is_gradient_of_convolution(Conv3DTranspose(2, (3, 1, 5), padding=padding, **options), torch.randn(2, 3, 2, 4, 3))


def test_both_data_formats_agree():
    same_in_both_formats(Conv2DTranspose, 4, 3, strides=2, padding="same", activation="relu")
    same_in_both_formats(Conv1DTranspose, 4, 2, shape=(2, 3, 5))
    same_in_both_formats(Conv3DTranspose, 4, 2, strides=3, shape=(2, 3, 2, 3, 2))


def test_a_real_torch_module_holds_the_weights_and_cuts_when_it_can():
    layer = Conv2DTranspose(4, (3, 1), strides=2, padding="same", output_padding=(0, 1))
    layer(torch.randn(1, 5, 5, 3))
    assert list(layer.state_dict()) == ["conv.weight", "conv.bias"]
    assert [v.name for v in layer.weights] == ["kernel", "bias"]
    assert [v.shape for v in layer.weights] == [(3, 1, 4, 3), (4,)]
    assert isinstance(layer.conv, torch.nn.ConvTranspose2d)
    assert (layer.conv.padding, layer.conv.output_padding) == ((1, 0), (0, 1))
    assert "target_shape" not in remade(layer).get_config()


def test_unknown_sizes_stay_unknown():
    assert Conv2DTranspose(4, 3, strides=2, padding="same")(Input((None, 9, 3))).shape == (None, None, 18, 4)


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_each_layer_compiles_whole():
    for options in ({"strides": 2}, {"strides": 2, "padding": "same", "activation": "relu"}):
        layer, x = Conv2DTranspose(4, 3, **options), torch.randn(2, 3, 8, 9)
        layer(x.permute(0, 2, 3, 1))
        compiles(layer, x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Conv2DTranspose(4, 3, padding="causal"),
            "Conv2DTranspose: padding must be one of 'valid', 'same', 'half', 'full'; found 'causal'.",
        ),
        (
            lambda: Conv2DTranspose(4, (3, 2), padding="half", name="up"),
            "Conv2DTranspose 'up': padding 'half' needs a kernel_size of odd numbers; found (3, 2).",
        ),
        (
            lambda: Conv2DTranspose(4, 3, output_padding=-1),
            "Conv2DTranspose: output_padding must hold integers of at least 0; found -1.",
        ),
        (
            lambda: Conv2DTranspose(4, 3, strides=(3, 2), output_padding=2, name="up"),
            "Conv2DTranspose 'up': output_padding must be below strides (3, 2); found (2, 2).",
        ),
        (
            lambda: Conv2DTranspose(4, 3, strides=2, dilation_rate=2, name="up")(Input((9, 9, 1))),
            (
                "Conv2DTranspose 'up': strides and dilation_rate cannot both be above 1; "
                "found strides (2, 2) and dilation_rate (2, 2)."
            ),
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(7, 8, 4)),
            (
                "Conv2DTranspose: target_shape must hold 4 positive integers (or None), the batch axis counted; "
                "found (7, 8, 4)."
            ),
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(None, 7, 8, 5), name="up"),
            "Conv2DTranspose 'up': target_shape must have filters 4 at axis -1; found (None, 7, 8, 5).",
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(None, 7, 8, 4), output_padding=0, name="up"),
            "Conv2DTranspose 'up': output_padding and target_shape cannot both be given.",
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(None, 7, None, 4), name="up")(Input((5, 6, 3))),
            "Conv2DTranspose 'up': target_shape must say the spatial sizes; found (None, 7, None, 4).",
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(None, 7, 9, 4), name="up")(Input((5, 6, 3))),
            (
                "Conv2DTranspose 'up': target_shape (None, 7, 9, 4) cannot come from the input (None, 5, 6, 3): "
                "axis 2 of the input would be 7 long."
            ),
        ),
        (
            lambda: Conv2DTranspose(4, 3, strides=2, padding="same", target_shape=(None, 8, 9, 4), name="up")(
                Input((5, 5, 3))
            ),
            (
                "Conv2DTranspose 'up': target_shape (None, 8, 9, 4) cannot come from the input (None, 5, 5, 3): "
                "axis 1 of the input would be 4 long."
            ),
        ),
        (
            lambda: Conv2DTranspose(4, 3, target_shape=(None, 7, 8, 4), name="up")(Input((5, None, 3))),
            "Conv2DTranspose 'up': axis 2 of the input must be known; the input shape is (None, 5, None, 3).",
        ),
        (
            lambda: Conv1DTranspose(4, 3, name="up")(Input((5, None))),
            "Conv1DTranspose 'up': axis -1 of the input must be known; the input shape is (None, 5, None).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


@pytest.mark.parametrize(("strides", "size"), [(1, 9), (2, 9), (2, 8), (3, 10)])
@pytest.mark.parametrize("padding", ["valid", "full"])
def test_it_is_the_adjoint_of_the_convolution(padding, strides, size):
    """`<conv(y), x> == <y, transposed(x)>` with the same kernel; 'full' is Theano's."""
    torch.manual_seed(0)
    convolution = Conv1D(4, 3, strides=strides, padding=padding, use_bias=False)
    y = torch.randn(2, size, 5)
    convolved = convolution(y)
    x = torch.randn_like(convolved)
    layer = Conv1DTranspose(5, 3, strides=strides, padding=padding, use_bias=False, target_shape=(None, size, 5))
    layer(x)
    layer.set_weights([convolution.get_weights()[0]])
    torch.testing.assert_close((layer(x) * y).sum(), (convolved * x).sum())
    plain = Conv1DTranspose(5, 3, strides=strides, padding=padding, use_bias=False)(x)
    assert plain.shape[1] == (x.shape[1] - 1) * strides + (3 if padding == "valid" else -1)
