"""Operations of `arrays` that genuine Keras on torch computes otherwise than its documentation says, or not at all.

They are checked against NumPy, whose functions Keras describes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.keras3.cases.arrays import BATCH, F4, LONG, REPEATED, SQUARE, VECTORS
from tests.keras3.cases.inputs import EMPTY, F3, I8, I64, ROW, SCALAR, B, F, G, I
from torchkeras import Input, Model
from torchkeras.keras3 import ops as functions

ops: Any = functions  # its names are those of a table
FLAT_A, FLAT_B = (each[..., :2].copy() for each in VECTORS)
MIXED = ([1.0, 2.0], [4.0, 5.0, 6.0]), ([1.0, 2.0, 3.0], [4.0, 5.0])
# (operation, arguments, options, what NumPy finds): of the arrays among the arguments it is a node of a graph too.
OF_NUMPY: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    # Genuine Keras pads the last axis alone, and "symmetric" repeats the outermost value.
    ("pad", (F, 1), {}, np.pad(F, 1)),
    ("pad", (F, (1,)), {}, np.pad(F, 1)),
    ("pad", (F3, ((2, 1),)), {}, np.pad(F3, ((2, 1),))),
    ("pad", (I, (1, 2)), {"constant_values": 7}, np.pad(I, (1, 2), constant_values=7)),
    ("pad", (F, ((2, 1), (0, 3)), "symmetric"), {}, np.pad(F, ((2, 1), (0, 3)), "symmetric")),
    ("pad", (F3, 1, "reflect"), {}, np.pad(F3, 1, "reflect")),
    ("pad", (I, 2, "edge"), {}, np.pad(I, 2, "edge")),
    ("pad", (F3, ((1, 0), (0, 2), (1, 1)), "circular"), {}, np.pad(F3, ((1, 0), (0, 2), (1, 1)), "wrap")),
    # Genuine Keras fails for lists.
    ("repeat", (F3, [1, 2]), {"axis": 0}, np.repeat(F3, [1, 2], 0)),
    ("repeat", (F3, [1, 0, 2], 1), {}, np.repeat(F3, [1, 0, 2], 1)),
    ("repeat", (F3, [2], -1), {}, np.repeat(F3, [2], -1)),
    ("repeat", (ROW, (1, 2, 3, 0)), {}, np.repeat(ROW, (1, 2, 3, 0))),
    # Genuine Keras takes only tensors.
    ("unstack", (F3,), {}, list(F3)),
    ("unstack", (F3, 3, 1), {}, list(F3.swapaxes(0, 1))),
    ("unstack", (I,), {"axis": -1}, list(I.T)),
    *(
        ("get_item", (F3, key), {}, F3[key])
        for key in (0, -1, slice(1, None), (0, slice(0, 3, 2)), (..., 1), (None, 1), (1, 2, 3), (slice(None), None, 0))
    ),
    # Genuine Keras multiplies as `matmul` does, and only vectors.
    ("dot", (F3, BATCH), {}, np.dot(F3, BATCH)),
    ("dot", (F, F3.swapaxes(1, 2)), {}, np.dot(F, F3.swapaxes(1, 2))),
    ("vdot", (F, G), {}, np.vdot(F, G)),
    ("vdot", (F3, F3), {}, np.vdot(F3, F3)),
    # Genuine Keras takes the first axis of length 3, and has none of these options.
    ("cross", (VECTORS[0], VECTORS[1][0]), {}, np.cross(VECTORS[0], VECTORS[1][0])),
    ("cross", (SQUARE[:3, :3], SQUARE[1:, 1:]), {}, np.cross(SQUARE[:3, :3], SQUARE[1:, 1:])),
    ("cross", (FLAT_A, FLAT_B), {}, FLAT_A[..., 0] * FLAT_B[..., 1] - FLAT_A[..., 1] * FLAT_B[..., 0]),
    ("cross", (VECTORS[0], VECTORS[1].transpose(2, 0, 1), -1, 0, 1), {}, None),
    ("cross", (FLAT_A, VECTORS[1]), {}, np.cross(np.pad(FLAT_A, ((0, 0), (0, 0), (0, 1))), VECTORS[1])),
    ("cross", MIXED[0], {}, np.array([12.0, -6.0, -3.0], "float32")),
    ("cross", MIXED[1], {}, np.array([-15.0, 12.0, -3.0], "float32")),
    # Genuine Keras drops the axis of a single sum, and has the length of the first vector with "same".
    ("correlate", (ROW, ROW), {}, np.correlate(ROW, ROW)),
    *(("correlate", (ROW, x, "same"), {}, np.correlate(ROW, x, "same")) for x in (LONG, LONG[:6], LONG[:5])),
    *(("correlate", (F[:, 0], x, "same"), {}, np.correlate(F[:, 0], x, "same")) for x in (LONG, LONG[:6], ROW)),
    # Genuine Keras counts from the end of the first axis, not of all values.
    ("take", (F, [-1, -5]), {}, np.take(F, [-1, -5])),
    ("take_along_axis", (F, [-1, -5]), {}, F.reshape(-1)[[-1, -5]]),
    # Genuine Keras partitions by the whole part.
    *(("argpartition", (x, 1, axis), {}, None) for x in (F, F3, I) for axis in (-1, 0, None)),
    # Genuine Keras takes tensors of one type alone.
    ("searchsorted", (np.arange(5), F), {}, np.searchsorted(np.arange(5), F).astype("int32")),
    ("digitize", (I, [-1.5, 0.5]), {}, np.digitize(I, [-1.5, 0.5]).astype("int32")),
    ("einsum", ("ij,j->i", F, I[0]), {}, np.einsum("ij,j->i", F, I[0].astype("float32"))),
    ("isin", (I, [1.0, 2.5]), {}, np.isin(I, [1.0, 2.5])),
    ("isin", (B, [2, 1]), {}, B),
    # Genuine Keras knows no lists of numbers for letters.
    ("einsum", (SQUARE, [0, 0]), {}, np.einsum(SQUARE, [0, 0])),
    ("einsum", (F, [0, 1], G, [2, 1], [0, 2]), {}, F @ G.T),
    ("einsum", (F3, [..., 0, 1], BATCH, [..., 1, 2]), {}, F3 @ BATCH),
    # Genuine Keras fails for a group of one axis.
    ("rearrange", (F, "(a) b -> b a"), {}, F.T),
    ("rearrange", (F3, "a (b) c -> (c) (a b)"), {}, F3.transpose(2, 0, 1).reshape(4, 6)),
    # Genuine Keras counts whole numbers not at all.
    ("histogram", (I.reshape(-1), 4), {}, [each.astype("float32") for each in np.histogram(I, 4)]),
    (
        "histogram",
        (np.array([1.0, np.nan, 2.0, 9.0], "float32"), 2, (0.0, 2.0)),
        {},
        [np.float32([0, 2]), np.float32([0, 1, 2])],
    ),
    ("size", (SCALAR,), {}, np.array(1)),
    ("stack", (F3,), {}, F3),
    ("concatenate", (F3,), {}, F3.reshape(6, 4)),
    ("split", (EMPTY, [0, 0], 0), {}, [EMPTY] * 3),
]
OF_NUMPY_IDS = [f"{name}-{number}" for number, (name, *_) in enumerate(OF_NUMPY)]


def check(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    else:
        torch.testing.assert_close(found, torch.as_tensor(np.ascontiguousarray(expected)).reshape(expected.shape))


def expected_of(name: str, args: tuple[Any, ...], expected: Any) -> Any:
    if name == "argpartition":
        x, _, axis = args
        return np.argsort(x, axis, kind="stable").astype("int32")
    if expected is None:
        return np.cross(*args)
    return expected


@pytest.mark.parametrize(("name", "args", "options", "expected"), OF_NUMPY, ids=OF_NUMPY_IDS)
def test_as_numpy_has_it(name: str, args: tuple[Any, ...], options: dict[str, Any], expected: Any):
    expected = expected_of(name, args, expected)
    args = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in args)
    check(getattr(ops, name)(*args, **options), expected)
    arrays = [each for each in args if isinstance(each, np.ndarray) and each.size and each.ndim]
    if arrays:
        inputs = [Input(batch_shape=each.shape, dtype=str(each.dtype)) for each in arrays]
        given = iter(inputs)
        symbols = [next(given) if any(each is array for array in arrays) else each for each in args]
        model = Model(inputs, getattr(ops, name)(*symbols, **options))
        tensors = [torch.as_tensor(each) for each in arrays]
        check(model(tensors if len(tensors) > 1 else tensors[0]), expected)


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("argpartition", (F, 4), {}),
        ("unstack", (F, 4), {}),
        ("correlate", (F, ROW), {}),
        ("diagonal", (F, 0, 1, -1), {}),
        ("diagonal", (ROW,), {}),
        ("histogram", (ROW, 0), {}),
        ("histogram", (ROW, 2), {"range": (1,)}),
        ("histogram", (ROW, 2), {"range": (5, 1)}),
        ("reshape", (F, (5, -1)), {}),
        ("reshape", (F, (-2, 6)), {}),
        ("correlate", (ROW, ROW, "most"), {}),
        ("cross", (F, F), {}),
        ("rearrange", (F, "a b c -> a b c"), {}),
        ("rearrange", (F, "a b -> a"), {}),
        ("rearrange", (F, "a a -> a a"), {}),
        ("rearrange", (F, "a (b c) -> a b c"), {}),
        ("rearrange", (F, "a (b c) -> a b c"), {"b": 3}),
        ("rearrange", (F, "a (b c) -> a b c"), {"b": 3, "c": 2}),
        ("repeat", (F, [1, 2]), {"axis": 0}),
        ("take", (F, [0]), {"axis": 2}),
        ("take", (F, [4]), {"axis": 1}),
        ("pad", (F, ((1, 1), (1, 1)), "mean"), {}),
    ],
)
def test_errors(name: str, args: tuple[Any, ...], options: dict[str, Any]):
    with pytest.raises((ValueError, RuntimeError)):
        getattr(ops, name)(*args, **options)


def test_places_of_several_partitions():
    order = ops.argpartition(F, (0, -1))
    assert order.dtype is torch.int32
    torch.testing.assert_close(order, torch.as_tensor(F).argsort(1).int())


def test_first_places_of_unique_values_of_a_matrix():
    values, first, inverse, counts = ops.unique(I, return_index=True, return_inverse=True, return_counts=True)
    expected = np.unique(I, return_index=True, return_counts=True)
    for found, one in zip((values, first, counts), expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), one)
    np.testing.assert_array_equal(values[inverse].numpy(), I)


def test_unique_values_in_any_order():
    found = ops.unique(REPEATED, sorted=False)
    assert sorted(found.tolist()) == [1, 2, 3]


def test_top_values_in_any_order():
    values, places = ops.top_k(F, 3, sorted=False)
    torch.testing.assert_close(values.sort(-1).values, torch.as_tensor(F).sort(-1).values[:, 1:])
    torch.testing.assert_close(torch.as_tensor(F).gather(1, places), values)
    assert ops.top_k(F, 3).values.shape == (3, 3)  # named, as in torch


def test_repeats_and_places_in_tensors():
    counts = torch.tensor([1, 2, 3])
    np.testing.assert_array_equal(ops.repeat(F, counts, axis=0).numpy(), np.repeat(F, [1, 2, 3], 0))
    np.testing.assert_array_equal(ops.tile(F, torch.tensor([1, 2])).numpy(), np.tile(F, (1, 2)))
    found = ops.split(F, torch.tensor([1, 2]), axis=1)
    assert [each.shape[1] for each in found] == [1, 1, 2]


def test_products_of_whole_numbers_are_exact():
    large = np.full((2, 2), 30001, "int32")
    for name in ("matmul", "dot", "inner"):
        assert (getattr(ops, name)(large, large[:, :1] if name != "inner" else large) == 2 * 30001**2).all()
    assert ops.matmul(np.full((1, 9), 127, "int8"), np.full((9, 1), 127, "int8")).item() == 9 * 127**2
    assert ops.matmul(I8, I64.T).dtype is torch.int32


def test_gradients():
    x = torch.as_tensor(F3).double().requires_grad_()
    y = torch.as_tensor(BATCH).double().requires_grad_()
    functions: list[Any] = [
        lambda x, y: ops.take(x, [0, -1, 0], axis=1),
        lambda x, y: ops.take_along_axis(x, np.zeros((2, 1, 4), "int32"), axis=1),
        lambda x, y: ops.pad(x, 1, "symmetric"),
        lambda x, y: ops.rearrange(x, "a b (c d) -> (a d) b c", c=2),
        lambda x, y: ops.cross(y, y.flip(1)),
        lambda x, y: ops.einsum("bij,bjk->bik", x, y),
        lambda x, y: ops.repeat(x, [1, 2, 0], axis=1),
        lambda x, y: ops.linspace(x[0], x[1], 3),
        lambda x, y: ops.select([x > 0], [x * 2], 0.5),
    ]
    for function in functions:
        wide = lambda x, y, function=function: function(x, y).double()  # noqa: E731
        kind = function(x, y).dtype
        tolerance = {"eps": 1e-3, "atol": 1e-2, "rtol": 1e-2} if kind is torch.float32 else {}
        assert torch.autograd.gradcheck(wide, (x, y), raise_exception=True, **tolerance)


def test_key_of_tensors():
    rows = torch.tensor([2, 0])
    torch.testing.assert_close(ops.get_item(torch.as_tensor(F), rows), torch.as_tensor(F)[rows])
    mask = torch.as_tensor(B)
    found: Tensor = ops.get_item(F4[0, :, :, 0], mask)
    assert found.shape == (int(B.sum()),)
