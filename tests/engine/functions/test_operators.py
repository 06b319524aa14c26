"""Operators of symbolic tensors make layers that compute what torch computes."""

import json
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import LSTM, Embedding, Input
from torchkeras.models import Model, model_from_json

A, B, M = torch.rand(2, 3, 4) + 0.5, torch.rand(2, 3, 4) + 0.5, torch.rand(2, 4, 5)

EXPRESSIONS = [
    lambda a, b, m: a + b,
    lambda a, b, m: a - b,
    lambda a, b, m: a * b,
    lambda a, b, m: a / b,
    lambda a, b, m: a // b,
    lambda a, b, m: a % b,
    lambda a, b, m: a**b,
    lambda a, b, m: a @ m,
    lambda a, b, m: -a,
    lambda a, b, m: abs(a - b),
    lambda a, b, m: a + a,
    lambda a, b, m: a + 1,
    lambda a, b, m: 1 + a,
    lambda a, b, m: a - 2,
    lambda a, b, m: 2 - a,
    lambda a, b, m: 3 * a,
    lambda a, b, m: 1 / a,
    lambda a, b, m: a / 4,
    lambda a, b, m: 7 // a,
    lambda a, b, m: 7 % a,
    lambda a, b, m: a**2,
    lambda a, b, m: 2**a,
    lambda a, b, m: a > 1,
    lambda a, b, m: a >= b,
    lambda a, b, m: a < 1,
    lambda a, b, m: a <= b,
    lambda a, b, m: a[:, 1:],
    lambda a, b, m: a[:, :, ::2],
    lambda a, b, m: a[..., 0],
    lambda a, b, m: a[:, -1],
    lambda a, b, m: a[:, None],
    lambda a, b, m: a[:, :2, 1:3],
    lambda a, b, m: (a > 1) & (b > 1),
    lambda a, b, m: (a > 1) | ~(b > 1),
    lambda a, b, m: (a > 1) ^ (b > 1),
    lambda a, b, m: (a * 9).int() << 1,
    lambda a, b, m: 1 << (a * 3).int() >> 1,
    lambda a, b, m: 6 & (a * 9).int() | 1,
    lambda a, b, m: a == b,
    lambda a, b, m: a.round() != 1,
    lambda a, b, m: torch.add(a, b),
    lambda a, b, m: torch.sub(a, 1),
    lambda a, b, m: torch.mul(a, 2),
    lambda a, b, m: torch.div(a, b),
    lambda a, b, m: torch.matmul(a, m),
    lambda a, b, m: torch.neg(a),
    lambda a, b, m: torch.abs(a),
    lambda a, b, m: torch.pow(a, 2),
    lambda a, b, m: a * np.float32(2),
    lambda a, b, m: (2 - a[:, 1:] * b[:, 1:]) ** 2 / (1 + a[:, :1]),
]


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_shape_and_config(expression):
    inputs = [Input(tuple(tensor.shape[1:])) for tensor in (A, B, M)]
    output = expression(*inputs)
    expected = expression(A, B, M)
    assert (output.shape, output.dtype) == ((None, *expected.shape[1:]), expected.dtype)
    model = Model(inputs, output)
    torch.testing.assert_close(model(A, B, M), expected)
    again = model_from_json(model.to_json())
    torch.testing.assert_close(again(A, B, M), expected)
    assert json.loads(again.to_json()) == json.loads(model.to_json())


def test_names_count_by_operator():
    a = Input((3,))
    assert [tensor._keras_history.layer.name for tensor in (a + 1, a + 2, -a, a[:, 1:])] == [
        *("operation_add_1", "operation_add_2", "operation_neg_1", "operation_getitem_1"),
    ]


def test_numpy_numbers_on_the_left():
    a = Input((3,))
    model = Model(a, np.float32(2) * a + np.float64(1) / a)
    torch.testing.assert_close(model(torch.full((1, 3), 2.0)), torch.full((1, 3), 4.5))


def test_two_images_and_a_batch_of_vectors_broadcast():
    a, b = Input((4, 5, 3)), Input((1, 1, 3))
    x, y = torch.rand(2, 4, 5, 3), torch.rand(2, 1, 1, 3)
    torch.testing.assert_close(Model([a, b], a * b)(x, y), x * y)


def test_masks_pass_operators_but_not_slices():
    vectors = Embedding(5, 3, mask_zero=True)(Input((4,), dtype="int32"))
    assert [(vectors * 2)._keras_mask.shape, (1 - vectors)._keras_mask.shape] == [(None, 4)] * 2
    assert vectors[:, 1:]._keras_mask is None
    assert LSTM(2)(vectors * 2).shape == (None, 2)


x: Any = Input((4,), name="x")
ERRORS = [
    (
        lambda: x[:, 9],
        ValueError,
        (
            "Operation 'operation_getitem_1' cannot compute on input shape (None, 4): index 9 is out of bounds for "
            "dimension 1 with size 4"
        ),
    ),
    (
        lambda: torchkeras.layers.Operation("power", []),
        ValueError,
        (
            "Operation: function must be the name of an operator, of a function that Keras has as a layer, or of one "
            "of torch's own, such as 'torch.relu', 'torch.Tensor.view' or 'torch.nn.functional.gelu'; found 'power'."
        ),
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), ERRORS)
def test_error(build, kind, message):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == message
