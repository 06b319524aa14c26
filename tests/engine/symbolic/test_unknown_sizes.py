"""Sizes that a symbolic tensor does not know are arguments of what is computed with them."""

import pytest
from texts import VALUES, Row, assert_same, inputs_of

import torchkeras
from torchkeras.layers import Input
from torchkeras.models import Model, clone_model, model_from_json


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


SIZES = [
    Row("a.view(a.size(0), -1)", "a.reshape(a.shape[0], -1)", ()),
    Row("a.view(a.size(0), a.size(1), 2, -1)", "a.reshape(a.shape[0], a.shape[1], 2, -1)"),
    Row("a.reshape(a.size(0) * a.size(1), 4)", "a.reshape(a.shape[0] * a.shape[1], 4)"),
    Row("a.reshape(a.size(0), a.size(1) // 2, 8)", "a.reshape(a.shape[0], a.shape[1] // 2, 8)"),
    Row("a.expand(3, *a.size())", "a.expand(3, a.shape[0], a.shape[1], 4)"),
    Row("a / a.size(1)", "a / a.shape[1]"),
    Row("a[:, : a.size(1) - 2]", "a[:, :a.shape[1] - 2]"),
    Row("a.new_zeros(a.size(0), 3)", "a.new_zeros(a.shape[0], 3)"),
    Row("a.sum() / a.numel()", "x / ((a.shape[0] * a.shape[1]) * 4)"),
    Row(
        "a.view(a.size(0), a.size(1) // 2, 2, 4).transpose(1, 2).reshape(a.size(0) * 2, a.size(1) // 2, 4)",
        "x.reshape(a.shape[0] * 2, a.shape[1] // 2, 4)",
    ),
]


@pytest.mark.parametrize("row", SIZES, ids=[row.text for row in SIZES])
def test_sizes_that_are_unknown_are_arguments(row: Row):
    given, symbolic = VALUES["a"], inputs_of(row, row.unknown)
    output = row.compute(symbolic)
    expected = row.compute(VALUES)
    assert all(size in (None, real) for size, real in zip(output.shape, expected.shape, strict=True))
    model = Model(symbolic["a"], output)
    assert f"{row.line} -> " in model.code
    for again in (model, model_from_json(model.to_json()), clone_model(model)):
        assert_same(again(given), expected)
    inner = Input((6, 4))
    assert_same(Model(inner, model(inner))(given), expected)
