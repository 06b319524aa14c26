"""Zero padding computes what Keras 2.2.4 does, with every form of its option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade, same_in_both_formats

from torchkeras.engine.input import Input
from torchkeras.layers.resize import ZeroPadding2D


@pytest.mark.parametrize("case", cases(ZeroPadding2D))
def test_values_are_those_of_keras(case):
    check(case, ZeroPadding2D)


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
