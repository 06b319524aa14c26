"""Merging layers compute what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade

from torchkeras.engine.graph.input import Input
from torchkeras.engine.modes import call_module
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.layers import merging
from torchkeras.layers.merging import Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract

ELEMENTWISE = (Add, Subtract, Multiply, Average, Maximum, Minimum)
CLASSES = (*ELEMENTWISE, Concatenate, Dot)
A, B = torch.arange(12.0).reshape(2, 3, 2), torch.tensor([[1.0, 2], [3, 4]])


@pytest.mark.parametrize("case", cases(*CLASSES))
def test_values_are_those_of_keras(case):
    check(case, *CLASSES)


def test_axes_of_one_come_behind_the_batch_axis():
    layer = Add()
    # Values of Keras 2.2.4.
    expected = [[[1, 3], [3, 5], [5, 7]], [[9, 11], [11, 13], [13, 15]]]
    torch.testing.assert_close(layer([A, B]), torch.tensor(expected, dtype=torch.float32))
    assert layer._facts.layout is Layout.KERAS
    assert Add()([Input((3, 2)), Input((2,))]).shape == (None, 3, 2)


@pytest.mark.parametrize("cls", ELEMENTWISE)
def test_elementwise_layers_work_in_any_order_of_axes(cls):
    layer, x, y = cls(), torch.randn(2, 3, 4), torch.randn(2, 1, 4)
    torch.testing.assert_close(layer([x, y]).permute(0, 2, 1), layer([x.permute(0, 2, 1), y.permute(0, 2, 1)]))
    assert layer._facts.layout is Layout.ANY
    assert remade(layer)([Input((None, 4)), Input((1, 4))]).shape == (None, None, 4)
    compiles(layer, [x, y])


def test_more_than_two_inputs():
    x, y, z = torch.tensor([[1.0, 5]]), torch.tensor([[2.0, 4]]), torch.tensor([[6.0, 0]])
    results = {cls: cls()([x, y, z]).tolist() for cls in ELEMENTWISE if cls is not Subtract}
    assert results == {
        Add: [[9, 9]],
        Multiply: [[12, 0]],
        Average: [[3, 3]],
        Maximum: [[6, 5]],
        Minimum: [[1, 0]],
    }


def test_functional_forms_make_the_layers():
    a, b = Input((4,)), Input((4,))
    for cls in CLASSES:
        options = {"axes": 1, "normalize": True} if cls is Dot else {"axis": 1} if cls is Concatenate else {}
        output = getattr(merging, cls.__name__.lower())([a, b], name=f"my_{cls.__name__}", **options)
        layer = output._keras_history.layer
        assert type(layer) is cls
        assert {name: getattr(layer, name) for name in options} == options


def test_masks_of_elementwise_layers_are_anded():
    first, second = torch.tensor([[True, False, True]]), torch.tensor([[True, True, False]])
    assert Add().compute_mask([A, A], [first, second]).tolist() == [[True, False, False]]
    assert Add().compute_mask([A, A], [None, second]) is second
    assert Add().compute_mask([A, A], [None, None]) is None
    assert Add().compute_mask([A, A]) is None
    assert Dot(1).compute_mask([A, A], [first, second]) is None


def test_masks_of_concatenate_are_joined_along_time():
    x, mask = torch.randn(1, 3, 2), torch.tensor([[True, False, True]])
    # Values of Keras 2.2.4.
    assert Concatenate(1).compute_mask([x, x], [mask, mask]).tolist() == [[True, False, True, True, False, True]]
    assert Concatenate(2).compute_mask([x, x], [mask, mask]).tolist() == [[True, False, True]]
    assert Concatenate(1).compute_mask([x, x], [None, mask]).tolist() == [[True, True, True, True, False, True]]
    assert Concatenate().compute_mask([x, x], [None, None]) is None


def test_concatenate_takes_the_axis_it_is_told():
    layer, x, y = Concatenate(), torch.randn(2, 4, 3), torch.randn(2, 4, 5)
    torch.testing.assert_close(layer([x, y]), torch.cat([x, y], 2))
    flipped = [x.permute(0, 2, 1), y.permute(0, 2, 1)]
    torch.testing.assert_close(call_module(layer, flipped, axis=1), torch.cat([x, y], 2).permute(0, 2, 1))
    assert remade(layer)([Input((None, 3)), Input((None, 5))]).shape == (None, None, 8)
    assert Concatenate(1)([Input((None, 3)), Input((2, 3))]).shape == (None, None, 3)
    compiles(layer, [x, y])


def test_dot_sums_over_one_axis_of_either():
    c = torch.arange(12.0).reshape(2, 2, 3)
    # Values of Keras 2.2.4.
    assert Dot((1, 2))([B, c.permute(0, 2, 1)]).tolist() == [[6, 9, 12], [54, 61, 68]]
    assert Dot(1, normalize=True)([B, 0 * B]).tolist() == [[0], [0]]
    x, y = torch.randn(2, 3, 4), torch.randn(2, 4, 5, 6)
    torch.testing.assert_close(Dot((-1, 1))([x, y]), torch.einsum("bik,bkmn->bimn", x, y))
    assert Dot((2, 1))([Input((None, 4)), Input((4, None))]).shape == (None, None, None)
    assert Dot(1)([Input((4,)), Input((4,))]).shape == (None, 1)
    layer = Dot((2, 1), normalize=True)
    layer([x, y])
    compiles(layer, [x, y])
    assert remade(layer).axes == (2, 1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Add(name="m")(Input((2,))), "Add 'm': must be called on a list of at least 2 inputs; found 1."),
        (
            lambda: Concatenate(name="m")([A]),
            "Concatenate 'm': must be called on a list of at least 2 inputs; found 1.",
        ),
        (
            lambda: Subtract(name="m")([A, A, A]),
            "Subtract 'm': must be called on a list of exactly 2 inputs; found 3.",
        ),
        (lambda: Dot(1, name="m")(A), "Dot 'm': must be called on a list of exactly 2 inputs; found 1."),
        (
            lambda: Add(name="m")([Input((3,)), Input((4,))]),
            "Add 'm': operands could not be broadcast together with shapes (3,) and (4,). Bring them to one shape.",
        ),
        (
            lambda: Add(name="m")([Input(batch_shape=(2, 3)), Input(batch_shape=(4, 3))]),
            "Add 'm': cannot merge tensors with different batch sizes; found the shapes [(2, 3), (4, 3)].",
        ),
        (
            lambda: Concatenate(1, name="m")([Input((3, 4)), Input((3, 5))]),
            (
                "Concatenate 'm': the inputs must have matching shapes except for axis 1; "
                "found the shapes [(None, 3, 4), (None, 3, 5)]."
            ),
        ),
        (
            lambda: Concatenate(2, name="m")([Input((3,)), Input((3,))]),
            "Concatenate 'm': axis 2 is not an axis of all inputs; found the shapes [(None, 3), (None, 3)].",
        ),
        (lambda: Concatenate(1.0), "Concatenate: axis must be an integer; found 1.0."),
        (lambda: Dot("1"), "Dot: axes must be an integer or two integers; found '1'."),
        (lambda: Dot((1, 2, 3)), "Dot: axes must be an integer or two integers; found (1, 2, 3)."),
        (lambda: Dot(1, normalize=2), "Dot: normalize must be True, False, 1 or 0; found 2."),
        (
            lambda: Dot(0, name="m")([Input((3,)), Input((3,))]),
            "Dot 'm': axes 0 must each lie after the batch axis of inputs [(None, 3), (None, 3)].",
        ),
        (
            lambda: Dot(1, name="m")([Input((3,)), Input((4,))]),
            "Dot 'm': dimension incompatibility 3 != 4 along axes 1 of inputs [(None, 3), (None, 4)].",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
