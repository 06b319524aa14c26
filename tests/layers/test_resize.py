"""Cropping, zero padding and upsampling compute what Keras 2.2.4 does, with every form of their options."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats
from spatial_golden import check_expression, expressions

from torchkeras.engine.graph.input import Input
from torchkeras.engine.modes import call_module
from torchkeras.layers.resize import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)

CROPPING = (Cropping1D, Cropping2D, Cropping3D)
PADDING = (ZeroPadding1D, ZeroPadding2D, ZeroPadding3D)
UPSAMPLING = (UpSampling1D, UpSampling2D, UpSampling3D)


@pytest.mark.parametrize("case", cases(*CROPPING, *PADDING, *UPSAMPLING))
def test_values_are_those_of_keras(case):
    check(case, *CROPPING, *PADDING, *UPSAMPLING)


@pytest.mark.parametrize("expression", expressions("Cropping", "ZeroPadding", "UpSampling"))
def test_values_are_those_of_keras_with_other_options(expression):
    check_expression(expression)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("cls", [*CROPPING, *PADDING, *UPSAMPLING])
def test_defaults_and_compilation(cls):
    layer, rank = cls(), cls.rank
    values = torch.randn(2, 3, *(6,) * rank)
    changes = {Cropping2D: 0, **dict.fromkeys((Cropping1D, Cropping3D), -2), **dict.fromkeys(PADDING, 2)}
    size = 6 + changes.get(cls, 6)
    assert call_module(layer, values).shape == (2, 3, *(size,) * rank)
    assert layer(Input((*(6,) * rank, 3))).shape == (None, *(size,) * rank, 3)
    assert layer(Input((*(None,) * rank, 3))).shape == (None, *(None,) * rank, 3)
    compiles(layer, values)
    remade(layer)


def test_cropping_makes_no_copy():
    images = torch.randn(2, 5, 6, 3)
    assert Cropping2D(((1, 2), (0, 3)))(images).untyped_storage().data_ptr() == images.untyped_storage().data_ptr()


def test_values_are_repeated_exactly_by_any_factor():
    steps = torch.arange(60.0)[None, :, None]
    for factor in (1, 41, 47, 55):  # those by which interpolation in float32 is off
        assert torch.equal(UpSampling1D(factor)(steps), steps.repeat_interleave(factor, 1))


@pytest.mark.parametrize("size", [(2, 2), (3, 1), (1, 4)])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_gradients_of_upsampling_are_right(size, interpolation):
    layer = UpSampling2D(size, interpolation=interpolation)
    assert torch.autograd.gradcheck(layer, torch.randn(1, 3, 2, 2, dtype=torch.float64, requires_grad=True))
    compiles(layer, torch.randn(1, 2, 3, 2))
    assert remade(layer).interpolation == interpolation


def test_zero_padding_over_one_axis_has_a_data_format_since_keras_3():
    assert "data_format" not in ZeroPadding1D(2).get_config()
    found = same_in_both_formats(ZeroPadding1D, (0, 2), shape=(2, 3, 4))
    assert found.shape == (2, 3, 6)
    assert remade(ZeroPadding1D(data_format="channels_first")).data_format == "channels_first"


@pytest.mark.parametrize(
    ("padding", "pairs"),
    [
        (2, ((2, 2), (2, 2))),
        ((1, 2), ((1, 1), (2, 2))),
        ([1, (0, 3)], ((1, 1), (0, 3))),
        ([[1, 2], [0, 3]], ((1, 2), (0, 3))),
    ],
)
def test_every_form_of_padding(padding, pairs):
    layer = ZeroPadding2D(padding)
    assert layer.padding == remade(layer).padding == pairs
    images = torch.randn(2, 4, 5, 3)
    expected = torch.zeros(2, 4 + sum(pairs[0]), 5 + sum(pairs[1]), 3)
    expected[:, pairs[0][0] : pairs[0][0] + 4, pairs[1][0] : pairs[1][0] + 5] = images
    torch.testing.assert_close(layer(images), expected)
    same_in_both_formats(ZeroPadding2D, padding)
    compiles(layer, images.permute(0, 3, 1, 2))


def test_unknown_sizes_stay_unknown():
    assert ZeroPadding2D((0, 3))(Input((4, None, 3))).shape == (None, 4, None, 3)
    assert ZeroPadding2D()(Input((4, 4, 3))).shape == (None, 6, 6, 3)


@pytest.mark.parametrize("padding", [-1, (1, 2, 3), (1,), ((1, 2), (3, -1)), ((1, 2), (3,)), "same", None, 1.5])
def test_bad_padding_is_refused(padding):
    text = (
        "ZeroPadding2D: padding must be an integer, 2 integers, or 2 pairs (before, after), none of them negative; "
        f"found {padding!r}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ZeroPadding2D(padding)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Cropping1D((1, 2, 3)),
            (
                "Cropping1D: cropping must be an integer, a pair (before, after), none of them negative; "
                "found (1, 2, 3)."
            ),
        ),
        (
            lambda: Cropping2D(((1, 2), (0, 3)), name="c")(Input((3, 4, 1))),
            "Cropping2D 'c': cropping ((1, 2), (0, 3)) leaves nothing of the input (None, 3, 4, 1): axis 1 is 3 long.",
        ),
        (
            lambda: Cropping3D(2, "channels_first", name="c")(Input((1, None, 9, 4))),
            (
                "Cropping3D 'c': cropping ((2, 2), (2, 2), (2, 2)) leaves nothing of the input "
                "(None, 1, None, 9, 4): axis 4 is 4 long."
            ),
        ),
        (lambda: UpSampling1D((2, 2)), "UpSampling1D: size must be an integer or 1 integers; found (2, 2)."),
        (lambda: UpSampling2D(0), "UpSampling2D: size must hold integers of at least 1; found 0."),
        (
            lambda: UpSampling2D(interpolation="cubic"),
            "UpSampling2D: interpolation must be one of 'nearest', 'bilinear', 'bicubic'; found 'cubic'.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
