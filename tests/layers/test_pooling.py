"""Pooling computes what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats

from torchkeras.engine.input import Input
from torchkeras.layers.pooling import AveragePooling2D, GlobalAveragePooling2D, GlobalMaxPooling2D, MaxPooling2D

WINDOWS = (MaxPooling2D, AveragePooling2D)
GLOBAL = (GlobalMaxPooling2D, GlobalAveragePooling2D)

# Keras 2.2.4 of arange(16) - 8 as a 4x4 image, padding='same'.
SAME = [
    (MaxPooling2D, 2, 1, [-3, -2, -1, -1, 1, 2, 3, 3, 5, 6, 7, 7, 5, 6, 7, 7]),
    (AveragePooling2D, 2, 1, [-5.5, -4.5, -3.5, -3, -1.5, -0.5, 0.5, 1, 2.5, 3.5, 4.5, 5, 4.5, 5.5, 6.5, 7]),
    (MaxPooling2D, 3, 2, [2, 3, 6, 7]),
    (AveragePooling2D, 3, 2, [-3, -1.5, 3, 4.5]),
    (MaxPooling2D, 3, 1, [-3, -2, -1, -1, 1, 2, 3, 3, 5, 6, 7, 7, 5, 6, 7, 7]),
    (AveragePooling2D, 3, 1, [-5.5, -5, -4, -3.5, -3.5, -3, -2, -1.5, 0.5, 1, 2, 2.5, 2.5, 3, 4, 4.5]),
    (MaxPooling2D, 2, 3, [-3, -1, 5, 7]),
    (AveragePooling2D, 2, 3, [-5.5, -3, 4.5, 7]),
]


@pytest.mark.parametrize("case", cases(*WINDOWS, *GLOBAL))
def test_values_are_those_of_keras(case):
    check(case, *WINDOWS, *GLOBAL)


@pytest.mark.parametrize(("cls", "pool_size", "strides", "values"), SAME)
def test_same_padding_is_that_of_keras(cls, pool_size, strides, values):
    found = cls(pool_size, strides=strides, padding="same")(torch.arange(16.0).reshape(1, 4, 4, 1) - 8)
    torch.testing.assert_close(found.flatten(), torch.tensor(values, dtype=torch.float32))


@pytest.mark.parametrize("cls", WINDOWS)
@pytest.mark.parametrize("padding", ["valid", "SAME"])
@pytest.mark.parametrize(("pool_size", "strides"), [(2, None), (3, 1), ((2, 4), 1), ((4, 1), (1, 3)), (2, 5)])
def test_sizes_are_those_of_keras_in_both_data_formats(cls, padding, pool_size, strides):
    layer = cls(pool_size, strides, padding)
    found = same_in_both_formats(cls, pool_size, strides, padding)
    ends = (0, 0) if padding == "SAME" else tuple(window - 1 for window in layer.pool_size)
    expected = [-(-(size - end) // s) for size, end, s in zip((9, 8), ends, layer.strides, strict=True)]
    assert list(found.shape[2:]) == expected


@pytest.mark.parametrize("cls", GLOBAL)
def test_global_pooling_is_over_all_of_the_image(cls):
    found = same_in_both_formats(cls)
    images = torch.randn(2, 4, 5, 3)
    reduce = torch.amax if cls is GlobalMaxPooling2D else torch.mean
    torch.testing.assert_close(cls()(images), reduce(images, (1, 2)))
    assert found.shape == (2, 3)
    assert cls()(Input((None, None, 3))).shape == (None, 3)


@pytest.mark.parametrize("cls", WINDOWS)
def test_padding_never_wins_and_whole_windows_use_a_torch_module(cls):
    assert (cls(3, 1, "same")(-torch.ones(1, 4, 4, 1)) == -1).all()
    layer = cls()
    output = layer(Input((None, 9, 3)))
    assert output.shape == (None, None, 4, 3)
    assert type(layer.pool).__name__.endswith("Pool2d")
    assert remade(layer).strides == (2, 2)


@pytest.mark.parametrize("cls", [*WINDOWS, *GLOBAL])
def test_each_layer_compiles_whole(cls):
    for options in ({"padding": "same", "strides": 1}, {"padding": "same"}, {}) if cls in WINDOWS else ({},):
        layer = cls(**options)
        layer(torch.randn(2, 5, 6, 3))
        compiles(layer, torch.randn(2, 3, 5, 6))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: MaxPooling2D(0), "MaxPooling2D: pool_size must hold integers of at least 1; found 0."),
        (lambda: MaxPooling2D(2, strides=(1,)), "MaxPooling2D: strides must be an integer or 2 integers; found (1,)."),
        (lambda: MaxPooling2D(padding="full"), "MaxPooling2D: padding must be one of 'valid', 'same'; found 'full'."),
        (
            lambda: GlobalMaxPooling2D("first"),
            "GlobalMaxPooling2D: data_format must be one of 'channels_last', 'channels_first', or None; found 'first'.",
        ),
        (
            lambda: AveragePooling2D((2, 3), name="half")(Input((4, 2, 3))),
            "AveragePooling2D 'half': pool_size (2, 3) does not fit the input (None, 4, 2, 3): axis 2 is 2 long.",
        ),
        (
            lambda: GlobalMaxPooling2D(name="all")(Input((4, 3))),
            "Input 0 is incompatible with layer all: expected ndim=4, found ndim=3 (input shape (None, 4, 3)).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
