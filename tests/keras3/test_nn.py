"""`keras.ops` for networks where genuine Keras on torch raises an error, or gives another result than it documents."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

ops: Any = importlib.import_module("torchkeras.keras3.ops")

X = np.random.default_rng(41).uniform(-2.0, 2.0, (3, 3, 4)).astype("float32")
GAMMA = np.array([0.5, 1.0, 2.0], "float32")
Q, K, V = (np.random.default_rng(42 + k).uniform(-1.0, 1.0, (2, 5, 4, 3)).astype("float32") for k in range(3))


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("axis", [0, -1, 1])
def test_sparsemax_adds_up_to_1_and_is_the_nearest_such_point(axis):
    found = ops.sparsemax(X, axis)
    near(found.sum(axis), np.ones(found.sum(axis).shape))
    moved, given = found.movedim(axis, -1).numpy(), np.moveaxis(X, axis, -1)
    shift = np.where(moved > 0, given - moved, -np.inf).max(-1, keepdims=True)
    near(moved, np.maximum(given - shift, 0.0))


def test_sparsemax_of_two_above_0():
    near(ops.sparsemax([[0.0, 0.5, 1.0]]), [[0.0, 0.25, 0.75]])


@pytest.mark.parametrize("name", ["sparse_plus", "sparse_sigmoid"])
def test_bytes_are_numbers_above_0(name):
    function = getattr(ops, name)
    near(function(np.array([0, 1, 2, 255], "uint8")), function(np.array([0.0, 1.0, 2.0, 255.0], "float32")))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmaxes_take_lists_and_axes_from_the_end(name):
    function = getattr(ops, name)
    near(function([1.0, 2.0]), function(np.array([1.0, 2.0], "float32")))
    near(function(X, (-1, 0)), function(X, (0, 2)))
    near(function(X, [-1]), function(X, 2))


@pytest.mark.parametrize("axis", [0, 1, (0, 1), [-2]])
def test_normalizations_over_axes_that_are_not_the_last(axis):
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shape = tuple(3 if k in axes or k - 3 in axes else 1 for k in range(3))
    gamma = np.resize(GAMMA, [size for size in shape if size > 1])
    beta = gamma + 1.0
    mean, variance = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
    expected = (X - mean) / np.sqrt(variance + 1e-3) * gamma.reshape(shape) + beta.reshape(shape)
    near(ops.layer_normalization(X, gamma, beta, axis, 1e-3), expected)
    expected = X / np.sqrt(np.square(X).mean(axes, keepdims=True) + 1e-3) * gamma.reshape(shape)
    near(ops.rms_normalization(X, gamma, axis, 1e-3), expected)


def test_normalizations_and_psnr_take_lists():
    near(ops.layer_normalization([0.0, 2.0], epsilon=0.0), [-1.0, 1.0])
    near(ops.rms_normalization([3.0, 3.0], epsilon=0.0), [1.0, 1.0])
    near(ops.psnr([1.0, 2.0], [2.0, 3.0], 10), 20.0)


def test_moments_over_all_axes():
    mean, variance = ops.moments(X, None)
    near(mean, X.mean())
    near(variance, X.var())


def test_the_variance_of_large_numbers_keeps_its_digits():
    near(ops.moments(X[0] + 1024.0, 0)[1], (X[0] + np.float32(1024.0)).astype("float64").var(0))


def test_normalize_leaves_zeros_of_half_precision():
    near(ops.normalize(np.zeros((2, 3), "float16")), np.zeros((2, 3)))


def test_one_hot_counts_axes_from_the_end_and_gives_0_for_what_is_no_class():
    near(ops.one_hot(np.array([[0, 1], [2, 9]]), 3, -2), np.moveaxis(ops.one_hot([[0, 1], [2, -1]], 3).numpy(), -1, 1))


def test_binary_crossentropy_of_whole_targets():
    p, target = np.array([0.25, 0.75], "float32"), np.array([0, 1])
    near(ops.binary_crossentropy(target, p), -np.log([0.75, 0.75]))
    near(ops.binary_crossentropy(target > 0, np.log(p / (1 - p)), from_logits=True), -np.log([0.75, 0.75]))


def test_attention_with_a_bias_sees_no_later_places():
    bias = np.random.default_rng(45).uniform(-1.0, 1.0, (5, 5)).astype("float32")
    scores = np.einsum("btnh,bsnh->bnts", Q, K) / np.sqrt(3.0) + bias
    weights = np.exp(np.where(np.tri(5, dtype=bool), scores, -np.inf))
    expected = np.einsum("bnts,bsnh->btnh", weights / weights.sum(-1, keepdims=True), V)
    near(ops.dot_product_attention(Q, K, V, bias, is_causal=True), expected)


def test_batch_normalization_has_gradients():
    values = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in (X, X[0, 0], X[0, 1] ** 2 + 1.0)]
    offset, scale = (torch.rand(4, dtype=torch.float64, requires_grad=True) for _ in "ab")
    torch.autograd.gradcheck(
        lambda *given: ops.batch_normalization(*given[:3], -1, *given[3:]), (*values, offset, scale)
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: ops.multi_hot([0, 1], 3, classes=3),
            "multi_hot: unknown option 'classes'.",
        ),
        (lambda: ops.layer_normalization(X, eps=1.0), "layer_normalization: unknown option 'eps'."),
        (lambda: ops.einsum("i->", [1.0, 2.0], optimize=True), "einsum takes no option by name; found 'optimize'."),
    ],
)
def test_an_option_that_there_is_not_is_refused(call: Any, text: str):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(text)
