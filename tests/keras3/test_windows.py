"""`keras.ops` on windows where genuine Keras gives no results to compare with, or others than it documents.

Its `unfold` and `fold` take no arrays. Its mean pooling with padding "same" leaves out what is added where both ends
get the same, as it does on TensorFlow and JAX, but lets copies of the edge count where they do not.
"""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, config

ops: Any = importlib.import_module("torchkeras.keras3.ops")

IMAGES = np.random.default_rng(31).uniform(-1.0, 1.0, (2, 3, 6, 5)).astype("float32")
COLUMNS = np.random.default_rng(32).uniform(-1.0, 1.0, (2, 12, 20)).astype("float32")
OPTIONS = [(2, 1, 0, 1), (2, 2, 1, 2), ((2, 3), (2, 1), (1, 0), (1, 2)), (1, 1, 0, 1)]


def pair(value):
    return (value, value) if isinstance(value, int) else value


def places(size, options):
    """The padded places (row, column) of the values of each window; the windows along the first axis."""
    window, dilation, padding, stride = map(pair, options)
    lengths = [length + 2 * added for length, added in zip(size, padding, strict=True)]
    reaches = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    starts = [range(0, n - r + 1, s) for n, r, s in zip(lengths, reaches, stride, strict=True)]
    inside = list(itertools.product(*map(range, window)))
    found = [[[y + j * dilation[0], x + k * dilation[1]] for j, k in inside] for y, x in itertools.product(*starts)]
    return np.moveaxis(np.array(found), -1, 0), padding, lengths


@pytest.mark.parametrize("options", OPTIONS)
def test_unfold_gives_the_values_of_each_window(options):
    (rows, columns), padding, _ = places(IMAGES.shape[2:], options)
    padded = np.pad(IMAGES, [(0, 0), (0, 0), *((added, added) for added in padding)])
    expected = np.moveaxis(padded[:, :, rows, columns], 2, -1).reshape(2, -1, len(rows))
    np.testing.assert_array_equal(ops.unfold(IMAGES, *options), expected)
    graph = Model(inputs := Input(batch_shape=IMAGES.shape), ops.unfold(inputs, *options))
    np.testing.assert_array_equal(graph(torch.as_tensor(IMAGES)), expected)


@pytest.mark.parametrize("options", OPTIONS)
def test_fold_adds_the_values_of_each_window(options):
    size = (6, 5)
    (rows, columns), padding, lengths = places(size, options)
    values = np.random.default_rng(33).uniform(-1.0, 1.0, (2, 3 * rows.shape[1], len(rows))).astype("float32")
    padded = np.zeros((2, 3, *lengths), "float32")
    of_windows = np.moveaxis(values.reshape(2, 3, -1, len(rows)), -1, 2)
    np.add.at(padded, (slice(None), slice(None), rows, columns), of_windows)
    expected = padded[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    np.testing.assert_allclose(ops.fold(values, size, *options), expected, rtol=1e-5, atol=1e-6)
    graph = Model(inputs := Input(batch_shape=values.shape), ops.fold(inputs, size, *options))
    np.testing.assert_allclose(graph(torch.as_tensor(values)), expected, rtol=1e-5, atol=1e-6)


def test_fold_takes_one_number_for_both_sizes():
    assert ops.fold(COLUMNS[:, :, :9], 4, 2).shape == (2, 3, 4, 4)


@pytest.mark.parametrize(("size", "stride"), [(2, 1), (3, 2), (2, 2), (5, 3), (4, 1)])
def test_average_pool_leaves_out_what_same_adds(size, stride):
    x = IMAGES[0, 0, 0]  # 5 long
    count = -(-len(x) // stride)
    before = max((count - 1) * stride + size - len(x), 0) // 2
    starts = [k * stride - before for k in range(count)]
    expected = [x[max(start, 0) : start + size].mean() for start in starts]
    found = ops.average_pool(x[None, :, None], size, stride, "same")
    np.testing.assert_allclose(found[0, :, 0], expected, rtol=1e-5, atol=1e-6)
    image = ops.average_pool(np.tile(x, (1, 3, 1))[..., None], (1, size), (1, stride), "same")
    np.testing.assert_allclose(image[0, 2, :, 0], expected, rtol=1e-5, atol=1e-6)


def test_the_configured_data_format_is_the_default():
    kernel = np.ones((2, 2, 3, 4), "float32")
    known = config.image_data_format()
    try:
        config.set_image_data_format("channels_first")
        assert ops.max_pool(IMAGES, 2).shape == (2, 3, 3, 2)
        assert ops.adaptive_average_pool(IMAGES, 2).shape == (2, 3, 2, 2)
        assert ops.conv(IMAGES, kernel).shape == (2, 4, 5, 4)
        assert ops.conv(IMAGES, kernel, data_format="channels_first").shape == (2, 4, 5, 4)
        assert ops.space_to_depth(IMAGES[..., :4], 2, None).shape == (2, 12, 3, 2)
    finally:
        config.set_image_data_format(known)
