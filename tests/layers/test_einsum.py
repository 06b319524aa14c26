"""EinsumDense: which equations torch's Linear computes, initial values, and errors; its values are in test_keras3."""

import re

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras.layers import EinsumDense, Input


@pytest.mark.parametrize(
    ("equation", "sizes", "bias_axes", "linear"),
    [
        ("ab,bc->ac", 4, "c", (5, 4)),
        ("...b,bc->...c", 4, None, (5, 4)),
        ("...b,cb->...c", 4, "c", (5, 4)),
        ("abc,cde->abde", (3, 2, 4), "de", (5, 8)),
        ("abc,ced->abde", (3, 2, 4), "ed", (5, 8)),
        ("abc,bcd->ad", 4, "d", (15, 4)),
        ("abc,cde->abde", (3, 2, 4), "e", None),
        ("abc,cd->abd", (3, 4), "bd", None),
        ("abc,bcd->abd", (3, 4), None, None),
        ("abc,bd->adc", (4, None), None, None),
        ("abc,c->ab", 3, None, None),
        ("abc,d->abcd", (3, 5, 2), None, None),
    ],
)
def test_a_linear_module_computes_what_it_can(equation, sizes, bias_axes, linear):
    layer = EinsumDense(equation, sizes, bias_axes=bias_axes)
    ndim = 2 if equation.startswith("ab,") else 3
    x = torch.randn(2, *(3, 5)[2 - ndim + 1 :])
    output = layer(x)
    if linear:
        assert type(layer.product) is torch.nn.Linear
        assert (layer.product.in_features, layer.product.out_features) == linear
    else:
        assert type(layer.product) is not torch.nn.Linear
    expected = torch.einsum(equation, x, layer.kernel)
    torch.testing.assert_close(output, expected if bias_axes is None else expected + layer.bias)
    compiles(layer, x)
    remade(layer)


EQUATIONS = "EinsumDense: equation must be like 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'; found "


def test_an_ellipsis_takes_any_number_of_axes():
    layer = EinsumDense("...b,bc->...c", 4)
    for shape in ((None, 5), (None, 3, 5), (None, None, 2, 5)):
        assert layer(Input(batch_shape=shape)).shape == (*shape[:-1], 4)


def test_the_shape_of_the_output_is_an_option_and_a_property():
    layer = EinsumDense("abc,cd->abd", output_shape=(None, 4))
    assert layer(Input((None, 5))).shape == layer.output_shape == (None, None, 4)
    assert layer.get_config()["output_shape"] == [None, 4]
    assert EinsumDense("ab,bc->ac", 4).get_config()["output_shape"] == 4


def test_the_kernel_begins_with_the_spread_of_its_inputs_and_outputs():
    for equation, shape in (("abc,cde->abde", (None, 8, 16)), ("abc,bcd->abd", (3, 400))):
        layer = EinsumDense(equation, shape)
        layer(torch.randn(1, 3, 64))
        kernel = layer.get_weights()[0]
        limit = np.sqrt(6 / (64 + 8 * 16)) if len(shape) == 3 else np.sqrt(6 / (64 + 3 * 400))
        assert 0.95 * limit < np.abs(kernel).max() <= limit
    zeros = EinsumDense("ab,bc->ac", 4, bias_axes="c", kernel_initializer="zeros", bias_initializer="ones")
    assert (zeros(torch.randn(2, 3)) == 1).all()


def test_options_reach_the_weights():
    layer = EinsumDense("ab,bc->ac", 4, "relu", "c", kernel_regularizer="l2", bias_constraint="non_neg")
    layer(torch.randn(2, 3))
    kernel, bias = layer.weights
    assert (kernel.name, bias.name) == ("kernel", "bias")
    assert kernel.regularizer is not None
    assert bias.constraint is not None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: EinsumDense("ab->a", 3),
            "EinsumDense: equation must be like 'ab,bc->ac', '...b,bc->...c' or 'ab...,bc->ac...'; found 'ab->a'.",
        ),
        (
            lambda: EinsumDense("...ab...,bc->...ac...", 3),
            f"{EQUATIONS}'...ab...,bc->...ac...'.",
        ),
        (
            lambda: EinsumDense("...ab,bc->ac", 3),
            (f"{EQUATIONS}'...ab,bc->ac'."),
        ),
        (
            lambda: EinsumDense("ab,bc->ac", (0,)),
            "EinsumDense: output_shape must be a positive integer, or a list of them and None; found (0,).",
        ),
        (
            lambda: EinsumDense("ab,bc->ac", 3, bias_axes=1),
            "EinsumDense: bias_axes must be letters of the output, or None; found 1.",
        ),
        (
            lambda: EinsumDense("ab,bc->ac", 3, bias_axes="b", name="e")(Input((4,))),
            "EinsumDense 'e': bias_axes 'b' must be in the output; the equation is 'ab,bc->ac'.",
        ),
        (
            lambda: EinsumDense("ab,bc->ac", 3, name="e")(Input((4, 5))),
            "EinsumDense 'e': equation 'ab,bc->ac' does not fit the input (None, 4, 5) and output_shape (3,).",
        ),
        (
            lambda: EinsumDense("...ab,bc->...ac", (5, 3), name="e")(Input((4,))),
            "EinsumDense 'e': equation '...ab,bc->...ac' does not fit the input (None, 4) and output_shape (5, 3).",
        ),
        (
            lambda: EinsumDense("abc,cd->abd", 3, name="e")(Input((4, 5))),
            "EinsumDense 'e': equation 'abc,cd->abd' does not fit the input (None, 4, 5) and output_shape (3,).",
        ),
        (
            lambda: EinsumDense("...c,cd->...d", (4, 3), name="e")(Input((4, 5))),
            "EinsumDense 'e': equation '...c,cd->...d' does not fit the input (None, 4, 5) and output_shape (4, 3).",
        ),
        (
            lambda: EinsumDense("abc,cd->abd", (4, None), name="e")(Input((4, 5))),
            "EinsumDense 'e': output_shape (4, None) must give the size of axis 'd'.",
        ),
        (
            lambda: EinsumDense("abc,cd->abd", (7, 3), name="e")(Input((4, 5))),
            "EinsumDense 'e': axis 'b' has 7 in output_shape (7, 3), 4 in the input (None, 4, 5).",
        ),
        (
            lambda: EinsumDense("abc,cd->abd", (4, 3), name="e")(Input((4, None))),
            "EinsumDense 'e': axis 2 of the input must be known; the input shape is (None, 4, None).",
        ),
        (
            lambda: EinsumDense("abc,de->abe", (4, 3), name="e")(Input((4, 5))),
            ("EinsumDense 'e': axis 'd' must be in two of input, kernel and output; the equation is 'abc,de->abe'."),
        ),
        (
            lambda: EinsumDense("abc,cd->abe", (4, 3), name="e")(Input((4, 5))),
            ("EinsumDense 'e': axis 'd' must be in two of input, kernel and output; the equation is 'abc,cd->abe'."),
        ),
        (
            lambda: EinsumDense("abc,c->abe", (4, 3), name="e")(Input((4, 5))),
            ("EinsumDense 'e': axis 'e' must be in two of input, kernel and output; the equation is 'abc,c->abe'."),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
