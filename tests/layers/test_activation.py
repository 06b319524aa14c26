"""Activation layers compute what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras.engine.input import Input
from torchkeras.engine.layout import Layout
from torchkeras.layers.activation import LeakyReLU, ReLU, Softmax

CLASSES = (ReLU, LeakyReLU, Softmax)
X = torch.tensor([[-1, 0, 0.4, 0.5, 1, 2]])


@pytest.mark.parametrize("case", cases(*CLASSES))
def test_values_are_those_of_keras(case):
    check(case, *CLASSES)


# Values of Keras 2.2.4.
@pytest.mark.parametrize(
    ("layer", "values"),
    [
        (ReLU(1.5, 0.5, 0.5), [-0.75, -0.25, -0.05, 0, 1, 1.5]),
        (ReLU(None, 0.5, 0.5), [-0.75, -0.25, -0.05, 0, 1, 2]),
        (ReLU(), [0, 0, 0.4, 0.5, 1, 2]),
        (LeakyReLU(), [-0.3, 0, 0.4, 0.5, 1, 2]),
    ],
)
def test_options_mean_what_they_mean_in_keras(layer, values):
    torch.testing.assert_close(layer(X), torch.tensor([values]))
    assert layer.layout is Layout.ANY
    assert layer(Input((6,))).shape == (None, 6)
    compiles(layer, X)
    remade(layer)


def test_softmax_takes_the_axis_it_is_told():
    x = torch.randn(2, 3, 4, requires_grad=True)
    layer = Softmax(axis=1)
    torch.testing.assert_close(layer(x), torch.softmax(x, 1))
    torch.testing.assert_close(layer.run(x, axis=2), torch.softmax(x, 2))
    assert layer.layout is Layout.AXIS
    assert Softmax()(x)._keras_logits is x
    compiles(layer, x)
    assert remade(layer).axis == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ReLU(-1.0), "ReLU: max_value must be a number of at least 0, or None; found -1.0."),
        (lambda: ReLU(1.0, -0.5), "ReLU: negative_slope must be a number of at least 0; found -0.5."),
        (lambda: ReLU(threshold=None), "ReLU: threshold must be a number; found None."),
        (lambda: LeakyReLU("a"), "LeakyReLU: alpha must be a number; found 'a'."),
        (lambda: Softmax(1.0), "Softmax: axis must be an integer; found 1.0."),
        (lambda: Softmax(2, name="s")(Input((3,))), "Softmax 's': axis 2 is not an axis of the input (None, 3)."),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
